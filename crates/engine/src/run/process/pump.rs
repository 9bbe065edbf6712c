//! The one loop: stdin, stdout, stderr, the leader's exit, cancellation, the deadline.

use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use crosier_protocol::Failure;

use super::super::os::{self, ExitWatch, Urge, Waited};
use super::intake::{Got, Lines, Stderr, Stdout, read};
use super::start::{Start, Stop};
use crate::run::moment_in;

/// Stdout over this is `oversize`.
const MAX_STDOUT: usize = 1024 * 1024;
/// Stderr keeps so much of its end.
const MAX_STDERR: usize = 64 * 1024;
/// How long a killed leader may take to be gone; then it hangs in the kernel, and nobody waits for it.
const PATIENCE: Duration = Duration::from_millis(500);

/// A process to run.
pub(in crate::run) struct Order<'a> {
    pub(in crate::run) start: Start,
    /// Written to stdin, then a newline, then the end.
    pub(in crate::run) input: &'a str,
    pub(in crate::run) deadline: Instant,
    /// How long it may take to end after SIGTERM.
    pub(in crate::run) grace: Duration,
    pub(in crate::run) stop: Stop<'a>,
    /// Told what is written, while it is written: stdout, stderr.
    pub(in crate::run) progress: Option<&'a dyn Fn(String, String)>,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::run) enum Ended {
    /// By itself.
    Done { code: Option<i32>, signal: Option<i32> },
    /// It was not done at its deadline, and was killed.
    Late,
    /// The fire was cancelled or the engine shut down, and it was killed.
    Cancelled,
}

/// What is left of it.
#[derive(Debug)]
pub(in crate::run) struct End {
    pub(in crate::run) ended: Ended,
    /// What it wrote in time.
    pub(in crate::run) stdout: Vec<u8>,
    pub(in crate::run) oversize: Option<usize>,
    pub(in crate::run) stderr: Vec<u8>,
}

/// Runs it to its end. Fails only when it cannot be started.
pub(in crate::run) fn run(order: &Order<'_>) -> Result<End, Failure> {
    let child = order.start.start_unless(order.stop, order.deadline)?;
    let exit = ExitWatch::new(&child);
    Ok(see_through(child, exit, order))
}

/// Runs what is started to its end.
fn see_through(mut child: Child, exit: ExitWatch, order: &Order<'_>) -> End {
    let pipes = Pipes::new(&mut child, order);
    Pump { order, exit, pipes, leader: Leader(Some(child)), stage: Stage::Running }.run()
}

/// Where in its life the process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Running,
    /// It was asked to end; at this moment it is killed.
    Asked {
        kill_at: Instant,
        why: Ended,
    },
    /// It was killed; at this moment nobody waits for it any more.
    Killed {
        leave_at: Instant,
        why: Ended,
    },
}

struct Pump<'a> {
    order: &'a Order<'a>,
    exit: ExitWatch,
    pipes: Pipes<'a>,
    leader: Leader,
    stage: Stage,
}

impl Pump<'_> {
    fn run(mut self) -> End {
        loop {
            let now = Instant::now();
            let until = match self.stage {
                Stage::Running => self.order.deadline,
                Stage::Asked { kill_at, .. } => kill_at,
                Stage::Killed { leave_at, .. } => leave_at,
            };
            let running = self.stage == Stage::Running;
            let waited = Waited {
                cancel: self.order.stop.cancel.filter(|_| running),
                bell: self.order.stop.bell.filter(|_| running),
                ..self.pipes.waited()
            };
            let Ok(ready) = os::wait_ready(waited, &self.exit, until.saturating_duration_since(now)) else {
                // Poll itself fails only without memory; treat the hook as late rather than spin.
                return self.end(Ended::Late);
            };
            if ready.stdin {
                self.pipes.feed();
            }
            // What arrives past the deadline is read, so that the process can end, and not kept.
            if ready.stdout {
                self.pipes.read_stdout(running);
            }
            if ready.stderr {
                self.pipes.read_stderr();
            }
            if ready.exited {
                return match self.stage {
                    Stage::Running => self.finished(),
                    Stage::Asked { why, .. } | Stage::Killed { why, .. } => self.end(why),
                };
            }
            match self.stage {
                // It may have exited since it was last looked at: then it was in time.
                Stage::Running if ready.cancelled || Instant::now() >= until => {
                    match self.exit.has_exited() {
                        true => return self.finished(),
                        false => self.ask(if ready.cancelled { Ended::Cancelled } else { Ended::Late }),
                    }
                }
                Stage::Asked { why, .. } if Instant::now() >= until => {
                    os::signal_group(&self.exit, Urge::Kill);
                    self.stage = Stage::Killed { leave_at: Instant::now() + PATIENCE, why };
                }
                Stage::Killed { why, .. } if Instant::now() >= until => return self.end(why),
                _ => {}
            }
        }
    }

    fn ask(&mut self, why: Ended) {
        // A reply that is complete in the pipe was written in time.
        self.pipes.drain();
        os::signal_group(&self.exit, Urge::Term);
        self.pipes.close_stdin();
        self.stage = Stage::Asked { kill_at: moment_in(self.order.grace), why };
    }

    /// The leader exited in time: take what it left in the pipes, and leave its children alone.
    fn finished(mut self) -> End {
        self.pipes.drain();
        let status = self.leader.reap();
        let (code, signal) = status.map_or((None, None), |status| (status.code(), status.signal()));
        self.pipes.end(Ended::Done { code, signal })
    }

    /// The leader is gone or given up: whatever is left of its group goes too, before the leader is reaped.
    fn end(mut self, why: Ended) -> End {
        os::signal_group(&self.exit, Urge::Kill);
        self.leader.reap_if(self.exit.has_exited());
        self.pipes.end(why)
    }
}

