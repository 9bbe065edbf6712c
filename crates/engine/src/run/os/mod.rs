//! What differs between operating systems, behind a few functions. The rest of the room names no platform.

#[cfg(unix)]
mod unix;

#[cfg(unix)]
pub use unix::mechanism;
#[cfg(unix)]
pub(super) use unix::{
    ExitWatch, Readiness, Waited, available, is_busy_file, is_ready, pipe, set_nonblocking, signal_group,
    wait_ready,
};

/// What is sent to a group of processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Urge {
    /// Please end.
    Term,
    /// End.
    Kill,
}
