//! The threads of fires, which are used again: what one run left must not reach the next, and none stays for ever.

use std::fs;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crosier::payload::{PostToolUse, PreToolUse};
use crosier::{FailureKind, Hook, Mode};

use super::lab::{Way, event, ms, one_way, runtime};
use super::vitals::until;

/// The threads of this process that runs are handed to.
fn hands() -> usize {
    let name = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    threads.map(name).filter(|name| name.trim() == "crosier-run").count()
}

#[test]
fn a_fire_that_is_dropped_on_a_used_thread_takes_its_group_with_it_and_the_next_one_lives() {
    one_way(Way::Async, |lab| {
        // Asks which of the two it is to be.
        let line = "[ -e hang ] || exit 2; trap '' TERM; sleep 60 & : > ready; while :; do sleep 60; done";
        let engine = lab.engine([lab.shell(line).hook()]);
        for _ in 0..5 {
            for file in ["hang", "ready"] {
                let _ = fs::remove_file(lab.path(file));
            }
            for _ in 0..3 {
                let outcome = lab.fire(&engine, event());
                assert!(outcome.is_denied() && !outcome.by_failure, "{outcome:?}");
            }
            lab.write("hang", "");
            lab.drop_when_ready(&engine, &["ready"]);
        }
    });
}

#[test]
fn fires_that_are_dropped_at_any_moment_do_not_stop_the_next() {
    one_way(Way::Async, |lab| {
        let engine = lab.engine([lab.shell("exit 2").hook()]);
        runtime().block_on(async {
            for n in 0..200 {
                let limit = Duration::from_micros(n % 50 * 100);
                let _ = tokio::time::timeout(limit, engine.fire(event())).await;
                if n % 4 == 0 {
                    let outcome = engine.fire(event()).await;
                    assert_eq!(outcome.reports[0].failure, None);
                    assert!(outcome.is_denied());
                }
            }
        });
    });
}

#[test]
fn a_callback_that_never_returns_holds_up_nobody() {
    one_way(Way::Async, |lab| {
        let (release, held) = mpsc::sync_channel::<()>(0);
        let held = Arc::new(Mutex::new(Some(held)));
        let stuck = Hook::on(PostToolUse).timeout(ms(20)).blocking_callback(move |_: &PostToolUse| {
            // The first call holds it until the test is over; the others find nothing to wait for.
            let held = held.lock().unwrap().take();
            if let Some(held) = held {
                let _ = held.recv();
            }
        });
        let engine = lab.engine([lab.shell("exit 2").hook(), stuck]);
        let outcome = lab.fire(&engine, PostToolUse::default());
        assert_eq!(outcome.reports[0].failure.as_ref().unwrap().kind, FailureKind::Timeout);
        for _ in 0..20 {
            assert!(lab.fire(&engine, event()).is_denied());
        }
        drop(release);
    });
}

#[test]
fn hooks_of_one_stage_run_together_on_new_threads_and_on_used_ones() {
    one_way(Way::Async, |lab| {
        const TOGETHER: usize = 4;
        // Each waits for all others: one that waited for a thread would never be seen.
        let wait = format!("while [ $(ls | grep -c ^here-) -lt {TOGETHER} ]; do sleep 0.01; done");
        let hook = |n: usize| {
            let spec = lab.shell(format!(": > here-{n}; {wait}")).spec;
            Hook::on(PreToolUse).mode(Mode::Parallel).timeout(Duration::from_secs(60)).command(spec)
        };
        let engine = lab.engine((0..TOGETHER).map(hook));
        for _ in 0..3 {
            let outcome = lab.fire(&engine, event());
            assert_eq!(outcome.failures().count(), 0, "{outcome:?}");
            (0..TOGETHER).for_each(|n| fs::remove_file(lab.path(&format!("here-{n}"))).unwrap());
        }
        // An engine that is not used has no threads, although it lives.
        assert!(until(|| hands() == 0), "{} threads stay", hands());
        drop(engine);
    });
}
