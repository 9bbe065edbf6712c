//! A model can write half a surrogate pair: six characters that must neither blind a guard nor lose its word.

use crosier_protocol::event::Catalog;
use crosier_protocol::payload::{PostMessage, PreToolUse};
use crosier_protocol::{Event, EventError, EventKind, Json, Payload, Reply};

#[test]
fn a_member_is_found_beside_a_key_with_half_a_pair() {
    let json = Json::parse(r#"{"\ud800":1,"command":"rm -rf /","\udc00x":{"a":"\ud83d"}}"#).unwrap();
    assert_eq!(json.get("command").unwrap().as_str().unwrap(), "rm -rf /");
    let entries = json.entries().unwrap();
    let names: Vec<&str> = entries.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["\u{fffd}", "command", "\u{fffd}x"]);
    // Values are not touched.
    assert_eq!(entries[2].1.text(), r#"{"a":"\ud83d"}"#);
}

#[test]
fn a_value_with_half_a_pair_can_be_looked_into() {
    let value = Json::parse(r#"{"command":"rm \ud800 -rf","\udfff":1}"#).unwrap().to_value().unwrap();
    assert_eq!(value["command"], "rm \u{fffd} -rf");
    assert_eq!(value["\u{fffd}"], 1);
}

#[test]
fn values_with_different_halves_are_not_equal() {
    let json = |text: &str| Json::parse(text).unwrap();
    assert_ne!(json(r#""\ud800""#), json(r#""\ud801""#));
    assert_ne!(json(r#""\ud800""#), json(r#""\ufffd""#));
    assert_eq!(json(r#"[ "\ud800" ]"#), json(r#"[ "\ud800" ]"#));
}

#[test]
fn an_event_with_half_a_pair_reaches_a_typed_callback() {
    let json = br#"{"tool_name":"Ba\ud800sh","tool_input":{"command":"rm \udc00 -rf"}}"#;
    let event = Event::from_json(EventKind::Static(PreToolUse::row()), json).unwrap();
    let typed = event.typed::<PreToolUse>().unwrap();
    assert_eq!(typed.tool_name, "Ba\u{fffd}sh");
    assert_eq!(event.matcher_value(), Some("Ba\u{fffd}sh"));
    assert_eq!(typed.tool_input.get("command").unwrap().as_str().unwrap(), "rm \u{fffd} -rf");
    // On the wire stands what the host gave.
    assert!(event.wire().unwrap().contains(r#""tool_input":{"command":"rm \udc00 -rf"}"#));

    let json = br#"{"output":"secret \ud800"}"#;
    let event = Event::from_json(EventKind::Static(PostMessage::row()), json).unwrap();
    assert_eq!(event.typed::<PostMessage>().unwrap().output, "secret \u{fffd}");
}

#[test]
fn a_field_whose_name_cannot_be_kept_is_refused() {
    let error = Event::from_json(EventKind::Static(PostMessage::row()), br#"{"output":"","x\ud800":1}"#);
    assert!(matches!(error, Err(EventError::NotJson { .. })), "{error:?}");
}

#[test]
fn a_denial_that_quotes_half_a_pair_is_a_denial() {
    let row = Catalog::default().find("PreToolUse").unwrap();
    for text in [
        r#"{"decision":"deny","reason":"no \ud800 here"}"#,
        r#"{"reason":"\udc00\ud800","allowed":false}"#,
        r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"\ud83d"}}"#,
        r#"{"decision":"deny","x\ud800":{"deep":["\udfff"]}}"#,
        r#"{"d\u0065cision":"d\u0065ny","reason":"\uD800"}"#,
    ] {
        let reply = Reply::decode(text.as_bytes(), &row).unwrap();
        assert!(reply.denies(), "{text}");
    }
}

#[test]
fn a_rewrite_keeps_half_a_pair_as_it_came() {
    let row = Catalog::default().find("PreToolUse").unwrap();
    let reply = Reply::decode(br#"{"updatedInput":{"a":"x\ud800"}}"#, &row).unwrap();
    assert_eq!(reply.effects().unwrap().rewrites[0].value.text(), r#"{"a":"x\ud800"}"#);
}

#[test]
fn what_is_wrong_beside_half_a_pair_is_still_refused() {
    let row = Catalog::default().find("PreToolUse").unwrap();
    for text in [
        r#"{"decision":"deny","reason":"\ud800","decision":"allow"}"#,
        r#"{"decision":"den\ud800y"}"#,
        r#"{"decision":"allow","reason":"\ud800"} x"#,
        r#"{"decision":"allow","reason":"\ud80"}"#,
        r#"{"decision":"allow","reason":"\x"}"#,
        "{\"decision\":\"allow\",\"reason\":\"\\ud800\n\"}",
    ] {
        assert!(Reply::decode(text.as_bytes(), &row).is_err(), "{text}");
    }
}

#[test]
fn a_backslash_before_any_character_is_refused_and_never_a_panic() {
    let row = &crosier_protocol::event::TABLE[6];
    for text in ["{\\\u{feff}\\u0041", "{\"a\": \"\\é\\ud800\"}", "\\u\\", "\\u00e\u{10ffff}\\"] {
        assert!(crosier_protocol::Reply::decode(text.as_bytes(), row).is_err(), "{text:?}");
    }
}
