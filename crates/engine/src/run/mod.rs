//! Runs hooks. The only room that knows processes, threads and tokio.
//!
//! In comes a hook of a plan and the event; out goes a [`Ran`]: what it answered, and how long it took.
//! A hook can be late, loud, dead, hostile or wrong: this room always comes back with an answer, in time.
//! It looks at nothing in a reply but whether the hook wants to be called once more.

mod background;
mod callback;
mod command;
mod crew;
mod environment;
mod errand;
mod executor;
mod host;
mod os;
mod process;
mod telling;
mod thread;
mod worker;

use std::sync::Arc;
use std::task::Context;
use std::time::{Duration, Instant};

use crosier_protocol::{Answer, Event, Failure};
use futures_util::{StreamExt, stream};

use crate::message::Bus;
use crate::registry::{BoxFuture, Call, Callback, Entry, Handler};

pub use background::{BackgroundJob, Launcher};
pub(crate) use background::{Deferred, start_in_background};
pub use environment::is_held_back;
pub(crate) use executor::{block_on, block_on_runtime};
pub(crate) use host::Host;
pub use os::mechanism;
use telling::Telling;
pub use worker::PythonInfo;

/// What one hook came to.
#[derive(Debug, Clone)]
pub(crate) struct Ran {
    pub(crate) answer: Answer,
    pub(crate) duration: Option<Duration>,
}

/// How a fire waits for what blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Means {
    /// On the calling thread: `fire_blocking`.
    InPlace,
    /// On a thread of its own, awaited: `fire`.
    Threads,
}

/// What every hook of a fire is run with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) means: Means,
    pub(crate) bus: &'a Arc<Bus>,
    /// Whether the time of callbacks is taken too.
    pub(crate) timing: bool,
    pub(crate) host: &'a Arc<Host>,
}

/// What came of a hook that was begun.
pub(crate) enum Begun {
    /// It is done.
    Ran(Ran),
    /// An async callback that is to be waited for, for so long.
    Waits(BoxFuture, Run),
    /// It was not begun: it takes more than a call.
    Not,
}

/// Begins a hook that needs no more than a call: an inline callback, and where there is somebody to wake an
/// async one, which is mostly done at once too. The hot path: no timer, no clock, no message unless somebody
/// asked for them. It becomes part of the walk, and so does what it calls: an answer that is handed from function to
/// function is copied each time, which costs more than the call.
#[inline(always)]
pub(crate) fn begin(
    hook: &Entry,
    event: &Event,
    setting: &Setting<'_>,
    context: Option<&mut Context<'_>>,
) -> Begun {
    match (&hook.handler, context) {
        (Handler::Callback(Callback::Inline(code)), _) => Begun::Ran(inline(hook, code, event, setting)),
        (Handler::Callback(Callback::Async(code)), Some(context))
            if !setting.timing && !setting.bus.is_heard() =>
        {
            let call = Call { event, hook: &hook.name, second: false };
            match callback::begin(code, call, context) {
                Ok(answer) => match wants_again(&answer) {
                    None => Begun::Ran(Ran { answer, duration: None }),
                    Some(timeout) => begin_again(code, Call { second: true, ..call }, timeout, context),
                },
                Err(future) => Begun::Waits(future, Run::first(hook)),
            }
        }
        _ => Begun::Not,
    }
}

#[cold]
fn begin_again(
    code: &Arc<callback::AsyncCode>,
    call: Call<'_>,
    timeout: Duration,
    context: &mut Context<'_>,
) -> Begun {
    match callback::begin(code, call, context) {
        Ok(answer) => Begun::Ran(Ran { answer: only_once(answer), duration: None }),
        Err(future) => Begun::Waits(future, Run { second: true, timeout }),
    }
}

/// Waits for an async callback that was begun.
pub(crate) async fn rest(hook: &Entry, event: &Event, future: BoxFuture, run: Run) -> Ran {
    let mut answer = callback::rest(future, run.timeout).await;
    if run.second {
        answer = only_once(answer);
    } else if let (Some(timeout), Handler::Callback(Callback::Async(code))) =
        (wants_again(&answer), &hook.handler)
    {
        let call = Call { event, hook: &hook.name, second: true };
        answer = only_once(callback::polled(code, call, timeout).await);
    }
    Ran { answer, duration: None }
}

