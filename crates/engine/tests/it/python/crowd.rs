//! Many calls at once: several workers, one call each at a time, and a line for the rest.

use std::collections::BTreeSet;
use std::time::Instant;

use crosier::FailureKind;

use super::lab::{Way, each_way, ms, one_way, tool};
use super::vitals::{survivors, until};

/// Waits until so many calls are under way at the same time; that many workers must be at work.
const MEETING: &str = "
def meet(count):
    open(f'here-{os.getpid()}', 'w').close()
    while sum(name.startswith('here-') for name in os.listdir('.')) < count: time.sleep(0.002)
    return deny(str(os.getpid()))

def two(event): return meet(2)
def four(event): return meet(4)
def eight(event): return meet(8)
";

#[test]
fn parallel_hooks_run_in_several_workers() {
    each_way(|lab| {
        lab.module("guard.py", MEETING);
        let hooks = (0..4).map(|n| lab.parallel(&format!("guard-{n}"), lab.spec("guard.four")));
        let engine = lab.engine(hooks);
        let outcome = lab.fire(&engine, tool("Bash"));
        assert!(outcome.failures().next().is_none() && outcome.is_denied(), "{outcome:?}");
        let here = std::fs::read_dir(lab.folder()).unwrap().flatten();
        let here = here.filter(|entry| entry.file_name().to_string_lossy().starts_with("here-")).count();
        assert_eq!(here, 4);
    });
}

#[test]
fn eight_fires_at_once_run_in_eight_workers_which_are_used_again() {
    each_way(|lab| {
        let desk = lab.desk(MEETING);
        let fires: Vec<_> = (0..8).map(|_| lab.start(&desk.engine, tool("eight"))).collect();
        let pids: BTreeSet<String> =
            fires.into_iter().map(|fire| fire.join().unwrap().reason.unwrap().to_string()).collect();
        assert_eq!(pids.len(), 8, "{pids:?}");
        for _ in 0..20 {
            assert!(pids.contains(&desk.pid().to_string()));
        }
        assert_eq!(survivors(lab.folder()).len(), 8);
    });
}

#[test]
fn one_call_after_the_other_needs_one_worker() {
    each_way(|lab| {
        let desk = lab.desk("");
        let pids: BTreeSet<i32> = (0..50).map(|_| desk.pid()).collect();
        assert_eq!(pids.len(), 1);
    });
}

#[test]
fn a_hundred_fires_at_once_are_all_answered_by_eight_workers_at_most() {
    one_way(Way::Async, |lab| {
        let desk = lab.desk("def works(event):\n    time.sleep(0.002)\n    return deny(str(os.getpid()))");
        let fires: Vec<_> = (0..100).map(|_| lab.start(&desk.engine, tool("works"))).collect();
        let mut pids = BTreeSet::new();
        for fire in fires {
            let outcome = fire.join().unwrap();
            assert_eq!(outcome.reports[0].failure, None, "{outcome:?}");
            pids.insert(outcome.reason.unwrap());
        }
        assert!(pids.len() <= 8, "{pids:?}");
    });
}

/// Eight workers that hang until there is a file named `go`.
const BUSY: &str = "
def hangs(event):
    open(f'busy-{os.getpid()}', 'w').close()
    while not os.path.exists('go'): time.sleep(0.002)
    return deny(str(os.getpid()))
";

fn count(lab: &super::lab::Lab, prefix: &str) -> usize {
    let names = std::fs::read_dir(lab.folder()).unwrap().flatten();
    names.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix)).count()
}

#[test]
fn a_call_that_gets_no_worker_in_its_time_is_late_and_costs_no_worker() {
    each_way(|lab| {
        let desk = lab.desk(BUSY);
        let fires: Vec<_> = (0..8).map(|_| lab.start(&desk.engine, tool("hangs"))).collect();
        assert!(until(|| count(lab, "busy-") == 8));
        let hook = crosier::Hook::on(crosier::payload::UserPromptSubmit).named("late").timeout(ms(300));
        desk.engine.register(hook.python(lab.spec("guard.pid"))).unwrap();
        let begun = Instant::now();
        let late = desk.fire_event(crosier::payload::UserPromptSubmit::default());
        assert!(begun.elapsed() < ms(300 + 100 + 1000), "{late:?}");
        let failure = late.report().failure.as_ref().unwrap();
        assert_eq!(failure.kind, FailureKind::Timeout, "{late:?}");
        assert!(failure.detail.contains("all workers were busy"), "{late:?}");
        lab.write("go", "");
        let pids: BTreeSet<_> = fires.into_iter().map(|fire| fire.join().unwrap().reason.unwrap()).collect();
        assert_eq!(pids.len(), 8);
        assert!(pids.contains(desk.pid().to_string().as_str()));
        assert_eq!(survivors(lab.folder()).len(), 8);
    });
}

