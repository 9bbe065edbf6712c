//! The program as a user runs it: the built binary, files, pipes, terminals, signals.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test that fails says so by panicking, and has no door of its own to the environment"
)]

mod audit;
mod background;
mod bad_configs;
mod case;
mod check;
mod corpus;
mod demo;
mod docs;
mod exit_status;
mod explain;
mod fire;
mod forgotten;
mod help;
mod lab;
mod machine;
mod record;
mod schema;
mod seeds;
mod signal;
mod switch;
mod terminal;
