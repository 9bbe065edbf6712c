//! Workers that outlive engines, for a daemon: they stay warm for the next caller.
//!
//! They are kept per layer, record, interpreter, folder and the variables that an interpreter reads at its start. All
//! other variables are set for each call: hardly any two callers have the same, so no worker could be reused.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::borrow::{NotHere, PythonCall, PythonResponse, PythonResult, PythonRunner};
use super::call::{CallError, Cause, Stage};
use super::interpreter::Setup;
use super::pool::Pool;
use super::request::record_json;
use crate::registry::{Layer, PythonSpec};

/// The most kinds of workers that are kept; beyond that, the least recently used kind ends.
const MAX_KINDS: usize = 16;
/// The most functions that are remembered.
const MAX_SPECS: usize = 1024;

/// Python workers that several engines share, and programs that ask for one call.
#[derive(Debug, Default)]
pub struct PythonWorkers(Mutex<Kinds>);

#[derive(Debug, Default)]
struct Kinds {
    pools: HashMap<Kind, Kept>,
    /// Equal functions share one value, so that a worker recognises a hook.
    specs: HashSet<Arc<PythonSpec>>,
    is_closed: bool,
}

#[derive(Debug)]
struct Kept {
    pool: Arc<Pool>,
    used: Instant,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Kind {
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
    /// How many calls it has had.
    pub calls: u64,
}

impl PythonWorkers {
    /// Runs a call in a worker, a warm one where there is one.
    ///
    /// # Errors
    /// When no worker could be started, or it ended before it answered: the caller can try elsewhere.
    pub fn lend(&self, call: &PythonCall<'_>) -> Result<PythonResult, NotHere> {
        self.try_call(call).or_else(|error| match error.cause {
            Cause::Late => Ok(failed(error, call)),
            _ => {
                let may_have_begun = matches!(error.stage, Stage::Loading | Stage::Calling);
                let why = error.into_failure(call.spec, call.timeout).detail;
                Err(NotHere { why, may_have_begun })
            }
        })
    }

    /// The workers there are.
    #[must_use]
    pub fn list(&self) -> Vec<WorkerInfo> {
        let pools: Vec<Arc<Pool>> = self.lock().pools.values().map(|kept| Arc::clone(&kept.pool)).collect();
        pools.iter().flat_map(|pool| pool.list()).collect()
    }

    /// Ends workers that were idle for this long, all but one of each kind, and kinds that were unused for ten times as
    /// long.
    pub fn trim(&self, idle: Duration) {
        let mut ended = Vec::new();
        let mut kinds = self.lock();
        kinds.pools.retain(|_, kept| {
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
        drop(kinds);
        drop(ended);
    }

    /// Ends every idle worker, and starts no more.
    pub fn close(&self) {
        let kinds = std::mem::replace(&mut *self.lock(), Kinds { is_closed: true, ..Kinds::default() });
        Pool::close_all(kinds.pools.values().map(|kept| &kept.pool));
    }

    fn try_call(&self, call: &PythonCall<'_>) -> Result<PythonResult, CallError> {
        let (spec, pool, variables) = self.prepare(call)?;
        let limits = call.limits();
        let mut lease = pool.lease(&limits)?;
        lease.connection.set_environment(variables);
        let called = lease.connection.call(&spec, call.hook, call.event, &[], call.phase(), &limits);
        let printed = if limits.progress.is_some() { lease.connection.take_printed() } else { Vec::new() };
        lease.end();
        called.map(|response| PythonResult { response: response.into(), printed })
    }

    /// The function, the workers for it, and the variables of this call alone.
    #[expect(clippy::type_complexity, reason = "three things that are made under one lock")]
    fn prepare(
        &self,
        call: &PythonCall<'_>,
    ) -> Result<(Arc<PythonSpec>, Arc<Pool>, Vec<(OsString, OsString)>), CallError> {
        let record = call.record.as_ref().map(record_json).map(Arc::from);
        let (env, variables) = call.environment.iter().cloned().partition(|(name, _)| is_read_at_start(name));
        let kind = Kind {
            layer: call.layer,
            record: record.clone(),
            interpreter: call.spec.interpreter.clone(),
            folder: call.spec.project_dir.clone(),
            env,
        };
        // Dropped after the lock is released: it takes time to end a worker.
        let mut ended = Vec::new();
        let mut kinds = self.lock();
        if kinds.is_closed {
            return Err(CallError { stage: Stage::Waiting, cause: Cause::Cancelled });
        }
        let spec = kinds.spec(call.spec);
        let pool = match kinds.pools.get_mut(&kind) {
            Some(kept) => {
                kept.used = Instant::now();
                Arc::clone(&kept.pool)
            }
            None => {
                let setup = Setup { env: kind.env.clone(), record, guard: None };
                let pool = Arc::new(Pool::new(&kind.interpreter, &kind.folder, setup)?);
                while kinds.pools.len() >= MAX_KINDS
                    && let Some(oldest) = kinds.oldest()
                {
                    ended.extend(kinds.pools.remove(&oldest));
                }
                kinds.pools.insert(kind, Kept { pool: Arc::clone(&pool), used: Instant::now() });
                pool
            }
        };
        drop(kinds);
        Pool::close_all(ended.iter().map(|kept| &kept.pool));
        Ok((spec, pool, variables))
    }

    fn lock(&self) -> MutexGuard<'_, Kinds> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kinds {
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

    /// The least recently used kind, if none of its workers is busy.
    fn oldest(&self) -> Option<Kind> {
        let free = self.pools.iter().filter(|(_, kept)| !kept.pool.is_busy());
        free.min_by_key(|(_, kept)| kept.used).map(|(kind, _)| kind.clone())
    }
}

impl PythonRunner for PythonWorkers {
    /// A call of an engine in the same process: what goes wrong is the answer, as in a worker of its own.
    fn call(&self, call: &PythonCall<'_>) -> Result<PythonResult, NotHere> {
        Ok(self.try_call(call).unwrap_or_else(|error| failed(error, call)))
    }
}

fn failed(error: CallError, call: &PythonCall<'_>) -> PythonResult {
    let failure = error.into_failure(call.spec, call.timeout);
    let response = PythonResponse::Failed { kind: failure.kind, detail: failure.detail, deny: None };
    PythonResult { response, printed: Vec::new() }
}

/// Whether an interpreter, or a program that looks for the right one, reads this variable when it starts.
fn is_read_at_start(name: &OsStr) -> bool {
    const NAMES: [&str; 7] = ["PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "VIRTUAL_ENV"];
    const STARTS: [&str; 8] = ["PYTHON", "LC_", "PYENV_", "ASDF_", "MISE_", "CONDA_", "UV_", "LD_"];
    let name = name.to_string_lossy();
    NAMES.contains(&&*name) || STARTS.iter().any(|start| name.starts_with(start))
}
