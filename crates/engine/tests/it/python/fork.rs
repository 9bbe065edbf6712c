//! `isolate: fork`: each call in a fork of the warm interpreter.

use crosier::{FailureKind, PythonSpec};

use super::desk::Desk;
use super::lab::{Lab, each_way, ms};

const CODE: &str = "
calls = []
def remembers(event):
    calls.append(1)
    return deny(str(len(calls)))
def parent(event): return deny(str(os.getppid()))
def exits(event): os._exit(3)
def killed(event): os.kill(os.getpid(), signal.SIGKILL)
def breaks(event):
    import ctypes
    ctypes.string_at(0)
def raises(event): raise ValueError('no')
def quits(event): sys.exit(1)
def prints(event): print('from the fork')
def huge(event): return {'systemMessage': 'x' * (1 << 21)}
def full(event): return {'decision': 'deny', 'reason': 'x' * ((1 << 20) - 31)}
def starts(event):
    subprocess.Popen(['sleep', '60'])
    return deny('started')
def sleeps(event):
    subprocess.Popen(['sleep', '60'])
    ready()
    time.sleep(60)
def channel(event): os.write(251, b'noise')
";

fn forking<'a>(lab: &'a Lab) -> Desk<'a> {
    lab.desk_with(CODE, |spec| PythonSpec { fork: true, ..spec })
}

#[test]
fn nothing_of_one_call_is_left_in_the_next() {
    each_way(|lab| {
        let desk = forking(lab);
        for _ in 0..3 {
            desk.fire("remembers").denied("1");
        }
        // A process each, of one and the same worker.
        let (one, other) = (desk.pid(), desk.pid());
        assert_ne!(one, other);
        let parent = desk.fire("parent").outcome.reason.unwrap();
        desk.fire("parent").denied(&parent);
        // Without it state stays.
        let desk = lab.desk(CODE);
        desk.fire("remembers").denied("1");
        desk.fire("remembers").denied("2");
    });
}

#[test]
fn the_death_of_a_fork_is_a_report_and_its_worker_lives() {
    each_way(|lab| {
        let desk = forking(lab);
        let parent = desk.fire("parent").outcome.reason.unwrap();
        for (function, part) in [("exits", "exit status 3"), ("killed", "signal 9"), ("breaks", "signal 11")]
        {
            desk.fire(function)
                .failed(FailureKind::WorkerLost, &["forked call ended without an answer", part]);
        }
        desk.fire("raises").failed(FailureKind::Error, &["ValueError: no", "in raises"]);
        desk.fire("quits").failed(FailureKind::Error, &["SystemExit: 1"]);
        desk.fire("huge").failed(FailureKind::Oversize, &[]);
        desk.fire("full").denied(&"x".repeat((1 << 20) - 31));
        // The channel is closed in a fork.
        desk.fire("channel").failed(FailureKind::Error, &["Bad file descriptor"]);
        desk.fire("parent").denied(&parent);
    });
}

#[test]
fn a_fork_that_does_not_come_back_is_killed_with_all_its_family() {
    each_way(|lab| {
        let desk = forking(lab);
        desk.hang("sleeps");
        lab.expect_no_survivor();
        assert!(desk.pid() > 0);
    });
}

#[test]
fn a_child_of_a_fork_delays_nobody() {
    each_way(|lab| {
        let desk = forking(lab);
        let trial = desk.fire("starts");
        trial.denied("started");
        assert!(trial.took < ms(10_000), "{trial:?}");
        drop(desk);
        super::vitals::survivors(lab.folder()).into_iter().for_each(super::vitals::kill);
    });
}

#[test]
fn a_hundred_forks_leave_no_zombie_and_no_descriptor() {
    each_way(|lab| {
        let desk = forking(lab);
        let worker: i32 = desk.fire("parent").outcome.reason.unwrap().parse().unwrap();
        let before = super::vitals::descriptors_of(worker);
        for _ in 0..100 {
            desk.fire("remembers").denied("1");
        }
        assert_eq!(super::vitals::descriptors_of(worker), before);
        let children = std::fs::read_to_string(format!("/proc/{worker}/task/{worker}/children"));
        assert_eq!(children.unwrap_or_default(), "");
    });
}

#[test]
fn what_a_fork_prints_is_told() {
    each_way(|lab| {
        let desk = forking(lab);
        let listener = desk.engine.subscribe(64);
        desk.fire("prints").no_opinion();
        let said = super::message::said(&listener);
        assert_eq!(said.last().unwrap(), "from the fork\n");
    });
}
