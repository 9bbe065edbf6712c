//! The three kinds of callbacks, typed and untyped, in both ways to fire.

use std::num::ParseIntError;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crosier::payload::{PostToolUse, PreToolUse, Stop, SubagentStart};
use crosier::{Decision, Engine, Event, Failure, FailureKind, Hook, Mode, Payload, Reply, Status};

use super::kit::{engine, failure, json, quiet, ran, says, tool};

/// Polls once, without any runtime.
fn without_runtime<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits for something"),
    }
}

/// Hooks of all three kinds that deny `rm` and know the input as text.
fn guards() -> Vec<Hook> {
    let judge = |command: &str| {
        if command.contains("rm ") { Reply::deny(format!("no: {command}")) } else { Reply::none() }
    };
    let command = |event: &PreToolUse| event.args().get("command").unwrap().as_str().unwrap().into_owned();
    vec![
        Hook::on(PreToolUse).named("inline").callback(move |e: &PreToolUse| judge(&command(e))),
        Hook::on(PreToolUse).named("async").async_callback(move |e: Arc<PreToolUse>| async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            judge(&command(&e))
        }),
        Hook::on(PreToolUse).named("blocking").blocking_callback(move |e: &PreToolUse| judge(&command(e))),
    ]
}

#[tokio::test]
async fn each_kind_decides_when_it_is_fired_with_a_struct_or_with_json() {
    for hook in guards() {
        let name = hook.name().unwrap().to_owned();
        let engine = engine([hook]);
        let wire = br#"{"tool_name":"Bash","tool_input":{"command":"rm -rf /"}}"#;
        let events = [
            Event::from(PreToolUse::new("Bash", json(r#"{"command":"rm -rf /"}"#))),
            engine.event("pre:tool", wire).unwrap(),
        ];
        for event in events {
            let outcome = engine.fire(event.clone()).await;
            assert_eq!(outcome.decision, Some(Decision::Deny), "{name}");
            assert_eq!(outcome.reason.as_deref(), Some("no: rm -rf /"));
            assert_eq!(outcome.by.as_deref(), Some(&*name));
            assert_eq!(engine.fire_blocking(event).decision, Some(Decision::Deny), "{name}");
        }
        assert_eq!(engine.fire(tool("Bash")).await.decision, None);
    }
}

#[test]
fn each_kind_decides_when_it_is_fired_without_a_runtime() {
    for hook in guards() {
        let engine = engine([hook]);
        let outcome = engine.fire_blocking(PreToolUse::new("Bash", json(r#"{"command":"rm -rf /"}"#)));
        assert!(outcome.is_denied());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_kind_decides_when_it_is_fired_blocking_on_a_thread_of_a_large_runtime() {
    let engine = engine(guards());
    assert_eq!(ran(&engine.fire_blocking(tool("Bash"))), ["inline", "async", "blocking"]);
}

#[tokio::test]
async fn each_kind_decides_when_it_is_fired_blocking_on_the_only_thread_of_a_runtime() {
    let engine = engine(guards());
    assert_eq!(ran(&engine.fire_blocking(tool("Bash"))), ["inline", "async", "blocking"]);
}

#[test]
fn fire_needs_no_runtime_when_all_callbacks_are_inline() {
    let on = || Hook::on(PreToolUse);
    let together = |name: &str| on().named(name).mode(Mode::Parallel).callback(|_: &PreToolUse| ());
    let engine = engine([
        quiet("first"),
        together("a"),
        together("b"),
        on().named("ready").async_callback(|_| async { Reply::none().context("at once") }),
        says("last", Reply::allow("fine")),
        on().named("audit").mode(Mode::Observe).callback(|_: &PreToolUse| ()),
    ]);
    let outcome = without_runtime(engine.fire(tool("Bash")));
    assert_eq!(ran(&outcome), ["first", "a", "b", "ready", "last", "audit"]);
    assert_eq!(outcome.decision, Some(Decision::Allow));
    assert_eq!(outcome.context, ["at once"]);
}

#[test]
fn an_untyped_callback_gets_the_event_itself() {
    let engine = engine([Hook::on_event(PreToolUse.kind()).named("any").callback(|event: &Event| {
        assert_eq!((event.name(), event.matcher_value()), ("PreToolUse", Some("Bash")));
        assert_eq!(event.get("hook_type").unwrap().text(), "\"PreToolUse\"");
        assert!(event.wire().unwrap().starts_with(r#"{"session_id":"s","#));
        Reply::deny(event.typed::<PreToolUse>().unwrap().tool())
    })]);
    let mut call = tool("Bash");
    call.base.session_id = Some("s".into());
    let outcome = engine.fire_blocking(call);
    assert_eq!(outcome.reason.as_deref(), Some("Bash"));
}

#[test]
fn a_typed_callback_sees_the_very_struct_that_was_fired() {
    let engine = engine([
        Hook::on(PreToolUse).named("one").callback_with(|event: &PreToolUse, call| {
            assert!(std::ptr::eq(event, call.event.typed::<PreToolUse>().unwrap()));
            assert_eq!(&**call.hook, "one");
            assert!(!call.second);
        }),
        Hook::on(PreToolUse).named("two").async_callback_with(|event: Arc<PreToolUse>, call| {
            let same = std::ptr::eq(&raw const *event, call.event.typed::<PreToolUse>().unwrap());
            async move { assert!(same) }
        }),
    ]);
    let outcome = engine.fire_blocking(tool("Bash"));
    assert_eq!(ran(&outcome), ["one", "two"], "{outcome:?}");
}

#[test]
fn an_answer_can_be_anything_that_says_enough() {
    let number = |text: &str| -> Result<u8, ParseIntError> { text.parse() };
    let on = |name: &str| Hook::on(PreToolUse).named(name);
    let engine = engine([
        on("unit").callback(|_: &PreToolUse| ()),
        on("none").callback(|_: &PreToolUse| None::<Reply>),
        on("some").callback(|_: &PreToolUse| Some(Reply::none().context("c"))),
        on("fine").callback(move |_: &PreToolUse| number("7").map(|_| Reply::none())),
        on("error").callback(move |_: &PreToolUse| number("seven").map(|_| Reply::none())),
        on("failure").callback(|_: &PreToolUse| Failure::new(FailureKind::BadOutput, "unclear")),
        on("its own kind").callback(|_: &PreToolUse| -> Result<(), Failure> {
            Err(Failure::new(FailureKind::WorkerLost, "gone"))
        }),
    ]);
    let outcome = engine.fire_blocking(tool("Bash"));
    assert_eq!(ran(&outcome), ["unit", "none", "some", "fine"]);
    assert_eq!(failure(&outcome, "error"), Some(FailureKind::Error));
    assert_eq!(failure(&outcome, "failure"), Some(FailureKind::BadOutput));
    assert_eq!(failure(&outcome, "its own kind"), Some(FailureKind::WorkerLost));
    assert_eq!(outcome.decision, None);
}

#[test]
fn an_answer_that_failed_counts_only_where_it_denies() {
    let failed = |reply: Reply| crosier::Answer::failed(reply, Failure::error("halfway"));
    let engine = engine([
        says("allows", failed(Reply::allow("sure").context("c").rewrite_input(json("{}")))),
        says("denies", failed(Reply::deny("no").context("c"))),
    ]);
    let outcome = engine.fire_blocking(tool("Bash"));
    assert_eq!(outcome.decision, Some(Decision::Deny));
    assert_eq!((outcome.reason.as_deref(), outcome.by.as_deref()), (Some("no"), Some("denies")));
    assert!(!outcome.by_failure, "the hook itself denied");
    assert!(outcome.context.is_empty());
    assert_eq!(outcome.reports[0].decision, None);
    assert_eq!(outcome.reports[1].status, Status::Failed);
}

#[test]
fn a_hook_gets_only_the_events_that_it_is_on() {
    let engine = engine([
        says("tool", Reply::deny("x")),
        Hook::on(Stop).named("stop").callback(|_: &Stop| Reply::resume("go on")),
        Hook::on(SubagentStart).named("start").callback(|e: &SubagentStart| {
            Reply::none().context(format!("{} is {}", e.agent_id, e.agent_type))
        }),
    ]);
    assert_eq!(ran(&engine.fire_blocking(Stop::default())), ["stop"]);
    let started = SubagentStart::new("a", "coder");
    assert_eq!(engine.fire_blocking(started).context, ["a is coder"]);
    assert!(engine.fire_blocking(PostToolUse::default()).reports.is_empty());
}

#[test]
fn time_is_taken_only_when_the_host_asks() {
    let hook = || {
        let on = |name: &str| Hook::on(PreToolUse).named(name);
        [
            on("inline").callback(|_: &PreToolUse| ()),
            on("async").async_callback(|_| async {}),
            on("blocking").blocking_callback(|_: &PreToolUse| ()),
        ]
    };
    let outcome = engine(hook()).fire_blocking(tool("Bash"));
    assert!(outcome.reports.iter().all(|report| report.duration.is_none()));
    assert!(outcome.to_json().text().contains(r#""duration_ms":null"#));
    let outcome = Engine::builder().hooks(hook()).timing().build().unwrap().fire_blocking(tool("Bash"));
    assert!(outcome.reports.iter().all(|report| report.duration.is_some()));
}

#[test]
fn a_host_may_fire_a_struct_of_its_own_for_a_built_in_event() {
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Clone, Default, Serialize, Deserialize)]
    struct Mine {
        #[serde(skip)]
        base: crosier::Base,
        tool_name: String,
        tool_input: crosier::Json,
        mine: u8,
    }
    impl Payload for Mine {
        fn row() -> &'static crosier::EventRow {
            PreToolUse::row()
        }
        fn base(&self) -> &crosier::Base {
            &self.base
        }
        fn base_mut(&mut self) -> &mut crosier::Base {
            &mut self.base
        }
        fn matcher_value(&self) -> Option<&str> {
            Some(&self.tool_name)
        }
    }

    let engine = engine([
        Hook::on_event(PreToolUse.kind()).named("mine").callback(|event: &Event| {
            Reply::none().context(format!("{}", event.typed::<Mine>().unwrap().mine))
        }),
        // Somebody else's hook, which knows the ordinary struct only.
        Hook::on(PreToolUse)
            .named("theirs")
            .matching("Bash")
            .callback(|e: &PreToolUse| Reply::deny(e.tool())),
        Hook::on(PreToolUse).named("later").callback(|_: &PreToolUse| ()),
    ]);
    let mine = Mine { tool_name: "Bash".into(), mine: 7, ..Mine::default() };
    let outcome = engine.fire_blocking(mine);
    assert_eq!(outcome.context, ["7"]);
    assert_eq!(outcome.reason.as_deref(), Some("Bash"));
    assert_eq!(outcome.by.as_deref(), Some("theirs"));
}
