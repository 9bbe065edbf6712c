//! The agent from outside: one binary, a module per subject.
#![expect(clippy::unwrap_used, reason = "tests")]

mod sequence;
