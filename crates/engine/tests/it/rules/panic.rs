//! A panic in a callback is a report, wherever it happens.

use std::panic::panic_any;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crosier::payload::{PostToolUse, PreToolUse};
use crosier::{
    Answer, Callback, Decision, FailureKind, Handler, Hook, HookBuilder, OnError, Outcome, Reply, Status,
    Typed,
};

use super::kit::{engine, failure, quiet, ran, tool};

fn on(name: &str) -> HookBuilder<Typed<PreToolUse>> {
    Hook::on(PreToolUse).named(name)
}

fn words(text: &str) -> Reply {
    panic!("{text}")
}

fn detail<'a>(outcome: &'a Outcome, hook: &str) -> &'a str {
    let (_, failure) = outcome.failures().find(|(name, _)| *name == hook).unwrap();
    &failure.detail
}

/// A panic in every place where a callback's own code runs.
fn panicking() -> Vec<Hook> {
    vec![
        on("inline").callback(|_: &PreToolUse| -> Reply { panic!("inline said {}", 1) }),
        on("making").async_callback(|_| -> std::future::Ready<Reply> { panic!("making said 1") }),
        on("first poll").async_callback(|_| async { words("first poll said 1") }),
        on("later poll").async_callback(|_| async {
            tokio::task::yield_now().await;
            words("later poll said 1")
        }),
        on("blocking").blocking_callback(|_: &PreToolUse| -> Reply { panic!("blocking said 1") }),
        on("second run").callback_with(|_: &PreToolUse, call| {
            assert!(!call.second, "second run said 1");
            Reply::again(Duration::from_secs(1))
        }),
        on("answer").callback(|_: &PreToolUse| Unanswerable),
    ]
}

/// Panics when it is made into an answer.
struct Unanswerable;

impl From<Unanswerable> for Answer {
    fn from(_: Unanswerable) -> Self {
        panic!("answer said 1")
    }
}

#[tokio::test]
async fn a_panic_is_a_report_and_the_next_hook_runs() {
    let mut hooks = panicking();
    let names: Vec<String> = hooks.iter().map(|hook| hook.name().unwrap().to_owned()).collect();
    hooks.push(quiet("next"));
    let engine = engine(hooks);
    for outcome in [engine.fire(tool("Bash")).await, engine.fire_blocking(tool("Bash"))] {
        for name in &names {
            assert_eq!(failure(&outcome, name), Some(FailureKind::Panic), "{name}");
            assert!(detail(&outcome, name).contains(&format!("{name} said 1")), "{name}");
        }
        assert_eq!(ran(&outcome), ["next"]);
        assert_eq!(outcome.decision, None);
    }
}

#[test]
fn a_panic_denies_when_the_hook_is_closed() {
    for hook in panicking() {
        let name = hook.name().unwrap().to_owned();
        let engine = crosier::Engine::builder().on_error(OnError::Abort).hook(hook).build().unwrap();
        let outcome = engine.fire_blocking(tool("Bash"));
        assert_eq!(outcome.decision, Some(Decision::Deny), "{name}");
        assert!(outcome.by_failure && outcome.reason.as_deref().unwrap().contains("panic"));
    }
}

#[test]
fn a_panic_where_nothing_can_be_denied_hides_the_output_when_the_hook_is_closed() {
    let hook = |name: &str| Hook::on(PostToolUse).named(name).on_error(OnError::Abort);
    let engine = engine([
        hook("redact").callback(|_: &PostToolUse| -> Reply { panic!("x") }),
        hook("next").callback(|_: &PostToolUse| ()),
    ]);
    let outcome = engine.fire_blocking(PostToolUse::default());
    assert!(outcome.suppress_output && outcome.by_failure);
    assert_eq!(outcome.reports[1].status, Status::Skipped);
}

#[test]
fn a_panic_without_words_is_reported_too() {
    let engine = engine([
        on("number").callback(|_: &PreToolUse| -> Reply { panic_any(7) }),
        on("string").callback(|_: &PreToolUse| -> Reply { panic_any("owned".to_owned()) }),
    ]);
    let outcome = engine.fire_blocking(tool("Bash"));
    assert!(detail(&outcome, "number").contains("no message"));
    assert!(detail(&outcome, "string").contains("owned"));
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("dropped");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_a_late_callback_is_dropped_is_still_a_timeout() {
    let engine = engine([
        on("late").timeout(Duration::from_secs(1)).async_callback(|_| async {
            let _bomb = Bomb;
            std::future::pending::<()>().await;
        }),
        quiet("next"),
    ]);
    let outcome = engine.fire(tool("Bash")).await;
    assert_eq!(failure(&outcome, "late"), Some(FailureKind::Timeout));
    assert_eq!(ran(&outcome), ["next"]);
}

/// A future of a host that answers, and panics when it is dropped afterwards.
struct Grudge {
    _bomb: Bomb,
}

impl Future for Grudge {
    type Output = Answer;
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Answer> {
        Poll::Ready(Reply::deny("no").into())
    }
}

#[test]
fn a_panic_while_a_finished_callback_is_dropped_does_not_reach_the_host() {
    let ready_made = Callback::Async(Arc::new(|_| Box::pin(Grudge { _bomb: Bomb })));
    for hook in [
        on("grudge").async_callback(|_: Arc<PreToolUse>| Grudge { _bomb: Bomb }),
        on("grudge").with(Handler::Callback(ready_made)),
    ] {
        let outcome = engine([hook]).fire_blocking(tool("Bash"));
        assert!(outcome.is_denied() || failure(&outcome, "grudge").is_some(), "{outcome:?}");
    }
}

fn bomb() -> Reply {
    panic_any(Bomb)
}

#[test]
fn a_panic_whose_own_words_panic_does_not_reach_the_host() {
    let hooks = || {
        [
            on("inline").callback(|_: &PreToolUse| bomb()),
            on("async").async_callback(|_| async { bomb() }),
            on("blocking").timeout(super::kit::PATIENCE).blocking_callback(|_: &PreToolUse| bomb()),
            quiet("next"),
        ]
    };
    let outcome = engine(hooks()).fire_blocking(tool("Bash"));
    for name in ["inline", "async", "blocking"] {
        assert_eq!(failure(&outcome, name), Some(FailureKind::Panic), "{name}");
    }
    assert_eq!(ran(&outcome), ["next"]);
}

#[tokio::test]
async fn an_engine_is_as_good_as_before_after_many_panics() {
    let engine = engine(panicking());
    for _ in 0..20 {
        let outcome = engine.fire(tool("Bash")).await;
        assert_eq!(outcome.failures().count(), 7);
    }
    engine.register(quiet("new")).unwrap();
    assert_eq!(ran(&engine.fire(tool("Bash")).await), ["new"]);
}
