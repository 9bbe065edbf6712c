//! The loop over stdin, stdout, stderr, the leader's exit, cancellation and the deadline.

use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use crosier_protocol::Failure;

use super::super::os::{self, ExitWatch, GroupSignal, PollSet};
use super::capture::{Lines, ReadResult, Stderr, Stdout, read};
use super::guard::{HostValue, ProcessGuard};
use super::start::{Start, Stop};
use crate::run::deadline_in;

/// A larger stdout is the failure `oversize`.
const MAX_STDOUT: usize = 1024 * 1024;
/// How many bytes of the end of stderr are kept.
const MAX_STDERR: usize = 64 * 1024;
/// How long a killed leader may take to exit. One that takes longer is stuck in the kernel and is not waited
/// for.
const KILL_WAIT: Duration = Duration::from_millis(500);

/// A process to run.
pub(in crate::run) struct ProcessRun<'a> {
    pub(in crate::run) start: Start,
    /// Written to stdin, followed by a newline; stdin is then closed.
    pub(in crate::run) input: &'a str,
    pub(in crate::run) deadline: Instant,
    /// How long it may take to end after SIGTERM.
    pub(in crate::run) grace: Duration,
    pub(in crate::run) stop: Stop<'a>,
    pub(in crate::run) guard: Option<&'a ProcessGuard>,
    /// Called with stdout and stderr while they are written.
    pub(in crate::run) progress: Option<&'a dyn Fn(String, String)>,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::run) enum ProcessEnd {
    /// By itself.
    Exited { code: Option<i32>, signal: Option<i32> },
    /// It was not done at its deadline, and was killed.
    TimedOut,
    /// The fire was cancelled or the engine shut down, and it was killed.
    Cancelled,
}

/// How it ended, and what it wrote.
#[derive(Debug)]
pub(in crate::run) struct Exit {
    pub(in crate::run) ended: ProcessEnd,
    /// What it wrote before its deadline.
    pub(in crate::run) stdout: Vec<u8>,
    pub(in crate::run) oversize: Option<usize>,
    pub(in crate::run) stderr: Vec<u8>,
}

/// Runs it to its end. Fails only if it cannot be started.
pub(in crate::run) fn run(run: &ProcessRun<'_>) -> Result<Exit, Failure> {
    let child = run.start.start_unless(run.stop, run.deadline)?;
    let guard_value = run.guard.map(|guard| guard.hold(&child));
    let exit = ExitWatch::new(&child);
    Ok(run_started(child, exit, guard_value, run))
}

/// Runs a started process to its end.
fn run_started(
    mut child: Child,
    exit: ExitWatch,
    guard_value: Option<HostValue>,
    run: &ProcessRun<'_>,
) -> Exit {
    let pipes = Pipes::new(&mut child, run);
    Pump { run, exit, guard_value, pipes, leader: Leader(Some(child)), state: ProcessState::Running }.run()
}

/// What has been done to end the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProcessState {
    Running,
    /// SIGTERM was sent; SIGKILL follows at `kill_at`.
    Terminating {
        kill_at: Instant,
        why: ProcessEnd,
    },
    /// SIGKILL was sent; the leader is waited for until `wait_until`.
    Killed {
        wait_until: Instant,
        why: ProcessEnd,
    },
}

struct Pump<'a> {
    run: &'a ProcessRun<'a>,
    exit: ExitWatch,
    /// Dropped before the leader is reaped.
    guard_value: Option<HostValue>,
    pipes: Pipes<'a>,
    leader: Leader,
    state: ProcessState,
}

