//! The loop itself, in cases that integration tests cannot reach: without a pidfd, and exactly at the deadline.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::process::{Pid, Signal};

use super::*;

fn start(line: &str) -> Start {
    let env = vec![("PATH".into(), "/usr/bin:/bin".into())];
    Start { program: "/bin/sh".into(), args: vec!["-c".into(), line.into()], cwd: PathBuf::from("/"), env }
}

fn process(line: &str, timeout: Duration) -> ProcessRun<'static> {
    ProcessRun {
        start: start(line),
        input: "{}",
        deadline: Instant::now() + timeout,
        grace: Duration::from_millis(50),
        stop: Stop::default(),
        guard: None,
        progress: None,
    }
}

/// Runs it as on a kernel without pidfd.
fn tick(run: &ProcessRun<'_>) -> Exit {
    let child = run.start.start(run.deadline).unwrap();
    let exit = ExitWatch::ticking(&child);
    run_started(child, exit, None, run)
}

const LONG: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(200);

#[test]
fn without_a_pidfd_an_exit_is_noticed_and_the_pipes_are_drained() {
    let end = tick(&process("cat; echo out; echo err >&2; exit 3", LONG));
    assert_eq!(end.ended, ProcessEnd::Exited { code: Some(3), signal: None });
    assert_eq!((end.stdout.as_slice(), end.stderr.as_slice()), (&b"{}\nout\n"[..], &b"err\n"[..]));
}

#[test]
fn without_a_pidfd_a_child_that_holds_the_pipe_does_not_delay() {
    let begun = Instant::now();
    let end = tick(&process("sleep 60 & echo $!", LONG));
    assert_eq!(end.ended, ProcessEnd::Exited { code: Some(0), signal: None });
    assert!(begun.elapsed() < Duration::from_secs(15));
    let child: i32 = String::from_utf8(end.stdout).unwrap().trim().parse().unwrap();
    // It was not killed with the hook, so the test kills it.
    rustix::process::kill_process(Pid::from_raw(child).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn without_a_pidfd_the_deadline_holds() {
    for line in ["sleep 60", "trap '' TERM; while :; do sleep 60; done", "kill -STOP $$", "exec yes"] {
        let run = process(line, SHORT);
        let begun = Instant::now();
        assert_eq!(tick(&run).ended, ProcessEnd::TimedOut, "{line}");
        assert!(
            begun.elapsed() < SHORT + run.grace + Duration::from_secs(1),
            "{line}: {:?}",
            begun.elapsed()
        );
    }
}

#[test]
fn without_a_pidfd_a_cancellation_is_noticed() {
    let (listens, rings): (OwnedFd, OwnedFd) = os::pipe().unwrap();
    drop(rings);
    // Already cancelled: `tick` starts it anyway, and it is ended at once.
    let mut run = process("sleep 60", LONG);
    run.stop.cancel = Some(listens.as_fd());
    let begun = Instant::now();
    assert_eq!(tick(&run).ended, ProcessEnd::Cancelled);
    assert!(begun.elapsed() < Duration::from_secs(15));
}

#[test]
fn a_killed_leader_is_told_by_its_signal_without_a_pidfd() {
    let end = tick(&process("kill -SEGV $$", LONG));
    assert_eq!(end.ended, ProcessEnd::Exited { code: None, signal: Some(11) });
}

/// A listener may be slow. A leader that exited meanwhile was in time, even if the deadline has passed when
/// it is next checked.
#[test]
fn an_exit_between_the_last_look_and_the_deadline_is_no_timeout() {
    let wait_until = |is_so: &dyn Fn() -> bool| {
        while !is_so() {
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    for exit_watch in [ExitWatch::new, ExitWatch::ticking] {
        // It exits when it has read its input, which is written before its output is read.
        let start = start("echo begun; read line; exit 2");
        let child = start.start(Instant::now() + LONG).unwrap();
        wait_until(&|| child.stdout.as_ref().map_or(0, os::available) > 0);
        let (exit, gone) = (exit_watch(&child), ExitWatch::ticking(&child));
        let deadline = Instant::now() + SHORT;
        let be_slow = |_, _| wait_until(&|| gone.has_exited() && Instant::now() > deadline);
        let run = ProcessRun { start, deadline, progress: Some(&be_slow), ..process("", SHORT) };
        let end = run_started(child, exit, None, &run);
        assert_eq!(end.ended, ProcessEnd::Exited { code: Some(2), signal: None });
    }
}
