//! What differs between operating systems, behind a few functions. The rest of the room names no platform.

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

/// What changes when a file does: its time in nanoseconds, its size, and which file it is.
#[cfg(feature = "python")]
pub(super) type Stamp = (i128, u64, u64);

/// A signal to a process group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GroupSignal {
    Terminate,
    Kill,
}
