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

/// Identifies a version of a file. A worker sends it as a list, in this order.
#[cfg(feature = "python")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
pub(super) struct Stamp {
    /// When its content was modified (mtime), in nanoseconds.
    pub(super) modified: i128,
    /// When its metadata changed (ctime), in nanoseconds. Unlike `modified`, a program cannot set it.
    pub(super) changed: i128,
    pub(super) size: u64,
    pub(super) inode: u64,
}

/// A signal to a process group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GroupSignal {
    Terminate,
    Kill,
}
