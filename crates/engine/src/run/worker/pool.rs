//! Pools of workers, each with a maximum size and a queue of calls that wait for a worker.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::super::command::find_program;
use super::super::environment::Environment;
use super::super::process::ProcessGuard;
use super::call::{CallError, CallLimits, CallStep, Cause};
use super::connection::{Connection, WorkerFacts};
use super::interpreter::{Interpreter, Setup};
use super::lend::WorkerInfo;
use super::request::record_json;
use crate::registry::{Entry, Layer, PythonSpec, Sources};
use crate::run::lock::lock;

/// The maximum number of workers per pool: as many as one stage runs at once.
const MAX_WORKERS: usize = 8;
/// The maximum number of busy workers in a pool that may grow.
const MAX_BUSY: usize = 32;
/// How long a call waits for a worker of a pool that may grow, before it gets one more: about as long as starting one
/// takes. Most calls are over sooner, and those that hang must delay no others.
const GROW_AFTER: Duration = Duration::from_millis(50);
/// How often a call that waits for a worker checks whether it was cancelled.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// All workers of an engine.
#[derive(Debug)]
pub(in crate::run) struct Pools {
    map: Mutex<PoolMap>,
    guard: Option<ProcessGuard>,
}

#[derive(Debug, Default)]
struct PoolMap {
    pools: HashMap<WorkerKey, Arc<Pool>>,
    /// The pool of each hook, so that its environment is not computed for every call.
    of_hooks: Vec<(Weak<PythonSpec>, Owner, Arc<Pool>)>,
    is_closed: bool,
}

/// Which hooks a worker may run. Layers do not share workers: a hook could change what the hooks of another
/// layer use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Owner {
    layer: Layer,
    /// The address of the record, which the pool keeps alive.
    sources: Option<usize>,
}

impl Owner {
    fn of(hook: &Entry) -> Self {
        let address = |sources: &Arc<dyn Sources>| Arc::as_ptr(sources).cast::<()>().addr();
        Self { layer: hook.layer, sources: hook.sources.as_ref().map(address) }
    }
}

/// What two hooks must have in common to share a worker.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct WorkerKey {
    owner: Owner,
    interpreter: String,
    folder: PathBuf,
    env: Vec<(OsString, OsString)>,
}

#[derive(Debug)]
pub(super) struct Pool {
    interpreter: Interpreter,
    /// Kept alive, because its address identifies it.
    _sources: Option<Arc<dyn Sources>>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<Connection>,
    busy: usize,
    /// The workers that are leased.
    lent: Vec<Arc<WorkerFacts>>,
    /// The calls that wait for a worker, in the order of arrival.
    queue: VecDeque<Arc<Condvar>>,
    is_closed: bool,
}

/// What becomes of a call when all workers of its pool are busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    /// It waits.
    Never,
    /// It gets one more worker soon; when there are too many, it waits.
    Soon,
    /// It gets one more worker soon; when there are too many, it gets none, because its caller can run it elsewhere.
    SoonOrElsewhere,
}

/// A worker that is in use by one call.
#[derive(Debug)]
pub(super) struct Lease {
    pub(super) connection: Connection,
    /// Declared after the connection, and so dropped after it: the slot is free only when the worker has
    /// exited.
    slot: BusySlot,
}

/// The right to use one worker; returned when dropped.
#[derive(Debug)]
struct BusySlot(Arc<Pool>);

impl Lease {
    /// Returns the worker to the pool if it is healthy; otherwise it is killed.
    pub(super) fn end(self) {
        let Self { connection, slot } = self;
        let mut state = lock(&slot.0.state);
        state.lent.retain(|facts| !Arc::ptr_eq(facts, &connection.facts));
        if !connection.is_reusable() || state.is_closed {
            drop(state);
            drop(connection);
        } else if state.idle.len() < MAX_WORKERS {
            state.idle.push(connection);
        } else {
            // Nobody waits for the end of a healthy one.
            drop(state);
            drop(slot);
            let _ = std::thread::Builder::new().name("crosier-surplus".to_owned()).spawn(|| drop(connection));
        }
    }
}

impl Drop for BusySlot {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.busy -= 1;
        state.wake_next();
    }
}

impl Pools {
    pub(in crate::run) fn new(guard: Option<ProcessGuard>) -> Self {
        Self { map: Mutex::default(), guard }
    }

    /// Leases an idle or a new worker for this hook.
    pub(super) fn lease(
        &self,
        spec: &Arc<PythonSpec>,
        hook: &Entry,
        environment: &Environment,
        limits: &CallLimits<'_>,
    ) -> Result<Lease, CallError> {
        self.pool(spec, hook, environment)?.lease(limits, Growth::Never)
    }

