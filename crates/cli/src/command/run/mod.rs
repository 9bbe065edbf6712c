//! `crosier run`: the agent, with a real model, in this folder.
//!
//! Input: a prompt. The model's last answer goes to stdout, and what happens meanwhile to stderr. Only this command
//! knows the environment: keys and addresses are passed to the model, but not to the processes that tools start.

mod interrupt;
mod model;
mod permission;
mod person;
mod play;
mod report;
mod session;
mod team;
mod toolbox;

use std::io::{IsTerminal, Read};
use std::time::Duration;

use clap::Args;
use crosier_agent::agent::{End, Interrupt};

use super::Run;
use crate::agent::tui;
use crate::args::ConfigArgs;
use crate::exit::{Exit, Failed, Result};
use crate::logbook::Journal;
use crate::{agent_data, print, setup};
use play::{Output, Prepared};
use report::Display;

/// The default instructions of the model.
const SYSTEM: &str = "You are an agent that works in a folder of files with the tools that it is given. \
    Read before you change something, change no more than was asked for, and say briefly what you did.";

#[derive(Debug, Args)]
#[command(
    after_help = "The model's last answer goes to stdout, progress to stderr. Without a terminal, a call that
no rule or hook allows is denied. Ctrl-C stops the agent cleanly; a second one exits at once.

Environment variables: ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, OPENAI_API_KEY, OPENAI_BASE_URL.

Example:
  crosier run \"Why does the test fail?\" --allow 'Bash(cargo *)' --permission-mode acceptEdits
  crosier run --task 'Write the tests' --task 'Write the docs' --member ann --member bob"
)]
pub(crate) struct RunArgs {
    /// What to do; - reads it from stdin; /compact shortens the conversation of a session that is resumed
    #[arg(required_unless_present_any = ["maintenance", "task"])]
    prompt: Option<String>,
    #[command(flatten)]
    model: model::ModelArgs,
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    permission: permission::PermissionArgs,
    #[command(flatten)]
    tools: toolbox::ToolArgs,
    #[command(flatten)]
    session: session::SessionArgs,
    #[command(flatten)]
    team: team::TeamArgs,
    /// The instructions of the model
    #[arg(long, value_name = "TEXT", default_value = SYSTEM, hide_default_value = true)]
    system: String,
    /// Maximum number of turns of the agent, and of each subagent
    #[arg(long, value_name = "N", default_value_t = 50)]
    max_turns: usize,
    /// Print a line of JSON for every message and every event
    #[arg(long, conflicts_with = "tui")]
    json: bool,
    /// Show the session on the full screen; q leaves
    #[arg(long)]
    tui: bool,
}

impl Run for RunArgs {
    fn run(&self) -> Result {
        // All mistakes are found before anything starts.
        let permissions = self.permission.read()?;
        let servers = self.tools.servers()?;
        let members = self.team.members()?;
        let prompt = self.prompt.as_deref().map(read_prompt).transpose()?;
        let model = self.model.choose()?;
        let request = self.config.request();
        let (hooks, agent_hooks) = setup::session(&request)?;
        let (folder, workspace) = (self.session.folder.find()?, agent_data::workspace()?);
        let opened = self.session.open(&folder.sessions())?;
        let prepared = Prepared {
            prompt,
            model,
            journal: Journal::new(request.homes.state.as_deref(), &hooks, &workspace),
            engine: hooks.engine,
            agent_hooks,
            permissions,
            servers,
            members,
            opened,
            folder,
            workspace,
            interrupt: Interrupt::default(),
        };
        let interrupt = prepared.interrupt.clone();
        let how = match (self.tui, self.json) {
            (true, _) => Display::Screen,
            (false, true) => Display::Json,
            (false, false) => Display::Lines,
        };
        let played = match how {
            Display::Screen => {
                tui::show(&interrupt, Duration::ZERO, |screen| self.play(prepared, Output::Screen(screen)))
            }
            Display::Json => self.play(prepared, Output::Json),
            Display::Lines => self.play(prepared, Output::Lines),
        }?;
        report::finish(how, &played)?;
        match &played.end {
            End::Interrupted => Ok(Exit::Signal(played.signal)),
            other => report::exit(other),
        }
    }
}

fn read_prompt(given: &str) -> std::result::Result<String, Failed> {
    let mut prompt = given.to_owned();
    if given == "-" {
        if std::io::stdin().is_terminal() {
            print::note("the prompt, then Ctrl-D:");
        }
        prompt.clear();
        let read = std::io::stdin().lock().read_to_string(&mut prompt);
        read.map_err(|error| {
            Failed::new(Exit::BadInput, format!("the prompt could not be read from stdin: {error}"))
        })?;
    }
    if prompt.trim().is_empty() {
        return Err(Failed::new(Exit::Usage, "the prompt is empty: say what is to be done"));
    }
    Ok(prompt)
}
