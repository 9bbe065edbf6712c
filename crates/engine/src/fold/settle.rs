//! The outcome so far, and the event as the hooks so far left it.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use crosier_protocol::{Answer, Event, Ignored, Json, Outcome, Phase, Report, Status};

use super::{effect, policy};
use crate::registry::{Entry, Mode};

/// What part a hook has in the walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// In sequence: every effect that the event allows.
    Solo,
    /// Perhaps with others at the same time: it may not rewrite.
    Together,
    /// Looking on: no effect.
    Observer,
}

impl Part {
    /// A parallel hook has the same rights alone in its stage: its neighbours must not change them.
    pub(crate) fn of(hook: &Entry) -> Self {
        match hook.mode {
            Mode::Sequential | Mode::Background => Self::Solo,
            Mode::Parallel => Self::Together,
            Mode::Observe => Self::Observer,
        }
    }
}

/// One walk through a plan.
#[derive(Debug)]
pub(crate) struct Fold {
    pub(super) event: Event,
    /// What the hooks had to say. An outcome is large, and most hooks have nothing to say: then none is made before
    /// the end, where the caller wants it.
    said: Option<Box<Outcome>>,
    reports: Vec<Report>,
    pub(super) rewritten: Option<Json>,
    /// How many hooks are done with.
    done: usize,
    over: bool,
}

impl Fold {
    /// Begins with what hooks in the background left. Each of these hooks has a report from the start, which says that
    /// it was skipped until more is known. Those that look on get theirs when they have looked.
    #[inline(always)]
    pub(crate) fn new(
        event: Event,
        context: Vec<String>,
        hooks: &[Arc<Entry>],
        observers: &[Arc<Entry>],
    ) -> Self {
        let said = match context.is_empty() {
            true => None,
            false => Some(Box::new(Outcome { context, ..Outcome::new(event.kind().clone()) })),
        };
        let mut reports = Vec::with_capacity(hooks.len() + observers.len());
        reports.extend(hooks.iter().map(|hook| report(hook, Status::Skipped)));
        Self { event, said, reports, rewritten: None, done: 0, over: false }
    }

    /// The outcome so far, but for the reports.
    pub(super) fn outcome(&mut self) -> &mut Outcome {
        self.said.get_or_insert_with(|| Box::new(Outcome::new(self.event.kind().clone())))
    }

    /// The event as the next hook sees it.
    pub(crate) fn event(&self) -> &Event {
        &self.event
    }

    /// Whether a deny or a halt has ended the walk.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// Takes one hook's answer. A part of the walk: see `run::start`.
    #[inline(always)]
    pub(crate) fn take(&mut self, hook: &Entry, part: Part, answer: Answer, duration: Option<Duration>) {
        let silent = answer.reply.effects().is_none() && answer.failure.is_none();
        // Most hooks have nothing to say.
        match self.reports.get_mut(self.done) {
            Some(report) if silent => {
                (report.status, report.duration) = (Status::Ok, duration);
                self.done += 1;
            }
            _ => self.weigh(hook, part, answer, duration),
        }
    }

    #[inline(never)]
    fn weigh(&mut self, hook: &Entry, part: Part, answer: Answer, duration: Option<Duration>) {
        let mut report = Report { duration, ..report(hook, Status::Ok) };
        // A hook that failed is not trusted with more than a denial.
        let reply = match &answer.failure {
            Some(_) => answer.reply.denial_only().unwrap_or_default(),
            None => answer.reply,
        };
        if let Some(effects) = reply.into_effects() {
            effect::apply(self, hook, part, effects, &mut report);
        }
        if let Some(failure) = answer.failure {
            report.status = Status::Failed;
            if part != Part::Observer {
                policy::apply(self, hook, &failure);
            }
            log_failure(hook, &failure);
            report.failure = Some(*failure);
        }
        log_ignored(hook, &report.ignored);
        self.report(report);
        self.over |= self.said.as_ref().is_some_and(|said| said.is_denied() || said.halt.is_some());
    }

    fn report(&mut self, report: Report) {
        match self.reports.get_mut(self.done) {
            Some(skipped) => *skipped = report,
            None => self.reports.push(report),
        }
        self.done += 1;
    }

    /// Ends the walk without a deny or a halt: the output was suppressed because a hook failed.
    pub(super) fn stop(&mut self) {
        self.over = true;
    }

    /// Passes over hooks that do not run because the walk is over.
    pub(crate) fn skip(&mut self, hooks: usize) {
        self.done += hooks;
    }

    /// Reports a hook that runs on by itself.
    pub(crate) fn leave(&mut self, hook: &Entry, ignored: Option<Ignored>) {
        let mut report = report(hook, Status::Background);
        report.ignored.extend(ignored);
        self.report(report);
    }

    /// The event as an observer sees it: with the outcome in it.
    pub(crate) fn settled_event(&mut self) -> Event {
        let reports = mem::take(&mut self.reports);
        let outcome = self.outcome();
        outcome.reports = reports;
        let json = outcome.to_json();
        self.reports = mem::take(&mut outcome.reports);
        self.event.with_extra("outcome", json)
    }

    /// Ends the walk: what was collected becomes what the host acts on.
    pub(crate) fn settle(&mut self) {
        // Who rewrites has said something, too.
        let Some(outcome) = &mut self.said else { return };
        // A halt beats a resume, and what is denied is not run with another input.
        if outcome.halt.is_some() {
            outcome.resume = None;
        }
        let value = if outcome.is_denied() { None } else { self.rewritten.take() };
        match self.event.kind().rewrites {
            Some((Phase::Pre, _)) => outcome.updated_input = value,
            Some((Phase::Post, _)) => outcome.updated_output = value,
            None => {}
        }
    }

    /// The outcome, once. Made in one piece, where the caller wants it: it is too large to be moved for nothing.
    #[inline(always)]
    pub(crate) fn end(&mut self) -> Outcome {
        let reports = mem::take(&mut self.reports);
        match self.said.take() {
            None => Outcome { reports, ..Outcome::new(self.event.kind().clone()) },
            Some(said) => Outcome { reports, ..*said },
        }
    }
}

fn report(hook: &Entry, status: Status) -> Report {
    let hook = Arc::clone(&hook.name);
    Report { hook, status, duration: None, decision: None, failure: None, ignored: Vec::new() }
}

fn log_failure(hook: &Entry, failure: &crosier_protocol::Failure) {
    use crate::registry::OnError;
    // Only the kind: a detail may hold what the hook said, and logs carry no payload text.
    match hook.on_error {
        OnError::Skip => tracing::debug!(hook = %hook.name, kind = %failure.kind, "hook failed"),
        OnError::Log | OnError::Abort => {
            tracing::warn!(hook = %hook.name, kind = %failure.kind, "hook failed");
        }
    }
}

fn log_ignored(hook: &Entry, ignored: &[Ignored]) {
    for ignored in ignored {
        tracing::warn!(hook = %hook.name, effect = %ignored.effect, why = %ignored.why, "effect ignored");
    }
}
