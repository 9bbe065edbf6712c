//! Runs hooks. The only module that uses processes, threads and tokio.
//!
//! Input: a hook of a plan and the event. Output: a [`RunResult`]: its answer, and how long it took. A hook
//! can hang, flood its output, crash or be hostile: this module still returns an answer in time (only an
//! inline callback cannot be interrupted). The only thing it reads in a reply is whether the hook asks for a
//! second run.
//!
//! Every hook is run by [`start`]. A callback that answers at once is done when `start` returns; everything
//! else continues in a future ([`HookRun::finish`]).

mod background;
#[cfg(feature = "process")]
mod blocking;
mod callback;
#[cfg(feature = "process")]
mod command;
#[cfg_attr(
    not(feature = "process"),
    expect(dead_code, reason = "processes need all of it, callbacks a part")
)]
mod environment;
mod executor;
mod inherited;
#[cfg(feature = "process")]
mod lock;
#[cfg(not(feature = "process"))]
mod no_processes;
#[cfg_attr(
    not(feature = "process"),
    expect(dead_code, reason = "processes need all of it, callbacks a part")
)]
mod notifier;
#[cfg(feature = "process")]
mod os;
#[cfg(feature = "process")]
mod process;
#[cfg(feature = "process")]
mod processes;
mod resources;
mod runtime;
#[cfg(feature = "process")]
mod shell_error;
mod stage;
mod stopping;
mod thread;
#[cfg(feature = "process")]
mod thread_cache;
#[cfg(feature = "python")]
mod worker;

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crosier_protocol::{Answer, Event, Failure, FailureKind};
use tokio::runtime::EnterGuard;

use crate::message::Bus;
use crate::registry::{BoxFuture, Call, Callback, Entry, Handler, Pass, ServiceCall};

pub use background::{BackgroundJob, Launcher};
pub(crate) use background::{Deferred, start_in_background};
pub(crate) use executor::block_on;
pub use inherited::is_secret_or_loader;
#[cfg(not(feature = "process"))]
pub(crate) use no_processes::Processes;
use notifier::Notifier;
#[cfg(feature = "process")]
pub use os::mechanism;
#[cfg(feature = "process")]
pub(crate) use process::ProcessGuard;
#[cfg(feature = "process")]
pub(crate) use processes::Processes;
pub(crate) use resources::Resources;
pub(crate) use stage::Stage;
pub(crate) use stopping::StopSignal;
#[cfg(feature = "python")]
pub use worker::{
    BegunCall, NotCompleted, PythonCall, PythonInfo, PythonResponse, PythonResult, PythonRunner,
    PythonWorkers, WarmCall, WorkerInfo,
};

/// The result of running one hook.
#[derive(Debug, Clone)]
pub(crate) struct RunResult {
    pub(crate) answer: Answer,
    pub(crate) duration: Option<Duration>,
}

/// How a fire waits for work that blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitMode {
    /// On the calling thread: `fire_blocking`.
    Blocking,
    /// On another thread, awaited: `fire`.
    Async,
}

/// What all hooks of one fire share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunContext<'a> {
    pub(crate) wait: WaitMode,
    pub(crate) bus: &'a Arc<Bus>,
    /// Whether callbacks are timed too.
    pub(crate) timing: bool,
    pub(crate) pass: Pass,
    /// Whether the plan has only one hook and no observers.
    pub(crate) is_only_hook: bool,
    pub(crate) resources: &'a Arc<Resources>,
    /// Stops the fire early; only set if the host can do that.
    pub(crate) stop: Option<&'a StopSignal>,
    /// Whether no async runtime could be started. Async code of the host is not polled then.
    lacks_runtime: bool,
}

impl<'a> RunContext<'a> {
    pub(crate) fn new(
        wait: WaitMode,
        bus: &'a Arc<Bus>,
        timing: bool,
        resources: &'a Arc<Resources>,
    ) -> Self {
        Self {
            wait,
            bus,
            timing,
            pass: Pass::First,
            is_only_hook: false,
            resources,
            stop: None,
            lacks_runtime: false,
        }
    }

    /// Makes sure that this thread is inside a runtime with timers and io while the guard lives. `None` if it
    /// already is, or if no runtime could be started.
    #[inline]
    pub(crate) fn enter_runtime(&mut self) -> Option<EnterGuard<'a>> {
        if self.wait == WaitMode::Async && runtime::is_inside_complete_runtime() {
            return None;
        }
        let entered = self.resources.runtime.enter();
        self.lacks_runtime = entered.is_err();
        entered.ok()
    }

    /// Whether no async runtime could be started.
    pub(crate) fn lacks_runtime(&self) -> bool {
        self.lacks_runtime
    }
}

/// A hook that was started.
pub(crate) enum Started<'a> {
    Done(RunResult),
    Running(RunFuture<'a>),
}

/// A hook that is running.
pub(crate) type RunFuture<'a> = Pin<Box<dyn Future<Output = RunResult> + Send + 'a>>;

/// Starts a hook. For a callback that answers at once, this allocates nothing and creates no future.
///
/// Always inlined into the walk: an answer that is returned through several functions is copied each time, which
/// costs more than the call itself.
#[inline(always)]
pub(crate) fn start<'a>(
    hook: &'a Arc<Entry>,
    event: &Event,
    run: &RunContext<'a>,
    context: &mut Context<'_>,
) -> Started<'a> {
    // Compared to a process, reading the clock costs nothing.
    let timed = run.timing || !hook.handler.is_callback();
    let started = timed.then(Instant::now);
    let notifier = Notifier::start(run.bus, hook, event);
    let first = Attempt::first(hook);
    let progress = match &hook.handler {
        Handler::Callback(Callback::Inline(code)) => {
            Progress::Answered(callback::inline(code, first.call(hook, event, run)))
        }
        Handler::Callback(Callback::Async(code)) if !run.lacks_runtime => {
            match callback::start(|| code(first.call(hook, event, run)), context) {
                Ok(answer) => Progress::Answered(answer),
                Err(future) => Progress::Polled(future),
            }
        }
        _ => Progress::NotStarted,
    };
    match progress {
        Progress::Answered(answer) if second_run_timeout(&answer).is_none() => {
            Started::Done(end(answer, started, notifier))
        }
        progress => {
            let hook_run = HookRun { hook, event: event.clone(), run: *run, started, notifier };
            Started::Running(Box::pin(hook_run.finish(progress)))
        }
    }
}

