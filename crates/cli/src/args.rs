//! Parses the command line into a command and its arguments, from the table of commands.
//!
//! The parser of a command's own arguments is built only when that command is called: `fire` is started for every event,
//! and must not spend time on the other commands.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command};

use crosier_policy::Request;

use crate::command::{Row, TABLE};
use crate::homes::HomeArgs;
use crate::text::wrap;
use crate::{environment, setup};

const HELP: &str = "Exit status: 0 success, 1 failure, 64 usage, 65 bad input, 70 internal error, 78 bad
configuration, 128 + n on signal n. Only `hook` and `fire --exit-code` end with 2: `fire` when the
event is not simply allowed, `hook` when the agent takes a denial only as exit status 2. For other
agents `hook` ends with 0, and the denial is in the reply.

`crosier help COMMAND` has details and examples; `crosier man COMMAND` prints its manual page.

Example:
  crosier try 'git push --force'";

// The configuration that a command reads. (Not a doc comment: clap would take it for the command's.)
#[derive(Debug, Default, Args)]
pub(crate) struct ConfigArgs {
    /// A configuration file; several are merged in order (default: those in force in this folder; see `crosier config`)
    #[arg(short = 'c', long = "config", value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) homes: HomeArgs,
    /// For this call, trust the project if its files have this digest, which `crosier trust --digest` prints
    #[arg(long, value_name = "SHA256")]
    pub(crate) trust: Option<String>,
}

impl ConfigArgs {
    /// The request for the policy, in the current folder.
    pub(crate) fn request(&self) -> Request {
        self.with_trust(setup::request(&self.config, self.homes.find()))
    }

    /// The same, for a caller that finds the project itself: see [`setup::request_before_project`].
    pub(crate) fn request_before_project(&self) -> Request {
        self.with_trust(setup::request_before_project(&self.config, self.homes.find()))
    }

    fn with_trust(&self, mut request: Request) -> Request {
        request.trust = self.trust.clone().or_else(|| environment::text("CROSIER_TRUST"));
        // A variable or a file often ends with a line break.
        request.trust = request.trust.map(|digest| digest.trim().to_owned());
        request
    }
}

/// The commands by purpose, in the order of the help. A command in no group comes last.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Get started", &["init", "install", "uninstall", "status", "doctor", "trust", "try", "demo"]),
    (
        "Write hooks",
        &["check", "explain", "list", "events", "packs", "config", "import", "enable", "disable", "schema"],
    ),
    ("Test", &["test"]),
    ("See what happened", &["log", "audit"]),
    ("Run", &["run", "history", "hook", "fire", "serve"]),
    ("Shell integration", &["completions", "man"]),
];

/// The commands with their descriptions, grouped under headings.
fn groups() -> String {
    let listed = || TABLE.iter().filter(|row| row.is_listed());
    let is_grouped = |row: &&Row| GROUPS.iter().any(|(_, names)| names.contains(&row.name));
    let width = listed().map(|row| row.name.len()).max().unwrap_or_default();
    // Two columns of indentation, two between name and description.
    let room = environment::width().saturating_sub(width + 4);
    let mut text = String::new();
    let mut add = |title: &str, rows: &mut dyn Iterator<Item = &Row>| {
        let mut rows = rows.peekable();
        if rows.peek().is_none() {
            return;
        }
        text.push_str(&format!("{title}:\n"));
        for row in rows {
            for (number, line) in wrap(row.about, room).iter().enumerate() {
                let name = if number == 0 { row.name } else { "" };
                text.push_str(&format!("  {name:<width$}  {line}\n"));
            }
        }
        text.push('\n');
    };
    for (title, names) in GROUPS {
        add(title, &mut names.iter().filter_map(|name| listed().find(|row| row.name == *name)));
    }
    add("More", &mut listed().filter(|row| !is_grouped(row)));
    text
}

/// The whole command line.
fn cli() -> Command {
    TABLE.iter().fold(bare(), |cli, row| cli.subcommand(row.command()))
}

/// The command line without hidden commands.
pub(crate) fn public() -> Command {
    TABLE.iter().filter(|row| row.is_listed()).fold(bare(), |cli, row| cli.subcommand(row.command()))
}

fn bare() -> Command {
    Command::new("crosier")
        .version(env!("CARGO_PKG_VERSION"))
        .about(
            "One policy for every coding agent: checks what agents are about to do, and denies, asks or logs",
        )
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}Options:\n{{options}}{{after-help}}",
            groups()
        ))
        .after_help(HELP)
        .subcommand_required(true)
        .arg_required_else_help(true)
        // For every command, so that `crosier fire --version` is not an unknown argument.
        .propagate_version(true)
}

/// The command that was called, and its arguments.
pub(crate) fn parse() -> Result<(&'static Row, ArgMatches), clap::Error> {
    let mut matches = cli().try_get_matches()?;
    // A subcommand is required, and only those in the table are known.
    let called = matches.remove_subcommand();
    let found = called.and_then(|(name, rest)| Some((TABLE.iter().find(|row| row.name == name)?, rest)));
    found.ok_or_else(|| cli().error(clap::error::ErrorKind::MissingSubcommand, "no command was given"))
}
