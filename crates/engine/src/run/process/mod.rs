//! One process: started, fed, read, ended. Whatever it does, this returns in time.
//!
//! In comes what to start, what to write to its stdin and how long it may take; out goes an [`Exit`]. There
//! is one loop ([`pump`]) over stdin, stdout, stderr, the leader's exit, a cancellation and the deadline,
//! and it is the same for `fire` and `fire_blocking`.
//!
//! Invariants: the deadline begins before the start and covers everything. The process leads a group of its
//! own; past the deadline the whole group is killed, before the leader is reaped, so that its id cannot be
//! somebody else's. A hook is finished when its *leader* exits, never when a pipe closes.

mod capture;
mod pump;
mod start;

#[cfg(feature = "python")]
pub(super) use capture::{Lines, ReadResult, read};
pub(super) use pump::{Ended, Exit, ProcessRun, run};
pub(super) use start::{Start, Stop};
