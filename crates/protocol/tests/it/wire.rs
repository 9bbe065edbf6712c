//! The JSON that hooks get: order, digits, depth, size, and what the engine adds.

use std::sync::Arc;

use crosier_protocol::event::TABLE;
use crosier_protocol::payload::{PostToolUse, PreToolUse, Stop, SubagentStart};
use crosier_protocol::{Defaults, Event, EventKind, Json};

use crate::sample::{base, tool_call};

fn kind(name: &str) -> EventKind {
    EventKind::Static(TABLE.iter().find(|row| row.name == name).unwrap())
}

fn defaults() -> Arc<Defaults> {
    Arc::new(Defaults::new("made", "/here", || "2000-01-01T00:00:00.000Z".into()))
}

fn wire(name: &str, json: &str) -> String {
    let event = Event::from_json(kind(name), json.as_bytes()).unwrap();
    event.complete(&defaults());
    event.wire().unwrap().to_string()
}

fn names(wire: &str) -> Vec<String> {
    Json::parse(wire).unwrap().entries().unwrap().into_iter().map(|(name, _)| name).collect()
}

#[test]
fn base_fields_come_first_in_the_order_of_the_design() {
    let event = Event::from(tool_call());
    assert_eq!(
        event.wire().unwrap(),
        concat!(
            r#"{"session_id":"s-1","transcript_path":"/t/s-1.jsonl","cwd":"/project","permission_mode":"default","#,
            r#""hook_event_name":"PreToolUse","hook_type":"PreToolUse","agent_id":"a-1","#,
            r#""orchestrator_id":"o-1","timestamp":"2026-01-02T03:04:05.006Z","tool_name":"Bash","#,
            r#""tool_input":{"z":1,"a":123456789012345678901234567890,"t":"\u00e4 \ud83d\ude00\n","n":[null,{}]}}"#
        )
    );
}

#[test]
fn base_fields_come_first_wherever_the_host_put_them() {
    let json =
        r#"{"timestamp":"t","mine":1,"tool_input":{},"cwd":"/x","tool_name":"Bash","agent_id":"a","last":2}"#;
    assert_eq!(
        names(&wire("PreToolUse", json)),
        [
            "session_id",
            "transcript_path",
            "cwd",
            "hook_event_name",
            "hook_type",
            "agent_id",
            "orchestrator_id",
            "timestamp",
            "mine",
            "tool_input",
            "tool_name",
            "last"
        ]
    );
}

#[test]
fn missing_base_fields_are_completed() {
    assert_eq!(
        wire("Stop", "{}"),
        concat!(
            r#"{"session_id":"made","transcript_path":"","cwd":"/here","hook_event_name":"Stop","hook_type":"Stop","#,
            r#""agent_id":null,"orchestrator_id":"","timestamp":"2000-01-01T00:00:00.000Z","stop_hook_active":false}"#
        )
    );
}

