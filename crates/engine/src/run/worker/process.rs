//! The process of a worker: its pipes, its start and its end.

use std::io::Write;
use std::os::fd::AsFd;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::time::{Duration, Instant};

use super::super::os::{self, ExitWatch, GroupSignal, PollSet, Readiness};
use super::super::process::{HostValue, ProcessGuard, Start, Stop};
use super::call::{CallLimits, Cause};

/// How long it may take to end after SIGTERM.
const GRACE: Duration = Duration::from_millis(100);
/// How long it may take to exit after the end of its input: enough to flush its files. Threads and `atexit`
/// handlers that a hook left behind are not waited for.
const EXIT_WAIT: Duration = Duration::from_millis(100);
/// How long it may take to exit after SIGKILL. One that takes longer is stuck in the kernel and is not waited
/// for.
const KILL_WAIT: Duration = Duration::from_millis(500);

/// A process with its three nonblocking pipes. Dropping it ends and reaps the process.
#[derive(Debug)]
pub(super) struct Process {
    child: Option<Child>,
    exit: ExitWatch,
    /// Dropped before the process is reaped.
    guard_value: Option<HostValue>,
    stdin: Option<ChildStdin>,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: Option<ChildStderr>,
    /// Whether it cannot be used again: it is in the middle of an abandoned call, or broke the protocol.
    pub(super) is_broken: bool,
}

impl Process {
    /// Starts it. The error says why that failed.
    pub(super) fn start(
        start: &Start,
        guard: Option<&ProcessGuard>,
        deadline: Instant,
    ) -> Result<Self, String> {
        let mut child = start.start(deadline).map_err(|failure| failure.detail)?;
        let guard_value = guard.map(|guard| guard.hold(&child));
        let exit = ExitWatch::new(&child);
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            os::signal_group(&exit, GroupSignal::Kill);
            let _ = child.wait();
            return Err("its worker has no pipes".to_owned());
        };
        let pipes = [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()].map(os::set_nonblocking);
        let (stdin, stderr) = (Some(stdin), Some(stderr));
        let mut process =
            Self { child: Some(child), exit, guard_value, stdin, stdout, stderr, is_broken: true };
        for result in pipes {
            result.map_err(|error| format!("the pipes of its worker could not be set up: {error}"))?;
        }
        process.is_broken = false;
        Ok(process)
    }

    /// Its process id.
    pub(super) fn id(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }

    /// Waits until something happens, at most until the deadline.
    pub(super) fn wait(&self, limits: &CallLimits<'_>, writes: bool) -> Result<Readiness, Cause> {
        let poll_set = PollSet {
            stdin: self.stdin.as_ref().filter(|_| writes).map(AsFd::as_fd),
            stdout: Some(self.stdout.as_fd()),
            stderr: self.stderr.as_ref().map(AsFd::as_fd),
            cancel: limits.stop.cancel,
            shutdown: limits.stop.shutdown,
        };
        os::wait_ready(poll_set, &self.exit, limits.left())
            .map_err(|error| Cause::Broken(format!("its worker could not be waited for: {error}")))
    }

    /// Waits for an answer without sleeping: a processor that sleeps takes longer to wake up than most hooks take to
    /// answer. Other threads and processes run meanwhile.
    pub(super) fn wait_awake(&self, until: Instant) {
        while os::available(&self.stdout) == 0 && Instant::now() < until {
            std::thread::yield_now();
        }
    }

    /// Whether it has neither exited nor written anything without a request; an error when the call was
    /// cancelled. One poll checks all of that, because every call has to do this.
    pub(super) fn is_idle(&self, limits: &CallLimits<'_>) -> Result<bool, Cause> {
        let Stop { cancel, shutdown } = limits.stop;
        let poll_set = PollSet { stdout: Some(self.stdout.as_fd()), cancel, shutdown, ..PollSet::default() };
        match os::wait_ready(poll_set, &self.exit, Duration::ZERO) {
            Ok(ready) if ready.cancelled => Err(Cause::Cancelled),
            Ok(ready) => Ok(!ready.stdout && !ready.exited),
            Err(_) => Ok(false),
        }
    }

    /// Writes as much as the pipe accepts. That a worker is gone is noticed by its exit.
    pub(super) fn write(&mut self, parts: &mut [&[u8]; 2]) {
        for part in parts {
            while let (false, Some(stdin)) = (part.is_empty(), &mut self.stdin) {
                match stdin.write(part) {
                    Ok(count) => *part = &part[count..],
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                    Err(_) => self.stdin = None,
                }
            }
        }
    }

    /// Closes its input. A healthy worker then exits by itself.
    pub(super) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Waits for a worker that closed its output or exited, and returns its status. `None` if it did not exit
    /// and was killed.
    pub(super) fn exit_status(&mut self) -> Option<ExitStatus> {
        self.is_broken = true;
        let exited = self.exits_within(GRACE);
        self.end().filter(|_| exited)
    }

    fn exits_within(&self, limit: Duration) -> bool {
        let over = Instant::now() + limit;
        while !self.exit.has_exited() {
            let left = over.saturating_duration_since(Instant::now());
            if left.is_zero() || os::wait_ready(PollSet::default(), &self.exit, left).is_err() {
                return self.exit.has_exited();
            }
        }
        true
    }

    /// Ends it. A healthy worker exits at the end of its input, with its files flushed; children that its
    /// hooks left in the background keep running, like those of commands. A broken one gets SIGTERM, and its
    /// whole group is killed before it is reaped.
    fn end(&mut self) -> Option<ExitStatus> {
        let mut child = self.child.take()?;
        self.stdin = None;
        if self.is_broken {
            os::signal_group(&self.exit, GroupSignal::Terminate);
        }
        let mut exited = self.exits_within(if self.is_broken { GRACE } else { EXIT_WAIT });
        if self.is_broken {
            os::signal_group(&self.exit, GroupSignal::Kill);
        } else if !exited {
            os::kill_leader(&self.exit);
        }
        if !exited || self.is_broken {
            exited = self.exits_within(KILL_WAIT);
        }
        self.guard_value = None;
        if exited {
            return child.wait().ok();
        }
        let _ = std::thread::Builder::new().name("crosier-reaper".to_owned()).spawn(move || child.wait());
        None
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}
