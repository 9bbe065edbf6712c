//! Python hooks and their workers, with a real interpreter: one behaviour per test.
//!
//! Every test runs in a process of its own (see [`lab`]), so that its descriptors, threads and children can
//! be counted, and most run twice: through `fire_blocking` with `on_error: abort`, and through `fire` on a
//! multi-thread runtime with `on_error: log`. After each the laboratory asserts that nothing is left behind:
//! no process, no zombie, no descriptor, no thread.
//!
//! What a worker does inside, function by function, is tested where it is written, in python: see [`suite`].

mod again;
mod cancel;
mod channel;
mod crash;
mod crowd;
mod desk;
mod environment;
mod fake;
mod fork;
mod lab;
mod late;
mod leftover;
mod log;
mod message;
mod payload;
mod phase;
mod register;
mod reload;
mod shim;
mod sources;
mod start;
mod suite;
mod unfriendly;
mod warm;

use crate::vitals;
