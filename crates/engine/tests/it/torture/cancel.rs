//! Fires and engines that go away while hooks run: the hooks go with them.

use std::io::Write;
use std::time::{Duration, Instant};

use crosier::{Decision, Engine, Failure, FailureKind, HookEnd, MessageKind, Outcome, Received};

use super::lab::{Lab, Way, alone_with, each_way, event, ms, one_way, runtime};
use super::vitals::{survivors, until};

/// Ignores SIGTERM, has a child that does so too, and never ends.
const STUBBORN: &str = "trap '' TERM; sleep 60 & : > ready; while :; do sleep 60; done";

fn cancelled() -> Failure {
    Failure::error("the fire was cancelled, and it was killed")
}

fn failure(outcome: &Outcome) -> &Failure {
    outcome.reports[0].failure.as_ref().unwrap_or_else(|| panic!("{outcome:?}"))
}

#[test]
fn a_fire_that_is_dropped_takes_its_group_with_it() {
    one_way(Way::Async, |lab| {
        let engine = lab.engine([lab.shell(STUBBORN).hook()]);
        let listener = engine.subscribe(16);
        lab.drop_when_ready(&engine, &["ready"]);
        // The run is told to its end, although nobody waits for it any more.
        let heard = std::iter::from_fn(|| listener.next_within(Duration::from_secs(5)));
        let mut ends = heard.filter_map(|heard| match heard {
            Received::Message(message) => match message.kind {
                MessageKind::Response { outcome, .. } => Some(outcome),
                _ => None,
            },
            Received::Missed(_) => None,
        });
        assert_eq!(ends.next(), Some(HookEnd::Cancelled));
    });
}

#[test]
fn a_parallel_stage_that_is_dropped_takes_all_its_groups_with_it() {
    one_way(Way::Async, |lab| {
        let hook = |n: usize| {
            let spec = lab.shell(format!("echo > ready-{n}; sleep 60 & sleep 60")).spec;
            crosier::Hook::on(crosier::payload::PreToolUse).mode(crosier::Mode::Parallel).command(spec)
        };
        let engine = lab.engine((0..6).map(hook));
        let ready = ["ready-0", "ready-1", "ready-2", "ready-3", "ready-4", "ready-5"];
        lab.drop_when_ready(&engine, &ready);
    });
}

#[test]
fn a_fire_that_is_never_polled_starts_nothing() {
    one_way(Way::Async, |lab| {
        let engine = lab.engine([lab.shell(": > ready").hook()]);
        drop(engine.fire(event()));
        assert!(!lab.path("ready").exists());
    });
}

#[test]
fn a_runtime_that_is_shut_down_takes_the_hooks_of_its_fires_with_it() {
    one_way(Way::Async, |lab| {
        for shut_down in [drop, tokio::runtime::Runtime::shutdown_background] {
            let _ = std::fs::remove_file(lab.path("ready"));
            let engine = lab.engine([lab.shell(STUBBORN).hook()]);
            let runtime = runtime();
            let fired = engine.clone();
            runtime.spawn(async move { fired.fire(event()).await });
            lab.wait_for("ready");
            let begun = Instant::now();
            shut_down(runtime);
            assert!(begun.elapsed() < Duration::from_secs(5), "it took {:?}", begun.elapsed());
            lab.expect_no_survivor();
            // The engine itself lives on.
            let engine = lab.engine([lab.shell("exit 2").hook()]);
            assert!(lab.fire(&engine, event()).is_denied());
        }
    });
}

/// The fire returns in time with a failure, its policy applied, and nothing of the hook is left.
fn expect_stopped(lab: &Lab, stop: impl Fn(&Engine)) {
    let engine = lab.engine([lab.shell(STUBBORN).hook()]);
    let fire = lab.start(&engine, event());
    lab.wait_for("ready");
    let begun = Instant::now();
    stop(&engine);
    let outcome = fire.join().unwrap();
    assert!(begun.elapsed() < ms(100) + Duration::from_secs(1), "it took {:?}", begun.elapsed());
    assert_eq!(failure(&outcome), &cancelled());
    assert_eq!(
        (outcome.is_denied(), outcome.by_failure),
        (lab.way == Way::Blocking, lab.way == Way::Blocking)
    );
    lab.expect_no_survivor();
    // What is fired later is not started at all.
    std::fs::remove_file(lab.path("ready")).unwrap();
    let outcome = lab.fire(&engine, event());
    assert_eq!(failure(&outcome), &Failure::error("the engine is shut down"));
    assert!(!lab.path("ready").exists());
}

