//! `crosier`: fires events at hooks, checks and explains configurations, and tests hooks.
//!
//! Only `main` ends the process. Every command returns an [`Exit`]; a usage error is 64 and a bug is 70, and never 2,
//! because for hooks 2 means "deny".
#![cfg_attr(all(target_os = "linux", target_env = "gnu", not(test)), no_main)]

mod agent;
mod agent_data;
mod allocator;
mod args;
mod cases;
mod command;
mod describe;
mod environment;
mod exit;
mod homes;
mod install_context;
mod lifeline;
mod lock;
mod logbook;
mod paint;
mod person;
mod print;
mod schema;
mod search_path;
mod setup;
mod signals;
#[cfg(all(target_os = "linux", target_env = "gnu", not(test)))]
mod start;
mod table;
mod text;
mod user_database;

use std::panic::catch_unwind;

use exit::{Exit, Failed};

#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator::new();

#[cfg(not(all(target_os = "linux", target_env = "gnu", not(test))))]
fn main() -> std::process::ExitCode {
    program().into()
}

/// Runs the program; returns its exit status.
fn program() -> u8 {
    std::panic::set_hook(Box::new(print::bug));
    let exit = catch_unwind(run).unwrap_or(Exit::Bug);
    match exit {
        Exit::Done => 0,
        _ if exit::is_strict() => Exit::DENIED,
        other => other.code(),
    }
}

fn run() -> Exit {
    match command::run() {
        Ok(Ok(exit)) => exit,
        Ok(Err(Failed { exit, message })) => {
            print::error(&message);
            exit
        }
        Err(error) => {
            // The reader has closed the pipe, so no message can reach it.
            let _ = error.print();
            if error.use_stderr() { Exit::Usage } else { Exit::Done }
        }
    }
}
