//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// The hook engine for AI agents.
#[derive(Debug, Parser)]
#[command(
    name = "crosier",
    version,
    about = "The hook engine for AI agents: fires events at hooks and says what they decide.",
    after_help = "Example:\n  echo '{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"rm -rf /\"}}' | crosier fire PreToolUse -c hooks.yaml\n\nExit status: 0 done, 1 it did not work, 64 usage, 65 bad input, 70 a bug of ours,\n78 bad configuration, 128 + n on signal n. Never 2, except where --exit-code asks for it."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fire one event: its JSON on stdin, the outcome as JSON on stdout
    Fire(FireArgs),
    /// List the events, their payload and what a hook may do there
    Events(EventsArgs),
    /// Run cases against hooks
    Test(TestArgs),
}

/// The configuration that a command reads.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// A configuration file; several are merged in order (default: crosier.yaml in this folder)
    #[arg(short = 'c', long = "config", value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  echo '{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"}}' | crosier fire PreToolUse -c hooks.yaml\n\nMissing base fields (session_id, cwd, timestamp, …) are completed. EVENT can be a point alias: pre:tool."
)]
pub(crate) struct FireArgs {
    /// The event, by its name or point alias
    pub(crate) event: String,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// The agent that the event happens in
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Write what hooks do while they run to this file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub(crate) messages: Option<PathBuf>,
    /// Exit with 2 and the reason on stderr when denied, on ask, on halt, and when anything goes wrong
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Print the journey of the event on stderr, room by room, payload included
    #[arg(long)]
    pub(crate) trace: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  crosier events --json")]
pub(crate) struct EventsArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  crosier test hooks.test.yaml\n\nA case:\n  - name: rm is denied\n    config: hooks.yaml\n    event: PreToolUse\n    input: {tool_name: Bash, tool_input: {command: rm -rf /}}\n    expect: {decision: deny, by: no-rm}"
)]
pub(crate) struct TestArgs {
    /// Case files, or folders with case files (*.yaml, *.yml, *.json)
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Run only the cases whose name holds this text (or matches it, written as /regex/)
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