    /// Ends every idle worker, and starts no more.
    pub(in crate::run) fn close(&self) {
        let mut known = lock(&self.map);
        known.is_closed = true;
        // The pools stay in the map, because some of their workers may still be busy.
        let pools: Vec<_> = known.pools.values().map(Arc::clone).collect();
        drop(known);
        Pool::close_all(pools.iter());
    }

    /// How many workers run a call, start for one, or are being ended after one.
    pub(in crate::run) fn busy(&self) -> usize {
        let pools: Vec<_> = lock(&self.map).pools.values().map(Arc::clone).collect();
        pools.iter().map(|pool| lock(&pool.state).busy).sum()
    }

    fn pool(
        &self,
        spec: &Arc<PythonSpec>,
        hook: &Entry,
        environment: &Environment,
    ) -> Result<Arc<Pool>, CallError> {
        let mut known = lock(&self.map);
        if known.is_closed {
            return Err(CallError { step: CallStep::Waiting, cause: Cause::Cancelled });
        }
        let owner = Owner::of(hook);
        let is_of = |(other, of, _): &&(Weak<PythonSpec>, Owner, _)| {
            std::ptr::eq(other.as_ptr(), Arc::as_ptr(spec)) && *of == owner
        };
        if let Some((.., pool)) = known.of_hooks.iter().find(is_of) {
            return Ok(Arc::clone(pool));
        }
        let key = WorkerKey {
            owner,
            interpreter: spec.interpreter.clone(),
            folder: spec.project_dir.clone(),
            env: environment.of_worker(spec),
        };
        let pool = match known.pools.get(&key) {
            Some(pool) => Arc::clone(pool),
            None => {
                let record = hook.sources.as_ref().map(|sources| record_json(&sources.python()).into());
                let setup = Setup { env: key.env.clone(), record, guard: self.guard.clone() };
                let pool = Pool::new(&spec.interpreter, &key.folder, setup)?;
                let pool = Arc::new(Pool { _sources: hook.sources.clone(), ..pool });
                known.pools.insert(key, Arc::clone(&pool));
                pool
            }
        };
        // Hooks come and go with agents: remove those that are gone.
        known.of_hooks.retain(|(other, ..)| other.strong_count() > 0);
        known.of_hooks.push((Arc::downgrade(spec), owner, Arc::clone(&pool)));
        Ok(pool)
    }
}

impl Pool {
    /// A pool of workers of this interpreter. None is started yet.
    pub(super) fn new(interpreter: &str, folder: &Path, setup: Setup) -> Result<Self, CallError> {
        let path = setup.env.iter().rfind(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
        let program = find_program(interpreter, path).map_err(|failure| CallError {
            step: CallStep::Starting,
            cause: Cause::Broken(failure.detail),
        })?;
        let interpreter = Interpreter::new(program, folder.to_owned(), setup);
        Ok(Self { interpreter, _sources: None, state: Mutex::default() })
    }

    /// Ends the idle workers of these pools, all at the same time, and starts no more.
    pub(super) fn close_all<'a>(pools: impl Iterator<Item = &'a Arc<Self>>) {
        let mut idle = Vec::new();
        for pool in pools {
            let mut state = lock(&pool.state);
            state.is_closed = true;
            idle.append(&mut state.idle);
            state.queue.iter().for_each(|turn| turn.notify_one());
        }
        idle.iter_mut().for_each(Connection::ask_to_exit);
        drop(idle);
    }

    /// Whether one of its workers is leased, or a call waits for one.
    pub(super) fn is_busy(&self) -> bool {
        let state = lock(&self.state);
        state.busy > 0 || !state.queue.is_empty()
    }

    /// Takes out idle workers, the least recently used first, until `stay` are left.
    pub(super) fn take_idle_but(&self, stay: usize) -> Vec<Connection> {
        let mut state = lock(&self.state);
        let out = state.idle.len().saturating_sub(stay);
        state.idle.drain(..out).collect()
    }

    /// Its workers, idle and busy.
    pub(super) fn list(&self) -> Vec<WorkerInfo> {
        let state = lock(&self.state);
        let facts = state.idle.iter().map(|worker| Arc::clone(&worker.facts));
        let facts = facts.chain(state.lent.iter().cloned());
        let python = self.interpreter.program();
        facts
            .map(|facts| WorkerInfo {
                python: python.clone(),
                pid: facts.pid,
                calls: facts.calls.load(Ordering::Relaxed),
            })
            .collect()
    }

