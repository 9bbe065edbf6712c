//! One event of an agent: read, fired, answered.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use crosier::{Engine, Outcome};
use crosier_dialect::table::Agent;
use crosier_dialect::{Answer, Call, Read, closed, read};

use super::policy::{self, Policy};
use super::{HookArgs, closed_nowhere, session};
use crate::environment;
use crate::signals::Signals;

impl HookArgs {
    pub(super) fn judge(&self, agent: &'static Agent, bytes: &[u8]) -> Answer {
        let call = match read(agent, self.event.as_deref(), bytes, &crosier_dialect::catalog()) {
            Ok(Read::Call(call)) => call,
            Ok(Read::Repeated) => return closed_nowhere(agent),
            Ok(Read::Unknown(name)) => {
                let log = vec![format!("{}: no opinion about the unknown event {name}", agent.title)];
                return Answer { log, ..closed_nowhere(agent) };
            }
            Err(unreadable) => {
                let why = format!("crosier cannot read this event: {}", unreadable.why);
                return closed(agent, unreadable.event, None, &why);
            }
        };
        let shut = |why: &str| {
            let reason = format!("crosier cannot judge this: {why}");
            closed(agent, Some(call.entry), Some(&call), &reason)
        };
        if let Some(mistake) = &self.mistake {
            return shut(&format!("{mistake}, in the line that calls `crosier hook {}`", agent.name));
        }
        let hooks = match policy::in_force(&self.config.config, &project(&call)) {
            Policy::Loaded(hooks) => hooks,
            Policy::None => return session::answer(&call, call.verdict(&[])),
            Policy::Closed(why) => return shut(&why),
        };
        let answer = match fire(&hooks.engine, &call, self.deadline(agent)) {
            Ok(outcomes) => session::answer(&call, call.verdict(&outcomes)),
            Err(why) => shut(&why),
        };
        // The process ends soon: what is in memory need not be taken apart, but no worker may stay.
        hooks.engine.shut_down();
        std::mem::forget(hooks);
        answer
    }
}

/// The project's folder: what the agent names, or the folder that we are in.
fn project(call: &Call) -> PathBuf {
    let here = || std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let named = call.project(environment::text).map(PathBuf::from);
    named.filter(|folder| folder.is_absolute() && folder.is_dir()).unwrap_or_else(here)
}

/// Fires every event of a call, within the time that there is.
fn fire(engine: &Engine, call: &Call, time: Duration) -> Result<Vec<Outcome>, String> {
    let all = || call.events.iter().map(|event| engine.fire_blocking(event)).collect();
    if !call.events.iter().any(|event| engine.is_wanted(event)) {
        return Ok(all());
    }
    let signals = Signals::watch().map_err(|failed| failed.message)?;
    signals.kill(engine);
    if !may_be_late(engine, call, time) {
        return signals.during("the hooks that ran were killed", all).map_err(|failed| failed.message);
    }
    let late = Arc::new(AtomicBool::new(false));
    let outcomes = within(engine, time, &late, || signals.during("the hooks that ran were killed", all));
    if late.load(Ordering::SeqCst) {
        return Err(format!("its hooks were not done after {} s and were killed", time.as_secs()));
    }
    outcomes.map_err(|failed| failed.message)
}

/// Whether the hooks can take longer than this, all one after another. Mostly they cannot, and nobody has to watch.
fn may_be_late(engine: &Engine, call: &Call, time: Duration) -> bool {
    let mut all = Duration::ZERO;
    for event in &call.events {
        let plan = engine.explain(event).plan;
        let hooks = plan.hooks().iter().chain(plan.observers());
        // What runs in this process answers at once; a guard may be asked twice.
        all +=
            hooks.filter(|hook| !hook.handler.is_callback()).map(|hook| hook.timeout * 2).sum::<Duration>();
    }
    all > time
}

/// Does work that fires hooks; those that still run after this time are killed.
fn within<T>(engine: &Engine, time: Duration, late: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    let Ok(rope) = engine.kill_switch() else { return work() };
    let (done, wait) = sync_channel::<()>(1);
    let late = Arc::clone(late);
    let watch = std::thread::Builder::new().name("deadline".to_owned()).spawn(move || {
        if wait.recv_timeout(time) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            late.store(true, Ordering::SeqCst);
            let _ = std::fs::File::from(rope).write_all(b"x");
        }
    });
    let done_work = work();
    drop(done);
    if let Ok(watch) = watch {
        let _ = watch.join();
    }
    done_work
}
