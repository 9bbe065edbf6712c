//! Runs one process: starts it, writes its input, reads its output, ends it. Whatever the process does, this
//! returns in time.
//!
//! Input: what to start, what to write to its stdin and how long it may take. Output: an [`Exit`]. There
//! is one loop ([`pump`]) over stdin, stdout, stderr, the leader's exit, a cancellation and the deadline,
//! and it is the same for `fire` and `fire_blocking`.
//!
//! Invariants: the deadline begins before the start and covers everything. The process leads a group of its
//! own; past the deadline the whole group is killed, before the leader is reaped, so that its id cannot
//! belong to another group. A hook is finished when its *leader* exits, never when a pipe closes.

mod capture;
mod guard;
mod pump;
mod start;

#[cfg(feature = "python")]
pub(super) use capture::{Lines, ReadResult, read};
#[cfg(feature = "python")]
pub(super) use guard::HostValue;
pub(crate) use guard::ProcessGuard;
pub(super) use pump::{Exit, ProcessEnd, ProcessRun, run};
pub(super) use start::{Start, Stop};
