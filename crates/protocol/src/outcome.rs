//! [`Outcome`]: all reports folded into one answer, as the host and `crosier fire` get it.

use std::sync::Arc;
use std::time::Duration;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::failure::Failure;
use crate::json::Json;
use crate::reply::{Decision, Strategy};

/// The combined answer of all hooks to one event.
///
/// A host gets it from the engine; a test makes one with [`Outcome::new`] and sets what it needs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Outcome {
    /// The kind of the event; in JSON its name.
    #[serde(serialize_with = "name")]
    pub event: crate::event::EventKind,
    /// The strictest decision of all hooks; `None` when no hook decided.
    pub decision: Option<Decision>,
    /// Why, in the words of the first hook with that decision.
    pub reason: Option<Arc<str>>,
    /// The first hook with that decision.
    pub by: Option<Arc<str>>,
    /// Whether the engine made the decision because a hook failed.
    pub by_failure: bool,
    /// The strictest decision of the hooks that only warn; it has no effect.
    pub would: Option<Decision>,
    /// The rewritten field of a *pre* event.
    pub updated_input: Option<Json>,
    /// The rewritten field of a *post* event.
    pub updated_output: Option<Json>,
    /// Whether the output is to be hidden.
    pub suppress_output: bool,
    /// Text for the next model call, in plan order.
    pub context: Vec<String>,
    /// Text for the tool result or messages after it, in plan order.
    pub inject: Vec<Injected>,
    /// Set when the loop is to continue although it was about to stop.
    pub resume: Option<Directive>,
    /// Set when the host is to stop its loop.
    pub halt: Option<Directive>,
    /// Things for the host to log or to tell a person.
    pub notices: Vec<Notice>,
    /// Permission updates for the host, as the hook gave them.
    pub updated_permissions: Option<Json>,
    /// What each planned hook did, in plan order.
    pub reports: Vec<Report>,
}

fn name<S: Serializer>(kind: &crate::event::EventKind, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(kind.name)
}

impl Outcome {
    /// An outcome without any decision or effect.
    #[must_use]
    pub const fn new(event: crate::event::EventKind) -> Self {
        Self {
            event,
            decision: None,
            reason: None,
            by: None,
            by_failure: false,
            would: None,
            updated_input: None,
            updated_output: None,
            suppress_output: false,
            context: Vec::new(),
            inject: Vec::new(),
            resume: None,
            halt: None,
            notices: Vec::new(),
            updated_permissions: None,
            reports: Vec::new(),
        }
    }

    /// An outcome with these reports and no effects.
    // Inlined, so that it is built in the caller's place and not copied: most fires end here.
    #[inline(always)]
    #[must_use]
    pub fn of_reports(event: crate::event::EventKind, reports: Vec<Report>) -> Self {
        Self { reports, ..Self::new(event) }
    }

    /// Whether the action that was about to happen must not happen.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        self.decision == Some(Decision::Deny)
    }

    /// The reports of hooks that failed.
    pub fn failures(&self) -> impl Iterator<Item = (&str, &Failure)> {
        self.reports.iter().filter_map(|report| Some((&*report.hook, report.failure.as_deref()?)))
    }

    /// The outcome as JSON.
    #[must_use]
    pub fn to_json(&self) -> Json {
        // Serializing cannot fail: keys are fixed, and values are strings, numbers or valid JSON.
        serde_json::value::to_raw_value(self)
            .ok()
            .and_then(|raw| Json::parse(raw.get()).ok())
            .unwrap_or_default()
    }
}

/// Why the loop continues or stops, and which hook asked for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Directive {
    /// The reason; empty when the hook gave none.
    pub reason: String,
    /// The hook.
    pub by: Arc<str>,
}

impl Directive {
    /// A directive of this hook.
    #[must_use]
    pub fn new(reason: impl Into<String>, by: impl Into<Arc<str>>) -> Self {
        Self { reason: reason.into(), by: by.into() }
    }
}

