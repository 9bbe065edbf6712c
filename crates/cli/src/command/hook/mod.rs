//! `crosier hook AGENT [EVENT]`: the command in an agent's own configuration that passes its events to Crosier.
//!
//! Input: the agent's event. Output: the reply in the agent's format and nothing else on stdout, and only exit statuses
//! that the agent understands. On any error, including an unknown argument, it fails *closed*: actions are denied in
//! the way that this agent understands, the person is told, and other events get no opinion, so that a bug in Crosier
//! cannot keep an agent running.

mod input;
mod judge;
mod policy;
mod project;
mod quick;
mod session;
mod wiring;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

use clap::Args;
use crosier_dialect::table::Agent;
use crosier_dialect::{ALL, Answer, Read, closed, find};

use super::Run;
use crate::args::ConfigArgs;
use crate::exit::{Exit, Result};
use crate::logbook::PendingRecord;
use crate::print;

pub(crate) use quick::quick;

#[derive(Debug, Default, Args)]
#[command(
    after_help = "The agent's JSON is read from stdin. Without -c, the configuration in force is used (see `crosier
config`); a project's files count only after a person has trusted them. Without any configuration,
only the self-guard decides.

Exit status: 0, also when it denies: the denial is in the reply on stdout. 2 only where the agent
takes a denial as exit status 2; the reason is then on stderr.

Example:
  crosier hook claude < event.json"
)]
pub(crate) struct HookArgs {
    /// The agent: claude, codex, gemini, …
    agent: String,
    /// The event, by the agent's name for it, when its JSON does not name it
    event: Option<String>,
    #[command(flatten)]
    config: ConfigArgs,
    /// Answer within this time, which must be shorter than the agent's own timeout (default: a little shorter than the
    /// agent's usual timeout)
    #[arg(long, value_name = "SECONDS")]
    deadline: Option<u32>,
    /// Print the plugin that opencode loads: it runs this same command
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
        let mut pending = PendingRecord::new(agent.name);
        let answer = match (known, &sent) {
            (None, _) => self.closed(agent, bytes, &self.unknown_agent(), &mut pending),
            (Some(_), Err(error)) => {
                let why = format!("the event could not be read from stdin: {error}");
                self.closed(agent, bytes, &why, &mut pending)
            }
            (Some(_), Ok(bytes)) => {
                let judged = catch_unwind(AssertUnwindSafe(|| self.judge(agent, bytes, &mut pending)));
                judged.unwrap_or_else(|_| self.closed(agent, bytes, "this is a bug in crosier", &mut pending))
            }
        };
        let said = say(&answer);
        answer.log.iter().for_each(|line| pending.record.note(line));
        pending.write(self.config.homes.find().state.as_deref());
        said
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
        if self.agent.is_empty() {
            return format!("{mistake}`crosier hook` needs the name of an agent: {}", names.join(", "));
        }
        format!(
            "{mistake}`crosier hook {}`: there is no such agent; the agents are {}",
            self.agent,
            names.join(", ")
        )
    }

    /// How long hooks may take.
    fn deadline(&self, agent: &Agent) -> Duration {
        let usual = agent.timeout.default_s - (agent.timeout.default_s / 10).clamp(1, 5);
        Duration::from_secs(self.deadline.unwrap_or(usual).into())
    }

    /// The answer when no decision can be made.
    fn closed(&self, agent: &'static Agent, bytes: &[u8], why: &str, pending: &mut PendingRecord) -> Answer {
        let reason = policy::reason(&print::plain(why));
        let word = self.event.as_deref();
        let read = catch_unwind(|| crosier_dialect::read(agent, word, bytes, &crosier_dialect::catalog()));
        let (event, call) = match read {
            Ok(Ok(Read::Call(call))) => (Some(call.entry), Some(call)),
            // Unknown and repeated events get no opinion.
            Ok(Ok(_)) => {
                pending.record.set_closed(&reason);
                return Answer { log: vec![reason], ..no_opinion(agent) };
            }
            Ok(Err(unreadable)) => (unreadable.event, None),
            Err(_) => (word.and_then(|word| agent.named(word)), None),
        };
        if let Some(event) = call.as_ref().and_then(|call| call.events.first()) {
            pending.set_event(event);
        }
        judge::record_closed(pending, event, &reason);
        closed(agent, event, call.as_deref(), &reason)
    }
}

/// The answer to an agent when nothing can be judged, as the body of an HTTP response.
pub(crate) fn refusal(
    agent: &str,
    event: Option<&str>,
    body: &[u8],
    why: &str,
    state: Option<&Path>,
) -> String {
    let known = find(agent).or_else(|| input::guess(body)).unwrap_or(ALL[0]);
    let event = event.map(str::to_owned);
    let args = HookArgs { agent: agent.to_owned(), event, ..HookArgs::default() };
    let mut pending = PendingRecord::new(known.name);
    let answer = args.closed(known, body, why, &mut pending);
    pending.write(state);
    match (answer.stdout.trim(), answer.stderr.trim()) {
        ("", "") => "{}".to_owned(),
        ("", stderr) => crosier::protocol::json!({"decision": "block", "reason": stderr}).to_string(),
        (stdout, _) => stdout.to_owned(),
    }
}

/// No opinion.
fn no_opinion(agent: &Agent) -> Answer {
    Answer { stdout: agent.nothing.to_owned(), ..Answer::default() }
}

/// Writes an answer. What cannot be passed on to the agent goes to stderr.
fn say(answer: &Answer) -> Result {
    if answer.status == 0 {
        answer.log.iter().for_each(|line| print::note(&print::plain(line)));
    }
    if !answer.stderr.is_empty() {
        print::note(answer.stderr.trim_end());
    }
    if !answer.stdout.is_empty() {
        // If stdout is closed, nobody can be told.
        let _ = print::data(&answer.stdout);
    }
    Ok(if answer.status == Exit::DENIED { Exit::Denied } else { Exit::Done })
}