#[test]
fn an_event_that_was_looked_at_before_it_is_fired_is_still_completed() {
    let event = Event::from(Stop::default());
    assert!(event.wire().unwrap().contains(r#""session_id":"""#));
    assert!(event.get("session_id").is_some());
    let event = event.completed(&defaults());
    assert!(event.wire().unwrap().contains(r#""session_id":"made""#));
    assert_eq!(event.get("session_id").unwrap().text(), "\"made\"");
    assert_eq!(event.timestamp(), "2000-01-01T00:00:00.000Z");
}

#[test]
fn completing_twice_keeps_the_first() {
    let event = Event::from(Stop::default()).completed(&defaults());
    let wire = event.wire().unwrap().as_ptr();
    let other = Defaults::new("other", "/", || "later".into());
    let event = event.completed(&Arc::new(other));
    assert_eq!(wire, event.wire().unwrap().as_ptr());
}

#[test]
fn what_a_host_adds_passes_untouched_and_in_order() {
    let given = concat!(
        r#"{"session_id":"s","transcript_path":"","cwd":"/","hook_event_name":"PreToolUse","hook_type":"PreToolUse","#,
        r#""agent_id":null,"orchestrator_id":"","timestamp":"t","#,
        r#""zeta": [ 1 , 2 ],"tool_name":"Ba\u0073h","alpha":{"b":1,"a":2,"b":3},"#,
        r#""tool_input":{"n":-0.0,"e":1E+400,"big":100000000000000000000000000000000001},"lone":"\ud800"}"#
    );
    // Only the spacing around a value is the engine's.
    let expected = given.replace(r#""zeta": ["#, r#""zeta":["#);
    assert_eq!(wire("PreToolUse", given), expected);
}

#[test]
fn a_tool_name_is_matched_as_it_reads_however_it_is_escaped() {
    let event =
        Event::from_json(kind("PreToolUse"), br#"{"tool_name":"B\u0061s\u0068","tool_input":{}}"#).unwrap();
    assert_eq!(event.matcher_value(), Some("Bash"));
    assert_eq!(event.typed::<PreToolUse>().unwrap().tool_name, "Bash");
}

#[test]
fn any_depth_and_a_megabyte_reach_the_hook() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_object = format!("{}1{}", "{\"a\":".repeat(50_000), "}".repeat(50_000));
    let large = format!("\"{}\"", "x\\n".repeat(400_000));
    let digits = "9".repeat(100_000);
    for value in [deep, deep_object, large, digits] {
        let json = format!(r#"{{"tool_name":"Bash","tool_input":{value}}}"#);
        let event = Event::from_json(kind("PreToolUse"), json.as_bytes()).unwrap();
        assert!(event.wire().unwrap().ends_with(&format!(r#""tool_input":{value}}}"#)));
        assert_eq!(event.typed::<PreToolUse>().unwrap().tool_input.text(), value);
    }
}

#[test]
fn many_unknown_fields_are_read_in_reasonable_time() {
    let members: Vec<String> = (0..20_000).map(|n| format!("\"f{n}\":{n}")).collect();
    let event = Event::from_json(kind("Stop"), format!("{{{}}}", members.join(",")).as_bytes()).unwrap();
    assert_eq!(event.get("f19999").unwrap().text(), "19999");
}

#[test]
fn tool_output_is_always_derived_from_the_response() {
    for (response, output) in [
        (r#""a \"b\"\n""#, r#""a \"b\"\n""#),
        (r#"{"ok":true}"#, r#""{\"ok\":true}""#),
        ("null", r#""null""#),
        ("[1, 2]", r#""[1, 2]""#),
        ("12345678901234567890123", r#""12345678901234567890123""#),
    ] {
        for lie in ["", r#""tool_output":"a lie","#] {
            let json = format!(r#"{{"tool_name":"Bash","tool_input":{{}},{lie}"tool_response":{response}}}"#);
            let wire = wire("PostToolUse", &json);
            assert!(
                wire.ends_with(&format!(r#""tool_response":{response},"tool_output":{output}}}"#)),
                "{wire}"
            );
        }
    }
    let payload = PostToolUse::new("", "", "hi");
    assert_eq!(payload.tool_output(), "hi");
    assert_eq!(Event::from(payload).get("tool_output").unwrap().text(), "\"hi\"");
}

#[test]
fn tool_output_follows_a_rewritten_response() {
    let event = Event::from(PostToolUse::new("", "", "before"));
    let after = event.rewritten("tool_response", Json::from("after"));
    assert_eq!(after.get("tool_output").unwrap().text(), "\"after\"");
    assert_eq!(event.get("tool_output").unwrap().text(), "\"before\"");
}

#[test]
fn the_json_is_made_once_and_anew_only_for_a_rewrite() {
    let event = Event::from(tool_call());
    let place = |event: &Event| event.wire().unwrap().as_ptr();
    let (first, clone) = (place(&event), event.clone());
    assert!(first == place(&event) && first == place(&clone));
    let rewritten = event.rewritten("tool_input", Json::parse("{}").unwrap());
    assert_ne!(first, place(&rewritten));
    assert!(rewritten.wire().unwrap().ends_with(r#""tool_name":"Bash","tool_input":{}}"#));
    assert_eq!(first, place(&event));
}

#[test]
fn a_rewrite_keeps_everything_else() {
    let json =
        r#"{"session_id":"s","mine":[1],"tool_name":"Bash","tool_input":{"a":1},"more":2,"agent_id":"a"}"#;
    let event = Event::from_json(kind("PreToolUse"), json.as_bytes()).unwrap();
    event.complete(&defaults());
    let before = event.wire().unwrap().to_string();
    let after = event.rewritten("tool_input", Json::parse("2").unwrap());
    assert_eq!(after.wire().unwrap().to_string(), before.replace(r#"{"a":1}"#, "2"));
    assert_eq!(after.matcher_value(), Some("Bash"));
    assert_eq!(after.agent_id(), Some("a"));
}

#[test]
fn the_agent_of_a_subagent_event_is_its_own_also_after_a_rewrite() {
    let event = Event::from(SubagentStart::new("child", "coder").with_base(base(Some("parent"))));
    for event in
        [&event, &event.rewritten("agent_type", Json::from("x")), &event.with_extra("e", Json::null())]
    {
        assert_eq!(event.agent_id(), Some("child"));
        let wire = event.wire().unwrap();
        assert_eq!(wire.matches("\"agent_id\"").count(), 1, "{wire}");
        assert!(wire.contains(r#""agent_id":"child""#), "{wire}");
    }
}

#[test]
fn a_field_that_the_engine_adds_takes_the_place_of_the_hosts() {
    let event = Event::from_json(kind("Stop"), br#"{"outcome":"mine","x":1}"#).unwrap();
    let event = event.with_extra("outcome", Json::from("theirs"));
    assert_eq!(event.get("outcome").unwrap().text(), "\"theirs\"");
    assert_eq!(event.wire().unwrap().matches("\"outcome\"").count(), 1, "{}", event.wire().unwrap());
    assert!(event.wire().unwrap().contains(r#""x":1"#));
}

#[test]
fn of_two_members_of_the_same_name_the_last_counts_as_in_other_languages() {
    let json = Json::parse(r#"{"command":"ls","x":1,"comm\u0061nd":"rm"}"#).unwrap();
    assert_eq!(json.get("command").unwrap().plain(), "rm");
    assert_eq!(json.to_value().unwrap()["command"], "rm");
    assert_eq!(json.entries().unwrap().len(), 3);
}
