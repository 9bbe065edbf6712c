//! Unix: process groups, pipes, poll. Exits are noticed with a pidfd if the kernel has it, else by polling at
//! short intervals.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
#[cfg(feature = "python")]
use std::os::unix::fs::MetadataExt;
use std::process::Child;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::GroupSignal;
#[cfg(feature = "python")]
use super::Stamp;

/// How often the leader is checked if the kernel has no pidfd.
const TICK: Duration = Duration::from_millis(2);

/// Tells when the leader of a group exits, without reaping it: its id cannot be reused until it is reaped.
#[derive(Debug)]
pub(in crate::run) enum ExitWatch {
    /// Readable when the leader has exited (Linux 5.3 and later).
    #[cfg(target_os = "linux")]
    Pidfd(OwnedFd, Pid),
    /// Checked every few milliseconds.
    Tick(Pid),
}

impl ExitWatch {
    pub(in crate::run) fn new(child: &Child) -> Self {
        let pid = Pid::from_child(child);
        #[cfg(target_os = "linux")]
        if let Ok(fd) = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
            return Self::Pidfd(fd, pid);
        }
        Self::Tick(pid)
    }

    /// As on a kernel without pidfd.
    #[cfg(test)]
    pub(in crate::run) fn ticking(child: &Child) -> Self {
        Self::Tick(Pid::from_child(child))
    }

    fn pid(&self) -> Pid {
        match self {
            #[cfg(target_os = "linux")]
            Self::Pidfd(_, pid) => *pid,
            Self::Tick(pid) => *pid,
        }
    }

    /// Whether the leader has exited. It is not reaped.
    pub(in crate::run) fn has_exited(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(self.pid()), options) {
            Ok(status) => status.is_some(),
            // It was already reaped, for example because the host ignores SIGCHLD.
            Err(_) => true,
        }
    }
}

/// How the exit of a process is noticed here, for `crosier doctor`.
#[must_use]
pub fn mechanism() -> &'static str {
    #[cfg(target_os = "linux")]
    if rustix::process::pidfd_open(rustix::process::getpid(), rustix::process::PidfdFlags::empty()).is_ok() {
        return "pidfd";
    }
    "2 ms ticks"
}

/// The descriptors to wait for.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::run) struct PollSet<'a> {
    /// Set only if there is something to write.
    pub(in crate::run) stdin: Option<BorrowedFd<'a>>,
    pub(in crate::run) stdout: Option<BorrowedFd<'a>>,
    pub(in crate::run) stderr: Option<BorrowedFd<'a>>,
    /// Readable or closed: the fire was cancelled.
    pub(in crate::run) cancel: Option<BorrowedFd<'a>>,
    /// Readable or closed: the engine shuts down.
    pub(in crate::run) shutdown: Option<BorrowedFd<'a>>,
}

/// What is ready after waiting. Nothing is set if the time limit or a tick has passed.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::run) struct Readiness {
    pub(in crate::run) stdin: bool,
    pub(in crate::run) stdout: bool,
    pub(in crate::run) stderr: bool,
    pub(in crate::run) cancelled: bool,
    pub(in crate::run) exited: bool,
}

/// Waits until something happens, at most this long.
pub(in crate::run) fn wait_ready(
    poll_set: PollSet<'_>,
    exit: &ExitWatch,
    limit: Duration,
) -> io::Result<Readiness> {
    let exit_fd = match exit {
        #[cfg(target_os = "linux")]
        ExitWatch::Pidfd(fd, _) => Some(fd.as_fd()),
        ExitWatch::Tick(_) => None,
    };
    let limit = if exit_fd.is_none() { limit.min(TICK) } else { limit };
    let (read, write) = (PollFlags::IN, PollFlags::OUT);
    let wanted = [
        (poll_set.stdin, write),
        (poll_set.stdout, read),
        (poll_set.stderr, read),
        (poll_set.cancel, read),
        (poll_set.shutdown, read),
        (exit_fd, read),
    ];
    // Absent descriptors are left out.
    let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(wanted.len());
    let mut indexes = [None; 6];
    for (which, (fd, flags)) in wanted.into_iter().enumerate() {
        if let Some(fd) = fd {
            indexes[which] = Some(fds.len());
            fds.push(PollFd::from_borrowed_fd(fd, flags));
        }
    }
    let limit = Timespec::try_from(limit).unwrap_or(Timespec { tv_sec: i32::MAX.into(), tv_nsec: 0 });
    match poll(&mut fds, Some(&limit)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let happened = |which: usize| indexes[which].is_some_and(|at: usize| !fds[at].revents().is_empty());
    Ok(Readiness {
        stdin: happened(0),
        stdout: happened(1),
        stderr: happened(2),
        cancelled: happened(3) || happened(4),
        exited: happened(5) || (exit_fd.is_none() && exit.has_exited()),
    })
}

/// Whether this descriptor is readable or closed at this moment.
pub(in crate::run) fn is_ready(fd: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec::default())).is_ok() && !fds[0].revents().is_empty()
}

/// Signals every process of the leader's group. The leader must not be reaped yet, or the id could belong to
/// another group.
pub(in crate::run) fn signal_group(exit: &ExitWatch, which: GroupSignal) {
    let signal = match which {
        GroupSignal::Terminate => Signal::TERM,
        GroupSignal::Kill => Signal::KILL,
    };
    let _ = kill_process_group(exit.pid(), signal);
    if which == GroupSignal::Kill {
        // The leader may have moved itself to another group.
        kill_leader(exit);
    }
}

/// Kills the leader and leaves its group alone. The leader must not be reaped yet.
pub(in crate::run) fn kill_leader(exit: &ExitWatch) {
    let _ = rustix::process::kill_process(exit.pid(), Signal::KILL);
}

/// A pipe whose ends no child inherits.
pub(in crate::run) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        Ok(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?)
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let (read, write) = std::io::pipe()?;
        Ok((read.into(), write.into()))
    }
}

pub(in crate::run) fn set_nonblocking(fd: impl AsFd) -> io::Result<()> {
    Ok(rustix::io::ioctl_fionbio(fd, true)?)
}

/// How many bytes can be read from a pipe at this moment.
pub(in crate::run) fn available(fd: impl AsFd) -> usize {
    rustix::io::ioctl_fionread(fd).map_or(0, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// The stamp of a file; `None` if it does not exist.
#[cfg(feature = "python")]
pub(in crate::run) fn stamp(path: &str) -> Option<Stamp> {
    let found = std::fs::metadata(path).ok()?;
    let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    // The modification time alone can be set back, for example by `cp -p` or `tar`.
    Some(Stamp {
        modified: nanoseconds(found.mtime(), found.mtime_nsec()),
        changed: nanoseconds(found.ctime(), found.ctime_nsec()),
        size: found.size(),
        inode: found.ino(),
    })
}

/// Whether a program could not be started because some process still holds its file open for writing.
pub(in crate::run) fn is_busy_file(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::TXTBSY.raw_os_error())
}
