//! Stages of several hooks: together, all to the end, and folded in plan order.

use std::sync::Arc;
use std::time::Duration;

use crosier::payload::PreToolUse;
use crosier::{Decision, FailureKind, Hook, HookBuilder, Mode, OnError, Reply, Status, Typed};
use tokio::time::{Instant, sleep};

use super::kit::{Diary, engine, failure, ignored, json, quiet, ran, says, tool, with_status};

fn together(name: &str) -> HookBuilder<Typed<PreToolUse>> {
    Hook::on(PreToolUse).named(name).mode(Mode::Parallel)
}

/// Answers after so many seconds.
fn after(name: &str, seconds: u64, reply: Reply) -> Hook {
    together(name).async_callback(move |_: Arc<PreToolUse>| {
        let reply = reply.clone();
        async move {
            sleep(Duration::from_secs(seconds)).await;
            reply
        }
    })
}

#[tokio::test(start_paused = true)]
async fn results_are_in_plan_order_whoever_finishes_first() {
    let context = |text: &str| Reply::none().context(text);
    let engine = engine([
        after("slow", 3, context("1").with(|effects| effects.suppress = false)),
        after("quick", 1, context("2")),
        after("middle", 2, context("3")),
    ]);
    let began = Instant::now();
    let outcome = engine.fire(tool("Bash")).await;
    assert_eq!(began.elapsed().as_secs(), 3, "they ran one after the other");
    assert_eq!(outcome.context, ["1", "2", "3"]);
    assert_eq!(ran(&outcome), ["slow", "quick", "middle"]);
}

#[tokio::test(start_paused = true)]
async fn the_first_deny_in_plan_order_is_the_one_that_counts() {
    let engine = engine([
        after("asks", 9, Reply::ask("hm")),
        after("slow", 5, Reply::deny("slow says no").context("a")),
        after("quick", 1, Reply::deny("quick says no").context("b")),
        quiet("next"),
    ]);
    let outcome = engine.fire(tool("Bash")).await;
    assert_eq!(outcome.by.as_deref(), Some("slow"));
    assert_eq!(outcome.reason.as_deref(), Some("slow says no"));
    assert_eq!(ran(&outcome), ["asks", "slow", "quick"], "all of the stage finish");
    assert_eq!(outcome.context, ["a", "b"], "every effect of the stage is folded");
    assert_eq!(with_status(&outcome, Status::Skipped), ["next"]);
}

#[tokio::test(start_paused = true)]
async fn a_rewrite_from_a_stage_is_ignored_also_when_it_is_alone_in_it() {
    for neighbours in [0, 1] {
        let mut hooks = vec![after("rewrites", 1, Reply::allow("x").rewrite_input(json("{}")))];
        hooks.extend((0..neighbours).map(|_| after("neighbour", 1, Reply::none())));
        let outcome = engine(hooks).fire(tool("Bash")).await;
        assert_eq!(outcome.updated_input, None);
        assert_eq!(ignored(&outcome, "rewrites"), ["rewrite"]);
        assert_eq!(outcome.decision, Some(Decision::Allow), "the rest of the reply counts");
    }
}

