//! Hostile hooks, one behaviour per test.
//!
//! Every test here runs in a process of its own (see [`lab::alone`]), so that its descriptors, threads and
//! children can be counted, and nearly every test runs twice: through `fire_blocking` with `on_error: abort`,
//! and through `fire` on a multi-thread runtime with `on_error: log`. After each of the two the laboratory
//! asserts that nothing is left behind: no process, no zombie, no descriptor, no thread.
//!
//! No test depends on how fast the machine is. What is to happen before a deadline announces itself with a
//! file named `ready`; where the machine was too slow for that, the hook gets twice the time.

mod again;
mod background;
mod bad_output;
mod cancel;
mod child;
mod crowd;
mod cwd;
mod deadline;
mod environment;
mod exit_code;
mod flood;
mod lab;
mod log;
mod message;
mod payload;
mod start;
mod stdin;
mod thread;

use crate::vitals;
