//! Fires and engines that go away while a function runs, or after: workers go with them.

use std::io::Write;
use std::time::Instant;

use crosier::{Engine, FailureKind, HookEnd, MessageKind, Received};

use super::lab::{Way, each_way, ms, one_way, runtime, tool};
use super::vitals::{has_children, survivors, until};

/// Ignores SIGTERM, has a child that does so too, and never ends.
const STUBBORN: &str = "
def stubborn(event):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.Popen(['sh', '-c', \"trap '' TERM; sleep 60\"])
    ready()
    while True: time.sleep(60)
";

#[test]
fn a_fire_that_is_dropped_takes_its_worker_with_it() {
    one_way(Way::Async, |lab| {
        let desk = lab.desk(STUBBORN);
        let before = desk.pid();
        let listener = desk.engine.subscribe(64);
        lab.fire_until(&desk.engine, tool("stubborn"), "ready");
        lab.expect_no_survivor();
        let ends = std::iter::from_fn(|| listener.next_within(ms(5000))).find_map(|heard| match heard {
            Received::Message(message) => match message.kind {
                MessageKind::Response { outcome, .. } => Some(outcome),
                _ => None,
            },
            Received::Missed(_) => None,
        });
        assert_eq!(ends, Some(HookEnd::Cancelled));
        assert_ne!(desk.pid(), before);
    });
}

#[test]
fn a_fire_that_is_dropped_before_its_worker_answers_at_all_takes_it_along() {
    one_way(Way::Async, |lab| {
        let desk = lab.desk("open('ready', 'w').close()\ntime.sleep(60)");
        lab.fire_until(&desk.engine, tool("pid"), "ready");
        lab.expect_no_survivor();
    });
}

#[test]
fn a_fire_that_is_never_polled_starts_nothing() {
    one_way(Way::Async, |lab| {
        let desk = lab.desk("");
        drop(desk.engine.fire(tool("pid")));
        assert!(!has_children());
    });
}

#[test]
fn a_thousand_fires_dropped_at_any_moment_leave_nothing_behind() {
    one_way(Way::Async, |lab| {
        let desk = lab.desk("");
        runtime().block_on(async {
            // From nothing to a good deal longer than a call takes, and a worker's start now and then.
            for n in 0..1000 {
                let limit = std::time::Duration::from_micros(n % 97 * 5);
                let _ = tokio::time::timeout(limit, desk.engine.fire(tool("pid"))).await;
            }
        });
        assert!(desk.pid() > 0);
    });
}

/// The fire returns in time with a failure, its policy applied, and nothing of the hook is left.
fn expect_stopped(lab: &super::lab::Lab, stop: impl Fn(&Engine)) {
    let desk = lab.desk(STUBBORN);
    desk.pid();
    let fire = lab.start(&desk.engine, tool("stubborn"));
    lab.wait_for("ready");
    let begun = Instant::now();
    stop(&desk.engine);
    let outcome = fire.join().unwrap();
    assert!(begun.elapsed() < ms(100 + 1000), "it took {:?}", begun.elapsed());
    let failure = outcome.reports[0].failure.as_ref().unwrap();
    assert_eq!(failure.detail, "the fire was cancelled, and its worker was killed");
    assert_eq!((failure.kind, outcome.is_denied()), (FailureKind::Error, lab.way == Way::Blocking));
    lab.expect_no_survivor();
    // What is fired later is not started at all.
    let later = desk.fire("pid");
    later.failed(FailureKind::Error, &["the engine is shut down"]);
    let warmed = desk.engine.warm();
    assert_eq!(warmed[0].1.as_ref().unwrap_err().detail, "the engine is shut down");
    assert!(!has_children());
}

#[test]
fn an_engine_that_is_shut_down_stops_its_workers() {
    each_way(|lab| expect_stopped(lab, Engine::shut_down));
}

#[test]
fn one_byte_into_the_kill_switch_stops_the_workers() {
    each_way(|lab| {
        expect_stopped(lab, |engine| {
            let mut switch = std::fs::File::from(engine.kill_switch().unwrap());
            switch.write_all(b"x").unwrap();
        });
    });
}

#[test]
fn a_worker_counts_as_running_from_its_call_until_it_is_gone() {
    each_way(|lab| {
        let desk = lab.desk(STUBBORN);
        desk.pid();
        assert_eq!(desk.engine.running_processes(), 0, "an idle worker does not count");
        let fire = lab.start(&desk.engine, tool("stubborn"));
        lab.wait_for("ready");
        assert_eq!(desk.engine.running_processes(), 1);
        desk.engine.shut_down();
        assert_eq!(desk.engine.running_processes(), 1, "it has not ended yet");
        assert!(until(|| desk.engine.running_processes() == 0));
        lab.expect_no_survivor();
        fire.join().unwrap();
    });
}

#[test]
fn an_engine_that_is_shut_down_ends_its_idle_workers_before_it_returns() {
    each_way(|lab| {
        let desk = lab.desk(
            "def meets(event):
    open(str(os.getpid()), 'w').close()
    while len(os.listdir('.')) < 9: time.sleep(0.002)",
        );
        // The module is the ninth file.
        let fires: Vec<_> = (0..8).map(|_| lab.start(&desk.engine, tool("meets"))).collect();
        fires.into_iter().for_each(|fire| assert_eq!(fire.join().unwrap().reports[0].failure, None));
        assert_eq!(survivors(lab.folder()).len(), 8);
        let begun = Instant::now();
        desk.engine.shut_down();
        assert!(!has_children(), "{:?}", survivors(lab.folder()));
        // Together, not one after the other.
        assert!(begun.elapsed() < ms(1500), "{:?}", begun.elapsed());
    });
}

#[test]
fn an_engine_that_is_dropped_ends_its_workers_with_their_files_flushed() {
    each_way(|lab| {
        let desk = lab.desk(
            "import atexit
file = open('buffered', 'w')
atexit.register(lambda: open('ended', 'w').write('at the end'))
def writes(event): file.write('flushed')",
        );
        desk.fire("writes").no_opinion();
        drop(desk);
        assert!(!has_children());
        assert_eq!((lab.read("buffered").as_str(), lab.read("ended").as_str()), ("flushed", "at the end"));
    });
}

#[test]
fn workers_end_when_their_engine_dies_without_a_word() {
    each_way(|lab| {
        // As the pipes of a process that was killed are closed: the worker's input ends.
        let desk = lab.desk("");
        let pid = desk.pid();
        drop(desk);
        assert!(until(|| !survivors(lab.folder()).contains(&pid)));
    });
}

#[test]
fn a_runtime_that_is_shut_down_takes_the_workers_of_its_fires_with_it() {
    one_way(Way::Async, |lab| {
        let desk = lab.desk(STUBBORN);
        desk.pid();
        let runtime = runtime();
        let fired = desk.engine.clone();
        runtime.spawn(async move { fired.fire(tool("stubborn")).await });
        lab.wait_for("ready");
        runtime.shutdown_background();
        lab.expect_no_survivor();
        assert!(desk.pid() > 0);
    });
}

#[test]
fn a_shutdown_while_calls_come_in_leaves_no_worker() {
    one_way(Way::Blocking, |lab| {
        for n in 0..20_u64 {
            let desk = lab.desk("");
            let fires: Vec<_> = (0..6).map(|_| lab.start(&desk.engine, tool("pid"))).collect();
            std::thread::sleep(ms(n * 5));
            desk.engine.shut_down();
            fires.into_iter().for_each(|fire| drop(fire.join().unwrap()));
            assert!(until(|| !has_children()), "a worker lives on in an engine that is shut down");
        }
    });
}
