//! The state of a walk: the outcome so far, and the event with the rewrites so far.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use crosier_protocol::{Answer, Event, Failure, Ignored, Outcome, Phase, Report, Status};

use super::applied::Applied;
use super::role::Role;
use super::{effect, policy};
use crate::registry::{Entry, OnError, Pass};

/// The state of one walk through a plan.
#[derive(Debug)]
pub(crate) struct Fold {
    pub(super) event: Event,
    /// What the hooks changed. An outcome is large and most hooks have no effect, so it is created only when
    /// needed, or at the end.
    applied: Option<Box<Applied>>,
    reports: Vec<Report>,
    /// How many reports are final.
    done: usize,
    over: bool,
    /// Whether any hook rewrote the event.
    pub(super) rewritten: bool,
    pub(super) pass: Pass,
}

impl Fold {
    /// Begins with the context of earlier background hooks. Each of `hooks` has a report from the start, with
    /// the status `skipped` until it has run. Observers get theirs when they have run.
    #[inline(always)]
    pub(crate) fn new(
        event: Event,
        context: Vec<String>,
        hooks: &[Arc<Entry>],
        observers: &[Arc<Entry>],
    ) -> Self {
        let applied = match context.is_empty() {
            true => None,
            false => {
                let mut outcome = Outcome::new(event.kind().clone());
                outcome.context = context;
                Some(Box::new(Applied::new(outcome)))
            }
        };
        let mut reports = Vec::with_capacity(hooks.len() + observers.len());
        reports.extend(hooks.iter().map(|hook| report(hook, Status::Skipped)));
        Self { event, applied, reports, done: 0, over: false, rewritten: false, pass: Pass::First }
    }

    /// What the hooks changed so far.
    pub(super) fn applied(&mut self) -> &mut Applied {
        let event = &self.event;
        self.applied.get_or_insert_with(|| Box::new(Applied::new(Outcome::new(event.kind().clone()))))
    }

    /// The outcome so far, without the reports.
    pub(super) fn outcome(&mut self) -> &mut Outcome {
        &mut self.applied().outcome
    }

    /// The index that the next report gets.
    pub(super) fn next_report(&self) -> usize {
        self.done
    }

    /// The report of the hook with this index in the plan.
    pub(super) fn first_report(&self, hook: usize) -> Option<&Report> {
        self.reports.get(hook)
    }

    /// The event as the next hook sees it.
    pub(crate) fn event(&self) -> &Event {
        &self.event
    }

    /// Whether a deny or a halt has ended the walk.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// Begins the second pass, in which guards are asked about the final event.
    pub(crate) fn begin_second_pass(&mut self) {
        self.pass = Pass::Second;
    }

    /// Begins a walk that is a second pass from its start.
    pub(crate) fn begin_recheck(&mut self) {
        self.begin_second_pass();
        let pass = self.pass.number();
        self.reports.iter_mut().for_each(|report| report.pass = pass);
    }

    /// Whether any hook rewrote the event.
    pub(crate) fn is_rewritten(&self) -> bool {
        self.rewritten
    }

    /// Whether the guard with this index in the plan decided about a value other than the current one.
    pub(crate) fn must_judge_again(&self, hook: usize) -> bool {
        !self.over && self.applied.as_ref().is_some_and(|applied| applied.must_judge_again(hook))
    }

    /// Takes the answer of the next hook of the plan. Inlined into the walk: see `run::start`.
    #[inline(always)]
    pub(crate) fn take(&mut self, hook: &Entry, answer: Answer, duration: Option<Duration>) {
        let silent = answer.reply.effects().is_none() && answer.failure.is_none() && !self.rewritten;
        // The fast path: most hooks have no effect.
        match self.reports.get_mut(self.done) {
            Some(report) if silent => {
                (report.status, report.duration) = (Status::Ok, duration);
                self.done += 1;
            }
            _ => self.take_effects(hook, self.done, answer, duration),
        }
    }

    /// Takes the second answer of the guard with this index in the plan; it replaces the first one.
    pub(crate) fn take_again(
        &mut self,
        hook: &Entry,
        index: usize,
        answer: Answer,
        duration: Option<Duration>,
    ) {
        // A failure is not an answer: the guard's first answer stays valid.
        if answer.failure.is_none() {
            self.applied().retract(index);
        }
        self.take_effects(hook, index, answer, duration);
    }

