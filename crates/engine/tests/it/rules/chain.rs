//! Each hook sees the input as the hooks before it left it.

use std::sync::Arc;

use crosier::payload::{
    PermissionRequest, PostMessage, PostToolUse, PreAgentSpawn, PreCompact, PreGitWrite, PreMessage,
    PreToolUse, PreViewRender, UserPromptSubmit,
};
use crosier::protocol::{Rewrite, Target};
use crosier::{Engine, Event, EventKind, Hook, Json, Outcome, Reply};

use super::kit::{Diary, engine, ignored, json, says, tool};

fn plus(event: &PreToolUse, digit: u8) -> Reply {
    let so_far = event.tool_input.get("n").map_or_else(String::new, |n| n.plain().into_owned());
    Reply::none().rewrite_input(json(&format!("{{\"n\":\"{so_far}{digit}\"}}")))
}

#[tokio::test]
async fn rewrites_add_up_through_every_kind_of_callback() {
    let on = || Hook::on(PreToolUse);
    let engine = engine([
        on().callback(|e: &PreToolUse| plus(e, 1)),
        on().async_callback(|e: Arc<PreToolUse>| async move { plus(&e, 2) }),
        on().blocking_callback(|e: &PreToolUse| plus(e, 3)),
        on().callback_with(|_: &PreToolUse, call| plus(call.event.typed().unwrap(), 4)),
        Hook::on_event(PreToolUse.kind()).callback(|e: &Event| plus(e.typed().unwrap(), 5)),
        Hook::on_event(PreToolUse.kind()).callback(|e: &Event| {
            assert_eq!(e.get("tool_input").unwrap().text(), r#"{"n":"12345"}"#);
            assert!(e.wire().unwrap().ends_with(r#""tool_input":{"n":"12345"}}"#));
        }),
    ]);
    for outcome in [engine.fire(tool("Bash")).await, engine.fire_blocking(tool("Bash"))] {
        assert!(outcome.failures().next().is_none(), "{outcome:?}");
        assert_eq!(outcome.updated_input, Some(json(r#"{"n":"12345"}"#)));
        assert_eq!(outcome.updated_output, None);
    }
}

#[test]
fn what_a_rewrite_does_not_touch_stays_as_the_host_gave_it() {
    let diary = Diary::default();
    let seen = diary.clone();
    let engine = engine([
        says("rewrites", Reply::none().rewrite_input(json(r#"{"big":123456789012345678901234567890}"#))),
        Hook::on_event(PreToolUse.kind()).callback(move |e: &Event| seen.note(e.wire().unwrap())),
    ]);
    let wire = concat!(
        r#"{"session_id":"s","transcript_path":"/t","cwd":"/w","permission_mode":"plan","hook_event_name":"PreToolUse","#,
        r#""hook_type":"PreToolUse","agent_id":"a","orchestrator_id":"o","timestamp":"t","#,
        r#""x":[1, 2],"tool_name":"Bash","tool_input":{"a":1},"tool_use_id":"u","y":1e400}"#
    );
    let outcome = engine.fire_blocking(engine.event("PreToolUse", wire.as_bytes()).unwrap());
    let expected = wire.replace(r#"{"a":1}"#, r#"{"big":123456789012345678901234567890}"#);
    assert_eq!(diary.lines(), [expected]);
    assert_eq!(outcome.updated_input.unwrap().text(), r#"{"big":123456789012345678901234567890}"#);
}

#[test]
fn every_rewritable_field_is_seen_by_the_next_hook_and_told_to_the_host() {
    fn check(event: Event, field: &'static str, value: Json, is_input: bool) {
        let kind: EventKind = event.kind().clone();
        let (old, new) = (event.get(field).unwrap(), value.clone());
        let diary = Diary::default();
        let seen = diary.clone();
        let engine = engine([
            Hook::on_event(kind.clone()).callback(move |e: &Event| {
                assert_eq!(e.get(field), Some(old.clone()));
                let value = new.clone();
                if is_input {
                    Reply::none().rewrite_input(value)
                } else {
                    Reply::none().rewrite_output(value)
                }
            }),
            Hook::on_event(kind.clone()).callback(move |e: &Event| seen.note(e.get(field).unwrap().text())),
        ]);
        let outcome: Outcome = engine.fire_blocking(event);
        assert_eq!(diary.lines(), [value.text()], "{}", kind.name);
        let (told, other) = if is_input {
            (outcome.updated_input, outcome.updated_output)
        } else {
            (outcome.updated_output, outcome.updated_input)
        };
        assert_eq!((told, other), (Some(value), None), "{}", kind.name);
    }
    let (object, text) = (json(r#"{"k":1}"#), Json::from("new"));
    check(tool("Bash").into(), "tool_input", object.clone(), true);
    check(PermissionRequest::default().into(), "tool_input", object.clone(), true);
    check(PreMessage::default().into(), "prompt", text.clone(), true);
    check(PreAgentSpawn::default().into(), "config", object.clone(), true);
    check(PreGitWrite::default().into(), "content", text.clone(), true);
    check(PreCompact::default().into(), "custom_instructions", text.clone(), true);
    check(PreViewRender::default().into(), "view", object.clone(), true);
    check(PostMessage::default().into(), "output", text, false);
    check(PostToolUse::default().into(), "tool_response", object, false);
}

#[test]
fn the_derived_output_follows_a_rewritten_response() {
    let diary = Diary::default();
    let seen = diary.clone();
    let on = || Hook::on(PostToolUse);
    let engine = engine([
        on().callback(|_: &PostToolUse| Reply::none().rewrite_output("clean")),
        on().callback_with(move |e: &PostToolUse, call| {
            seen.note(e.tool_output());
            seen.note(call.event.get("tool_output").unwrap().text());
        }),
    ]);
    engine.fire_blocking(PostToolUse::new("", "", "secret"));
    assert_eq!(diary.lines(), ["clean", "\"clean\""]);
}

#[test]
fn a_rewrite_of_a_denied_event_is_not_told() {
    let engine = engine([
        says("rewrites", Reply::allow("fine").rewrite_input(json("{}"))),
        says("denies", Reply::deny("no").rewrite_input(json(r#"{"x":1}"#))),
    ]);
    let outcome = engine.fire_blocking(tool("Bash"));
    assert_eq!(outcome.updated_input, None);
}

#[test]
fn a_rewrite_for_the_wrong_phase_or_field_is_listed_and_not_applied() {
    let field = |name: &str| {
        let target = Target::Field(name.to_owned());
        Reply::none().with(|effects| effects.rewrites.push(Rewrite::new(target, "x")))
    };
    let engine = engine([
        says("output", Reply::none().rewrite_output("x")),
        says("field", field("tool_name")),
        says("unknown", field("nothing")),
        Hook::on(UserPromptSubmit)
            .named("prompt")
            .callback(|_: &UserPromptSubmit| Reply::none().rewrite_input("x")),
    ]);
    let outcome = engine.fire_blocking(tool("Bash"));
    for hook in ["output", "field", "unknown"] {
        assert_eq!(ignored(&outcome, hook), ["rewrite"], "{hook}");
    }
    assert_eq!(outcome.updated_input, None);
    let outcome = engine.fire_blocking(UserPromptSubmit::default());
    assert_eq!(ignored(&outcome, "prompt"), ["rewrite"]);
}

#[test]
fn a_rewrite_that_the_field_cannot_hold_is_listed_and_not_applied() {
    let diary = Diary::default();
    let seen = diary.clone();
    let on = |name: &str| Hook::on(PreMessage).named(name);
    let engine = engine([
        on("number").callback(|_: &PreMessage| Reply::none().rewrite_input(json("5"))),
        on("typed").callback(move |e: &PreMessage| seen.note(e.prompt.clone())),
    ]);
    let outcome = engine.fire_blocking(PreMessage::new("hello"));
    assert_eq!(ignored(&outcome, "number"), ["rewrite"]);
    assert_eq!(diary.lines(), ["hello"]);
    assert_eq!((outcome.updated_input, outcome.decision), (None, None));
}

#[test]
fn an_engine_never_changes_the_event_of_the_host() {
    let engine: Engine = engine([says("rewrites", Reply::none().rewrite_input(json("{}")))]);
    let event = Event::from(tool("Bash"));
    engine.fire_blocking(&event);
    assert_eq!(event.typed::<PreToolUse>().unwrap().tool_input, json(r#"{"command":"ls"}"#));
    assert!(event.wire().unwrap().contains(r#"{"command":"ls"}"#));
}
