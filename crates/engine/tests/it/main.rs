//! The engine from outside: one binary, a module per subject.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod architecture;
mod lab;
mod logged;
mod python;
mod rules;
mod torture;
mod vitals;
