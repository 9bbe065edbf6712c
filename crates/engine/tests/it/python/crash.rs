//! Workers that die: the call that they ran is lost, and no other.

use crosier::FailureKind;

use super::desk::Desk;
use super::lab::{Lab, each_way, ms};
use super::vitals::{expect_exited, kill, survivors, until};

/// This function costs its worker the life and is reported at once; the next call finds a new worker.
#[track_caller]
fn expect_lost(desk: &Desk<'_>, function: &str) {
    let before = desk.pid();
    let trial = desk.fire(function);
    trial.failed(FailureKind::WorkerLost, &["its worker ended in the middle of the call"]);
    // Far from the 30 s of the hook, however busy the machine is.
    assert!(trial.took < ms(10_000), "{trial:?}");
    assert_ne!(desk.pid(), before);
}

#[test]
fn a_worker_that_is_killed_by_its_hook_is_lost_for_that_call_only() {
    each_way(|lab| {
        let desk = lab.desk("def dies(event): os.kill(os.getpid(), signal.SIGKILL); time.sleep(60)");
        expect_lost(&desk, "dies");
    });
}

#[test]
fn a_worker_that_exits_is_lost_for_that_call_only() {
    each_way(|lab| {
        let desk = lab.desk("def zero(event): os._exit(0)\ndef two(event): os._exit(2)");
        for function in ["zero", "two"] {
            expect_lost(&desk, function);
        }
    });
}

#[test]
fn a_worker_that_breaks_down_in_c_is_lost_for_that_call_only() {
    each_way(|lab| {
        let desk =
            lab.desk("import ctypes\ndef breaks(event): ctypes.string_at(0)\ndef aborts(event): os.abort()");
        for function in ["breaks", "aborts"] {
            expect_lost(&desk, function);
        }
    });
}

#[test]
fn a_worker_that_is_killed_from_outside_in_a_call_is_lost_for_that_call_only() {
    each_way(|lab| {
        let desk = lab.desk("def sleeps(event):\n    ready()\n    time.sleep(60)");
        let before = desk.pid();
        let fire = lab.start(&desk.engine, super::lab::tool("sleeps"));
        lab.wait_for("ready");
        kill(before);
        let outcome = fire.join().unwrap();
        assert_eq!(outcome.reports[0].failure.as_ref().unwrap().kind, FailureKind::WorkerLost);
        assert_ne!(desk.pid(), before);
    });
}

#[test]
fn a_worker_that_is_killed_between_calls_is_replaced_and_nobody_notices() {
    each_way(|lab| {
        let desk = lab.desk("");
        for _ in 0..3 {
            let before = desk.pid();
            kill(before);
            expect_exited(before);
            assert_ne!(desk.pid(), before);
        }
    });
}

#[test]
fn a_worker_that_ends_between_calls_with_a_child_on_its_pipes_is_replaced() {
    each_way(|lab| {
        let desk = lab.desk(
            "def leaves(event):
    subprocess.Popen(['sleep', '60'])
    threading.Timer(0.05, os._exit, [0]).start()",
        );
        let before = desk.pid();
        desk.fire("leaves").no_opinion();
        expect_exited(before);
        assert_ne!(desk.pid(), before);
    });
}

/// A child has all that the worker has open at 0, 1 and 2, and a fork has its channel too until it closes it.
const HOLDER: &str = "
def holds(event):
    subprocess.Popen(['sleep', '60'])
    os._exit(1)

def forks(event):
    if os.fork() == 0:
        time.sleep(60)
    os._exit(1)
";

#[test]
fn a_child_that_holds_the_pipes_does_not_hide_the_death_of_its_worker() {
    each_way(|lab| {
        let desk = lab.desk(HOLDER);
        for function in ["holds", "forks"] {
            expect_lost(&desk, function);
        }
        // The group of a lost worker goes with it.
        assert!(until(|| survivors(lab.folder()).len() == 1), "{:?}", survivors(lab.folder()));
    });
}

#[test]
fn a_child_on_the_very_channel_does_not_hide_the_death_of_its_worker() {
    each_way(|lab| {
        let desk = lab.desk(
            "def holds(event):\n    subprocess.Popen(['sleep', '60'], stdin=250, stdout=251)\n    os._exit(1)",
        );
        expect_lost(&desk, "holds");
    });
}

/// A module that dies while it is imported cannot be loaded: its guard never sees the event.
fn expect_import_failure(lab: &Lab, code: &str) {
    lab.write("guard.py", code);
    let engine = lab.engine([lab.guard(lab.spec("guard.check"))]);
    for _ in 0..2 {
        let outcome = lab.fire(&engine, super::lab::tool("Bash"));
        let failure = outcome.reports[0].failure.as_ref().unwrap();
        assert_eq!(failure.kind, FailureKind::Import, "{outcome:?}");
        assert!(failure.detail.contains("'guard'") && failure.detail.contains("import"), "{outcome:?}");
        assert!(outcome.is_denied() && outcome.by_failure, "{outcome:?}");
    }
    // Once it is mended it is loaded.
    lab.write("guard.py", "def check(event): return {'decision': 'deny', 'reason': 'mended'}");
    let outcome = lab.fire(&engine, super::lab::tool("Bash"));
    assert_eq!(outcome.reason.as_deref(), Some("mended"), "{outcome:?}");
}

#[test]
fn a_module_that_ends_its_worker_while_it_is_imported_denies() {
    each_way(|lab| expect_import_failure(lab, "import os\nos._exit(0)"));
}

#[test]
fn a_module_that_breaks_its_worker_while_it_is_imported_denies() {
    each_way(|lab| expect_import_failure(lab, "import ctypes\nctypes.string_at(0)"));
}

#[test]
fn a_worker_that_answers_and_then_dies_has_answered() {
    each_way(|lab| {
        // The thread ends the worker as soon as the reply is under way, or a moment later.
        let desk = lab.desk(
            "def last(event):\n    threading.Timer(0.001, os._exit, [1]).start()\n    return deny('the last word')",
        );
        for _ in 0..10 {
            let worker = desk.pid();
            let trial = desk.fire("last");
            match &trial.report().failure {
                None => trial.denied("the last word"),
                Some(failure) => assert_eq!(failure.kind, FailureKind::WorkerLost, "{trial:?}"),
            }
            expect_exited(worker);
        }
    });
}
