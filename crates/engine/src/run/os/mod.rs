//! Functions that differ between operating systems. The rest of `run` is independent of the platform.

#[cfg(unix)]
mod unix;

#[cfg(unix)]
pub use unix::mechanism;
#[cfg(unix)]
pub(super) use unix::{
    ExitWatch, PollSet, available, is_busy_file, is_ready, pipe, set_nonblocking, signal_group, wait_ready,
};
#[cfg(all(unix, feature = "python"))]
pub(super) use unix::{Readiness, kill_leader, stamp};

/// Identifies a version of a file: its mtime in nanoseconds, its size and its inode.
#[cfg(feature = "python")]
pub(super) type Stamp = (i128, i128, u64, u64);

/// A signal to a process group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GroupSignal {
    Terminate,
    Kill,
}