#[test]
fn a_fire_that_is_dropped_while_it_waits_costs_no_worker() {
    one_way(Way::Async, |lab| {
        let desk = lab.desk(BUSY);
        let fires: Vec<_> = (0..8).map(|_| lab.start(&desk.engine, tool("hangs"))).collect();
        assert!(until(|| count(lab, "busy-") == 8));
        let threads = || std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
        let before = threads();
        super::lab::runtime().block_on(async {
            for _ in 0..10 {
                assert!(tokio::time::timeout(ms(30), desk.engine.fire(tool("pid"))).await.is_err());
            }
        });
        // Nobody waits for them any more, so neither do they: long before a worker is free.
        assert!(until(|| threads() <= before), "{} threads, {before} before", threads());
        lab.write("go", "");
        let pids: BTreeSet<_> = fires.into_iter().map(|fire| fire.join().unwrap().reason.unwrap()).collect();
        assert!(pids.contains(desk.pid().to_string().as_str()));
        assert_eq!(survivors(lab.folder()).len(), 8);
    });
}

#[test]
fn calls_that_wait_when_the_engine_is_shut_down_start_nothing() {
    one_way(Way::Blocking, |lab| {
        let desk = lab.desk(BUSY);
        let fires: Vec<_> = (0..8).map(|_| lab.start(&desk.engine, tool("hangs"))).collect();
        assert!(until(|| count(lab, "busy-") == 8));
        let waiting: Vec<_> = (0..8).map(|_| lab.start(&desk.engine, tool("hangs"))).collect();
        // Nothing tells that a call waits; most of them will by now.
        std::thread::sleep(ms(50));
        desk.engine.shut_down();
        let begun = Instant::now();
        for fire in fires.into_iter().chain(waiting) {
            let failure = fire.join().unwrap().reports.remove(0).failure.unwrap();
            assert_eq!(failure.kind, FailureKind::Error, "{failure:?}");
        }
        assert!(begun.elapsed() < ms(5000), "{:?}", begun.elapsed());
        assert_eq!(count(lab, "busy-"), 8);
        lab.expect_no_survivor();
    });
}

#[test]
fn a_late_call_among_others_costs_only_its_own_worker() {
    each_way(|lab| {
        let code = format!("{MEETING}\ndef stuck(event): time.sleep(600)");
        let desk = lab.desk(&code);
        let hook = crosier::Hook::on(crosier::payload::UserPromptSubmit).named("late").timeout(ms(1000));
        desk.engine.register(hook.python(lab.spec("guard.stuck"))).unwrap();
        let stuck = lab.start(&desk.engine, crosier::payload::UserPromptSubmit::default());
        let fires: Vec<_> = (0..4).map(|_| lab.start(&desk.engine, tool("four"))).collect();
        for fire in fires {
            assert_eq!(fire.join().unwrap().reports[0].failure, None);
        }
        let failure = stuck.join().unwrap().reports.remove(0).failure.unwrap();
        assert_eq!(failure.kind, FailureKind::Timeout, "{failure:?}");
        assert!(desk.pid() > 0);
    });
}

#[test]
fn hooks_of_different_environments_do_not_share_a_worker() {
    each_way(|lab| {
        lab.module(
            "guard.py",
            "def name(event): return {'systemMessage': f'{os.environ.get(\"NAME\")} {os.getpid()}'}",
        );
        let hook = |name: &str, value: Option<&str>| {
            let mut spec = lab.spec("guard.name");
            spec.env.extend(value.map(|value| ("NAME".to_owned(), value.to_owned())));
            crosier::Hook::on(crosier::payload::PreToolUse).named(name).python(spec)
        };
        let engine =
            lab.engine([hook("a", Some("a")), hook("b", Some("b")), hook("c", None), hook("d", Some("a"))]);
        let outcome = lab.fire(&engine, tool("Bash"));
        let said: Vec<Vec<&str>> = outcome.context.iter().map(|line| line.split(' ').collect()).collect();
        assert_eq!(said.iter().map(|words| words[0]).collect::<Vec<_>>(), ["a", "b", "None", "a"]);
        assert_eq!(said[0][1], said[3][1]);
        assert_eq!(said.iter().map(|words| words[1]).collect::<BTreeSet<_>>().len(), 3);
    });
}