#[tokio::test(start_paused = true)]
async fn only_neighbours_form_a_stage() {
    let engine = engine([
        after("a1", 5, Reply::none()),
        after("a2", 5, Reply::none()),
        says("between", Reply::none().rewrite_input(json(r#"{"n":1}"#))),
        after("b1", 5, Reply::none()),
        after("b2", 5, Reply::none()),
    ]);
    let plan = engine.explain(&tool("Bash").into()).plan;
    let stages: Vec<Vec<&str>> =
        plan.stages().map(|stage| stage.iter().map(|entry| &*entry.name).collect()).collect();
    assert_eq!(stages, [vec!["a1", "a2"], vec!["between"], vec!["b1", "b2"]]);
    let began = Instant::now();
    let outcome = engine.fire(tool("Bash")).await;
    assert_eq!(began.elapsed().as_secs(), 10);
    assert_eq!(ran(&outcome), ["a1", "a2", "between", "b1", "b2"]);
}

#[test]
fn neighbours_are_neighbours_in_the_order_and_not_in_the_declaration() {
    let hook = |name: &str, priority, mode| {
        Hook::on(PreToolUse).named(name).priority(priority).mode(mode).callback(|_: &PreToolUse| ())
    };
    let engine = engine([
        hook("p1", 10, Mode::Parallel),
        hook("s", 30, Mode::Sequential),
        hook("p2", 20, Mode::Parallel),
        hook("watch", 15, Mode::Observe),
    ]);
    let plan = engine.explain(&tool("Bash").into()).plan;
    let sizes: Vec<usize> = plan.stages().map(<[_]>::len).collect();
    assert_eq!(sizes, [2, 1]);
    assert_eq!(plan.observers().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_wide_stage_runs_a_few_at_a_time() {
    let width = (4 * std::thread::available_parallelism().map_or(1, usize::from)).min(8);
    let diary = Diary::default();
    let hooks = (0..20).map(|n| {
        let diary = diary.clone();
        together(&format!("h{n:02}")).async_callback(move |_| {
            let diary = diary.clone();
            async move {
                diary.note("in");
                let inside = || {
                    let lines = diary.lines();
                    let count = |word: &str| lines.iter().filter(|line| *line == word).count();
                    count("in") - count("out")
                };
                assert!(inside() <= 8, "{}", inside());
                sleep(Duration::from_secs(1)).await;
                diary.note("out");
            }
        })
    });
    let engine = engine(hooks);
    let began = Instant::now();
    let outcome = engine.fire(tool("Bash")).await;
    assert_eq!(ran(&outcome).len(), 20, "{outcome:?}");
    assert_eq!(began.elapsed().as_secs(), 20_u64.div_ceil(width.try_into().unwrap()));
}

#[tokio::test(start_paused = true)]
async fn failures_in_a_stage_are_reported_one_by_one_and_the_policy_holds() {
    let engine = engine([
        together("late").timeout(Duration::from_secs(1)).async_callback(|_| std::future::pending::<()>()),
        together("panics").callback(|_: &PreToolUse| -> Reply { panic!("x") }),
        after("fine", 2, Reply::none().context("c")),
        together("closed").on_error(OnError::Abort).callback(|_: &PreToolUse| crosier::Failure::error("e")),
        after("also fine", 1, Reply::allow("y")),
        quiet("next"),
    ]);
    let outcome = engine.fire(tool("Bash")).await;
    assert_eq!(failure(&outcome, "late"), Some(FailureKind::Timeout));
    assert_eq!(failure(&outcome, "panics"), Some(FailureKind::Panic));
    assert_eq!(ran(&outcome), ["fine", "also fine"]);
    assert_eq!(outcome.decision, Some(Decision::Deny));
    assert_eq!((outcome.by.as_deref(), outcome.by_failure), (Some("closed"), true));
    assert_eq!(outcome.context, ["c"]);
    assert_eq!(with_status(&outcome, Status::Skipped), ["next"]);
}

#[test]
fn a_stage_of_blocking_callbacks_runs_together_also_in_a_blocking_fire() {
    let barrier = Arc::new(std::sync::Barrier::new(3));
    let meet = |name: &str| {
        let barrier = Arc::clone(&barrier);
        together(name).timeout(super::kit::PATIENCE).blocking_callback(move |_: &PreToolUse| {
            // Nobody gets past this alone.
            barrier.wait();
        })
    };
    let outcome = engine([meet("a"), meet("b"), meet("c")]).fire_blocking(tool("Bash"));
    assert_eq!(ran(&outcome), ["a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_in_a_stage_keeps_its_own_reason() {
    use crosier::payload::PermissionRequest;
    let hook = |name: &str, reply: Reply| {
        Hook::on(PermissionRequest)
            .named(name)
            .mode(Mode::Parallel)
            .callback(move |_: &PermissionRequest| reply.clone())
    };
    let engine = engine([hook("a", Reply::deny("first")), hook("b", Reply::deny("second").interrupt())]);
    let outcome = engine.fire(PermissionRequest::default()).await;
    assert_eq!((outcome.by.as_deref(), outcome.reason.as_deref()), (Some("a"), Some("first")));
    let halt = outcome.halt.unwrap();
    assert_eq!((&*halt.by, &*halt.reason), ("b", "second"));
}
