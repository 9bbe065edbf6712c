//! What this program writes to the log. Errors are ignored, because no decision depends on the log.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crosier::payload::PreViewRender;
use crosier::{Event, Outcome};
use crosier_agent::agent::{Fired, SessionListener};
use crosier_agent::conversation::Message;
use crosier_log::{Log, Record, StoredEvent};

use crate::setup::Hooks;

/// The name of Crosier's own agent in the log.
const OURS: &str = "crosier";

/// The record of one event, while it is collected.
#[derive(Debug)]
pub(crate) struct PendingRecord {
    pub(crate) record: Record,
    /// The event that decided; usually there is only one.
    event: Option<Event>,
    files: Vec<PathBuf>,
    /// Whether the configuration switches the log on.
    is_on: bool,
    /// Whether the state folder can be used.
    may_write: bool,
    started: Instant,
    /// How long it took, if known.
    took: Option<Duration>,
}

impl PendingRecord {
    /// A record for an event of this agent that begins now.
    pub(crate) fn new(agent: &str) -> Self {
        let record = Record::new(agent);
        Self {
            record,
            event: None,
            files: Vec::new(),
            is_on: true,
            may_write: true,
            started: Instant::now(),
            took: None,
        }
    }

    /// Sets the event; if a call has several parts, the first.
    pub(crate) fn set_event(&mut self, event: &Event) {
        self.record.set_event(event);
        self.event = Some(event.clone());
    }

    pub(crate) fn set_project(&mut self, project: &Path) {
        self.record.project = Some(project.display().to_string());
    }

    /// Sets the files that judge it, and whether they switch the log on.
    pub(crate) fn set_policy(&mut self, files: &[PathBuf], is_on: bool) {
        self.files = files.to_vec();
        self.is_on = is_on;
    }

    /// Writes nothing: the state folder must not be used.
    pub(crate) fn leave_out(&mut self) {
        self.may_write = false;
    }

    /// Adds the outcome of a part of the call.
    pub(crate) fn add(&mut self, event: &Event, outcome: &Outcome) {
        let before = self.record.decision.clone();
        self.record.add_outcome(outcome);
        if self.record.decision != before {
            // The part that decided is the one that matters to people.
            self.set_event(event);
        }
    }

    /// Writes the record.
    pub(crate) fn write(mut self, state: Option<&Path>) {
        let Some(state) = state.filter(|_| self.is_on && self.may_write) else { return };
        self.record.set_duration(self.took.unwrap_or_else(|| self.started.elapsed()));
        // Whatever is wrong with the log, the answer was already given.
        let _ = catch_unwind(AssertUnwindSafe(|| self.append(&Log::in_folder(state))));
    }

    fn append(&mut self, log: &Log) {
        let wanted = self.event.as_ref().filter(|_| self.record.is_surprising());
        let files: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
        let stored = wanted.and_then(|event| StoredEvent::of(&self.record, event, &files));
        self.record.kept = stored.is_some_and(|stored| log.store_event(&stored).is_ok());
        let _ = log.append(&self.record);
    }
}

/// Logs every fire of a session of Crosier's own agent.
pub(crate) struct Journal {
    state: Option<PathBuf>,
    files: Vec<PathBuf>,
    project: PathBuf,
    /// Another listener, which gets the same calls.
    next: Option<Arc<dyn SessionListener>>,
}

impl Journal {
    pub(crate) fn new(state: Option<&Path>, hooks: &Hooks, project: &Path) -> Self {
        let state = state.filter(|_| hooks.is_logged).map(Path::to_owned);
        Self { state, files: hooks.files.clone(), project: project.to_owned(), next: None }
    }

    /// Passes everything on to another listener.
    pub(crate) fn before(self, next: Option<Arc<dyn SessionListener>>) -> Self {
        Self { next, ..self }
    }

    fn write(&self, fired: &Fired) {
        let outcome = &fired.outcome;
        let Ok(event) = Event::from_json(outcome.event.clone(), fired.input.text().as_bytes()) else {
            return;
        };
        let mut pending = PendingRecord::new(OURS);
        pending.set_event(&event);
        pending.set_project(&self.project);
        pending.set_policy(&self.files, true);
        pending.add(&event, outcome);
        // The screen is drawn for every line: record it only when a hook objected.
        if fired.event == PreViewRender.kind().name && !pending.record.is_surprising() {
            return;
        }
        pending.took = Some(fired.took);
        pending.write(self.state.as_deref());
    }
}

impl SessionListener for Journal {
    fn on_message(&self, agent_id: &str, message: &Message) {
        self.next.iter().for_each(|next| next.on_message(agent_id, message));
    }

    fn on_fire(&self, fired: &Fired) {
        if self.state.is_some() {
            self.write(fired);
        }
        self.next.iter().for_each(|next| next.on_fire(fired));
    }
}

/// Logs what a person did with a command that changes what is in force: `trust`, `disable`, `install`, ….
pub(crate) fn command(state: &Path, command: &str, did: &str) {
    let _ = Log::in_folder(state).append(&Record::command(command, did));
}
