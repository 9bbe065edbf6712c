//! The contract from outside: one binary, a module per subject.
#![expect(clippy::unwrap_used, reason = "tests")]

mod any_bytes;
mod downstream;
mod event_input;
mod exit;
mod outcome;
mod reply;
mod sample;
mod surrogate;
mod view;
mod wire;