#[test]
fn an_engine_that_is_shut_down_stops_its_hooks() {
    each_way(|lab| expect_stopped(lab, Engine::shut_down));
}

#[test]
fn one_byte_into_the_kill_switch_stops_the_hooks() {
    each_way(|lab| {
        expect_stopped(lab, |engine| {
            let mut switch = std::fs::File::from(engine.kill_switch().unwrap());
            switch.write_all(b"x").unwrap();
        });
    });
}

#[test]
fn a_kill_switch_that_is_only_held_or_dropped_stops_nothing() {
    each_way(|lab| {
        let engine = lab.engine([lab.shell("exit 2").hook()]);
        let held = engine.kill_switch().unwrap();
        drop(engine.kill_switch().unwrap());
        assert!(lab.fire(&engine, event()).is_denied());
        drop(held);
        assert_eq!(lab.fire(&engine, event()).reports[0].failure, None);
    });
}

#[test]
fn a_shutdown_while_a_kill_switch_is_held_stops_the_hooks() {
    each_way(|lab| {
        let engine = lab.engine([lab.shell(STUBBORN).hook()]);
        let held = engine.kill_switch().unwrap();
        let fire = lab.start(&engine, event());
        lab.wait_for("ready");
        engine.shut_down();
        assert!(until(|| survivors(lab.folder()).is_empty()), "the hook runs on");
        assert_eq!(failure(&fire.join().unwrap()), &cancelled());
        assert!(engine.kill_switch().is_err());
        drop(held);
    });
}

#[test]
fn an_engine_that_was_shut_down_starts_nothing() {
    each_way(|lab| {
        let engine = lab.engine([lab.shell(": > ready; exit 2").hook()]);
        engine.shut_down();
        let outcome = lab.fire(&engine, event());
        assert_eq!(failure(&outcome), &Failure::error("the engine is shut down"));
        assert!(!lab.path("ready").exists());
    });
}

#[test]
fn a_deny_before_the_shutdown_is_honoured_and_the_failure_stays() {
    each_way(|lab| {
        let engine = lab.engine([lab.shell("cat deny; : > ready; sleep 60").hook()]);
        let fire = lab.start(&engine, event());
        lab.wait_for("ready");
        engine.shut_down();
        let outcome = fire.join().unwrap();
        assert_eq!(outcome.reports[0].decision, Some(Decision::Deny), "{outcome:?}");
        assert_eq!((outcome.reason.as_deref(), outcome.by_failure), (Some("no"), false));
        assert_eq!(failure(&outcome), &cancelled());
    });
}

/// A listener whose waker panics, in the middle of the run of a hook.
#[test]
fn a_panic_while_a_hook_is_told_about_is_a_failure_and_no_hang() {
    each_way(|lab| {
        struct Panics;
        impl std::task::Wake for Panics {
            fn wake(self: std::sync::Arc<Self>) {
                panic!("on purpose");
            }
        }
        let answer = lab.fifo("answer");
        let engine = lab.engine([lab.shell("read line < answer; echo begun; sleep 60").hook()]);
        let listener = engine.subscribe(16);
        let fire = lab.start(&engine, event());
        assert!(matches!(listener.next_within(Duration::from_secs(20)), Some(Received::Message(_))));
        let waker = std::task::Waker::from(std::sync::Arc::new(Panics));
        let mut next = std::pin::pin!(listener.next());
        assert!(next.as_mut().poll(&mut std::task::Context::from_waker(&waker)).is_pending());
        std::fs::write(answer, "now\n").unwrap();
        assert_eq!(failure(&fire.join().unwrap()).kind, FailureKind::Panic);
        lab.expect_no_survivor();
    });
}

/// As many hooks as an engine runs at once, all running.
fn fill_up(lab: &Lab, engine: &Engine) -> Vec<std::thread::JoinHandle<Outcome>> {
    let fires = (0..64).map(|_| lab.start(engine, event())).collect();
    assert!(until(|| lab.read("started").len() == 64), "{} started", lab.read("started").len());
    fires
}

