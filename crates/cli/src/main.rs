//! `crosier`: fires events at hooks, checks and explains configurations, and tests hooks.
//!
//! `main` is the only place that ends the process. Every command gives back an [`Exit`]; a usage error is 64
//! and a bug is 70, never 2 by accident: in a hook's world 2 means "deny".

mod args;
mod cases;
mod command;
mod environment;
mod exit;
mod print;
mod setup;
mod signals;
mod table;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use exit::{Exit, Failed};

fn main() -> ExitCode {
    // Whatever goes wrong under `--exit-code` is a denial: also a word on the command line that nobody knows.
    let strict = std::env::args_os().any(|word| word == "--exit-code");
    std::panic::set_hook(Box::new(print::bug));
    let exit = match Cli::try_parse() {
        Ok(cli) => catch_unwind(AssertUnwindSafe(|| run(cli.command))).unwrap_or(Exit::Bug),
        Err(error) => {
            let usage = error.use_stderr();
            // Nobody is there to be told that nobody is there.
            let _ = error.print();
            if usage { Exit::Usage } else { Exit::Done }
        }
    };
    match exit {
        Exit::Done => ExitCode::SUCCESS,
        _ if strict => ExitCode::from(Exit::DENIED),
        other => ExitCode::from(other.code()),
    }
}

fn run(command: Command) -> Exit {
    let result = match command {
        Command::Fire(args) => command::fire::run(&args),
        Command::Events(args) => command::events::run(&args),
        Command::Test(args) => command::test::run(&args),
    };
    match result {
        Ok(exit) => exit,
        Err(Failed { exit, message }) => {
            print::error(&message);
            exit
        }
    }
}
