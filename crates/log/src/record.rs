//! What is stored about one event.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use crosier::{Event, Outcome};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::short::{bounded, short_input};

/// The version of the record format; a reader skips newer records.
pub(crate) const VERSION: u8 = 1;
/// The maximum number of characters of names: agent, session, event, tool, hook.
const MAX_NAME: usize = 120;
/// The maximum number of characters of a reason, a failure's cause, a note.
const MAX_TEXT: usize = 600;
/// The maximum number of failures and notes of one event.
const MAX_NOTES: usize = 8;
/// The maximum number of hooks whose times are stored.
const MAX_HOOKS: usize = 32;
/// The maximum number of bytes of a line.
pub(crate) const MAX_LINE: usize = 16 * 1024;

/// What a record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecordKind {
    /// An event was fired at hooks.
    #[default]
    Fire,
    /// No decision could be made, so actions were denied.
    Closed,
    /// An unknown event: it got no decision.
    Unknown,
    /// A person changed what is in force: `trust`, `disable`, `install`, …
    Command,
    /// A kind from a later version.
    #[serde(other)]
    Other,
}

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Record {
    /// The version of the format.
    v: u8,
    /// A short id that people type: `crosier log ID`.
    pub id: String,
    /// When it was written.
    pub time: Timestamp,
    /// What it is about.
    pub kind: RecordKind,
    /// The agent that sent the event: `claude`, `codex`; `crosier` for Crosier's own.
    pub agent: String,
    /// The session, as the agent names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The project's folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The event; for [`RecordKind::Command`] the command.
    pub event: String,
    /// The tool that is about to run or has run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// A short form of the input, with secrets masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// `deny`, `ask`, `allow`, or `None` when no hook had an opinion.
    pub decision: Option<String>,
    /// What hooks that only warn would have decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub would: Option<String>,
    /// The hook that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The reason; for [`RecordKind::Command`] what was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Other effects: `rewrite`, `context`, `halt`, `resume`, `suppress`, `inject`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<String>,
    /// Hooks that failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailureNote>,
    /// What could not be passed on to the agent, and other notes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The hooks that ran, with their times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<HookTime>,
    /// How long everything took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
    /// Whether the whole event was stored, so that a case can be made from it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
}

/// A hook that failed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct FailureNote {
    /// The hook.
    pub hook: String,
    /// The kind of failure: `timeout`, `exit`, …
    pub kind: String,
    /// The cause.
    pub detail: String,
}

/// How long a hook took.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct HookTime {
    /// The hook.
    pub hook: String,
    /// Milliseconds.
    pub ms: f64,
}

impl Record {
    /// A record with the current time, about an event of this agent.
    #[must_use]
    pub fn new(agent: &str) -> Self {
        let now = Timestamp::now();
        let time = now.round(jiff::Unit::Millisecond).unwrap_or(now);
        Self { v: VERSION, id: new_id(now), time, agent: name(agent), ..Self::default() }
    }

    /// A record of what a person did with a command that changes what is in force.
    #[must_use]
    pub fn command(command: &str, did: &str) -> Self {
        Self {
            kind: RecordKind::Command,
            event: name(command),
            reason: Some(bounded(did, MAX_TEXT)),
            ..Self::new("crosier")
        }
    }

    /// Sets the event that it is about.
    pub fn set_event(&mut self, event: &Event) {
        self.event = name(event.name());
        self.session = Some(event.session_id()).filter(|session| !session.is_empty()).map(name);
        self.tool = event.get("tool_name").and_then(|tool| tool.as_str().map(|tool| name(&tool)));
        self.input = short_input(event);
    }

    /// Sets an unknown event, by its name.
    pub fn set_unknown(&mut self, event: &str) {
        self.kind = RecordKind::Unknown;
        self.event = name(event);
    }

    /// Records that no decision can be made, for this reason.
    pub fn set_closed(&mut self, why: &str) {
        self.kind = RecordKind::Closed;
        self.reason = Some(bounded(why, MAX_TEXT));
    }

