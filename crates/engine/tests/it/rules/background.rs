//! Hooks that nobody waits for: only their context counts, later, and for the same session and agent.

use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};

use crosier::payload::{PostMessage, PreToolUse, SessionStart};
use crosier::{Base, Decision, Engine, FailureKind, Hook, Mode, OnError, Outcome, Reply, Status};

use super::kit::{Diary, PATIENCE, engine, eventually, failure, json, quiet, tool, with_status};

fn base(session: &str, agent: Option<&str>) -> Base {
    Base::default().session_id(session.to_owned()).agent_id(agent.map(str::to_owned))
}

fn call(session: &str, agent: Option<&str>) -> PreToolUse {
    tool("Bash").with_base(base(session, agent))
}

fn start(session: &str, agent: Option<&str>) -> SessionStart {
    SessionStart::new("startup").with_base(base(session, agent))
}

fn context(outcome: Outcome) -> Option<Vec<String>> {
    (!outcome.context.is_empty()).then_some(outcome.context)
}

/// An engine whose background hook says which session and agent it ran for.
fn telling() -> Engine {
    engine([Hook::on(PreToolUse).named("tells").mode(Mode::Background).callback(|e: &PreToolUse| {
        let agent = e.base.agent_id.as_deref().unwrap_or("nobody");
        Reply::none().context(format!("{} of {}", agent, e.base.session_id.as_deref().unwrap()))
    })])
}

#[test]
fn its_context_comes_with_the_next_outcome_of_the_same_session_and_agent_only() {
    let engine = telling();
    let outcome = engine.fire_blocking(call("s", Some("a")));
    assert_eq!(with_status(&outcome, Status::Background), ["tells"]);
    assert!(outcome.context.is_empty());
    let delivered = eventually(|| {
        for other in [start("s", Some("b")), start("s", None), start("t", Some("a")), start("t", None)] {
            assert!(engine.fire_blocking(other).context.is_empty());
        }
        context(engine.fire_blocking(start("s", Some("a"))))
    });
    assert_eq!(delivered, ["a of s"]);
    assert!(engine.fire_blocking(start("s", Some("a"))).context.is_empty(), "it is delivered once");
}

#[test]
fn each_agent_gets_its_own_whoever_asks_first() {
    let engine = telling();
    for agent in [Some("a"), Some("b"), None] {
        engine.fire_blocking(call("s", agent));
    }
    for (agent, wanted) in [(None, "nobody of s"), (Some("b"), "b of s"), (Some("a"), "a of s")] {
        assert_eq!(eventually(|| context(engine.fire_blocking(start("s", agent)))), [wanted]);
    }
}

#[test]
fn an_event_that_takes_no_context_leaves_it_waiting() {
    let engine = telling();
    engine.fire_blocking(call("s", None));
    let delivered = eventually(|| {
        let message = PostMessage::new("x").with_base(base("s", None));
        assert!(engine.fire_blocking(message).context.is_empty());
        context(engine.fire_blocking(start("s", None)))
    });
    assert_eq!(delivered, ["nobody of s"]);
}

#[test]
fn what_waited_comes_before_what_is_new() {
    let engine = telling();
    engine
        .register(Hook::on(SessionStart).callback(|_: &SessionStart| Reply::none().context("new")))
        .unwrap();
    engine.fire_blocking(call("s", None));
    let delivered = eventually(|| {
        let context = engine.fire_blocking(start("s", None)).context;
        (context.len() > 1).then_some(context)
    });
    assert_eq!(delivered, ["nobody of s", "new"]);
}

#[test]
fn every_kind_of_callback_can_be_left_to_itself() {
    let on = |name: &str| Hook::on(PreToolUse).named(name).mode(Mode::Background);
    for hook in [
        on("inline").callback(|_: &PreToolUse| Reply::none().context("done")),
        on("async").async_callback(|_| async {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            Reply::none().context("done")
        }),
        on("blocking").blocking_callback(|_: &PreToolUse| Reply::none().context("done")),
        on("twice").callback_with(|_: &PreToolUse, call| {
            if call.second { Reply::none().context("done") } else { Reply::again(PATIENCE) }
        }),
    ] {
        let engine = engine([hook]);
        engine.fire_blocking(call("s", None));
        assert_eq!(eventually(|| context(engine.fire_blocking(start("s", None)))), ["done"]);
    }
}

