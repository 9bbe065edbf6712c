//! Background hooks, which the event does not wait for.
//!
//! A background hook runs on a thread of the engine, or is passed to the host's [`Launcher`]. Only the
//! context of its reply is used: it goes into the next outcome of the same session and agent whose event
//! allows context.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crosier_protocol::{Event, Failure};

use super::{RunContext, WaitMode, block_on, run_to_end};
use crate::registry::{Enforcement, Entry};

/// The maximum number of background hooks that one engine runs at once.
const MAX_RUNNING: usize = 32;
/// Limits on pending context, per agent and for all agents: an agent that never fires again must not use
/// memory forever.
const MAX_LINES: usize = 256;
const MAX_AGENTS: usize = 1024;

/// A hook to run in the background.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BackgroundJob {
    /// The hook's name as shown.
    pub hook: Arc<str>,
    /// The event that it gets.
    pub event: Event,
}

/// Runs background hooks in place of the engine, for hosts that exit before the hook is done.
pub type Launcher = dyn Fn(&BackgroundJob) -> Result<(), Failure> + Send + Sync;

type Owner = (String, Option<String>);

/// Context of background hooks that is kept for a later outcome.
#[derive(Debug, Default)]
pub(crate) struct Deferred {
    running: AtomicUsize,
    /// How many agents have pending context; read on the hot path.
    waiting: AtomicUsize,
    lines: Mutex<HashMap<Owner, Vec<String>>>,
}

impl Deferred {
    /// Takes the pending context of this event's session and agent.
    #[inline]
    pub(crate) fn take(&self, event: &Event) -> Option<Vec<String>> {
        if self.waiting.load(Ordering::Acquire) == 0 { None } else { self.take_of(event) }
    }

    #[cold]
    fn take_of(&self, event: &Event) -> Option<Vec<String>> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = lines.remove(&owner(event));
        self.waiting.store(lines.len(), Ordering::Release);
        taken
    }

    fn put(&self, event: &Event, context: Vec<String>) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() >= MAX_AGENTS && !lines.contains_key(&owner(event)) {
            tracing::warn!("context of a background hook is lost: it is pending for too many agents");
            return;
        }
        let waiting = lines.entry(owner(event)).or_default();
        let room = MAX_LINES.saturating_sub(waiting.len());
        if context.len() > room {
            tracing::warn!("context of a background hook is lost: too much is pending for the agent");
        }
        waiting.extend(context.into_iter().take(room));
        self.waiting.store(lines.len(), Ordering::Release);
    }
}

fn owner(event: &Event) -> Owner {
    (event.session_id().to_owned(), event.agent_id().map(str::to_owned))
}

/// Starts a hook that the event does not wait for.
pub(crate) fn start_in_background(
    hook: &Arc<Entry>,
    event: &Event,
    run: RunContext<'_>,
    deferred: &Arc<Deferred>,
) -> Result<(), Failure> {
    if deferred.running.fetch_add(1, Ordering::AcqRel) >= MAX_RUNNING {
        deferred.running.fetch_sub(1, Ordering::AcqRel);
        return Err(Failure::error(format!("{MAX_RUNNING} hooks run in the background already")));
    }
    let (hook, event) = (Arc::clone(hook), event.clone());
    let (resources, bus) = (Arc::clone(run.resources), Arc::clone(run.bus));
    let deferred_there = Arc::clone(deferred);
    let work = move || {
        let mut run = RunContext::new(WaitMode::Blocking, &bus, false, &resources);
        let _runtime = if hook.handler.is_async() { run.enter_runtime() } else { None };
        let result = block_on(run_to_end(&hook, &event, run));
        if let Some(failure) = &result.answer.failure {
            tracing::warn!(hook = %hook.name, kind = %failure.kind, "background hook failed");
        }
        let context = result.answer.reply.into_effects().map(|effects| effects.context).unwrap_or_default();
        if !context.is_empty() && hook.enforcement == Enforcement::Enforce {
            deferred_there.put(&event, context);
        }
        deferred_there.running.fetch_sub(1, Ordering::AcqRel);
    };
    match std::thread::Builder::new().name("crosier-background".to_owned()).spawn(work) {
        Ok(_) => Ok(()),
        Err(error) => {
            deferred.running.fetch_sub(1, Ordering::AcqRel);
            Err(Failure::error(format!("no thread could be started for it: {error}")))
        }
    }
}
