//! What is typed → which command, with what. Built from the table of commands.
//!
//! A command's own arguments are only put together when it is the one that was called: `fire` is started
//! for every event and must not pay for the help of the others.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command};

use crate::command::{Row, TABLE};

const HELP: &str = "Exit status: 0 done, 1 it did not work, 64 usage, 65 bad input, 70 a bug of ours,
78 bad configuration, 128 + n on signal n. Never 2, except where --exit-code asks for it, and where an agent
takes nothing else from `hook`.

Example:
  echo '{\"tool_name\":\"Bash\",\"tool_input\":{}}' | crosier fire PreToolUse -c hooks.yaml";

// The configuration that a command reads. (Not a doc comment: clap would take it for the command's.)
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// A configuration file; several are merged in order (default: crosier.yaml in this folder)
    #[arg(short = 'c', long = "config", value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,
}

/// The whole command line.
fn cli() -> Command {
    TABLE.iter().fold(bare(), |cli, row| cli.subcommand(row.command()))
}

/// The command line that people see.
pub(crate) fn public() -> Command {
    TABLE.iter().filter(|row| row.is_listed()).fold(bare(), |cli, row| cli.subcommand(row.command()))
}

fn bare() -> Command {
    Command::new("crosier")
        .version(env!("CARGO_PKG_VERSION"))
        .about("The hook engine for AI agents: fires events at hooks and says what they decide")
        .after_help(HELP)
        .subcommand_required(true)
        .arg_required_else_help(true)
        // Of every command, so that `crosier fire --version` is not an unknown argument.
        .propagate_version(true)
}

/// The command that was called, and its arguments.
pub(crate) fn parse() -> Result<(&'static Row, ArgMatches), clap::Error> {
    let mut matches = cli().try_get_matches()?;
    // A command is required, and only those of the table are known.
    let called = matches.remove_subcommand();
    let found = called.and_then(|(name, rest)| Some((TABLE.iter().find(|row| row.name == name)?, rest)));
    found.ok_or_else(|| cli().error(clap::error::ErrorKind::MissingSubcommand, "no command was given"))
}
