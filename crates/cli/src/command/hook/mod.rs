//! `crosier hook AGENT [EVENT]`: the line in an agent's own configuration that hands its events to Crosier.
//!
//! In comes what the agent sends; out goes exactly what it takes: nothing else on stdout, and no exit status by
//! accident. Whatever goes wrong here, a word that nobody knows included, is *closed*: what acts is denied in the way
//! that this agent takes, the person is told, and elsewhere there is no opinion, so that no fault of ours keeps an
//! agent going.

mod input;
mod judge;
mod policy;
mod quick;
mod session;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use clap::Args;
use crosier_dialect::table::Agent;
use crosier_dialect::{ALL, Answer, closed, find};

use super::Run;
use crate::args::ConfigArgs;
use crate::exit::{Exit, Result};
use crate::print;

pub(crate) use quick::quick;

#[derive(Debug, Args)]
#[command(
    after_help = "The agent's JSON comes in on stdin. Without -c, every crosier.yaml from the project's folder
up to the root of its repository counts; with none there is no opinion.

Example:
  crosier hook claude < event.json"
)]
pub(crate) struct HookArgs {
    /// The agent: claude, codex, gemini, …
    agent: String,
    /// The event, as the agent calls it, where what it sends does not say so
    event: Option<String>,
    #[command(flatten)]
    config: ConfigArgs,
    /// Answer within this time: less than the agent gives the hook
    #[arg(long, value_name = "SECONDS")]
    deadline: Option<u32>,
    /// Print the plugin that opencode loads: it runs this very line
    #[arg(long)]
    plugin: bool,
    /// What is wrong with the command line.
    #[arg(skip)]
    mistake: Option<String>,
}

impl Run for HookArgs {
    fn run(&self) -> Result {
        if self.plugin && self.mistake.is_none() && self.agent == "opencode" {
            return self.print_plugin();
        }
        let sent = input::read();
        let bytes = sent.as_deref().unwrap_or_default();
        let known = find(&self.agent);
        let agent = known.or_else(|| input::guess(bytes)).unwrap_or(ALL[0]);
        let answer = match (known, &sent) {
            (None, _) => self.closed(agent, bytes, &self.unknown_agent()),
            (Some(_), Err(error)) => {
                let why = format!("the event could not be read from stdin: {error}");
                self.closed(agent, bytes, &why)
            }
            (Some(_), Ok(bytes)) => {
                let judged = catch_unwind(AssertUnwindSafe(|| self.judge(agent, bytes)));
                judged.unwrap_or_else(|_| self.closed(agent, bytes, "this is a bug in crosier"))
            }
        };
        say(&answer)
    }
}

impl HookArgs {
    fn print_plugin(&self) -> Result {
        let myself = std::env::current_exe().unwrap_or_else(|_| "crosier".into());
        let files =
            self.config.config.iter().map(|file| std::path::absolute(file).unwrap_or_else(|_| file.clone()));
        let mut words = vec![myself.display().to_string(), "hook".to_owned(), "opencode".to_owned()];
        words.extend(files.flat_map(|file| ["-c".to_owned(), file.display().to_string()]));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        print::data(&crosier_dialect::agent::opencode_plugin(&words))?;
        Ok(Exit::Done)
    }

    fn unknown_agent(&self) -> String {
        let names: Vec<&str> = ALL.iter().map(|agent| agent.name).collect();
        let mistake = self.mistake.as_ref().map(|mistake| format!("{mistake}; ")).unwrap_or_default();
        format!("{mistake}`crosier hook {}`: no such agent; there are {}", self.agent, names.join(", "))
    }

    /// The time that there is for hooks.
    fn deadline(&self, agent: &Agent) -> Duration {
        let usual = agent.timeout.default_s - (agent.timeout.default_s / 10).clamp(1, 5);
        Duration::from_secs(self.deadline.unwrap_or(usual).into())
    }

    /// The answer when nothing can be judged.
    fn closed(&self, agent: &'static Agent, bytes: &[u8], why: &str) -> Answer {
        let reason = format!("crosier cannot judge this: {}", print::plain(why));
        let word = self.event.as_deref();
        let said = catch_unwind(|| {
            match crosier_dialect::read(agent, word, bytes, &crosier_dialect::catalog()) {
                Ok(crosier_dialect::Read::Call(call)) => {
                    closed(agent, Some(call.entry), Some(&call), &reason)
                }
                // There is no opinion about these, and nothing to judge.
                Ok(_) => Answer { log: vec![reason.clone()], ..closed_nowhere(agent) },
                Err(unreadable) => closed(agent, unreadable.event, None, &reason),
            }
        });
        said.unwrap_or_else(|_| closed(agent, word.and_then(|word| agent.named(word)), None, &reason))
    }
}

/// No opinion.
fn closed_nowhere(agent: &Agent) -> Answer {
    Answer { stdout: agent.nothing.to_owned(), ..Answer::default() }
}

/// Writes an answer. What cannot be said to the agent is for whoever looks at stderr.
fn say(answer: &Answer) -> Result {
    if answer.status == 0 {
        answer.log.iter().for_each(|line| print::note(&print::plain(line)));
    }
    if !answer.stderr.is_empty() {
        print::note(answer.stderr.trim_end());
    }
    if !answer.stdout.is_empty() {
        // Who does not read the answer is not told that it was not read.
        let _ = print::data(&answer.stdout);
    }
    Ok(if answer.status == Exit::DENIED { Exit::Denied } else { Exit::Done })
}
