//! One walk through a plan: runs each stage and folds its answers, until the plan is done or a hook ends the
//! walk.
//!
//! Input: an event and its plan. Output: the outcome. The walk creates a future only for hooks that do not
//! answer at once: running a callback that does allocates nothing.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::slice;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use crosier_protocol::{Capability, Event, Ignored, Outcome};

use super::fire::Shared;
use crate::fold::Fold;
use crate::plan::Plan;
use crate::registry::{Entry, Mode, Pass};
use crate::run::{
    self, BackgroundJob, RunContext, RunFuture, RunResult, Stage, Started, StopSignal, WaitMode,
};

/// How long a stopped fire waits at most for its processes to end. Normally they are killed long before.
const STOPPED_WITHIN: Duration = Duration::from_secs(1);

pub(super) struct Walk<'a> {
    shared: &'a Shared,
    plan: &'a Plan,
    run: RunContext<'a>,
    fold: Fold,
    needs_runtime: bool,
    section: Section,
    /// The index of the current stage in its section.
    at: usize,
    /// What the current stage waits for.
    waiting: Option<Waiting<'a>>,
    /// The event that observers get, with the settled outcome in it.
    settled: Option<Event>,
}

/// The parts of a walk, one after the other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Stages,
    /// Guards that decided about a value other than the final one are asked again.
    Guards,
    Observers,
}

enum Waiting<'a> {
    Hook(RunFuture<'a>),
    Stage(Stage<'a>),
    /// The fire is stopped: the results of its current stage, in plan order.
    Stopped(Vec<Option<RunResult>>),
}

impl Waiting<'_> {
    /// The results in plan order, when all hooks have answered.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Vec<Option<RunResult>>> {
        match self {
            Self::Hook(future) => future.as_mut().poll(context).map(|result| vec![Some(result)]),
            Self::Stage(stage) => stage.poll(context).map(|()| stage.take_results()),
            Self::Stopped(results) => Poll::Ready(std::mem::take(results)),
        }
    }
}

impl<'a> Walk<'a> {
    pub(super) fn new(shared: &'a Shared, plan: &'a Plan, event: Event, wait: WaitMode) -> Self {
        let Shared { bus, timing, resources, .. } = shared;
        let mut run = RunContext::new(wait, bus, *timing, resources);
        run.is_only_hook = plan.hooks().len() == 1 && plan.observers().is_empty();
        let needs_runtime = plan.needs_runtime(wait == WaitMode::Async);
        let deferred = shared.waiting_context(&event);
        let fold = Fold::new(event, deferred, plan.hooks(), plan.observers());
        let (section, at) = (Section::Stages, 0);
        Self { shared, plan, run, fold, needs_runtime, section, at, waiting: None, settled: None }
    }

    /// Makes this signal stop the hooks that the walk runs.
    pub(super) fn stopped_by(mut self, signal: &'a StopSignal) -> Self {
        self.run.stop = Some(signal);
        self
    }

    /// A walk that asks guards about an event that the host changed after its fire.
    pub(super) fn recheck(shared: &'a Shared, guards: &'a Plan, event: Event, wait: WaitMode) -> Self {
        let mut walk = Self::new(shared, guards, event, wait);
        walk.run.pass = Pass::Second;
        walk.fold.begin_recheck();
        walk
    }

    fn begin_second_pass(&mut self) {
        self.run.pass = Pass::Second;
        self.fold.begin_second_pass();
    }