#[test]
fn hooks_that_wait_for_a_place_are_not_started_after_a_shutdown() {
    one_way(Way::Blocking, |lab| {
        let engine = lab.engine([lab.shell("echo >> started; exec sleep 60").hook()]);
        let mut fires = fill_up(lab, &engine);
        let waiting: Vec<_> = (0..20).map(|_| lab.start(&engine, event())).collect();
        fires.extend(waiting);
        // Nothing tells that a fire waits for a place; most of them will by now.
        std::thread::sleep(ms(50));
        engine.shut_down();
        let begun = Instant::now();
        let failures: Vec<Failure> =
            fires.into_iter().map(|fire| failure(&fire.join().unwrap()).clone()).collect();
        assert!(begun.elapsed() < Duration::from_secs(10), "it took {:?}", begun.elapsed());
        assert_eq!(failures.iter().filter(|failure| **failure == cancelled()).count(), 64, "{failures:?}");
        assert_eq!(lab.read("started").len(), 64);
    });
}

#[test]
fn a_fire_that_is_dropped_while_its_hook_waits_for_a_place_starts_nothing() {
    one_way(Way::Async, |lab| {
        let answer = lab.fifo("answer");
        let line = "echo >> started; read line < answer; exit 2";
        let engine = lab.engine([lab.shell(line).timeout(Duration::from_secs(60)).hook()]);
        let fires = fill_up(lab, &engine);
        runtime().block_on(async {
            let fire = tokio::time::timeout(ms(50), engine.fire(event()));
            assert!(fire.await.is_err());
        });
        // Opened for reading too, so that it does not close between two hooks.
        let mut answer = std::fs::File::options().read(true).write(true).open(answer).unwrap();
        answer.write_all("go\n".repeat(64).as_bytes()).unwrap();
        assert!(fires.into_iter().all(|fire| fire.join().unwrap().is_denied()));
        // Its thread is over before the laboratory closes, so it had its chance.
        assert!(until(|| !super::vitals::has_children()));
        drop(engine);
        lab.expect_no_survivor();
        assert_eq!(lab.read("started").len(), 64);
    });
}

#[test]
fn a_hook_that_gets_no_place_in_its_time_is_late() {
    one_way(Way::Blocking, |lab| {
        let engine = lab.engine([lab.shell("echo >> started; exec sleep 60").hook()]);
        let fires = fill_up(lab, &engine);
        let late = crosier::Hook::on(crosier::payload::PreToolUse)
            .named("late")
            .priority(1)
            .timeout(ms(250))
            .on_error(crosier::OnError::Abort)
            .command(lab.shell("exit 0").spec);
        engine.register(late).unwrap();
        let outcome = lab.fire(&engine, event());
        assert_eq!(failure(&outcome).kind, FailureKind::Timeout);
        assert!(
            outcome.is_denied() && failure(&outcome).detail.contains("too many other hooks"),
            "{outcome:?}"
        );
        engine.shut_down();
        fires.into_iter().for_each(|fire| drop(fire.join()));
    });
}

#[test]
fn a_host_that_ignores_sigchld_gets_an_outcome() {
    // The operating system reaps such a host's children itself, and their exit codes are lost.
    alone_with(&["perl", "-e", "$SIG{CHLD} = 'IGNORE'; exec @ARGV", "--"], || {
        for (line, denies) in [("exit 2", false), (r#"echo '{"decision":"deny"}'; exit 2"#, true)] {
            let hook = crosier::Hook::on(crosier::payload::PreToolUse)
                .named("guard")
                .command(crosier::CommandSpec::shell(line, "/"));
            let engine = Engine::builder().hook(hook).build().unwrap();
            for way in [Way::Blocking, Way::Async] {
                let outcome = way.fire(&engine, event());
                assert_eq!(failure(&outcome).kind, FailureKind::Signal, "{outcome:?}");
                assert_eq!(outcome.is_denied(), denies, "{outcome:?}");
            }
        }
        let hook = crosier::Hook::on(crosier::payload::PreToolUse).timeout(ms(250));
        let engine = Engine::builder().hook(hook.command(crosier::CommandSpec::shell("sleep 60", "/")));
        let engine = engine.build().unwrap();
        for way in [Way::Blocking, Way::Async] {
            let begun = Instant::now();
            assert_eq!(failure(&way.fire(&engine, event())).kind, FailureKind::Timeout);
            assert!(begun.elapsed() < ms(250 + 100 + 1000), "it took {:?}", begun.elapsed());
        }
    });
}
