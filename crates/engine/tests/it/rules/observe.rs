//! Hooks that only look on: after the walk, also after a deny or a halt, and without any effect.

use std::sync::{Arc, Mutex};

use crosier::payload::{PostToolUse, PreToolUse, Stop};
use crosier::{
    Decision, Event, FailureKind, Hook, HookBuilder, Mode, OnError, Reply, Status, Strategy, Typed,
};

use super::kit::{Diary, engine, failure, ignored, json, quiet, ran, says, tool, with_status};

fn watcher(name: &str) -> HookBuilder<Typed<PreToolUse>> {
    Hook::on(PreToolUse).named(name).mode(Mode::Observe)
}

/// Notes the decision in the outcome that it sees.
fn audit(diary: &Diary) -> Hook {
    let diary = diary.clone();
    watcher("audit").callback_with(move |_: &PreToolUse, call| {
        diary.note(call.event.get("outcome").unwrap().text());
    })
}

#[test]
fn an_observer_sees_a_denied_event_with_its_outcome() {
    let diary = Diary::default();
    let engine = engine([audit(&diary), says("guard", Reply::deny("no").context("c")), quiet("later")]);
    let outcome = engine.fire_blocking(tool("Bash"));
    assert_eq!(with_status(&outcome, Status::Skipped), ["later"]);
    assert_eq!(ran(&outcome), ["guard", "audit"]);
    let seen: serde_json::Value = serde_json::from_str(&diary.lines()[0]).unwrap();
    assert_eq!(seen["decision"], "deny");
    assert_eq!((&seen["reason"], &seen["by"]), (&"no".into(), &"guard".into()));
    assert_eq!(seen["context"], serde_json::json!(["c"]));
    let hooks: Vec<&str> =
        seen["reports"].as_array().unwrap().iter().map(|report| report["hook"].as_str().unwrap()).collect();
    assert_eq!(hooks, ["guard", "later"], "what ran before it");
}

#[test]
fn an_observer_sees_a_halted_and_an_undecided_event() {
    for (reply, halted, decision) in [
        (Reply::halt("enough"), true, serde_json::Value::Null),
        (Reply::none(), false, serde_json::Value::Null),
        (Reply::allow("x"), false, "allow".into()),
    ] {
        let diary = Diary::default();
        engine([audit(&diary), says("first", reply)]).fire_blocking(tool("Bash"));
        let seen: serde_json::Value = serde_json::from_str(&diary.lines()[0]).unwrap();
        assert_eq!(seen["halt"].is_object(), halted);
        assert_eq!(seen["decision"], decision);
    }
}

#[test]
fn an_observer_sees_the_input_as_the_hooks_left_it() {
    let diary = Diary::default();
    let seen = diary.clone();
    let engine = engine([
        watcher("audit").async_callback(move |e: Arc<PreToolUse>| {
            seen.note(e.tool_input.text());
            async {}
        }),
        says("rewrites", Reply::none().rewrite_input(json(r#"{"n":1}"#))),
    ]);
    engine.fire_blocking(tool("Bash"));
    assert_eq!(diary.lines(), [r#"{"n":1}"#]);
}

#[test]
fn nothing_that_an_observer_says_has_an_effect() {
    let wants_all = Reply::deny("no")
        .context("c")
        .rewrite_input(json("{}"))
        .inject(Strategy::ToolResult, "i")
        .suppress()
        .interrupt();
    let engine = engine([
        says("first", Reply::allow("yes")),
        watcher("greedy").callback(move |_: &PreToolUse| wants_all.clone()),
        watcher("halts").callback(|_: &PreToolUse| Reply::halt("stop")),
        watcher("allows").callback(|_: &PreToolUse| Reply::allow("me too")),
    ]);
    let outcome = engine.fire_blocking(tool("Bash"));
    assert_eq!(outcome.decision, Some(Decision::Allow));
    assert_eq!(outcome.by.as_deref(), Some("first"));
    assert!(outcome.context.is_empty() && outcome.inject.is_empty() && outcome.updated_input.is_none());
    assert!(outcome.halt.is_none() && !outcome.suppress_output);
    assert_eq!(
        ignored(&outcome, "greedy"),
        ["deny", "rewrite", "context", "inject", "suppress", "interrupt"]
    );
    assert_eq!(ignored(&outcome, "halts"), ["halt"]);
    assert!(outcome.reports[1..].iter().all(|report| report.decision.is_none()));
}

#[test]
fn an_observer_cannot_keep_the_loop_going() {
    let engine = engine([
        Hook::on(Stop).named("block").mode(Mode::Observe).callback(|_: &Stop| Reply::deny("go on")),
        Hook::on(Stop).named("continue").mode(Mode::Observe).callback(|_: &Stop| Reply::resume("go on")),
    ]);
    let outcome = engine.fire_blocking(Stop::default());
    assert_eq!(outcome.resume, None);
    assert_eq!(ignored(&outcome, "block"), ["resume"]);
    assert_eq!(ignored(&outcome, "continue"), ["resume"]);
}

#[test]
fn an_observer_that_fails_is_reported_and_nothing_more() {
    let engine = engine([
        watcher("panics").on_error(OnError::Abort).callback(|_: &PreToolUse| -> Reply { panic!("audit") }),
        watcher("lost")
            .on_error(OnError::Abort)
            .callback(|_: &PreToolUse| crosier::Failure::new(FailureKind::Delivery, "never saw it")),
        watcher("next").callback(|_: &PreToolUse| ()),
    ]);
    let outcome = engine.fire_blocking(tool("Bash"));
    assert_eq!(failure(&outcome, "panics"), Some(FailureKind::Panic));
    assert_eq!(failure(&outcome, "lost"), Some(FailureKind::Delivery));
    assert_eq!(ran(&outcome), ["next"]);
    assert_eq!((outcome.decision, outcome.halt, outcome.by_failure), (None, None, false));
}

#[test]
fn observers_come_last_whatever_their_priority_and_in_order() {
    let diary = Diary::default();
    let note = |name: &'static str, priority: i32, mode: Mode| {
        let diary = diary.clone();
        Hook::on(PreToolUse)
            .named(name)
            .priority(priority)
            .mode(mode)
            .callback(move |_: &PreToolUse| diary.note(name))
    };
    let engine = engine([
        note("o2", 2, Mode::Observe),
        note("w9", 9, Mode::Sequential),
        note("o1", 1, Mode::Observe),
        note("p5", 5, Mode::Parallel),
    ]);
    let outcome = engine.fire_blocking(tool("Bash"));
    assert_eq!(diary.lines(), ["p5", "w9", "o1", "o2"]);
    assert_eq!(ran(&outcome), ["p5", "w9", "o1", "o2"]);
}

#[test]
fn all_observers_get_one_and_the_same_json() {
    let events: Arc<Mutex<Vec<Event>>> = Arc::default();
    let look = |name: &str| {
        let events = Arc::clone(&events);
        Hook::on_event(PostToolUse.kind()).named(name).mode(Mode::Observe).callback(move |event: &Event| {
            events.lock().unwrap().push(event.clone());
        })
    };
    engine([look("a"), look("b"), look("c")]).fire_blocking(PostToolUse::default());
    let events = events.lock().unwrap();
    let place = |event: &Event| event.wire().unwrap().as_ptr();
    assert!(events.len() == 3 && events.iter().all(|event| place(event) == place(&events[0])));
}
