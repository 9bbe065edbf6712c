//! The workers there are: some idle, none more than allowed, and a line of calls that wait for one.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::super::command::find_program;
use super::super::environment::Environment;
use super::interpreter::Interpreter;
use super::link::Link;
use super::talk::{Lost, Talk, When, Why};
use crate::registry::PythonSpec;

/// The most workers of one kind: as many as hooks run together.
const MAX_WORKERS: usize = 8;
/// How often a call that waits for a worker looks whether anybody waits for it.
const LOOK: Duration = Duration::from_millis(20);

/// All workers of an engine.
#[derive(Debug, Default)]
pub(in crate::run) struct Pools(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    pools: HashMap<Kind, Arc<Pool>>,
    /// The pool of each hook, so that its environment is not put together for every call.
    of_hooks: Vec<(Weak<PythonSpec>, Arc<Pool>)>,
    is_closed: bool,
}

/// What two hooks must have in common to share a worker.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Kind {
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
    idle: Vec<Link>,
    busy: usize,
    /// The calls that wait for a worker, in the order they came. None is overtaken.
    line: VecDeque<Arc<Condvar>>,
    is_closed: bool,
}

/// A worker on loan.
#[derive(Debug)]
pub(super) struct Lease {
    pub(super) link: Link,
    /// Behind the worker: its place is free when it is gone.
    place: Place,
}

/// A place among the busy ones; free again when dropped.
#[derive(Debug)]
struct Place(Arc<Pool>);

impl Lease {
    /// The next call may have the worker, if it is well; else it is killed.
    pub(super) fn end(self) {
        let Self { link, place } = self;
        let mut state = lock(&place.0.state);
        if link.is_of_use() && !state.is_closed {
            state.idle.push(link);
        } else {
            drop(state);
            drop(link);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.busy -= 1;
        state.call_next();
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
        talk: &Talk<'_>,
    ) -> Result<Lease, Lost> {
        self.pool(spec, environment)?.lease(talk)
    }

    /// Ends every idle worker; later there are none.
    pub(in crate::run) fn clear(&self) {
        let known = std::mem::replace(&mut *lock(&self.0), Known { is_closed: true, ..Known::default() });
        let mut idle = Vec::new();
        for pool in known.pools.values() {
            let mut state = lock(&pool.state);
            state.is_closed = true;
            idle.append(&mut state.idle);
            state.line.iter().for_each(|turn| turn.notify_one());
        }
        idle.iter_mut().for_each(Link::dismiss);
        drop(idle);
    }

    fn pool(&self, spec: &Arc<PythonSpec>, environment: &Environment) -> Result<Arc<Pool>, Lost> {
        let mut known = lock(&self.0);
        if known.is_closed {
            return Err(Lost { when: When::Waiting, why: Why::Cancelled });
        }
        let is_of = |(other, _): &&(Weak<PythonSpec>, _)| std::ptr::eq(other.as_ptr(), Arc::as_ptr(spec));
        if let Some((_, pool)) = known.of_hooks.iter().find(is_of) {
            return Ok(Arc::clone(pool));
        }
        let kind = Kind {
            interpreter: spec.interpreter.clone(),
            folder: spec.project_dir.clone(),
            env: environment.of_worker(spec),
        };
        let pool = match known.pools.get(&kind) {
            Some(pool) => Arc::clone(pool),
            None => {
                let path =
                    kind.env.iter().rfind(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
                let program = find_program(&spec.interpreter, path)
                    .map_err(|failure| Lost { when: When::Starting, why: Why::Broke(failure.detail) })?;
                let interpreter = Interpreter::new(program, kind.folder.clone(), kind.env.clone());
                let pool = Arc::new(Pool { interpreter, state: Mutex::default() });
                known.pools.insert(kind, Arc::clone(&pool));
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
    fn lease(self: &Arc<Self>, talk: &Talk<'_>) -> Result<Lease, Lost> {
        // Dropped behind the lock: it takes time to end a worker.
        let mut stale = Vec::new();
        let mut state = lock(&self.state);
        let mut turn = None;
        let found = loop {
            if state.is_closed {
                break Err(Why::Cancelled);
            }
            if state.is_turn_of(turn.as_ref()) {
                match state.take_idle(&mut stale, talk) {
                    Ok(None) if state.busy >= MAX_WORKERS => {}
                    Ok(None) if talk.is_stopped() => break Err(Why::Cancelled),
                    found => break found,
                }
            }
            let left = talk.left();
            if left.is_zero() {
                break Err(Why::Late);
            }
            if talk.is_stopped() {
                break Err(Why::Cancelled);
            }
            let mine = turn.get_or_insert_with(|| state.stand_in_line());
            let mine = Arc::clone(mine);
            state = mine.wait_timeout(state, left.min(LOOK)).unwrap_or_else(PoisonError::into_inner).0;
        };
        if let Some(turn) = turn {
            state.leave_line(&turn);
        }
        let found = found.map_err(|why| Lost { when: When::Waiting, why })?;
        state.busy += 1;
        // There may be a worker for the next in line, too.
        state.call_next();
        drop(state);
        let place = Place(Arc::clone(self));
        let link = match found {
            Some(link) => link,
            None => self.interpreter.start(talk)?,
        };
        Ok(Lease { link, place })
    }
}

impl State {
    fn stand_in_line(&mut self) -> Arc<Condvar> {
        let turn = Arc::new(Condvar::new());
        self.line.push_back(Arc::clone(&turn));
        turn
    }

    /// Whether nobody came before the one with this place in the line, or before one without a place.
    fn is_turn_of(&self, turn: Option<&Arc<Condvar>>) -> bool {
        match (self.line.front(), turn) {
            (None, _) => true,
            (Some(front), Some(turn)) => Arc::ptr_eq(front, turn),
            (Some(_), None) => false,
        }
    }

    fn leave_line(&mut self, turn: &Arc<Condvar>) {
        self.line.retain(|other| !Arc::ptr_eq(other, turn));
        self.call_next();
    }

    fn call_next(&self) {
        if let Some(front) = self.line.front() {
            front.notify_one();
        }
    }

    /// The idle worker that was used last; those that are of no use any more are put aside. An error when the
    /// fire was cancelled or the engine shut down.
    fn take_idle(&mut self, stale: &mut Vec<Link>, talk: &Talk<'_>) -> Result<Option<Link>, Why> {
        while let Some(mut link) = self.idle.pop() {
            match link.is_well(talk) {
                Ok(true) => return Ok(Some(link)),
                Ok(false) => stale.push(link),
                Err(why) => {
                    self.idle.push(link);
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
    fn nobody_overtakes_who_stands_in_line() {
        let mut state = State::default();
        assert!(state.is_turn_of(None));
        let (first, second) = (state.stand_in_line(), state.stand_in_line());
        assert!(state.is_turn_of(Some(&first)));
        assert!(!state.is_turn_of(Some(&second)) && !state.is_turn_of(None));
        state.leave_line(&first);
        assert!(state.is_turn_of(Some(&second)) && !state.is_turn_of(None));
        state.leave_line(&second);
        assert!(state.is_turn_of(None));
    }
}