impl Pump<'_> {
    fn run(mut self) -> Exit {
        loop {
            let now = Instant::now();
            let until = match self.state {
                ProcessState::Running => self.run.deadline,
                ProcessState::Terminating { kill_at, .. } => kill_at,
                ProcessState::Killed { wait_until, .. } => wait_until,
            };
            let running = self.state == ProcessState::Running;
            let poll_set = PollSet {
                cancel: self.run.stop.cancel.filter(|_| running),
                shutdown: self.run.stop.shutdown.filter(|_| running),
                ..self.pipes.poll_set()
            };
            let Ok(ready) = os::wait_ready(poll_set, &self.exit, until.saturating_duration_since(now)) else {
                // `poll` fails only if memory is exhausted. The hook counts as late, so that this loop does
                // not spin.
                return self.end(ProcessEnd::TimedOut);
            };
            if ready.stdin {
                self.pipes.feed();
            }
            // Output after the deadline is read, so that the process can end, but not kept.
            if ready.stdout {
                self.pipes.read_stdout(running);
            }
            if ready.stderr {
                self.pipes.read_stderr();
            }
            if ready.exited {
                return match self.state {
                    ProcessState::Running => self.finished(),
                    ProcessState::Terminating { why, .. } | ProcessState::Killed { why, .. } => self.end(why),
                };
            }
            match self.state {
                // It may have exited since the last check, in time.
                ProcessState::Running if ready.cancelled || Instant::now() >= until => {
                    match self.exit.has_exited() {
                        true => return self.finished(),
                        false => self.terminate(if ready.cancelled {
                            ProcessEnd::Cancelled
                        } else {
                            ProcessEnd::TimedOut
                        }),
                    }
                }
                ProcessState::Terminating { why, .. } if Instant::now() >= until => {
                    os::signal_group(&self.exit, GroupSignal::Kill);
                    self.state = ProcessState::Killed { wait_until: Instant::now() + KILL_WAIT, why };
                }
                ProcessState::Killed { why, .. } if Instant::now() >= until => return self.end(why),
                _ => {}
            }
        }
    }

    fn terminate(&mut self, why: ProcessEnd) {
        // A complete reply in the pipe was written in time.
        self.pipes.drain();
        os::signal_group(&self.exit, GroupSignal::Terminate);
        self.pipes.close_stdin();
        self.state = ProcessState::Terminating { kill_at: deadline_in(self.run.grace), why };
    }

    /// The leader exited in time: reads the rest of the pipes. Its children are not killed.
    fn finished(mut self) -> Exit {
        self.pipes.drain();
        self.guard_value = None;
        let status = self.leader.reap();
        let (code, signal) = status.map_or((None, None), |status| (status.code(), status.signal()));
        self.pipes.end(ProcessEnd::Exited { code, signal })
    }

    /// The leader has exited late or does not exit: kills the rest of its group, then reaps the leader.
    fn end(mut self, why: ProcessEnd) -> Exit {
        os::signal_group(&self.exit, GroupSignal::Kill);
        self.guard_value = None;
        self.leader.reap_if(self.exit.has_exited());
        self.pipes.end(why)
    }
}

/// The leader of the group, which is always reaped.
struct Leader(Option<Child>);

impl Leader {
    fn reap(&mut self) -> Option<std::process::ExitStatus> {
        self.0.take()?.wait().ok()
    }

    /// Reaps a leader that has exited. One that is stuck in the kernel is left to a thread of its own.
    fn reap_if(&mut self, exited: bool) {
        if exited {
            self.reap();
        } else if let Some(mut child) = self.0.take() {
            let _ = std::thread::Builder::new().name("crosier-reaper".to_owned()).spawn(move || child.wait());
        }
    }
}

impl Drop for Leader {
    /// Runs only after a panic in the loop: the child must not be left running or unreaped.
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            os::signal_group(&ExitWatch::new(&child), GroupSignal::Kill);
            let _ = child.wait();
        }
    }
}

/// The three pipes.
struct Pipes<'a> {
    stdin: Option<ChildStdin>,
    /// The event, then a newline.
    input: [&'a [u8]; 2],
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    kept_stdout: Stdout,
    kept_stderr: Stderr,
    lines: [Lines; 2],
    progress: Option<&'a dyn Fn(String, String)>,
    scratch: Box<[u8]>,
}

