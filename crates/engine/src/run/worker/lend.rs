//! Workers that outlive engines, for a daemon that keeps them ready for the next caller.
//!
//! There is a pool per layer, record, interpreter, folder and the variables that an interpreter reads when it
//! starts. All other variables are set for each call: they differ between almost all callers, so no worker
//! could be reused otherwise.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crosier_protocol::Event;

use super::borrow::{NotCompleted, PythonCall, PythonResponse, PythonResult, PythonRunner};
use super::call::{CallError, CallLimits, CallStep, Cause};
use super::interpreter::Setup;
use super::pool::{Growth, Lease, Pool};
use super::request::record_json;
use super::response::Response;
use crate::registry::{Layer, PythonSpec};
use crate::run::environment;

/// The maximum number of pools; beyond it, the least recently used one is closed.
const MAX_POOLS: usize = 16;
/// Longer events may not fit into the pipe at once, so such a call cannot begin without waiting.
const MAX_WARM_EVENT: usize = 16 * 1024;
/// The maximum number of functions that are remembered.
const MAX_SPECS: usize = 1024;

/// Python workers that are shared by several engines, or by programs that each make one call.
#[derive(Debug, Default)]
pub struct PythonWorkers(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    pools: HashMap<PoolKey, KeptPool>,
    /// Equal functions share one `Arc`, by which a worker recognises a hook.
    specs: HashSet<Arc<PythonSpec>>,
    is_closed: bool,
}

#[derive(Debug)]
struct KeptPool {
    pool: Arc<Pool>,
    used: Instant,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct PoolKey {
    layer: Layer,
    record: Option<Arc<str>>,
    interpreter: String,
    folder: PathBuf,
    env: Vec<(OsString, OsString)>,
}

/// One worker.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerInfo {
    /// The interpreter.
    pub python: PathBuf,
    /// Its process.
    pub pid: u32,
    /// How many calls it has received.
    pub calls: u64,
}

impl PythonWorkers {
    /// Runs a call in a worker: an idle one if there is one, else a new one.
    ///
    /// # Errors
    /// When too many workers are busy, none could be started, or it ended before it answered. The caller can then run
    /// the hook itself.
    pub fn call_worker(&self, call: &PythonCall<'_>) -> Result<PythonResult, NotCompleted> {
        answered(self.try_call(call, Growth::SoonOrElsewhere), call)
    }

    /// Like [`call_worker`](Self::call_worker), for a thread that must not wait longer than `within`: only if a
    /// worker is idle and has the function loaded.
    pub fn try_call_warm_worker(&self, call: &PythonCall<'_>, within: Duration) -> WarmCall {
        let Some((mut lease, spec)) = self.warm_lease(call) else { return WarmCall::NoWorker };
        let limits = call.limits();
        let Some(id) = lease.connection.begin_call(&spec, call.hook, call.event, call.phase(), &limits)
        else {
            lease.end();
            return WarmCall::NoWorker;
        };
        let soon = Instant::now() + within;
        let short = CallLimits { deadline: limits.deadline.min(soon), ..limits };
        match lease.connection.answer_within(id, &short) {
            Some(called) => WarmCall::Answered(answered(returned(lease, called, &limits), call)),
            None => WarmCall::Begun(BegunCall { lease, id }),
        }
    }

    /// All workers, idle and busy.
    #[must_use]
    pub fn list(&self) -> Vec<WorkerInfo> {
        let pools: Vec<Arc<Pool>> = self.lock().pools.values().map(|kept| Arc::clone(&kept.pool)).collect();
        pools.iter().flat_map(|pool| pool.list()).collect()
    }

    /// Ends the idle workers, except one, of every pool that was unused for this long, and closes pools that
    /// were unused for ten times as long.
    pub fn trim(&self, idle: Duration) {
        let mut ended = Vec::new();
        let mut state = self.lock();
        state.pools.retain(|_, kept| {
            let unused = kept.used.elapsed();
            if unused >= idle {
                ended.extend(kept.pool.take_idle_but(1));
            }
            let is_old = unused >= idle * 10 && !kept.pool.is_busy();
            if is_old {
                ended.extend(kept.pool.take_idle_but(0));
            }
            !is_old
        });
        drop(state);
        drop(ended);
    }

    /// Ends every idle worker, and starts no more.
    pub fn close(&self) {
        let state = std::mem::replace(&mut *self.lock(), State { is_closed: true, ..State::default() });
        Pool::close_all(state.pools.values().map(|kept| &kept.pool));
    }

    fn try_call(&self, call: &PythonCall<'_>, growth: Growth) -> Result<PythonResult, CallError> {
        let (spec, pool, variables) = self.prepare(call)?;
        let limits = call.limits();
        let mut lease = pool.lease(&limits, growth)?;
        lease.connection.set_environment(variables);
        let large = Event::large_values_of(call.event);
        let called = lease.connection.call(&spec, call.hook, call.event, &large, call.phase(), &limits);
        returned(lease, called, &limits)
    }

    /// An idle worker for this call, with its variables set.
    fn warm_lease(&self, call: &PythonCall<'_>) -> Option<(Lease, Arc<PythonSpec>)> {
        if call.event.len() > MAX_WARM_EVENT {
            return None;
        }
        let (key, variables) = key_of(call);
        let mut state = self.lock();
        let kept = state.pools.get_mut(&key)?;
        kept.used = Instant::now();
        let pool = Arc::clone(&kept.pool);
        let spec = state.spec(call.spec);
        drop(state);
        let mut lease = pool.lease_idle(&call.limits())?;
        lease.connection.set_environment(variables);
        Some((lease, spec))
    }

