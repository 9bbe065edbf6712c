//! The workers there are: some idle, none more than allowed.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use crosier_protocol::{Failure, FailureKind};

use super::super::command::find_program;
use super::super::environment::Environment;
use super::super::process::Start;
use super::link::{Link, Talk};
use crate::registry::PythonSpec;

/// The program that every worker runs.
const PROGRAM: &str = include_str!("worker.py");
/// The most workers of one kind: as many as hooks run together.
const MAX_WORKERS: usize = 8;

/// All workers of an engine.
#[derive(Debug, Default)]
pub(in crate::run) struct Pools {
    pools: Mutex<HashMap<Kind, Arc<Pool>>>,
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
    start: Start,
    /// The interpreter behind the one that was named: a shim costs six times its start.
    real: OnceLock<PathBuf>,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<Link>,
    busy: usize,
}

/// A worker on loan. Dropped without being given back, the worker is killed.
#[derive(Debug)]
pub(super) struct Lease {
    pub(super) link: Link,
    place: Place,
}

/// A place among the busy ones; free again when dropped.
#[derive(Debug)]
struct Place(Arc<Pool>);

impl Lease {
    /// The worker is well: the next call may have it.
    pub(super) fn give_back(self) {
        let Self { link, place } = self;
        lock(&place.0.state).idle.push(link);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.0.state).busy -= 1;
        self.0.freed.notify_one();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pools {
    /// A worker for this hook, idle or new; none when all are busy until the deadline.
    pub(super) fn lease(
        &self,
        spec: &PythonSpec,
        environment: &Environment,
        deadline: Instant,
    ) -> Result<Option<Lease>, Failure> {
        let pool = self.pool(spec, environment)?;
        pool.lease(deadline)
    }

    /// Ends every idle worker.
    pub(in crate::run) fn clear(&self) {
        let pools: Vec<Arc<Pool>> = lock(&self.pools).drain().map(|(_, pool)| pool).collect();
        drop(pools);
    }

    fn pool(&self, spec: &PythonSpec, environment: &Environment) -> Result<Arc<Pool>, Failure> {
        let kind = Kind {
            interpreter: spec.interpreter.clone(),
            folder: spec.project_dir.clone(),
            env: environment.of_worker(spec),
        };
        let mut pools = lock(&self.pools);
        if let Some(pool) = pools.get(&kind) {
            return Ok(Arc::clone(pool));
        }
        let path = kind.env.iter().rfind(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
        // Without an interpreter the hook's code cannot be loaded, and that denies.
        let program = find_program(&spec.interpreter, path)
            .map_err(|failure| Failure::new(FailureKind::Import, failure.detail))?;
        let args = ["-I", "-X", "utf8", "-c", PROGRAM].map(OsString::from).into();
        let start = Start { program, args, cwd: kind.folder.clone(), env: kind.env.clone() };
        let pool =
            Arc::new(Pool { start, real: OnceLock::new(), state: Mutex::default(), freed: Condvar::new() });
        pools.insert(kind, Arc::clone(&pool));
        Ok(pool)
    }
}

impl Pool {
    fn lease(self: &Arc<Self>, deadline: Instant) -> Result<Option<Lease>, Failure> {
        let mut state = lock(&self.state);
        loop {
            while let Some(link) = state.idle.pop() {
                if !link.is_gone() {
                    state.busy += 1;
                    return Ok(Some(Lease { link, place: Place(Arc::clone(self)) }));
                }
            }
            if state.busy < MAX_WORKERS {
                state.busy += 1;
                drop(state);
                let place = Place(Arc::clone(self));
                return Ok(Some(Lease { link: self.start(deadline)?, place }));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            state = self.freed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn start(&self, deadline: Instant) -> Result<Link, Failure> {
        // Without a worker the hook's code cannot be loaded, and that denies.
        let import = |failure: Failure| Failure::new(FailureKind::Import, failure.detail);
        if let Some(program) = self.real.get() {
            let start = Start { program: program.clone(), ..self.start.clone() };
            return Link::start(&start, deadline).map_err(import);
        }
        let mut link = Link::start(&self.start, deadline).map_err(import)?;
        // Asked once: what the interpreter calls itself is the program without its shim.
        if let Ok(info) = link.hello(&Talk { deadline, cancel: None, bell: None, progress: None }) {
            let real = PathBuf::from(info.executable);
            let _ = self.real.set(if real.is_absolute() { real } else { self.start.program.clone() });
        }
        Ok(link)
    }
}
