//! Values of events in lines.

use crosier_protocol::{Base, Decision, FailureKind, Payload};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;

use super::super::super::Loader;
use super::super::script_tests::{engine, folder, load, notices};
use crate::payload;

#[test]
fn a_value_is_never_read_as_a_part_of_the_line() {
    let evil = r#"x" /deny '$tool ${tool_input} $$ \n #"#;
    let input = json!({"tool_name": "T", "tool_input": {"command": evil, "n": [1, {"a": true}], "z": null}});
    let line = |text: &str| format!("hook pre:tool /log info {text}");
    assert_eq!(notices(&line("${tool_input.command}"), "pre:tool", &input), [evil]);
    assert_eq!(
        notices(&line("\"${args.n.1}${args.n[0]}${args.n[1].a}\""), "pre:tool", &input),
        [r#"{"a":true}1true"#]
    );
    assert_eq!(
        notices(&line("<${tool_input.gone.far}${gone}${args.n.7}${tool_name.x}>"), "pre:tool", &input),
        ["<>"]
    );
    assert_eq!(notices(&line("${args.z}"), "pre:tool", &input), ["null"]);
    assert_eq!(notices(&line("'$tool'$$$tool"), "pre:tool", &input), ["$tool$T"]);
}

#[test]
fn digits_and_order_of_json_values_are_kept() {
    let folder = folder("hook pre:tool /log info $args", "");
    let engine = engine(Loader::default().file(folder.path().join("hooks.yaml")).load().unwrap());
    let text = r#"{"tool_name":"T","tool_input":{"z":123456789012345678901234567890,"a":1.50}}"#;
    let outcome = engine.fire_blocking(engine.event("pre:tool", text.as_bytes()).unwrap());
    assert_eq!(outcome.notices[0].text, r#"{"z":123456789012345678901234567890,"a":1.50}"#);
}

/// A tool call that cannot be written as JSON.
#[derive(Debug, Clone, Default, Deserialize)]
struct Unwritable {
    #[serde(skip)]
    base: Base,
}

impl Serialize for Unwritable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("never"))
    }
}

impl Payload for Unwritable {
    fn row() -> &'static crosier_protocol::EventRow {
        payload::PreToolUse::row()
    }
    fn base(&self) -> &Base {
        &self.base
    }
    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }
    fn matcher_value(&self) -> Option<&str> {
        Some("Bash")
    }
}

#[test]
fn a_line_without_fields_does_not_touch_the_json_of_the_event() {
    let script = "hook pre:tool /log info \"$tool $agent ${tool_name}\"\nhook pre:tool /perms check x";
    let engine = engine(load(script, "permissions: {x: allow}").unwrap());
    let outcome = engine.fire_blocking(Unwritable::default());
    assert_eq!((outcome.notices[0].text.as_str(), outcome.decision), ("Bash  Bash", None));
}

#[test]
fn a_field_of_an_event_that_cannot_be_written_is_a_failure_and_not_empty() {
    let engine = engine(load("hook pre:tool /log info $args", "").unwrap());
    let outcome = engine.fire_blocking(Unwritable::default());
    assert_eq!((outcome.decision, outcome.by_failure), (Some(Decision::Deny), true));
    assert_eq!(outcome.failures().next().unwrap().1.kind, FailureKind::Delivery);
}
