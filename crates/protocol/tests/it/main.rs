//! The contract from outside: one binary, a module per subject.
#![expect(clippy::unwrap_used, reason = "tests")]

mod any_bytes;
mod downstream;
mod ending;
mod event_input;
mod outcome;
mod reply;
mod sample;
mod surrogate;
mod view;
mod wire;