    /// Walks to the end of the plan, or until a hook has to be waited for.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let _runtime = if self.needs_runtime { self.run.enter_runtime() } else { None };
        while let Some(hooks) = self.stage() {
            if let Some(waiting) = &mut self.waiting {
                let results = ready!(waiting.poll(context));
                self.waiting = None;
                self.take_all(hooks, results);
            } else {
                let event = self.settled.as_ref().unwrap_or(self.fold.event());
                match hooks {
                    _ if self.fold.is_over() && self.section == Section::Stages => {
                        self.fold.skip(hooks.len())
                    }
                    [hook] if hook.mode == Mode::Background => self.start_in_background(hook),
                    [hook] => match run::start(hook, event, &self.run, context) {
                        Started::Done(result) if self.section == Section::Guards => {
                            self.take_all(hooks, vec![Some(result)]);
                        }
                        Started::Done(result) => self.take(hook, result),
                        Started::Running(future) => {
                            self.waiting = Some(Waiting::Hook(future));
                            continue;
                        }
                    },
                    _ => {
                        self.waiting = Some(Waiting::Stage(Stage::start(hooks, event, self.run)));
                        continue;
                    }
                }
            }
            self.at += 1;
        }
        Poll::Ready(())
    }

    /// The hooks of the current stage.
    #[inline(always)]
    fn stage(&mut self) -> Option<&'a [Arc<Entry>]> {
        match (self.section, self.plan.stage(self.at)) {
            (Section::Stages, Some(hooks)) => Some(hooks),
            // Most walks end here: no guard is asked again, and nobody observes.
            (Section::Stages, None) if self.plan.observers().is_empty() && !self.fold.is_rewritten() => {
                self.fold.settle();
                self.section = Section::Observers;
                None
            }
            _ => self.later_stage(),
        }
    }

    /// The current stage after the stages of the plan: guards that are asked again, then observers. The
    /// outcome is settled before the first observer runs.
    fn later_stage(&mut self) -> Option<&'a [Arc<Entry>]> {
        let observers = self.plan.observers();
        match self.section {
            Section::Stages => {
                (self.section, self.at) = (Section::Guards, 0);
                self.later_stage()
            }
            Section::Guards => match self.guards_to_ask_again() {
                Some(guards) => Some(guards),
                None => {
                    self.fold.settle();
                    if !observers.is_empty() {
                        self.settled = Some(self.fold.settled_event());
                        self.run.pass = Pass::First;
                    }
                    (self.section, self.at) = (Section::Observers, 0);
                    self.later_stage()
                }
            },
            Section::Observers => observers.get(self.at).map(slice::from_ref),
        }
    }

    /// The next stage that contains a guard that decided about a value other than the current one. `None`
    /// when no hook rewrote the value.
    fn guards_to_ask_again(&mut self) -> Option<&'a [Arc<Entry>]> {
        let plan = self.plan;
        let guards = plan.guards().filter(|_| self.fold.is_rewritten())?;
        while let Some(stage) = guards.stage(self.at) {
            if plan.guard_indexes(self.at).iter().any(|&index| self.fold.must_judge_again(index)) {
                self.begin_second_pass();
                return Some(stage);
            }
            self.at += 1;
        }
        None
    }

    /// Ends the walk early: running hooks are stopped, and the outcome is what was collected so far. For a
    /// hook that had not answered yet, only a denial counts that it had already written.
    pub(super) async fn stop(&mut self, signal: &StopSignal) {
        let mut before = match &mut self.waiting {
            Some(Waiting::Stage(stage)) => stage.take_results(),
            _ => Vec::new(),
        };
        signal.stop();
        let mut over = None;
        poll_fn(|context| self.poll_stopped(signal, &mut over, context)).await;
        if let Some(Waiting::Stage(stage)) = &mut self.waiting {
            self.waiting = Some(Waiting::Stopped(stage.take_results()));
        }
        let after = match self.waiting.take() {
            Some(Waiting::Stopped(results)) => results,
            _ => Vec::new(),
        };
        if self.section == Section::Observers {
            return;
        }
        before.resize_with(before.len().max(after.len()), || None);
        for (place, result) in before.iter_mut().zip(after) {
            let denies = result.filter(|result| result.answer.reply.denies());
            *place = place.take().or(denies);
        }
        if let Some(hooks) = self.stage().filter(|_| before.iter().any(Option::is_some)) {
            self.take_all(hooks, before);
        }
        self.fold.settle();
    }

    /// Waits briefly for the threads that end processes.
    fn poll_stopped(
        &mut self,
        signal: &StopSignal,
        over: &mut Option<Pin<Box<tokio::time::Sleep>>>,
        context: &mut Context<'_>,
    ) -> Poll<()> {
        let Some(waiting) = self.waiting.as_mut().filter(|_| !signal.is_finished()) else {
            return Poll::Ready(());
        };
        let entered = self.run.enter_runtime();
        if self.run.lacks_runtime() {
            return Poll::Ready(());
        }
        if let Poll::Ready(results) = waiting.poll(context) {
            *waiting = Waiting::Stopped(results);
            return Poll::Ready(());
        }
        if signal.is_finished() {
            return Poll::Ready(());
        }
        let over = over.get_or_insert_with(|| Box::pin(tokio::time::sleep(STOPPED_WITHIN)));
        let is_over = over.as_mut().poll(context);
        drop(entered);
        is_over
    }

    /// The outcome, at the end.
    #[inline(always)]
    pub(super) fn end(&mut self) -> Outcome {
        self.fold.end()
    }

    #[inline]
    fn take(&mut self, hook: &Entry, result: RunResult) {
        self.fold.take(hook, result.answer, result.duration);
    }

    /// Takes the results of the current stage. A hook without a result stays reported as skipped.
    fn take_all(&mut self, hooks: &[Arc<Entry>], results: Vec<Option<RunResult>>) {
        if self.section != Section::Guards {
            for (hook, result) in hooks.iter().zip(results) {
                match result {
                    Some(result) => self.take(hook, result),
                    None => self.fold.skip(1),
                }
            }
            return;
        }
        let indexes = self.plan.guard_indexes(self.at);
        for ((hook, result), &index) in hooks.iter().zip(results).zip(indexes) {
            if let Some(result) = result {
                self.fold.take_again(hook, index, result.answer, result.duration);
            }
        }
    }

    /// Starts a hook that the event does not wait for.
    fn start_in_background(&mut self, hook: &Arc<Entry>) {
        let Shared { deferred, launcher, .. } = self.shared;
        let event = self.fold.event();
        let started = match launcher {
            Some(launch) => launch(&BackgroundJob { hook: Arc::clone(&hook.name), event: event.clone() }),
            None => run::start_in_background(hook, event, self.run, deferred),
        };
        match started {
            Err(failure) => self.take(hook, RunResult { answer: failure.into(), duration: None }),
            Ok(()) => {
                let ignored = launcher.as_ref().map(|_| {
                    let why = "the host ends before this hook does, so its context cannot be delivered";
                    Ignored::new(Capability::Context.word(), why)
                });
                self.fold.report_background(hook, ignored);
            }
        }
    }
}