#[test]
fn the_event_does_not_wait_and_only_context_is_taken() {
    let (release, held) = sync_channel::<()>(1);
    let held = Mutex::new(held);
    let diary = Diary::default();
    let ended = diary.clone();
    let engine = engine([
        Hook::on(PreToolUse).named("slow").mode(Mode::Background).callback(move |_: &PreToolUse| {
            held.lock().unwrap().recv_timeout(PATIENCE).unwrap();
            ended.note("ended");
            Reply::deny("too late").context("c").rewrite_input(json("{}")).interrupt()
        }),
        quiet("next"),
    ]);
    let outcome = engine.fire_blocking(call("s", None));
    assert!(diary.lines().is_empty(), "the fire waited");
    assert_eq!(outcome.decision, None);
    assert_eq!(super::kit::ran(&outcome), ["next"]);
    release.send(()).unwrap();
    let later = eventually(|| {
        let outcome = engine.fire_blocking(start("s", None));
        (!outcome.context.is_empty()).then_some(outcome)
    });
    assert_eq!((later.decision, later.halt, later.updated_input), (None, None, None));
    assert_eq!(later.context, ["c"]);
}

#[test]
fn a_panic_in_the_background_harms_nobody() {
    let diary = Diary::default();
    let calls = diary.clone();
    let engine =
        engine([Hook::on(PreToolUse).mode(Mode::Background).callback(move |_: &PreToolUse| -> Reply {
            calls.note("called");
            panic!("in the background")
        })]);
    // More often than there are places: each panic must give its place back.
    for _ in 0..100 {
        eventually(|| {
            let outcome = engine.fire_blocking(call("s", None));
            (outcome.reports[0].status == Status::Background).then(|| assert_eq!(outcome.decision, None))
        });
    }
    eventually(|| (diary.lines().len() == 100).then_some(()));
}

#[test]
fn too_many_at_once_is_a_failure_and_not_a_queue() {
    let (release, held) = sync_channel::<()>(64);
    let held = Mutex::new(held);
    let engine = engine([Hook::on(PreToolUse).named("slow").mode(Mode::Background).callback(
        move |_: &PreToolUse| {
            let _ = held.lock().unwrap().recv_timeout(PATIENCE);
        },
    )]);
    let failures =
        (0..40).filter(|_| failure(&engine.fire_blocking(call("s", None)), "slow").is_some()).count();
    assert_eq!(failures, 8, "32 places");
    for _ in 0..32 {
        release.send(()).unwrap();
    }
}

#[test]
fn a_launcher_takes_over_and_its_context_has_nowhere_to_go() {
    let diary = Diary::default();
    let launched = diary.clone();
    let build = |answer: fn() -> Result<(), crosier::Failure>| {
        let launched = launched.clone();
        Engine::builder()
            .launcher(move |job| {
                launched.note(format!("{} at {}", job.hook, job.event.name()));
                answer()
            })
            .hook(
                Hook::on(PreToolUse)
                    .named("bg")
                    .mode(Mode::Background)
                    .on_error(OnError::Abort)
                    .callback(|_: &PreToolUse| -> Reply { panic!("the host runs it") }),
            )
            .build()
            .unwrap()
    };
    let outcome = build(|| Ok(())).fire_blocking(tool("Bash"));
    assert_eq!(with_status(&outcome, Status::Background), ["bg"]);
    assert_eq!(super::kit::ignored(&outcome, "bg"), ["context"]);
    let outcome = build(|| Err(crosier::Failure::new(FailureKind::Spawn, "no"))).fire_blocking(tool("Bash"));
    assert_eq!(failure(&outcome, "bg"), Some(FailureKind::Spawn));
    assert_eq!(outcome.decision, Some(Decision::Deny));
    assert_eq!(diary.lines(), ["bg at PreToolUse", "bg at PreToolUse"]);
}

#[tokio::test]
async fn an_engine_that_is_gone_leaves_its_background_hooks_to_end() {
    let (done, ended) = sync_channel::<()>(1);
    let shared = Arc::new(done);
    let engine = engine([Hook::on(PreToolUse).mode(Mode::Background).callback(move |_: &PreToolUse| {
        let _ = shared.send(());
    })]);
    engine.fire(call("s", None)).await;
    drop(engine);
    ended.recv_timeout(PATIENCE).unwrap();
}
