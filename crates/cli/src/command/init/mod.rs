//! `crosier init`: sets up a policy that applies in every agent on the machine.
//!
//! Everything is asked and planned first; then the configuration is written, the agents are set up, and what was
//! written is trusted. Running it again changes nothing.

mod ask;
mod config;

use std::path::{Path, PathBuf};

use clap::Args;
use crosier::protocol::json;
use crosier::{Decision, Outcome};
use crosier_install::project::{self, Mode};
use crosier_install::{Row, Scope};
use crosier_policy::Policy;

use super::Run;
use super::install::{Done, found, install, mode};
use crate::exit::{Exit, Failed, Result};
use crate::homes::HomeArgs;
use crate::install_context::{self, InstallContext};
use crate::paint::{Paint, Tone};
use crate::setup::DEFAULT_CONFIG;
use crate::{person, print, setup, table};

pub(crate) use config::set_mode;

/// Commands to show a first denial with: the first one that is denied is shown. Each pack denies one of them.
const EXAMPLES: [&str; 2] = ["git push --force", "cat ~/.aws/credentials"];
/// The default pack.
const USUAL_PACK: &str = "crosier:recommended";

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 done, 1 when something could not be written or when run inside an agent.

Example:
  crosier init --yes --mode warn"
)]
pub(crate) struct InitArgs {
    /// Ask nothing, and use the defaults
    #[arg(short, long)]
    yes: bool,
    /// Write your own crosier.yaml, which applies to every project, instead of one for this project
    #[arg(long)]
    user: bool,
    /// Whether denials are enforced or only reported
    #[arg(long, value_name = "enforce|warn", value_parser = mode)]
    mode: Option<Mode>,
    /// The agents (default: all that are found)
    #[arg(long, value_name = "AGENT", num_args = 1.., value_delimiter = ',')]
    agents: Vec<String>,
    /// The pack of hooks to start with, as `crosier packs` lists them
    #[arg(long, value_name = "PACK")]
    pack: Option<String>,
    #[command(flatten)]
    homes: HomeArgs,
}

/// What is to be done.
#[derive(Debug)]
struct Choice {
    pack: String,
    mode: Mode,
    rows: Vec<&'static Row>,
}

impl Run for InitArgs {
    fn run(&self) -> Result {
        person::require("init")?;
        let homes = self.homes.find();
        let install_context = InstallContext::find(homes)?;
        let file = self.file(&install_context);
        let choice = self.choose(&install_context, &file)?;
        let mut said = String::new();
        let written = config::write(&file, &choice, project::kind(&install_context.places.project))?;
        let shown = install_context.shown(&file);
        match &written {
            Some(text) => {
                install_context.did("init", &file.display().to_string());
                said += &format!("{shown}: written ({}, {})\n", choice.pack, choice.mode.word());
                if !self.is_user(&install_context) {
                    said += &config::trust(&install_context, &file, text)?;
                }
            }
            None => said += &format!("{shown}: already exists, not changed\n"),
        }
        // The policy in force has just changed, and with it the events that have hooks.
        let install_context = InstallContext::find(install_context.homes)?;
        let done: Vec<Done> = choice
            .rows
            .iter()
            .map(|row| install(row, &install_context, Scope::User, (false, false)))
            .collect();
        for done in &done {
            said += &summary(done, &install_context);
        }
        if done.is_empty() {
            said += match found(&install_context).as_slice() {
                [] => "no agent was found on this machine: `crosier install AGENT` when you have one\n",
                _ => "no agent was chosen: `crosier install` makes them call Crosier\n",
            };
        }
        said += &shown_denial(&install_context);
        said += "next: `crosier status` shows what is in force, `crosier log` what was decided\n";
        print::data(&table::fit(&said))?;
        Ok(if done.iter().any(|done| done.refused.is_some()) { Exit::Failed } else { Exit::Done })
    }
}

impl InitArgs {
    /// Whether to write the user's own file. The home folder is not a project.
    fn is_user(&self, install_context: &InstallContext) -> bool {
        let project = &install_context.places.project;
        self.user || project == Path::new("/") || *project == install_context.places.home
    }