    #[inline(never)]
    fn take_effects(&mut self, hook: &Entry, index: usize, answer: Answer, duration: Option<Duration>) {
        let role = Role::of(hook);
        let mut report = report(hook, Status::Ok);
        (report.duration, report.pass) = (duration, self.pass.number());
        // A hook that failed is not trusted with more than a denial.
        let reply = match &answer.failure {
            Some(_) => answer.reply.denial_only().unwrap_or_default(),
            None => answer.reply,
        };
        if let Some(effects) = reply.into_effects() {
            effect::apply(self, hook, index, effects, &mut report);
        }
        if let Some(failure) = answer.failure {
            report.status = Status::Failed;
            if role != Role::Observer {
                policy::apply(self, hook, &failure, &mut report);
            }
            log_failure(hook, &failure);
            report.failure = Some(failure);
        }
        log_ignored(hook, &report.ignored);
        if hook.guard
            && let Some(applied) = &mut self.applied
        {
            applied.let_through(index);
        }
        self.report(report);
        self.over |= self
            .applied
            .as_ref()
            .is_some_and(|applied| applied.outcome.is_denied() || applied.outcome.halt.is_some());
    }

    fn report(&mut self, report: Report) {
        match self.reports.get_mut(self.done) {
            Some(skipped) => *skipped = report,
            None => self.reports.push(report),
        }
        self.done += 1;
    }

    /// Ends the walk without a deny or a halt, when the output was suppressed because a hook failed.
    pub(super) fn stop(&mut self) {
        self.over = true;
    }

    /// Leaves this many hooks reported as skipped, because the walk is over.
    pub(crate) fn skip(&mut self, hooks: usize) {
        self.done += hooks;
    }

    /// Reports a hook that runs in the background.
    pub(crate) fn report_background(&mut self, hook: &Entry, ignored: Option<Ignored>) {
        let mut report = report(hook, Status::Background);
        report.ignored.extend(ignored);
        self.report(report);
    }

    /// The event as observers get it, with the outcome in it.
    pub(crate) fn settled_event(&mut self) -> Event {
        let reports = mem::take(&mut self.reports);
        let outcome = self.outcome();
        outcome.reports = reports;
        let json = outcome.to_json();
        self.reports = mem::take(&mut outcome.reports);
        self.event.with_extra("outcome", json)
    }

    /// Makes the outcome final.
    #[inline(always)]
    pub(crate) fn settle(&mut self) {
        self.pass = Pass::First;
        if self.applied.is_some() {
            self.settle_applied();
        }
    }

    #[inline(never)]
    fn settle_applied(&mut self) {
        let Some(applied) = &mut self.applied else { return };
        applied.decide_about_the_final_value(&mut self.reports);
        let outcome = &mut applied.outcome;
        // A halt beats a resume, and a denied call has no rewritten input.
        if outcome.halt.is_some() {
            outcome.resume = None;
        }
        let rewritten = applied.rewritten.take().filter(|_| !outcome.is_denied());
        let value = rewritten.map(|rewritten| rewritten.value);
        match self.event.kind().rewrites {
            Some((Phase::Pre, _)) => outcome.updated_input = value,
            Some((Phase::Post, _)) => outcome.updated_output = value,
            None => {}
        }
    }

    /// Takes the outcome out. Inlined, so that this large value is built in place and not copied.
    #[inline(always)]
    pub(crate) fn end(&mut self) -> Outcome {
        let reports = mem::take(&mut self.reports);
        match self.applied.take() {
            None => Outcome::of_reports(self.event.kind().clone(), reports),
            Some(mut applied) => {
                applied.outcome.reports = reports;
                applied.outcome
            }
        }
    }
}

#[inline(always)]
fn report(hook: &Entry, status: Status) -> Report {
    Report::new(Arc::clone(&hook.name), status)
}

fn log_failure(hook: &Entry, failure: &Failure) {
    // Only the kind: the detail may contain the hook's output, and logs must not contain payload text.
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
