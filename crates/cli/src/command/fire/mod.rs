//! `crosier fire`: one event, one outcome.

pub(crate) mod background;
mod messages;
mod quick;
mod trace;

use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd;
use std::path::PathBuf;

use clap::Args;
use crosier::{Capability, Decision, Event, EventKind, FailureKind, OnError, Outcome};

use super::Run;
use crate::args::ConfigArgs;
use crate::exit::{Exit, Failed, Result};
use crate::print;
use crate::setup::{self, Hooks};
use crate::signals::Signals;

pub(crate) use background::BackgroundArgs;
pub(crate) use quick::quick;

#[derive(Debug, Args)]
#[command(
    after_help = "EVENT can be a point alias: pre:tool. Missing base fields (session_id, cwd, timestamp, …) are
filled in; empty input counts as {}. Background hooks keep running after `fire` has ended.

Example:
  echo '{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"}}' | crosier fire PreToolUse -c hooks.yaml"
)]
pub(crate) struct FireArgs {
    /// The event, by its name, or by an alias such as pre:tool
    event: String,
    #[command(flatten)]
    config: ConfigArgs,
    /// The event's agent_id, which selects the hooks of one agent (not the name of a coding agent)
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Append what hooks do while they run to this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    messages: Option<PathBuf>,
    /// Exit with 2 and the reason on stderr when denied, on ask, on halt, and on any error
    #[arg(long)]
    exit_code: bool,
    /// Print on stderr what happens to the event, step by step, payload included
    #[arg(long)]
    trace: bool,
}

impl Run for FireArgs {
    fn run(&self) -> Result {
        // With --exit-code a signal must not look like "no objection", so watch for signals from the start.
        let early = if self.exit_code { Some(Signals::watch_and_wake()?) } else { None };
        let kind = find(&self.event)?;
        let request = self.config.request();
        let launch = background::launcher(&request);
        let hooks = setup::hooks(&request, |builder| builder.launcher(launch))?;
        let input = match &early {
            None => read_all(),
            Some(signals) => signals.during("no decision was made", || read_until_signal(signals))?,
        };
        let input = input.map_err(|error| {
            Failed::new(Exit::BadInput, format!("the event could not be read from stdin: {error}"))
        })?;
        let event =
            Event::from_json(kind, &input).map_err(|error| Failed::new(Exit::BadInput, error.to_string()))?;
        let event = match &self.agent {
            Some(agent) => event.in_agent(agent),
            None => event,
        };
        let outcome = self.fire(&hooks, &event, early)?;
        for notice in &outcome.notices {
            print::note(&format!("{}: {}", notice.level, print::plain(&notice.text)));
        }
        warn_of_failures(&hooks.engine, &outcome);
        print::data(outcome.to_json().text()).map_err(|failed| match failed.message.as_str() {
            "" => Failed::new(failed.exit, "the outcome cannot be written: stdout is closed"),
            _ => failed,
        })?;
        let exit = if self.exit_code { verdict(&outcome) } else { Exit::Done };
        // The process ends here: its memory need not be freed, but workers must be stopped.
        hooks.engine.shut_down();
        std::mem::forget(hooks);
        Ok(exit)
    }
}

impl FireArgs {
    fn fire(
        &self,
        hooks: &Hooks,
        event: &Event,
        early: Option<Signals>,
    ) -> std::result::Result<Outcome, Failed> {
        let engine = &hooks.engine;
        if self.trace {
            trace::before(hooks, event);
        }
        let fire = || match &self.messages {
            None => Ok(engine.fire_blocking(event)),
            Some(path) => messages::to_file(engine, path, || engine.fire_blocking(event)),
        };
        let outcome = if engine.is_wanted(event) {
            let signals = early.map_or_else(Signals::watch, Ok)?;
            if !engine.longest_run(event).is_zero() {
                signals.kill(engine);
            }
            signals.during("running hooks were killed", fire)??
        } else {
            // No process is started that a signal could leave behind.
            fire()?
        };
        if self.trace {
            trace::after(&outcome);
        }
        Ok(outcome)
    }
}

/// The event of this name or alias.
pub(crate) fn find(name: &str) -> std::result::Result<EventKind, Failed> {
    let catalog = setup::catalog();
    catalog.find(name).ok_or_else(|| Failed::new(Exit::Usage, catalog.unknown_event(name)))
}

/// Reads all of stdin.
pub(crate) fn read_all() -> io::Result<Vec<u8>> {
    let mut stdin = io::stdin().lock();
    if stdin.is_terminal() {
        print::note("crosier: reading the event from this terminal; end it with Ctrl-D");
    }
    let mut input = Vec::with_capacity(16 * 1024);
    stdin.read_to_end(&mut input).map(|_| input)
}

/// Reads all of stdin, or until a signal arrives.
fn read_until_signal(signals: &Signals) -> io::Result<Vec<u8>> {
    let mut stdin = io::stdin().lock();
    let mut input = Vec::new();
    let mut piece = [0; 8 * 1024];
    while signals.wait_for(stdin.as_fd())? {
        match stdin.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => input.extend_from_slice(piece.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(input)
}

/// Reports hooks that failed and were ignored: a person whose host looks only at the exit code would not know
/// otherwise. The details are only in the outcome, because they can quote what the hook printed.
fn warn_of_failures(engine: &crosier::Engine, outcome: &Outcome) {
    for report in &outcome.reports {
        let Some(failure) = &report.failure else { continue };
        let is_told = engine.entry(&report.hook).is_none_or(|entry| entry.on_error == OnError::Log);
        let has_denied = outcome.by_failure && outcome.by.as_deref() == Some(&*report.hook);
        if failure.kind == FailureKind::Import {
            // The person must fix a guard whose code is missing, whatever the host does with the denial.
            let (name, detail) = (print::one_line(&report.hook), print::one_line(&failure.detail));
            print::note(&format!("error: hook {name} could not be loaded: {detail}"));
            continue;
        }
        if is_told && !has_denied && report.decision.is_none() {
            let name = print::one_line(&report.hook);
            print::note(&format!("warn: hook {name} failed ({}) and was ignored", failure.kind));
        }
    }
}

/// The exit code for hosts that look only at it: 2 when the action must not happen.
fn verdict(outcome: &Outcome) -> Exit {
    let text = |reason: &str, by: &str, what: &str| match reason {
        "" => format!("{what} by hook {by}, without a reason"),
        reason => reason.to_owned(),
    };
    let by = outcome.by.as_deref().unwrap_or_default();
    let reason = outcome.reason.as_deref().unwrap_or_default();
    let stops = outcome.event.capabilities.has(Capability::Resume);
    let said = match (&outcome.halt, outcome.decision) {
        (_, Some(Decision::Deny)) => text(reason, by, "denied"),
        // At a stop event, a halt lets the agent stop as it wants to: exit code 2 would keep it going.
        (Some(halt), _) if stops => {
            print::note(&print::plain(&format!("halted by hook {}: {}", halt.by, halt.reason)));
            return Exit::Done;
        }
        (Some(halt), _) => format!("halted by hook {}: {}", halt.by, halt.reason),
        (None, Some(Decision::Ask)) => format!("a person must decide: {}", text(reason, by, "asked")),
        (None, _) => match &outcome.resume {
            Some(resume) => text(&resume.reason, &resume.by, "resumed"),
            None => return Exit::Done,
        },
    };
    print::note(&print::plain(&said));
    Exit::Denied
}
