//! One walk through a plan: for each stage run and fold, until the plan is done or a hook ends the walk. The only loop.
//!
//! In comes a frozen event and its plan; out goes the outcome. As long as no hook has to be waited for, the walk makes
//! no future: a fire of callbacks that answer at once allocates nothing for running them.

use std::slice;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use crosier_protocol::{Capability, Event, Ignored, Outcome};

use super::fire::Shared;
use crate::fold::{Fold, Part};
use crate::plan::Plan;
use crate::registry::{Entry, Mode};
use crate::run::{self, BackgroundJob, RunContext, RunFuture, RunResult, StageFuture, Started, WaitMode};

pub(super) struct Walk<'a> {
    shared: &'a Shared,
    plan: &'a Plan,
    run: RunContext<'a>,
    fold: Fold,
    /// The index of the current stage; the observers follow the stages of the plan, one by one.
    at: usize,
    /// What the current stage waits for.
    waiting: Option<Waiting<'a>>,
    /// What observers get: the event with the settled outcome in it.
    settled: Option<Event>,
}

enum Waiting<'a> {
    Hook(RunFuture<'a>),
    Stage(StageFuture<'a>),
}

impl Waiting<'_> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Vec<RunResult>> {
        match self {
            Self::Hook(future) => future.as_mut().poll(context).map(|result| vec![result]),
            Self::Stage(future) => future.as_mut().poll(context),
        }
    }
}

impl<'a> Walk<'a> {
    pub(super) fn new(shared: &'a Shared, plan: &'a Plan, event: Event, wait: WaitMode) -> Self {
        let run = RunContext { wait, bus: &shared.bus, timing: shared.timing, resources: &shared.resources };
        let deferred = shared.waiting_context(&event);
        let fold = Fold::new(event, deferred, plan.hooks(), plan.observers());
        Self { shared, plan, run, fold, at: 0, waiting: None, settled: None }
    }

    /// Walks to the end of the plan, or until a hook has to be waited for.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while let Some(hooks) = self.stage() {
            if let Some(waiting) = &mut self.waiting {
                let results = ready!(waiting.poll(context));
                self.waiting = None;
                hooks.iter().zip(results).for_each(|(hook, result)| self.take(hook, result));
            } else {
                let event = self.settled.as_ref().unwrap_or(self.fold.event());
                match hooks {
                    _ if self.fold.is_over() && self.settled.is_none() => self.fold.skip(hooks.len()),
                    [hook] if hook.mode == Mode::Background => self.start_in_background(hook),
                    [hook] => match run::start(hook, event, self.run, context) {
                        Started::Done(result) => self.take(hook, result),
                        Started::Running(future) => {
                            self.waiting = Some(Waiting::Hook(future));
                            continue;
                        }
                    },
                    _ => {
                        self.waiting = Some(Waiting::Stage(run::run_stage(hooks, event, self.run)));
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
        let plan = self.plan;
        plan.stage(self.at).or_else(|| self.observer())
    }

    /// The current observer. The outcome is settled before the first one looks at it.
    fn observer(&mut self) -> Option<&'a [Arc<Entry>]> {
        let (plan, observers) = (self.plan, self.plan.observers());
        if self.settled.is_none() {
            self.fold.settle();
            if !observers.is_empty() {
                self.settled = Some(self.fold.settled_event());
            }
        }
        observers.get(self.at - plan.stage_count()).map(slice::from_ref)
    }

    /// The outcome, at the end.
    #[inline(always)]
    pub(super) fn end(&mut self) -> Outcome {
        self.fold.end()
    }

    #[inline]
    fn take(&mut self, hook: &Entry, result: RunResult) {
        self.fold.take(hook, Part::of(hook), result.answer, result.duration);
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
                let ignored = launcher.as_ref().map(|_| Ignored {
                    effect: Capability::Context.word().to_owned(),
                    why: "the host ends before this hook does, so its context has nowhere to go".to_owned(),
                });
                self.fold.leave(hook, ignored);
            }
        }
    }
}
