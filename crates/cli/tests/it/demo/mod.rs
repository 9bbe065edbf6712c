//! `crosier demo`: every event fires with its payload, every effect that the table allows has its effect, and the
//! program is kind to newcomers.

mod effects;
mod full_screen;
mod manners;

use std::sync::LazyLock;

use crosier::protocol::event::{EventRow, TABLE};
use crosier_agent::agent::EVENTS;
use serde_json::{Value, json};

use crate::lab::Lab;

/// One run of the demo, as it tells of itself.
pub(super) struct Demo {
    fires: Vec<Value>,
    transcript: Vec<Value>,
    closed: Vec<Value>,
    summary: Vec<Value>,
}

/// Played once for all tests.
static DEMO: LazyLock<Demo> = LazyLock::new(|| {
    let lab = Lab::new();
    let ran = lab.run(&["demo", "--json"]).exits(0);
    let whole = ran.json();
    let ordered: crosier::protocol::ordered::Value = serde_json::from_str(&ran.stdout).unwrap();
    let keys: Vec<&String> = ordered.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["fires", "transcript", "closed", "summary"]);
    let list = |key: &str| whole[key].as_array().unwrap().clone();
    assert_eq!(ran.stderr, "", "python3 and git are needed to prove everything");
    Demo {
        fires: list("fires"),
        transcript: list("transcript"),
        closed: list("closed"),
        summary: list("summary"),
    }
});

/// The rows of the events that the agent fires.
fn rows() -> impl Iterator<Item = &'static EventRow> {
    EVENTS.into_iter().map(|name| TABLE.iter().find(|row| row.name == name).unwrap())
}

impl Demo {
    /// The fires of an event, each with its place.
    fn fires_of<'a>(&'a self, event: &'a str) -> impl Iterator<Item = (usize, &'a Value)> {
        self.fires.iter().enumerate().filter(move |(_, fire)| fire["event"] == event)
    }
}

#[test]
fn all_events_fire_with_every_required_field() {
    for row in rows() {
        let fires: Vec<&Value> = DEMO.fires_of(row.name).map(|(_, fire)| fire).collect();
        assert!(!fires.is_empty(), "{} does not fire", row.name);
        for fire in fires {
            let input = fire["input"].as_object().unwrap();
            for field in row.fields.iter().filter(|field| field.required) {
                let value =
                    input.get(field.name).unwrap_or_else(|| panic!("{} lacks {}", row.name, field.name));
                assert!(field.kind.fits(&value.to_string()), "{}.{}: {value}", row.name, field.name);
                let known =
                    field.values.is_empty() || value.as_str().is_some_and(|v| field.values.contains(&v));
                assert!(known, "{}.{}: {value}", row.name, field.name);
            }
            for base in ["session_id", "transcript_path", "cwd", "permission_mode", "agent_id", "timestamp"] {
                let text = input[base].as_str().unwrap_or_default();
                assert!(!text.is_empty(), "{} has an empty {base}", row.name);
            }
            assert_eq!(fire["outcome"]["event"], row.name);
        }
    }
}

#[test]
fn the_summary_counts_what_fired() {
    assert_eq!(DEMO.summary.len(), rows().count());
    for (row, line) in rows().zip(&DEMO.summary) {
        assert_eq!(line["event"], row.name);
        assert_eq!(line["fired"], DEMO.fires_of(row.name).count());
        let reports =
            DEMO.fires_of(row.name).flat_map(|(_, fire)| fire["outcome"]["reports"].as_array().unwrap());
        assert_eq!(
            line["hooks"],
            reports.filter(|report| report["status"] != "skipped").count(),
            "{}",
            row.name
        );
        assert_eq!(line["p50_ms"].is_number(), line["hooks"] != 0, "{line}");
    }
}

#[test]
fn every_kind_of_hook_has_its_part() {
    let reports: Vec<&Value> =
        DEMO.fires.iter().flat_map(|fire| fire["outcome"]["reports"].as_array().unwrap()).collect();
    let of = |hook: &str| reports.iter().filter(|report| report["hook"] == hook).collect::<Vec<_>>();
    let denies = |hook: &str| of(hook).iter().any(|report| report["decision"] == "deny");
    assert!(denies("private-files"), "a python hook denies");
    assert!(denies("protect-paths"), "a hook of a pack denies");
    assert!(denies("no-passwords"), "a command denies");
    assert!(denies("block-commands"), "a built-in denies");
    assert!(of("saved").iter().all(|report| report["status"] == "ok"), "a script line runs");
    assert!(!of("scout-1/look-only").is_empty(), "a hook of a scope runs");
    // One is late, and what it guards goes on, visibly.
    let (place, late) = DEMO
        .fires_of("PreGitWrite")
        .find(|(_, fire)| fire["outcome"]["reports"][0]["failure"]["kind"] == "timeout")
        .unwrap();
    assert_eq!(late["outcome"]["decision"], Value::Null);
    let path = &late["input"]["path"];
    assert!(
        DEMO.fires_of("PostGitWrite").any(|(later, fire)| later > place && fire["input"]["path"] == *path)
    );
}

#[test]
fn a_guard_judges_again_what_a_later_hook_made_of_the_call() {
    let (_, fire) = DEMO
        .fires_of("PreToolUse")
        .find(|(_, fire)| fire["input"]["tool_input"]["command"] == "make clean")
        .unwrap();
    let outcome = &fire["outcome"];
    assert_eq!((&outcome["decision"], &outcome["by"]), (&json!("deny"), &json!("block-commands")));
    let reports = outcome["reports"].as_array().unwrap();
    let passes: Vec<_> = reports
        .iter()
        .filter(|report| report["hook"] == "block-commands")
        .map(|report| (&report["pass"], &report["decision"]))
        .collect();
    assert_eq!(passes, [(&json!(1), &Value::Null), (&json!(2), &json!("deny"))]);
    assert!(reports.iter().any(|report| report["hook"] == "too-helpful" && report["rewrote"] == true));
}

#[test]
fn a_hook_on_trial_says_what_it_would_do_and_does_nothing() {
    let (place, fire) =
        DEMO.fires_of("PreToolUse").find(|(_, fire)| fire["outcome"]["would"] == "deny").unwrap();
    assert_ne!(fire["outcome"]["decision"], "deny");
    let call = &fire["input"]["tool_use_id"];
    assert!(
        DEMO.fires_of("PostToolUse")
            .any(|(later, fire)| later > place && fire["input"]["tool_use_id"] == *call),
        "the call ran"
    );
}

#[test]
fn a_project_that_changed_after_it_was_trusted_is_closed() {
    let [before, after] = DEMO.closed.as_slice() else { panic!("{:?}", DEMO.closed) };
    assert_eq!(before["outcome"]["reason"], "only people publish");
    let reason = after["outcome"]["reason"].as_str().unwrap();
    assert_eq!(after["outcome"]["decision"], "deny");
    assert!(reason.contains("policy.sh") && reason.contains("changed since you trusted it"), "{reason}");
}