/// Runs a hook to its end.
pub(crate) async fn run_to_end(hook: &Arc<Entry>, event: &Event, run: RunContext<'_>) -> RunResult {
    match poll_fn(|context| Poll::Ready(start(hook, event, &run, context))).await {
        Started::Done(result) => result,
        Started::Running(future) => future.await,
    }
}

/// How far the first attempt got.
enum Progress {
    Answered(Answer),
    /// An async callback that was polled once.
    Polled(BoxFuture),
    NotStarted,
}

/// One of at most two runs of a hook's code.
#[derive(Debug, Clone, Copy)]
struct Attempt {
    second: bool,
    timeout: Duration,
}

impl Attempt {
    fn first(hook: &Entry) -> Self {
        Self { second: false, timeout: hook.timeout }
    }

    fn call<'a>(self, hook: &'a Entry, event: &'a Event, run: &RunContext<'_>) -> Call<'a> {
        Call { event, hook: &hook.name, second: self.second, pass: run.pass, is_only_hook: run.is_only_hook }
    }
}

/// A hook that did not answer at once.
struct HookRun<'a> {
    hook: &'a Arc<Entry>,
    event: Event,
    run: RunContext<'a>,
    started: Option<Instant>,
    notifier: Option<Notifier>,
}

impl HookRun<'_> {
    /// Waits for the answer, and runs the hook a second time if it asks for that.
    async fn finish(mut self, progress: Progress) -> RunResult {
        let first = Attempt::first(self.hook);
        let mut answer = match progress {
            Progress::Answered(answer) => answer,
            Progress::Polled(future) => callback::wait(future, first.timeout).await,
            Progress::NotStarted => self.attempt(first).await,
        };
        if let Some(timeout) = second_run_timeout(&answer) {
            if let Some(notifier) = &mut self.notifier {
                notifier.clear_output();
            }
            answer = self.attempt(Attempt { second: true, timeout }).await;
            if second_run_timeout(&answer).is_some() {
                answer =
                    Failure::bad_output("its second reply asks for another run (`async: true` again)").into();
            }
        }
        end(answer, self.started, self.notifier)
    }

    async fn attempt(&mut self, attempt: Attempt) -> Answer {
        let call = attempt.call(self.hook, &self.event, &self.run);
        if self.run.lacks_runtime && self.hook.handler.is_async() {
            // `delivery` denies: the hook did not see the event.
            let detail = "no async runtime could be started for it: no threads or descriptors are left";
            return Failure::new(FailureKind::Delivery, detail).into();
        }
        match &self.hook.handler {
            Handler::Callback(Callback::Inline(code)) => callback::inline(code, call),
            Handler::Callback(Callback::Async(code)) => callback::run(|| code(call), attempt.timeout).await,
            Handler::Service(service) => {
                if let Err(failure) = self.run.resources.environment.check_depth() {
                    return failure.into();
                }
                let request = ServiceCall::new(call, deadline_in(attempt.timeout));
                callback::run(|| service.call(request), attempt.timeout).await
            }
            Handler::Callback(Callback::Blocking(code)) => {
                callback::run_on_thread(code, call, attempt.timeout, self.run.wait).await
            }
            #[cfg(not(feature = "process"))]
            Handler::Command(_) => {
                let detail =
                    "this program was built without command hooks (the feature `process` of the library)";
                Failure::new(FailureKind::Spawn, detail).into()
            }
            #[cfg(feature = "process")]
            Handler::Command(spec) => {
                let spec = Arc::clone(spec);
                let work = move |run: &mut blocking::BlockingRun| command::run(&spec, run);
                blocking::run(self.hook, call, attempt.timeout, self.run, &mut self.notifier, work).await
            }
            #[cfg(not(feature = "python"))]
            Handler::Python(_) => {
                let detail =
                    "this program was built without python hooks (the feature `python` of the library)";
                Failure::new(FailureKind::Import, detail).into()
            }
            #[cfg(feature = "python")]
            Handler::Python(spec) => {
                let spec = Arc::clone(spec);
                let work = move |run: &mut blocking::BlockingRun| worker::run(&spec, run);
                blocking::run(self.hook, call, attempt.timeout, self.run, &mut self.notifier, work).await
            }
        }
    }
}

#[inline(always)]
fn end(answer: Answer, started: Option<Instant>, notifier: Option<Notifier>) -> RunResult {
    if let Some(notifier) = notifier {
        notifier.end(&answer);
    }
    RunResult { answer, duration: started.map(|started| started.elapsed()) }
}

/// The timeout of the second run, if the hook asks for one. A denial is final and needs no second run.
fn second_run_timeout(answer: &Answer) -> Option<Duration> {
    let again = answer.reply.effects()?.again?;
    (!answer.reply.denies()).then_some(again)
}

/// The deadline of a time limit that begins now. Limits are cut to a century, because longer ones could
/// overflow the clock.
fn deadline_in(limit: Duration) -> Instant {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
    Instant::now() + limit.min(CENTURY)
}
