//! Many hooks at once, and many in a row: nothing is mixed up, nothing is lost, nothing is left behind.

use std::thread;
use std::time::Duration;

use crosier::payload::PreToolUse;
use crosier::{Decision, FailureKind, Hook, Mode, OnError, Reply, Status};
use serde_json::json;

use super::lab::{Lab, Way, each_way, event, ms, one_way, runtime};
use super::vitals::{self, Vitals, resident_bytes, until};

/// A hook that says back which event it got.
const ECHO: &str = r#"read line; n=${line#*\"n\":}; echo "${n%%\}*}" >&2; exit 2"#;

fn numbered(n: usize) -> PreToolUse {
    PreToolUse::new("Bash", json!({ "n": n }))
}

#[test]
fn two_hundred_at_once_from_many_threads_are_not_mixed_up() {
    one_way(Way::Blocking, |lab| {
        let engine = lab.engine([lab.shell(ECHO).hook()]);
        thread::scope(|scope| {
            let fire = |n| lab.fire(&engine, numbered(n));
            let fires: Vec<_> = (0..200).map(|n| scope.spawn(move || fire(n))).collect();
            for (n, fire) in fires.into_iter().enumerate() {
                assert_eq!(fire.join().unwrap().reason.as_deref(), Some(n.to_string().as_str()));
            }
        });
    });
}

#[test]
fn two_hundred_at_once_on_one_runtime_are_not_mixed_up() {
    one_way(Way::Async, |lab| {
        let engine = lab.engine([lab.shell(ECHO).hook()]);
        runtime().block_on(async {
            let fires = (0..200).map(|n| engine.fire(numbered(n)));
            let outcomes = futures_util::future::join_all(fires).await;
            for (n, outcome) in outcomes.into_iter().enumerate() {
                assert_eq!(outcome.reason.as_deref(), Some(n.to_string().as_str()));
            }
        });
    });
}

#[test]
fn fifty_parallel_hooks_of_one_event_are_folded_in_order() {
    each_way(|lab| {
        let hook = |n: usize| {
            // The earlier a hook stands, the later it is done.
            let line = format!("sleep 0.0{}; echo '{{\"systemMessage\":\"{n}\"}}'", (50 - n) / 10);
            Hook::on(PreToolUse).mode(Mode::Parallel).command(lab.shell(line).spec)
        };
        let outcome = lab.fire(&lab.engine((0..50).map(hook)), event());
        assert_eq!(outcome.context, (0..50).map(|n| n.to_string()).collect::<Vec<_>>());
    });
}

#[test]
fn one_parallel_hook_that_hangs_does_not_cost_the_deny_of_another() {
    each_way(|lab| {
        let hook = |name: &str, line: &str, timeout| {
            let hook = Hook::on(PreToolUse).named(name).mode(Mode::Parallel).timeout(timeout);
            hook.command(lab.shell(line).spec)
        };
        let engine = lab.engine([
            hook("hangs", "sleep 60 & sleep 60", ms(250)),
            hook("denies", "echo no >&2; exit 2", Duration::from_secs(30)),
            hook("crashes", "kill -SEGV $$", Duration::from_secs(30)),
        ]);
        let outcome = lab.fire(&engine, event());
        assert_eq!((outcome.reason.as_deref(), outcome.by.as_deref()), (Some("no"), Some("denies")));
        let kinds: Vec<_> = outcome.failures().map(|(_, failure)| failure.kind).collect();
        assert_eq!(kinds, [FailureKind::Timeout, FailureKind::Signal]);
        lab.expect_no_survivor();
    });
}

#[test]
fn a_callback_that_panics_beside_a_command_costs_nothing_but_itself() {
    each_way(|lab| {
        let panics = |name: &str, mode| {
            Hook::on(PreToolUse).named(name).mode(mode).callback(|_| -> Reply { panic!("on purpose") })
        };
        for mode in [Mode::Sequential, Mode::Parallel] {
            let guard = Hook::on(PreToolUse).named("guard").mode(mode);
            let guard = guard.command(lab.shell("echo no >&2; exit 2").spec);
            let outcome = lab.fire(&lab.engine([panics("first", mode), guard]), event());
            assert_eq!((outcome.reason.as_deref(), outcome.by.as_deref()), (Some("no"), Some("guard")));
            let failures: Vec<_> = outcome.failures().collect();
            assert_eq!(failures[0].1.kind, FailureKind::Panic);
        }
    });
}

/// Commands that answer so, in this order.
fn fire_replies<const N: usize>(lab: &Lab, replies: [&str; N]) -> crosier::Outcome {
    let hook = |(n, reply): (usize, &str)| {
        lab.write(&format!("reply-{n}"), reply);
        Hook::on(PreToolUse).named(format!("h{n}")).command(lab.shell(format!("cat reply-{n}")).spec)
    };
    lab.fire(&lab.engine(replies.into_iter().enumerate().map(hook)), event())
}