    /// The function, the pool for it, and the variables for this call only.
    #[expect(clippy::type_complexity, reason = "three things that are made under one lock")]
    fn prepare(
        &self,
        call: &PythonCall<'_>,
    ) -> Result<(Arc<PythonSpec>, Arc<Pool>, Vec<(OsString, OsString)>), CallError> {
        let (key, variables) = key_of(call);
        // Dropped after the lock is released: it takes time to end a worker.
        let mut ended = Vec::new();
        let mut state = self.lock();
        if state.is_closed {
            return Err(CallError { step: CallStep::Waiting, cause: Cause::Cancelled });
        }
        let spec = state.spec(call.spec);
        let pool = match state.pools.get_mut(&key) {
            Some(kept) => {
                kept.used = Instant::now();
                Arc::clone(&kept.pool)
            }
            None => {
                let setup = Setup { env: key.env.clone(), record: key.record.clone(), guard: None };
                let pool = Arc::new(Pool::new(&key.interpreter, &key.folder, setup)?);
                while state.pools.len() >= MAX_POOLS
                    && let Some(oldest) = state.oldest()
                {
                    ended.extend(state.pools.remove(&oldest));
                }
                state.pools.insert(key, KeptPool { pool: Arc::clone(&pool), used: Instant::now() });
                pool
            }
        };
        drop(state);
        Pool::close_all(ended.iter().map(|kept| &kept.pool));
        Ok((spec, pool, variables))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The result of [`PythonWorkers::try_call_warm_worker`].
#[derive(Debug)]
#[non_exhaustive]
pub enum WarmCall {
    /// The worker answered in time, or failed.
    Answered(Result<PythonResult, NotCompleted>),
    /// It was begun, and is not answered yet.
    Begun(BegunCall),
    /// No worker is ready for it; nothing was done.
    NoWorker,
}

/// A call that a worker is running.
#[derive(Debug)]
pub struct BegunCall {
    lease: Lease,
    id: u64,
}

impl BegunCall {
    /// Waits for the answer. `call` must be the call that was begun; only its stop descriptors may differ.
    ///
    /// # Errors
    /// When the worker ended before it answered.
    pub fn finish(mut self, call: &PythonCall<'_>) -> Result<PythonResult, NotCompleted> {
        let limits = call.limits();
        let called = self.lease.connection.finish_call(self.id, &limits);
        answered(returned(self.lease, called, &limits), call)
    }
}

/// Gives the worker back to its pool, and adds what the call printed to its result.
fn returned(
    mut lease: Lease,
    called: Result<Response, CallError>,
    limits: &CallLimits<'_>,
) -> Result<PythonResult, CallError> {
    let printed = if limits.progress.is_some() { lease.connection.take_printed() } else { Vec::new() };
    lease.end();
    called.map(|response| PythonResult { response: response.into(), printed })
}

/// The result for a caller that can run the hook itself.
fn answered(
    called: Result<PythonResult, CallError>,
    call: &PythonCall<'_>,
) -> Result<PythonResult, NotCompleted> {
    called.or_else(|error| match error.cause {
        Cause::TimedOut => Ok(failed(error, call)),
        _ => {
            let may_have_begun = matches!(error.step, CallStep::Loading | CallStep::Calling);
            let why = error.into_failure(call.spec, call.timeout).detail;
            Err(NotCompleted { why, may_have_begun })
        }
    })
}

/// The pool for a call, and the variables for this call only.
fn key_of(call: &PythonCall<'_>) -> (PoolKey, Vec<(OsString, OsString)>) {
    let (env, mut variables): (Vec<_>, Vec<_>) =
        call.environment.iter().cloned().partition(|(name, _)| is_read_at_start(name));
    variables.extend(environment::of_repeated_call(call.second, call.pass));
    let key = PoolKey {
        layer: call.layer,
        record: call.record.as_ref().map(record_json).map(Arc::from),
        interpreter: call.spec.interpreter.clone(),
        folder: call.spec.project_dir.clone(),
        env,
    };
    (key, variables)
}

impl State {
    fn spec(&mut self, spec: &Arc<PythonSpec>) -> Arc<PythonSpec> {
        if let Some(known) = self.specs.get(spec) {
            return Arc::clone(known);
        }
        if self.specs.len() >= MAX_SPECS {
            self.specs.clear();
        }
        self.specs.insert(Arc::clone(spec));
        Arc::clone(spec)
    }

    /// The least recently used pool that is not busy.
    fn oldest(&self) -> Option<PoolKey> {
        let free = self.pools.iter().filter(|(_, kept)| !kept.pool.is_busy());
        free.min_by_key(|(_, kept)| kept.used).map(|(key, _)| key.clone())
    }
}

impl PythonRunner for PythonWorkers {
    /// A call from an engine in the same process. Errors become failures, as with the engine's own workers.
    fn call(&self, call: &PythonCall<'_>) -> Result<PythonResult, NotCompleted> {
        Ok(self.try_call(call, Growth::Soon).unwrap_or_else(|error| failed(error, call)))
    }
}

fn failed(error: CallError, call: &PythonCall<'_>) -> PythonResult {
    let failure = error.into_failure(call.spec, call.timeout);
    let response = PythonResponse::Failed { kind: failure.kind, detail: failure.detail, deny: None };
    PythonResult { response, printed: Vec::new() }
}

/// Whether an interpreter, or a shim that selects one, reads this variable when it starts.
fn is_read_at_start(name: &OsStr) -> bool {
    const NAMES: [&str; 7] = ["PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "VIRTUAL_ENV"];
    const STARTS: [&str; 8] = ["PYTHON", "LC_", "PYENV_", "ASDF_", "MISE_", "CONDA_", "UV_", "LD_"];
    let name = name.to_string_lossy();
    NAMES.contains(&&*name) || STARTS.iter().any(|start| name.starts_with(start))
}
