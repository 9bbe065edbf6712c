//! One run of a hook that blocks its thread. It owns everything it needs, so that it can move to another
//! thread.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crosier_protocol::{Answer, Event, Failure, FailureKind};

use super::notifier::Notifier;
use super::stopping::CancelOnDrop;
use super::thread_cache::CancelPipe;
use super::{Resources, RunContext, WaitMode, deadline_in};
use crate::registry::{Call, Entry, Pass};

pub(super) struct BlockingRun {
    pub(super) event: Event,
    pub(super) hook: Arc<Entry>,
    pub(super) second: bool,
    pub(super) pass: Pass,
    pub(super) resources: Arc<Resources>,
    /// Begins before anything is started.
    pub(super) deadline: Instant,
    pub(super) timeout: Duration,
    pub(super) notifier: Option<Notifier>,
    /// Readable or closed when the fire is cancelled. `None` when the work runs on the caller's thread.
    cancel: Option<OwnedFd>,
}

impl BlockingRun {
    pub(super) fn call(&self) -> Call<'_> {
        Call {
            event: &self.event,
            hook: &self.hook.name,
            second: self.second,
            pass: self.pass,
            is_only_hook: false,
        }
    }

    pub(super) fn cancel_fd(&self) -> Option<BorrowedFd<'_>> {
        self.cancel.as_ref().map(AsFd::as_fd)
    }

    /// The answer of a hook that ran. If its files are not as recorded, a failure is added, so that only a
    /// denial counts.
    fn check_after(&self, answer: Answer) -> Answer {
        let is_refused = answer.failure.as_ref().is_some_and(|failure| failure.kind == FailureKind::Changed);
        match check_sources(&self.hook) {
            Err(failure) if !is_refused => Answer::failed(answer.reply, failure),
            _ => answer,
        }
    }
}

/// Fails if the files that this hook runs are not as recorded.
pub(super) fn check_sources(hook: &Entry) -> Result<(), Failure> {
    match &hook.sources {
        Some(sources) => sources
            .check(hook)
            .map_err(|detail| Failure::new(FailureKind::Changed, without_controls(&detail))),
        None => Ok(()),
    }
}

/// Replaces control characters: the text may come from an untrusted project, hook or interpreter.
pub(super) fn without_controls(detail: &str) -> String {
    detail.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Does the work on this thread or on another one. Dropping the future closes the cancel pipe; the work then
/// ends what it started.
pub(super) async fn run(
    hook: &Arc<Entry>,
    call: Call<'_>,
    timeout: Duration,
    context: RunContext<'_>,
    notifier: &mut Option<Notifier>,
    work: impl FnOnce(&mut BlockingRun) -> Answer + Send + 'static,
) -> Answer {
    let mut run = BlockingRun {
        event: call.event.clone(),
        hook: Arc::clone(hook),
        second: call.second,
        pass: call.pass,
        resources: Arc::clone(context.resources),
        deadline: deadline_in(timeout),
        timeout,
        notifier: notifier.take(),
        cancel: None,
    };
    // A panic must become an answer: otherwise the fire that waits for this thread would never be woken.
    let work = |run: &mut BlockingRun| {
        catch_unwind(AssertUnwindSafe(|| {
            let answer = work(run);
            run.check_after(answer)
        }))
        .unwrap_or_else(|_| {
            Failure::new(FailureKind::Panic, "the engine panicked while it ran the hook").into()
        })
    };
    if context.wait == WaitMode::Blocking {
        let answer = work(&mut run);
        *notifier = run.notifier;
        return answer;
    }
    let cannot = |what, error| Failure::new(FailureKind::Spawn, format!("{what}: {error}")).into();
    if context.stop.is_some_and(|stop| stop.is_stopped()) {
        return Failure::error("the fire was stopped before it began").into();
    }
    let threads = &context.resources.processes.threads;
    let CancelPipe { fire_end, run_end } = match threads.cancel_pipe() {
        Ok(pipe) => pipe,
        Err(error) => return cannot("no file descriptors are left to watch it", error),
    };
    let mut fire_end = CancelOnDrop::new(fire_end, context.stop);
    run.cancel = Some(run_end);
    let work = move || {
        let answer = work(&mut run);
        (answer, run.notifier, run.cancel)
    };
    match threads.run(work) {
        Ok(pending) => {
            let (answer, returned, run_end) = pending.await;
            // If both ends are here, the pipe was never closed and can be reused.
            if let (Some(fire_end), Some(run_end)) = (fire_end.take(), run_end) {
                threads.recycle(CancelPipe { fire_end, run_end });
            }
            *notifier = returned;
            answer
        }
        Err(error) => cannot("no thread could be started for it", error),
    }
}