    fn file(&self, install_context: &InstallContext) -> PathBuf {
        match self.is_user(install_context) {
            true => install_context.program.config_home.join(DEFAULT_CONFIG),
            false => install_context.places.project.join(DEFAULT_CONFIG),
        }
    }

    fn choose(&self, install_context: &InstallContext, file: &Path) -> std::result::Result<Choice, Failed> {
        let named = (!self.agents.is_empty()).then(|| install_context::rows(&self.agents)).transpose()?;
        let found = found(install_context);
        if let Some(pack) = &self.pack {
            config::known_pack(pack)?;
        }
        if self.yes {
            let pack = self.pack.clone().unwrap_or_else(|| USUAL_PACK.to_owned());
            return Ok(Choice {
                pack,
                mode: self.mode.unwrap_or(Mode::Enforce),
                rows: named.unwrap_or(found),
            });
        }
        ask::terminal()?;
        let is_there = file.exists();
        let pack = match &self.pack {
            Some(pack) => pack.clone(),
            None if is_there => USUAL_PACK.to_owned(),
            None => ask::pack(USUAL_PACK)?,
        };
        let rows = match named {
            Some(rows) => rows,
            None => ask::agents(&found)?,
        };
        let mode = match self.mode {
            Some(mode) => mode,
            None if is_there => Mode::Enforce,
            None => ask::mode()?,
        };
        Ok(Choice { pack, mode, rows })
    }
}

/// One line about an agent, and what the person should know about it.
fn summary(done: &Done, install_context: &InstallContext) -> String {
    let files: Vec<String> =
        done.plan.changes.iter().map(|change| install_context.shown(&change.path)).collect();
    let where_ = match files.as_slice() {
        [] => String::new(),
        [one] => format!(" in {one}"),
        [first, more @ ..] => format!(" in {first} and {} more", more.len()),
    };
    let mut text = match &done.refused {
        Some(why) => format!("{}: refused: {}\n", done.row.title(), print::one_line(why)),
        None => format!("{}: {}{where_}\n", done.row.title(), done.word),
    };
    for next in &done.next {
        text += &format!("  note: {}\n", print::one_line(next));
    }
    text
}

/// The decision about one command under the policy in force now.
fn shown_denial(install_context: &InstallContext) -> String {
    let request = setup::request(&[], install_context.homes.clone());
    let closed = match crosier_policy::in_force(&request) {
        Policy::Loaded(_) => None,
        Policy::Closed(closed) => Some(closed.why),
        // The configuration is not trusted.
        Policy::None(notices) => {
            let lines = notices.iter().map(|notice| format!("{}\n", print::one_line(&notice.text)));
            return lines.collect();
        }
        _ => return String::new(),
    };
    if let Some(why) = closed {
        return format!("{}\n", print::one_line(&why));
    }
    let Ok(hooks) = setup::hooks(&request, |builder| builder) else { return String::new() };
    let fire = |example: &'static str| {
        let event = json!({
            "tool_name": "Bash", "tool_input": {"command": example},
            "cwd": install_context.places.project.display().to_string(),
        });
        let event = hooks.engine.event("PreToolUse", event.to_string().as_bytes()).ok()?;
        Some((example, hooks.engine.fire_blocking(event)))
    };
    let mut fired = EXAMPLES.into_iter().filter_map(fire);
    let is_denied = |outcome: &Outcome| outcome.decision.or(outcome.would) == Some(Decision::Deny);
    let Some(first) = fired.next() else { return String::new() };
    let (example, outcome) = match is_denied(&first.1) {
        true => first,
        false => fired.find(|(_, outcome)| is_denied(outcome)).unwrap_or(first),
    };
    let paint = Paint::stdout();
    let word = match (outcome.decision, outcome.would) {
        (Some(decision), _) => format!("{decision:?}").to_lowercase(),
        (None, Some(would)) => format!("would {}", format!("{would:?}").to_lowercase()),
        (None, None) => "no opinion".to_owned(),
    };
    let by = outcome.by.as_deref().map(|by| format!(" by {by}")).unwrap_or_default();
    let reason = outcome.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("`{example}` → {}{}\n", paint.tone(Tone::Bad, &word), print::one_line(&format!("{by}{reason}")))
}
