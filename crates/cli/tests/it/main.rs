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
mod config;
mod corpus;
mod demo;
mod docs;
mod exit_status;
mod explain;
mod fire;
mod first_minute;
mod help;
mod history;
mod home;
mod hook;
mod install;
mod lab;
mod log;
mod machine;
#[expect(dead_code, reason = "the tests of the agent use the rest of it")]
#[path = "../../../agent/tests/it/model_server.rs"]
mod model_server;
mod record;
mod run_lab;
mod run_mcp;
mod run_person;
mod run_service;
mod run_session;
mod run_signal;
mod schema;
mod seeds;
mod serve;
mod signal;
mod switch;
mod terminal;
mod trust;
mod try_it;