/// The leader, which must be reaped by somebody.
struct Leader(Option<Child>);

impl Leader {
    fn reap(&mut self) -> Option<std::process::ExitStatus> {
        self.0.take()?.wait().ok()
    }

    /// Reaps a leader that has exited; one that hangs in the kernel is left to a thread of its own.
    fn reap_if(&mut self, exited: bool) {
        if exited {
            self.reap();
        } else if let Some(mut child) = self.0.take() {
            let _ = std::thread::Builder::new().name("crosier-reaper".to_owned()).spawn(move || child.wait());
        }
    }
}

impl Drop for Leader {
    /// Only a panic in the loop comes here: the child must not be left running or unreaped.
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            os::signal_group(&ExitWatch::new(&child), Urge::Kill);
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
    fn new(child: &mut Child, order: &Order<'a>) -> Self {
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let ready = |done: std::io::Result<()>| done.is_ok();
        Self {
            stdin: stdin.filter(|pipe| ready(os::set_nonblocking(pipe))),
            stdout: stdout.filter(|pipe| ready(os::set_nonblocking(pipe))),
            stderr: stderr.filter(|pipe| ready(os::set_nonblocking(pipe))),
            input: [order.input.as_bytes(), b"\n"],
            kept_stdout: Stdout::new(MAX_STDOUT),
            kept_stderr: Stderr::new(MAX_STDERR),
            lines: Default::default(),
            progress: order.progress,
            scratch: vec![0; 16 * 1024].into(),
        }
    }

    fn waited(&self) -> Waited<'_> {
        Waited {
            stdin: self.stdin.as_ref().map(AsFd::as_fd),
            stdout: self.stdout.as_ref().map(AsFd::as_fd),
            stderr: self.stderr.as_ref().map(AsFd::as_fd),
            cancel: None,
            bell: None,
        }
    }

    /// Writes what the pipe takes. A hook that does not want its input (EPIPE) is no error.
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
            Got::Bytes(count) => {
                let bytes = &self.scratch[..count];
                if keep {
                    self.kept_stdout.take(bytes);
                    if let Some(progress) = self.progress {
                        tell(progress, self.lines[0].take(bytes), String::new());
                    }
                }
                count
            }
            Got::Nothing => 0,
            Got::End => {
                self.stdout = None;
                0
            }
        }
    }

    fn read_stderr(&mut self) -> usize {
        let Some(stderr) = &mut self.stderr else { return 0 };
        match read(stderr, &mut self.scratch) {
            Got::Bytes(count) => {
                let bytes = &self.scratch[..count];
                self.kept_stderr.take(bytes);
                if let Some(progress) = self.progress {
                    tell(progress, String::new(), self.lines[1].take(bytes));
                }
                count
            }
            Got::Nothing => 0,
            Got::End => {
                self.stderr = None;
                0
            }
        }
    }

    /// Reads what is in the pipes at this moment and no more: a child of the hook may go on writing.
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

    fn end(mut self, ended: Ended) -> End {
        if let Some(progress) = self.progress {
            tell(progress, self.lines[0].rest(), self.lines[1].rest());
        }
        End {
            ended,
            oversize: self.kept_stdout.oversize(),
            stdout: self.kept_stdout.into_bytes(),
            stderr: self.kept_stderr.into_bytes(),
        }
    }
}

fn tell(progress: &dyn Fn(String, String), stdout: String, stderr: String) {
    if !(stdout.is_empty() && stderr.is_empty()) {
        progress(stdout, stderr);
    }
}

#[cfg(test)]
#[path = "pump_tests.rs"]
mod tests;
