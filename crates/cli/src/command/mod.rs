//! The commands, one file or folder each, and their table.

mod audit;
mod check;
mod completions;
mod config;
mod demo;
mod doctor;
mod doctor_codex;
mod doctor_entry;
mod events;
mod explain;
mod fire;
mod history;
mod hook;
mod import;
mod init;
mod install;
mod list;
mod log;
mod man;
mod packs;
#[cfg(debug_assertions)]
mod panic;
mod run;
mod schema;
pub(crate) mod serve;
mod status;
mod switch;
mod test;
mod trust;
mod try_it;

use std::ffi::OsString;

use clap::{ArgMatches, Args, Command};

use crate::args;
use crate::exit::{Exit, Failed, Result};

/// One command.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    args: fn(Command) -> Command,
    run: fn(&ArgMatches) -> Result,
    visibility: Visibility,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Visibility {
    Listed,
    /// Internal.
    Hidden,
}

/// The arguments of a command, which can run it.
trait Run: Args {
    fn run(&self) -> Result;
}

/// Every command, in the order of the help.
pub(crate) static TABLE: &[Row] = &[
    row::<init::InitArgs>(
        "init",
        "Set up a first crosier.yaml, and make every agent on this machine call Crosier",
    ),
    row::<install::InstallArgs>("install", "Make agents call Crosier, and show what changes in their files"),
    row::<install::UninstallArgs>("uninstall", "Remove Crosier from agents' files, and restore them"),
    row::<status::StatusArgs>(
        "status",
        "Show which agents call Crosier, what is in force here, and what was denied",
    ),
    row::<demo::DemoArgs>("demo", "Watch a scripted agent and its hooks: every event, no key, no network"),
    row::<fire::FireArgs>("fire", "Fire one event: its JSON on stdin, the outcome as JSON on stdout"),
    row::<hook::HookArgs>(
        "hook",
        "Answer an agent: its event on stdin, the reply in the agent's format on stdout",
    ),
    row::<check::CheckArgs>(
        "check",
        "Check configuration files: every problem, with its position and a remedy",
    ),
    row::<config::ConfigCommandArgs>(
        "config",
        "Show which configuration files are in force, and what each adds",
    ),
    row::<list::ListArgs>("list", "List the hooks"),
    row::<packs::PacksArgs>(
        "packs",
        "List the packs of ready-made hooks that `extends:` can name, or print one",
    ),
    row::<explain::ExplainArgs>("explain", "Show what would run for an event, in which order, and why"),
    row::<events::EventsArgs>("events", "List the events, their payload and what a hook may do there"),
    row::<try_it::TryArgs>("try", "Try a command or a tool: what would the hooks in force here decide?"),
    row::<test::TestArgs>("test", "Run cases against hooks, or record one"),
    row::<switch::EnableArgs>("enable", "Switch a hook on again"),
    row::<switch::DisableArgs>("disable", "Switch a hook off without touching the configuration"),
    row::<trust::TrustArgs>("trust", "Review what a project would run, and trust it"),
    row::<run::RunArgs>(
        "run",
        "Run Crosier's own reference agent: a prompt, a model, tools, and the hooks of this folder",
    ),
    row::<history::HistoryArgs>("history", "List, show, compare and restore what the agent wrote"),
    row::<import::ImportArgs>("import", "Write an agent's own hooks as a crosier.yaml"),
    row::<log::LogArgs>("log", "Show what hooks decided, and why; follow it, filter it, count it"),
    row::<serve::ServeArgs>(
        "serve",
        "Run the daemon: keeps Python hooks warm, and serves hosts in any language",
    ),
    row::<audit::AuditArgs>("audit", "Verify, show or count the log that the built-in hook `audit` writes"),
    row::<schema::SchemaArgs>(
        "schema",
        "Print a JSON Schema: of the configuration, an event, a reply, an outcome, …",
    ),
    row::<completions::CompletionsArgs>("completions", "Print a completion script for a shell"),
    row::<man::ManArgs>("man", "Print a manual page, or write all of them to a folder"),
    row::<doctor::DoctorArgs>("doctor", "Check this machine and the configuration for problems"),
    row::<fire::BackgroundArgs>("background", "Run one background hook; started by `fire`").hidden(),
    #[cfg(debug_assertions)]
    row::<panic::PanicArgs>("panic", "Panic on purpose, for tests of how a bug is reported").hidden(),
];

const fn row<A: Run>(name: &'static str, about: &'static str) -> Row {
    Row { name, about, args: A::augment_args, run: start::<A>, visibility: Visibility::Listed }
}

fn start<A: Run>(matches: &ArgMatches) -> Result {
    let args = A::from_arg_matches(matches).map_err(|error| Failed::new(Exit::Usage, error.to_string()))?;
    args.run()
}

/// Runs the command that was called.
///
/// # Errors
/// The error of the command line parser: a mistake, or the help that was asked for.
pub(crate) fn run() -> std::result::Result<Result, clap::Error> {
    let is_short = |word: OsString| word == "hook" || word == "fire";
    if std::env::args_os().nth(1).is_some_and(is_short) {
        crate::ALLOCATOR.use_block();
    }
    if let Some(fire) = fire::quick(std::env::args_os().skip(1)) {
        return Ok(fire.run());
    }
    if let Some(hook) = hook::quick(std::env::args_os().skip(1)) {
        return Ok(hook.run());
    }
    let (row, matches) = args::parse()?;
    Ok((row.run)(&matches))
}

impl Row {
    const fn hidden(mut self) -> Self {
        self.visibility = Visibility::Hidden;
        self
    }

    pub(crate) fn is_listed(&self) -> bool {
        self.visibility == Visibility::Listed
    }

    /// The clap command; its arguments are built when they are needed.
    pub(crate) fn command(&self) -> Command {
        Command::new(self.name).about(self.about).hide(self.visibility == Visibility::Hidden).defer(self.args)
    }
}
