//! The workers: idle and busy ones, at most so many, and a queue of calls that wait for one.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::super::command::find_program;
use super::super::environment::Environment;
use super::call::{CallError, CallLimits, Cause, Stage};
use super::connection::Connection;
use super::interpreter::Interpreter;
use crate::registry::PythonSpec;

/// The most workers of one kind: as many as hooks run together.
const MAX_WORKERS: usize = 8;
/// How often a call that waits for a worker checks whether it was cancelled.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// All workers of an engine.
#[derive(Debug, Default)]
pub(in crate::run) struct Pools(Mutex<PoolMap>);

#[derive(Debug, Default)]
struct PoolMap {
    pools: HashMap<WorkerKey, Arc<Pool>>,
    /// The pool of each hook, so that its environment is not put together for every call.
    of_hooks: Vec<(Weak<PythonSpec>, Arc<Pool>)>,
    is_closed: bool,
}

/// What two hooks must have in common to share a worker.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct WorkerKey {
    interpreter: String,
    folder: PathBuf,
    env: Vec<(OsString, OsString)>,
}

#[derive(Debug)]
struct Pool {
    interpreter: Interpreter,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<Connection>,
    busy: usize,
    /// The calls that wait for a worker, first come, first served.
    queue: VecDeque<Arc<Condvar>>,
    is_closed: bool,
}

/// A worker on loan.
#[derive(Debug)]
pub(super) struct Lease {
    pub(super) connection: Connection,
    /// Declared after the connection: its slot is free only when the worker has exited.
    slot: BusySlot,
}

/// The right to use one worker; given back when dropped.
#[derive(Debug)]
struct BusySlot(Arc<Pool>);

impl Lease {
    /// The next call may have the worker, if it is well; else it is killed.
    pub(super) fn end(self) {
        let Self { connection, slot } = self;
        let mut state = lock(&slot.0.state);
        if connection.is_of_use() && !state.is_closed {
            state.idle.push(connection);
        } else {
            drop(state);
            drop(connection);
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pools {
    /// A worker for this hook, idle or new.
    pub(super) fn lease(
        &self,
        spec: &Arc<PythonSpec>,
        environment: &Environment,
        limits: &CallLimits<'_>,
    ) -> Result<Lease, CallError> {
        self.pool(spec, environment)?.lease(limits)
    }

    /// Ends every idle worker; later there are none.
    pub(in crate::run) fn clear(&self) {
        let known = std::mem::replace(&mut *lock(&self.0), PoolMap { is_closed: true, ..PoolMap::default() });
        let mut idle = Vec::new();
        for pool in known.pools.values() {
            let mut state = lock(&pool.state);
            state.is_closed = true;
            idle.append(&mut state.idle);
            state.queue.iter().for_each(|turn| turn.notify_one());
        }
        idle.iter_mut().for_each(Connection::ask_to_exit);
        drop(idle);
    }

    fn pool(&self, spec: &Arc<PythonSpec>, environment: &Environment) -> Result<Arc<Pool>, CallError> {
        let mut known = lock(&self.0);
        if known.is_closed {
            return Err(CallError { stage: Stage::Waiting, cause: Cause::Cancelled });
        }
        let is_of = |(other, _): &&(Weak<PythonSpec>, _)| std::ptr::eq(other.as_ptr(), Arc::as_ptr(spec));
        if let Some((_, pool)) = known.of_hooks.iter().find(is_of) {
            return Ok(Arc::clone(pool));
        }
        let key = WorkerKey {
            interpreter: spec.interpreter.clone(),
            folder: spec.project_dir.clone(),
            env: environment.of_worker(spec),
        };
        let pool = match known.pools.get(&key) {
            Some(pool) => Arc::clone(pool),
            None => {
                let path =
                    key.env.iter().rfind(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
                let program = find_program(&spec.interpreter, path).map_err(|failure| CallError {
                    stage: Stage::Starting,
                    cause: Cause::Broken(failure.detail),
                })?;
                let interpreter = Interpreter::new(program, key.folder.clone(), key.env.clone());
                let pool = Arc::new(Pool { interpreter, state: Mutex::default() });
                known.pools.insert(key, Arc::clone(&pool));
                pool
            }
        };
        // Hooks come and go with agents; those that are gone are forgotten.
        known.of_hooks.retain(|(other, _)| other.strong_count() > 0);
        known.of_hooks.push((Arc::downgrade(spec), Arc::clone(&pool)));
        Ok(pool)
    }
}

impl Pool {
    fn lease(self: &Arc<Self>, limits: &CallLimits<'_>) -> Result<Lease, CallError> {
        // Dropped behind the lock: it takes time to end a worker.
        let mut stale = Vec::new();
        let mut state = lock(&self.state);
        let mut turn = None;
        let found = loop {
            if state.is_closed {
                break Err(Cause::Cancelled);
            }
            if state.is_turn_of(turn.as_ref()) {
                match state.take_idle(&mut stale, limits) {
                    Ok(None) if state.busy >= MAX_WORKERS => {}
                    Ok(None) if limits.is_stopped() => break Err(Cause::Cancelled),
                    found => break found,
                }
            }
            let left = limits.left();
            if left.is_zero() {
                break Err(Cause::Late);
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
        let found = found.map_err(|cause| CallError { stage: Stage::Waiting, cause })?;
        state.busy += 1;
        // There may be a worker for the next in line, too.
        state.wake_next();
        drop(state);
        let slot = BusySlot(Arc::clone(self));
        let connection = match found {
            Some(connection) => connection,
            None => self.interpreter.start(limits)?,
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

    /// Whether nobody came before the one with this place in the line, or before one without a place.
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

    /// The idle worker that was used last; those that are of no use any more are put aside. An error when the
    /// fire was cancelled or the engine shut down.
    fn take_idle(
        &mut self,
        stale: &mut Vec<Connection>,
        limits: &CallLimits<'_>,
    ) -> Result<Option<Connection>, Cause> {
        while let Some(mut connection) = self.idle.pop() {
            match connection.is_well(limits) {
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