    /// Adds the outcome of a fire. When a call has several parts, the strictest counts.
    pub fn add_outcome(&mut self, outcome: &Outcome) {
        let strictness = |word: Option<&str>| match word {
            Some("deny") => 3,
            Some("ask") => 2,
            Some("allow") => 1,
            _ => 0,
        };
        let decision = outcome.decision.map(crosier::Decision::word);
        if strictness(decision) > strictness(self.decision.as_deref()) {
            self.decision = decision.map(str::to_owned);
            self.by = outcome.by.as_deref().map(name);
            self.reason = outcome.reason.as_deref().map(|reason| bounded(reason, MAX_TEXT));
        }
        let would = outcome.would.map(crosier::Decision::word);
        if strictness(would) > strictness(self.would.as_deref()) {
            self.would = would.map(str::to_owned);
            if self.by.is_none() {
                let warned = outcome.reports.iter().find(|report| report.would == outcome.would);
                self.by = warned.map(|report| name(&report.hook));
            }
        }
        self.add_effects(outcome);
        for report in &outcome.reports {
            if let Some(failure) = report.failure.as_ref().filter(|_| self.failures.len() < MAX_NOTES) {
                self.failures.push(FailureNote {
                    hook: name(&report.hook),
                    kind: failure.kind.word().to_owned(),
                    detail: bounded(&failure.detail, MAX_TEXT),
                });
            }
            if let Some(time) = report.duration.filter(|_| self.hooks.len() < MAX_HOOKS) {
                self.hooks.push(HookTime { hook: name(&report.hook), ms: milliseconds(time) });
            }
        }
    }

    fn add_effects(&mut self, outcome: &Outcome) {
        let rewrote = outcome.updated_input.is_some() || outcome.updated_output.is_some();
        let all = [
            (rewrote, "rewrite"),
            (outcome.suppress_output, "suppress"),
            (!outcome.context.is_empty(), "context"),
            (!outcome.inject.is_empty(), "inject"),
            (outcome.resume.is_some(), "resume"),
            (outcome.halt.is_some(), "halt"),
        ];
        for (_, effect) in all.into_iter().filter(|(is_so, _)| *is_so) {
            if !self.effects.iter().any(|other| other == effect) {
                self.effects.push(effect.to_owned());
            }
        }
        let directive = outcome.halt.as_ref().or(outcome.resume.as_ref());
        if let Some(directive) = directive.filter(|_| self.reason.is_none()) {
            self.reason = Some(bounded(&directive.reason, MAX_TEXT));
            self.by = self.by.take().or_else(|| Some(name(&directive.by)));
        }
    }

    /// Adds a note.
    pub fn note(&mut self, text: &str) {
        let text = bounded(text, MAX_TEXT);
        if self.notes.len() < MAX_NOTES && self.reason.as_deref() != Some(&text) {
            self.notes.push(text);
        }
    }

    /// Sets how long everything took.
    pub fn set_duration(&mut self, time: Duration) {
        self.ms = Some(milliseconds(time));
    }

    /// Whether people may ask why: something was denied, asked or would have been, or a hook failed.
    #[must_use]
    pub fn is_surprising(&self) -> bool {
        let strict = |word: &Option<String>| matches!(word.as_deref(), Some("deny" | "ask"));
        strict(&self.decision) || strict(&self.would) || !self.failures.is_empty()
    }

    /// The record as a line, with a line break at its end.
    pub(crate) fn line(&self) -> String {
        let mut line = serde_json::to_string(self).unwrap_or_default();
        if line.len() > MAX_LINE {
            // Each name and reason is short; only many of them together can be too long.
            let short = Self {
                hooks: Vec::new(),
                failures: self.failures.iter().take(1).cloned().collect(),
                notes: Vec::new(),
                ..self.clone()
            };
            line = serde_json::to_string(&short).unwrap_or_default();
        }
        line.push('\n');
        line
    }

    /// Reads a line. Text before the record is part of another one, which was cut off when the disk was full.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let start = format!("{{\"v\":{VERSION},");
        serde_json::from_str(line)
            .ok()
            .or_else(|| serde_json::from_str(line.get(line.rfind(&start)?..)?).ok())
    }
}

fn name(text: &str) -> String {
    bounded(text, MAX_NAME)
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// Six letters and digits that are easy to read and to type.
fn new_id(time: Timestamp) -> String {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    // The seed differs in every process and for every hasher.
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_i128(time.as_nanosecond());
    hasher.write_u32(std::process::id());
    let mut bits = hasher.finish();
    let mut id = String::with_capacity(6);
    for _ in 0..6 {
        id.push(char::from(LETTERS[usize::try_from(bits % 32).unwrap_or_default()]));
        bits /= 32;
    }
    id
}