#[test]
fn the_strictest_decision_of_several_commands_wins() {
    each_way(|lab| {
        let (allow, ask) = (r#"{"decision":"allow"}"#, r#"{"decision":"ask","reason":"hm"}"#);
        let deny = r#"{"decision":"deny","reason":"no"}"#;
        assert_eq!(fire_replies(lab, [allow, ask, ""]).decision, Some(Decision::Ask));
        assert_eq!(fire_replies(lab, [ask, allow]).by.as_deref(), Some("h0"));
        assert_eq!(fire_replies(lab, [allow, deny]).by.as_deref(), Some("h1"));
        assert_eq!(fire_replies(lab, [allow, "", allow]).decision, Some(Decision::Allow));
    });
}

#[test]
fn rewrites_of_several_commands_chain_and_contexts_are_kept_in_order() {
    each_way(|lab| {
        let first = r#"{"updatedInput":{"command":"ls -l"},"systemMessage":"one"}"#;
        lab.write("reply", first);
        let engine = lab.engine([
            Hook::on(PreToolUse).command(lab.shell("cat reply").spec),
            Hook::on(PreToolUse).command(lab.shell("cat > second; echo '{\"systemMessage\":\"two\"}'").spec),
        ]);
        let outcome = lab.fire(&engine, event());
        assert!(lab.read("second").contains(r#""tool_input":{"command":"ls -l"}"#));
        assert_eq!(outcome.updated_input.unwrap().text(), r#"{"command":"ls -l"}"#);
        assert_eq!(outcome.context, ["one", "two"]);
    });
}

#[test]
fn hooks_behind_a_deny_are_not_started() {
    each_way(|lab| {
        let first = lab.shell("exit 2").hook();
        let second = Hook::on(PreToolUse).named("second").command(lab.shell(": > ran").spec);
        let outcome = lab.fire(&lab.engine([first, second]), event());
        assert_eq!(outcome.reports[1].status, Status::Skipped);
        assert!(!lab.path("ran").exists());
    });
}

#[test]
fn a_deny_that_is_still_in_the_pipe_when_the_hook_exits_is_never_lost() {
    each_way(|lab| {
        let engine = lab.engine([lab.argv(["/bin/cat", "deny"]).hook()]);
        let code = lab.engine([lab.shell("echo no >&2; exit 2").hook()]);
        for round in 0..200 {
            let engine = if round % 2 == 0 { &engine } else { &code };
            let outcome = lab.way.fire_here(engine, event());
            assert_eq!(outcome.reason.as_deref(), Some("no"), "round {round}: {outcome:?}");
            assert_eq!(outcome.reports[0].failure, None, "round {round}: {outcome:?}");
        }
    });
}

#[test]
fn a_deny_around_the_deadline_is_a_deny_or_a_timeout_and_never_nothing() {
    each_way(|lab| {
        for round in 0..60 {
            // Now a little before, now a little after the time that the hook takes on this machine.
            let timeout = ms(2 + round % 20);
            let hook = Hook::on(PreToolUse).timeout(timeout).on_error(OnError::Skip);
            let engine = lab.engine([hook.command(lab.shell("cat deny").spec)]);
            let outcome = lab.way.fire_here(&engine, event());
            let late = outcome.failures().any(|(_, failure)| failure.kind == FailureKind::Timeout);
            assert!(outcome.is_denied() || late, "round {round}: {outcome:?}");
        }
        lab.expect_no_survivor();
    });
}

/// Fires so often, and expects the process to stay as it was after the first hundred.
fn expect_flat(lab: &Lab, count: usize) {
    let engine = lab.engine([lab.shell("echo no >&2; exit 2").hook()]);
    let missing = lab.engine([lab.argv(["/no/such/program"]).hook()]);
    let runtime = runtime();
    let fire = |n: usize| match (lab.way, n % 10) {
        (Way::Blocking, 9) => drop(missing.fire_blocking(event())),
        (Way::Async, 9) => drop(runtime.block_on(missing.fire(event()))),
        (Way::Blocking, _) => assert!(engine.fire_blocking(event()).is_denied()),
        (Way::Async, _) => assert!(runtime.block_on(engine.fire(event())).is_denied()),
    };
    (0..100).for_each(fire);
    assert!(until(|| !vitals::has_children()));
    let (before, memory) = (Vitals::now(), resident_bytes());
    (0..count).for_each(fire);
    assert!(!vitals::has_children() || until(|| !vitals::has_children()), "a child was not reaped");
    before.expect_again();
    if let (Some(before), Some(after)) = (memory, resident_bytes()) {
        assert!(after < before + (4 << 20), "memory grew from {before} to {after} bytes");
    }
}

#[test]
fn a_thousand_fires_in_a_row_leave_nothing_behind() {
    each_way(|lab| expect_flat(lab, 500));
}

/// Takes half a minute.
#[test]
fn ten_thousand_fires_in_a_row_leave_nothing_behind() {
    each_way(|lab| expect_flat(lab, 5_000));
}

#[test]
fn a_hundred_timeouts_in_a_row_leave_nothing_behind() {
    each_way(|lab| {
        let engine = lab.engine([lab.shell("sleep 60 & sleep 60").timeout(ms(5)).hook()]);
        let runtime = runtime();
        let fire = |_| match lab.way {
            Way::Blocking => engine.fire_blocking(event()),
            Way::Async => runtime.block_on(engine.fire(event())),
        };
        (0..10).map(fire).for_each(drop);
        let before = Vitals::now();
        for outcome in (0..100).map(fire) {
            let kinds: Vec<_> = outcome.failures().map(|(_, failure)| failure.kind).collect();
            assert_eq!(kinds, [FailureKind::Timeout]);
            assert_eq!(outcome.decision, (lab.way == Way::Blocking).then_some(Decision::Deny));
        }
        before.expect_again();
        lab.expect_no_survivor();
    });
}