#[inline(always)]
fn inline(hook: &Entry, code: &Arc<callback::Code>, event: &Event, setting: &Setting<'_>) -> Ran {
    let telling = Telling::start(setting.bus, hook, event);
    let started = setting.timing.then(Instant::now);
    let mut answer = callback::inline(code, Call { event, hook: &hook.name, second: false });
    if wants_again(&answer).is_some() {
        answer = only_once(callback::inline(code, Call { event, hook: &hook.name, second: true }));
    }
    if let Some(telling) = telling {
        telling.end(&answer);
    }
    Ran { answer, duration: started.map(|started| started.elapsed()) }
}

/// Runs any hook to its end: its answer, or the answer of the second run that it asked for.
pub(crate) async fn later(hook: &Entry, event: &Event, setting: &Setting<'_>) -> Ran {
    if let Begun::Ran(ran) = begin(hook, event, setting, None) {
        return ran;
    }
    // A process is slow enough for its time to be always taken.
    let timed = setting.timing || !hook.handler.is_callback();
    let started = timed.then(Instant::now);
    let mut telling = Telling::start(setting.bus, hook, event);
    let mut answer = once(hook, event, Run::first(hook), setting, &mut telling).await;
    if let Some(timeout) = wants_again(&answer) {
        let run = Run { second: true, timeout };
        if let Some(telling) = &mut telling {
            telling.forget();
        }
        answer = only_once(once(hook, event, run, setting, &mut telling).await);
    }
    if let Some(telling) = telling {
        telling.end(&answer);
    }
    Ran { answer, duration: started.map(|started| started.elapsed()) }
}

/// Runs the hooks of one stage together, a few at a time; the results are in plan order.
pub(crate) async fn together(hooks: &[Arc<Entry>], event: &Event, setting: &Setting<'_>) -> Vec<Ran> {
    // Even a blocking fire needs threads to do several things at once.
    let setting = Setting { means: Means::Threads, ..*setting };
    let width = 4 * std::thread::available_parallelism().map_or(1, usize::from);
    let runs: Vec<_> = hooks.iter().map(|hook| later(hook, event, &setting)).collect();
    stream::iter(runs).buffered(width.min(8)).collect().await
}

/// One of at most two runs of a hook.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    second: bool,
    timeout: Duration,
}

impl Run {
    fn first(hook: &Entry) -> Self {
        Self { second: false, timeout: hook.timeout }
    }
}

async fn once(
    hook: &Entry,
    event: &Event,
    run: Run,
    setting: &Setting<'_>,
    telling: &mut Option<Telling>,
) -> Answer {
    let call = Call { event, hook: &hook.name, second: run.second };
    match &hook.handler {
        Handler::Callback(Callback::Inline(code)) => callback::inline(code, call),
        Handler::Callback(Callback::Async(code)) => callback::polled(code, call, run.timeout).await,
        Handler::Callback(Callback::Blocking(code)) => {
            callback::on_a_thread(code, call, run.timeout, setting.means).await
        }
        Handler::Command(spec) => command::run(spec, call, run, setting, telling).await,
        Handler::Python(spec) => worker::run(spec, call, run, setting, telling).await,
    }
}

/// The moment after so long; a limit that no clock can reach is no limit.
fn moment_in(limit: Duration) -> Instant {
    const AGES: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
    Instant::now() + limit.min(AGES)
}

/// What the hook asks for, unless it denies: that is an answer already, and no second one could undo it.
fn wants_again(answer: &Answer) -> Option<Duration> {
    let again = answer.reply.effects()?.again?;
    (!answer.reply.denies()).then_some(again)
}

fn only_once(answer: Answer) -> Answer {
    match wants_again(&answer) {
        Some(_) => Failure::bad_output("its second run asks for a third (`async: true` twice)").into(),
        None => answer,
    }
}
