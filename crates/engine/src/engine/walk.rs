//! One walk through a plan: for each stage run and fold, until the plan or the walk is over. The only loop.
//!
//! In comes a frozen event and its plan; out goes the outcome. The walk goes on by itself as long as no hook has to
//! be waited for: a fire of plain callbacks makes no future.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use crosier_protocol::{Capability, Event, Ignored, Outcome};

use super::fire::Shared;
use crate::fold::{Fold, Part};
use crate::plan::Plan;
use crate::registry::{BoxFuture, Entry, Mode};
use crate::run::{self, BackgroundJob, Begun, Means, Ran, Run, Setting};

pub(super) struct Walk<'a> {
    shared: &'a Shared,
    plan: &'a Plan,
    setting: Setting<'a>,
    fold: Fold,
    /// The stage where the walk is: the next one, or the one that it waits for.
    at: usize,
    /// The hook of that stage, when it is an async callback that has begun. In its place here and not handed on: mostly
    /// there is none.
    begun: Option<(BoxFuture, Run)>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(shared: &'a Shared, plan: &'a Plan, event: Event, means: Means) -> Self {
        let setting = Setting { means, bus: &shared.bus, timing: shared.timing, host: &shared.host };
        let waiting = shared.waiting_context(&event);
        let fold = Fold::new(event, waiting, plan.hooks(), plan.observers());
        Self { shared, plan, setting, fold, at: 0, begun: None }
    }

    /// Walks as far as no hook has to be waited for. False when one has to be. With somebody to wake, async callbacks
    /// are begun too; they are mostly done at once.
    pub(super) fn now(&mut self, context: Option<&mut Context<'_>>) -> bool {
        self.pass(context);
        if self.plan.stage(self.at).is_some() || !self.plan.observers().is_empty() {
            return false;
        }
        self.fold.settle();
        true
    }

    /// Walks to the end, from where `now` had to wait.
    pub(super) async fn on(&mut self) {
        while let Some(stage) = self.plan.stage(self.at) {
            let (event, setting) = (self.fold.event(), &self.setting);
            match (stage, self.begun.take()) {
                ([hook], Some((future, run))) => {
                    let ran = run::rest(hook, event, future, run).await;
                    self.take(hook, ran);
                }
                ([hook], None) => {
                    let ran = run::later(hook, event, setting).await;
                    self.take(hook, ran);
                }
                (hooks, _) => {
                    let all = run::together(hooks, event, setting).await;
                    hooks.iter().zip(all).for_each(|(hook, ran)| self.take(hook, ran));
                }
            }
            self.at += 1;
            poll_fn(|context| {
                self.pass(Some(context));
                Poll::Ready(())
            })
            .await;
        }
        self.fold.settle();
        if !self.plan.observers().is_empty() {
            let settled = self.fold.settled_event();
            for hook in self.plan.observers() {
                let ran = run::later(hook, &settled, &self.setting).await;
                self.take(hook, ran);
            }
        }
    }

    /// Passes through the stages that take no waiting, up to one that does.
    fn pass(&mut self, mut context: Option<&mut Context<'_>>) {
        let plan = self.plan;
        while let Some(stage) = plan.stage(self.at) {
            match stage {
                hooks if self.fold.is_over() => self.fold.skip(hooks.len()),
                [hook] if hook.mode == Mode::Background => self.leave(hook),
                [hook] => match run::begin(hook, self.fold.event(), &self.setting, context.as_deref_mut()) {
                    Begun::Ran(ran) => self.take(hook, ran),
                    Begun::Waits(future, run) => {
                        self.begun = Some((future, run));
                        return;
                    }
                    Begun::Not => return,
                },
                _ => return,
            }
            self.at += 1;
        }
    }

    /// The outcome, at the end.
    #[inline(always)]
    pub(super) fn end(&mut self) -> Outcome {
        self.fold.end()
    }

    #[inline]
    fn take(&mut self, hook: &Entry, ran: Ran) {
        self.fold.take(hook, Part::of(hook), ran.answer, ran.duration);
    }

    /// Starts a hook that the event does not wait for.
    fn leave(&mut self, hook: &Arc<Entry>) {
        let Shared { host, bus, deferred, launcher, .. } = self.shared;
        let event = self.fold.event();
        let started = match launcher {
            Some(launch) => launch(&BackgroundJob { hook: Arc::clone(&hook.name), event: event.clone() }),
            None => run::start_in_background(hook, event, host, bus, deferred),
        };
        match started {
            Err(failure) => self.take(hook, Ran { answer: failure.into(), duration: None }),
            Ok(()) => {
                let nowhere = launcher.as_ref().map(|_| Ignored {
                    effect: Capability::Context.word().to_owned(),
                    why: "the host ends before this hook does, so its context has nowhere to go".to_owned(),
                });
                self.fold.leave(hook, nowhere);
            }
        }
    }
}