impl<'a> Pipes<'a> {
    fn new(child: &mut Child, run: &ProcessRun<'a>) -> Self {
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let ready = |done: std::io::Result<()>| done.is_ok();
        Self {
            stdin: stdin.filter(|pipe| ready(os::set_nonblocking(pipe))),
            stdout: stdout.filter(|pipe| ready(os::set_nonblocking(pipe))),
            stderr: stderr.filter(|pipe| ready(os::set_nonblocking(pipe))),
            input: [run.input.as_bytes(), b"\n"],
            kept_stdout: Stdout::new(MAX_STDOUT),
            kept_stderr: Stderr::new(MAX_STDERR),
            lines: Default::default(),
            progress: run.progress,
            scratch: vec![0; 16 * 1024].into(),
        }
    }

    fn poll_set(&self) -> PollSet<'_> {
        PollSet {
            stdin: self.stdin.as_ref().map(AsFd::as_fd),
            stdout: self.stdout.as_ref().map(AsFd::as_fd),
            stderr: self.stderr.as_ref().map(AsFd::as_fd),
            cancel: None,
            shutdown: None,
        }
    }

    /// Writes as much as the pipe accepts. A hook may close its stdin without reading (EPIPE).
    fn feed(&mut self) {
        while let Some(stdin) = &mut self.stdin {
            let Some(part) = self.input.iter_mut().find(|part| !part.is_empty()) else {
                return self.close_stdin();
            };
            match stdin.write(part) {
                Ok(count) => *part = &part[count..],
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return self.close_stdin(),
            }
        }
    }

    fn close_stdin(&mut self) {
        self.stdin = None;
    }

    fn read_stdout(&mut self, keep: bool) -> usize {
        let Some(stdout) = &mut self.stdout else { return 0 };
        match read(stdout, &mut self.scratch) {
            ReadResult::Bytes(count) => {
                let bytes = &self.scratch[..count];
                if keep {
                    self.kept_stdout.take(bytes);
                    if let Some(progress) = self.progress {
                        report(progress, self.lines[0].take(bytes), String::new());
                    }
                }
                count
            }
            ReadResult::WouldBlock => 0,
            ReadResult::End => {
                self.stdout = None;
                0
            }
        }
    }

    fn read_stderr(&mut self) -> usize {
        let Some(stderr) = &mut self.stderr else { return 0 };
        match read(stderr, &mut self.scratch) {
            ReadResult::Bytes(count) => {
                let bytes = &self.scratch[..count];
                self.kept_stderr.take(bytes);
                if let Some(progress) = self.progress {
                    report(progress, String::new(), self.lines[1].take(bytes));
                }
                count
            }
            ReadResult::WouldBlock => 0,
            ReadResult::End => {
                self.stderr = None;
                0
            }
        }
    }

    /// Reads only what is in the pipes at this moment: a child of the hook may keep writing.
    fn drain(&mut self) {
        let mut left = self.stdout.as_ref().map_or(0, os::available);
        while left > 0 {
            match self.read_stdout(true) {
                0 => break,
                count => left = left.saturating_sub(count),
            }
        }
        let mut left = self.stderr.as_ref().map_or(0, os::available);
        while left > 0 {
            match self.read_stderr() {
                0 => break,
                count => left = left.saturating_sub(count),
            }
        }
    }

    fn end(mut self, ended: ProcessEnd) -> Exit {
        if let Some(progress) = self.progress {
            report(progress, self.lines[0].rest(), self.lines[1].rest());
        }
        Exit {
            ended,
            oversize: self.kept_stdout.oversize(),
            stdout: self.kept_stdout.into_bytes(),
            stderr: self.kept_stderr.into_bytes(),
        }
    }
}

fn report(progress: &dyn Fn(String, String), stdout: String, stderr: String) {
    if !(stdout.is_empty() && stderr.is_empty()) {
        progress(stdout, stderr);
    }
}

#[cfg(test)]
#[path = "pump_tests.rs"]
mod tests;