    /// Leases an idle worker, if there is one and no call waits for it. Does not wait.
    pub(super) fn lease_idle(self: &Arc<Self>, limits: &CallLimits<'_>) -> Option<Lease> {
        let mut state = lock(&self.state);
        if state.is_closed || !state.queue.is_empty() {
            return None;
        }
        let mut connection = state.idle.pop()?;
        if !connection.is_healthy(limits).unwrap_or(false) {
            // Ending a worker takes time, and this thread must not wait: the next call to `lease` ends it.
            state.idle.push(connection);
            return None;
        }
        state.busy += 1;
        state.lent.push(Arc::clone(&connection.facts));
        drop(state);
        Some(Lease { connection, slot: BusySlot(Arc::clone(self)) })
    }

    /// Leases an idle worker, or a new one, or waits for one.
    pub(super) fn lease(
        self: &Arc<Self>,
        limits: &CallLimits<'_>,
        growth: Growth,
    ) -> Result<Lease, CallError> {
        // A call with little time left must have most of it for its hook.
        let grows_in = GROW_AFTER.min(limits.left() / 8);
        let began = Instant::now();
        // Dropped after the lock is released: it takes time to end a worker.
        let mut stale = Vec::new();
        let mut state = lock(&self.state);
        let mut turn = None;
        let found = loop {
            if state.is_closed {
                break Err(Cause::Cancelled);
            }
            if state.is_turn_of(turn.as_ref()) {
                match state.take_idle(&mut stale, limits) {
                    Ok(None) if state.busy >= MAX_BUSY && growth == Growth::SoonOrElsewhere => {
                        break Err(Cause::Crowded);
                    }
                    Ok(None) if state.busy >= MAX_BUSY => {}
                    Ok(None)
                        if state.busy >= MAX_WORKERS
                            && (growth == Growth::Never || began.elapsed() < grows_in) => {}
                    Ok(None) if limits.is_stopped() => break Err(Cause::Cancelled),
                    found => break found,
                }
            }
            let left = limits.left();
            if left.is_zero() {
                break Err(Cause::TimedOut);
            }
            if limits.is_stopped() {
                break Err(Cause::Cancelled);
            }
            let mine = turn.get_or_insert_with(|| state.enqueue());
            let mine = Arc::clone(mine);
            state =
                mine.wait_timeout(state, left.min(CHECK_INTERVAL)).unwrap_or_else(PoisonError::into_inner).0;
        };
        if let Some(turn) = turn {
            state.leave_queue(&turn);
        }
        let found = found.map_err(|cause| CallError { step: CallStep::Waiting, cause })?;
        state.busy += 1;
        state.lent.extend(found.as_ref().map(|worker| Arc::clone(&worker.facts)));
        // There may also be a worker for the next call in the queue.
        state.wake_next();
        drop(state);
        let slot = BusySlot(Arc::clone(self));
        let connection = match found {
            Some(connection) => connection,
            None => {
                let worker = self.interpreter.start(limits)?;
                lock(&self.state).lent.push(Arc::clone(&worker.facts));
                worker
            }
        };
        Ok(Lease { connection, slot })
    }
}

impl State {
    fn enqueue(&mut self) -> Arc<Condvar> {
        let turn = Arc::new(Condvar::new());
        self.queue.push_back(Arc::clone(&turn));
        turn
    }

    /// Whether it is this call's turn: no other call is ahead of it in the queue.
    fn is_turn_of(&self, turn: Option<&Arc<Condvar>>) -> bool {
        match (self.queue.front(), turn) {
            (None, _) => true,
            (Some(front), Some(turn)) => Arc::ptr_eq(front, turn),
            (Some(_), None) => false,
        }
    }

    fn leave_queue(&mut self, turn: &Arc<Condvar>) {
        self.queue.retain(|other| !Arc::ptr_eq(other, turn));
        self.wake_next();
    }

    fn wake_next(&self) {
        if let Some(front) = self.queue.front() {
            front.notify_one();
        }
    }

    /// The most recently used idle worker; unusable ones are moved to `stale`. An error when the fire was
    /// cancelled or the engine shut down.
    fn take_idle(
        &mut self,
        stale: &mut Vec<Connection>,
        limits: &CallLimits<'_>,
    ) -> Result<Option<Connection>, Cause> {
        while let Some(mut connection) = self.idle.pop() {
            match connection.is_healthy(limits) {
                Ok(true) => return Ok(Some(connection)),
                Ok(false) => stale.push(connection),
                Err(why) => {
                    self.idle.push(connection);
                    return Err(why);
                }
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_calls_are_served_in_order() {
        let mut state = State::default();
        assert!(state.is_turn_of(None));
        let (first, second) = (state.enqueue(), state.enqueue());
        assert!(state.is_turn_of(Some(&first)));
        assert!(!state.is_turn_of(Some(&second)) && !state.is_turn_of(None));
        state.leave_queue(&first);
        assert!(state.is_turn_of(Some(&second)) && !state.is_turn_of(None));
        state.leave_queue(&second);
        assert!(state.is_turn_of(None));
    }
}
