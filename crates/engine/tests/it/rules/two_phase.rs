//! A first answer that asks to be called once more: the second answer counts.

use std::sync::Arc;
use std::time::Duration;

use crosier::payload::PreToolUse;
use crosier::{Call, Decision, FailureKind, Hook, HookBuilder, OnError, Reply, Typed};
use tokio::time::{Instant, sleep};

use super::kit::{Diary, engine, failure, json, quiet, ran, tool};

fn on(name: &str) -> HookBuilder<Typed<PreToolUse>> {
    Hook::on(PreToolUse).named(name)
}

fn again_then(call: Call<'_>, reply: Reply) -> Reply {
    if call.second { reply } else { Reply::again(Duration::from_secs(60)).context("not yet") }
}

#[tokio::test(start_paused = true)]
async fn every_kind_is_called_twice_and_its_second_answer_counts() {
    let inline =
        on("inline").callback_with(|_: &PreToolUse, call| again_then(call, Reply::deny("seen twice")));
    let polled = on("async").async_callback_with(|_: Arc<PreToolUse>, call| {
        let reply = again_then(call, Reply::deny("seen twice"));
        async move {
            sleep(Duration::from_secs(1)).await;
            reply
        }
    });
    for hook in [inline, polled] {
        let outcome = engine([hook]).fire(tool("Bash")).await;
        assert_eq!(outcome.reason.as_deref(), Some("seen twice"));
        assert!(outcome.context.is_empty(), "nothing is kept of the first answer");
        assert_eq!(outcome.reports.len(), 1);
    }
}

#[test]
fn a_blocking_callback_is_called_twice_too() {
    let diary = Diary::default();
    let calls = diary.clone();
    let engine = engine([on("blocking").blocking_callback(move |_: &PreToolUse| {
        calls.note("called");
        if calls.lines().len() == 1 { Reply::again(Duration::from_secs(60)) } else { Reply::ask("well?") }
    })]);
    assert_eq!(engine.fire_blocking(tool("Bash")).decision, Some(Decision::Ask));
    assert_eq!(diary.lines(), ["called", "called"]);
}

#[tokio::test(start_paused = true)]
async fn the_second_run_has_the_time_that_the_first_asked_for() {
    let slow = |within: u64, takes: u64| {
        let name = format!("{takes} of {within}");
        on(&name).timeout(Duration::from_secs(1)).async_callback_with(move |_: Arc<PreToolUse>, call| {
            let second = call.second;
            async move {
                if second {
                    sleep(Duration::from_secs(takes)).await;
                    return Reply::deny("done");
                }
                sleep(Duration::from_millis(900)).await;
                Reply::again(Duration::from_secs(within))
            }
        })
    };
    let outcome = engine([slow(100, 99)]).fire(tool("Bash")).await;
    assert_eq!(outcome.reason.as_deref(), Some("done"));
    let began = Instant::now();
    let outcome = engine([slow(100, 101)]).fire(tool("Bash")).await;
    assert_eq!(failure(&outcome, "101 of 100"), Some(FailureKind::Timeout));
    assert_eq!(began.elapsed().as_secs(), 100);
}

#[tokio::test(start_paused = true)]
async fn a_second_answer_that_asks_for_a_third_is_bad_output() {
    let again = || Reply::again(Duration::from_secs(1));
    let hooks = || {
        [
            on("inline").callback(move |_: &PreToolUse| again()),
            on("async").async_callback(move |_| async move { again() }),
            on("closed").on_error(OnError::Abort).callback(move |_: &PreToolUse| again()),
            quiet("next"),
        ]
    };
    let outcome = engine(hooks()).fire(tool("Bash")).await;
    assert_eq!(failure(&outcome, "inline"), Some(FailureKind::BadOutput));
    assert_eq!(failure(&outcome, "async"), Some(FailureKind::BadOutput));
    assert_eq!(outcome.decision, Some(Decision::Deny));
    assert!(outcome.by_failure);
    assert!(ran(&outcome).is_empty());
}

#[test]
fn both_runs_see_what_the_hooks_before_left() {
    let diary = Diary::default();
    let seen = diary.clone();
    let engine = engine([
        on("rewrites").callback(|_: &PreToolUse| Reply::none().rewrite_input(json(r#"{"n":1}"#))),
        on("looks twice").callback_with(move |event: &PreToolUse, call| {
            seen.note(event.tool_input.text());
            again_then(call, Reply::none())
        }),
    ]);
    engine.fire_blocking(tool("Bash"));
    assert_eq!(diary.lines(), [r#"{"n":1}"#, r#"{"n":1}"#]);
}