/// One text to inject, and the hook that gave it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Injected {
    /// Where it goes.
    pub strategy: Strategy,
    /// The text.
    pub content: String,
    /// The hook.
    pub hook: Arc<str>,
}

impl Injected {
    /// A text that this hook gave.
    #[must_use]
    pub fn new(strategy: Strategy, content: impl Into<String>, hook: impl Into<Arc<str>>) -> Self {
        Self { strategy, content: content.into(), hook: hook.into() }
    }
}

/// What a notice asks of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NoticeKind {
    /// Write it to a log.
    Log,
    /// Tell a person.
    Notify,
}

/// Something for the host to log or to tell a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Notice {
    /// What to do with it.
    pub kind: NoticeKind,
    /// How important it is: `debug`, `info`, `warn` or `error`.
    pub level: Arc<str>,
    /// The text.
    pub text: String,
    /// The hook; empty until the engine fills it in.
    pub hook: Arc<str>,
}

impl Notice {
    /// A notice whose hook is filled in later.
    #[must_use]
    pub fn new(kind: NoticeKind, level: impl Into<Arc<str>>, text: impl Into<String>) -> Self {
        Self { kind, level: level.into(), text: text.into(), hook: "".into() }
    }

    /// The same notice, from this hook.
    #[must_use]
    pub fn of_hook(mut self, hook: impl Into<Arc<str>>) -> Self {
        self.hook = hook.into();
        self
    }
}

/// The result of a planned hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// It answered.
    Ok,
    /// It failed; the failure says how.
    Failed,
    /// It did not run, because an earlier hook ended the event.
    Skipped,
    /// It runs in the background; the event does not wait for it.
    Background,
}

/// An effect that a hook asked for and that was not applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Ignored {
    /// The effect.
    pub effect: String,
    /// Why it was not applied.
    pub why: String,
}

impl Ignored {
    /// An effect, and why it was not applied.
    #[must_use]
    pub fn new(effect: impl Into<String>, why: impl Into<String>) -> Self {
        Self { effect: effect.into(), why: why.into() }
    }
}

/// What one hook did.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The hook's name as shown: `agent/name` in a scope.
    pub hook: Arc<str>,
    /// 1, or 2 when a guard was run again because a later hook changed what it had decided about.
    pub pass: u8,
    /// The result.
    pub status: Status,
    /// How long it took; `None` for callbacks unless the host asked for timing.
    pub duration: Option<Duration>,
    /// What it decided, if the event allows that decision.
    pub decision: Option<Decision>,
    /// What a hook that only warns would have decided.
    pub would: Option<Decision>,
    /// Whether it replaced the event's input or output.
    pub rewrote: bool,
    /// The text that it gave for the next model call.
    pub context: Vec<String>,
    /// How it failed.
    pub failure: Option<Box<Failure>>,
    /// Effects that were not applied.
    pub ignored: Vec<Ignored>,
}

impl Report {
    /// A report of the hook with this name, with only a status.
    // Inlined, so that it is built in place and not copied: every planned hook gets one.
    #[inline(always)]
    #[must_use]
    pub const fn new(hook: Arc<str>, status: Status) -> Self {
        Self {
            hook,
            pass: 1,
            status,
            duration: None,
            decision: None,
            would: None,
            rewrote: false,
            context: Vec::new(),
            failure: None,
            ignored: Vec::new(),
        }
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        // Rounded to microseconds: further digits would be noise.
        let millis = self.duration.map(|duration| (duration.as_secs_f64() * 1e6).round() / 1e3);
        let mut report = to.serialize_struct("Report", 10)?;
        report.serialize_field("hook", &self.hook)?;
        report.serialize_field("pass", &self.pass)?;
        report.serialize_field("status", &self.status)?;
        report.serialize_field("duration_ms", &millis)?;
        report.serialize_field("decision", &self.decision)?;
        report.serialize_field("would", &self.would)?;
        report.serialize_field("rewrote", &self.rewrote)?;
        report.serialize_field("context", &self.context)?;
        report.serialize_field("failure", &self.failure)?;
        report.serialize_field("ignored", &self.ignored)?;
        report.end()
    }
}
