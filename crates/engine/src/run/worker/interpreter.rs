//! The interpreter of a pool: the configured program, and the real interpreter that it starts.
//!
//! `python` is often a shim that selects the real interpreter and takes six times as long to start. So the
//! first worker is asked which interpreter it runs in, and later ones are started without the shim.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::super::process::{ProcessGuard, Start};
use super::call::{CallError, CallLimits, CallStep, Cause};
use super::connection::Connection;

/// The program that every worker runs.
const PROGRAM: &str = concat!(include_str!("hook_module.py"), include_str!("worker.py"));
/// How long the interpreter behind a shim is remembered. Limited, because people switch versions.
const REMEMBERED: Duration = Duration::from_secs(10);
/// How many are remembered.
const MAX_REMEMBERED: usize = 16;

/// Shims and the interpreters behind them. Shared by all engines of the process: otherwise many short-lived
/// engines, such as those of test cases, would each start the shim.
static RESOLVED: Mutex<Vec<ResolvedShim>> = Mutex::new(Vec::new());

#[derive(Debug, Clone)]
struct ResolvedShim {
    /// What was started, including folder and environment, because a shim's choice depends on them.
    named: Arc<Start>,
    real: Arc<Start>,
    at: Instant,
}

/// What a worker reports about itself.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Hello {
    pub(super) python: String,
    pub(super) executable: String,
    pub(super) environ: BTreeMap<String, String>,
}

/// What all workers of a pool share.
#[derive(Debug)]
pub(super) struct Setup {
    /// The configured environment; a shim may have changed it for the worker.
    pub(super) env: Vec<(OsString, OsString)>,
    /// What workers may load from the project, as JSON; `None` if there is no record.
    pub(super) record: Option<Arc<str>>,
    pub(super) guard: Option<ProcessGuard>,
}

/// How the workers of a pool are started.
#[derive(Debug)]
pub(super) struct Interpreter {
    named: Arc<Start>,
    setup: Arc<Setup>,
    /// The real interpreter, when it is known.
    real: Mutex<Option<Arc<Start>>>,
}

impl Interpreter {
    pub(super) fn new(program: PathBuf, folder: PathBuf, setup: Setup) -> Self {
        let args = ["-I", "-X", "utf8", "-c", PROGRAM].map(OsString::from).into();
        let program = folder.join(program);
        let named = Arc::new(Start { program, args, cwd: folder, env: setup.env.clone() });
        let resolved = resolved()
            .iter()
            .find(|resolved| is_same_start(&resolved.named, &named))
            .map(|resolved| Arc::clone(&resolved.real));
        Self { named, setup: Arc::new(setup), real: Mutex::new(resolved) }
    }

    /// The program that its workers run: the real interpreter once it is known.
    pub(super) fn program(&self) -> PathBuf {
        let real = self.real.lock().unwrap_or_else(PoisonError::into_inner);
        real.as_ref().unwrap_or(&self.named).program.clone()
    }

    /// Starts a worker.
    pub(super) fn start(&self, limits: &CallLimits<'_>) -> Result<Connection, CallError> {
        let known = self.real.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(real) = known {
            match Connection::start(&real, &self.setup, limits.deadline) {
                Ok(connection) => return Ok(connection),
                // The interpreter may have been removed; the shim may find another one.
                Err(_) => self.learn(None),
            }
        }
        let broke = |detail: String| CallError { step: CallStep::Starting, cause: Cause::Broken(detail) };
        let mut connection = Connection::start(&self.named, &self.setup, limits.deadline).map_err(broke)?;
        let hello = connection.hello(limits).map_err(|error| match error.cause {
            Cause::Exited(how) => {
                broke(self.refusal(&format!("it ended before it was ready, {how}"), &mut connection))
            }
            Cause::Broken(detail) => broke(self.refusal(&detail, &mut connection)),
            cause => CallError { step: CallStep::Starting, cause },
        })?;
        self.learn(Some(self.behind(hello)));
        Ok(connection)
    }

    /// How to start the real interpreter. The shim may have changed the environment.
    fn behind(&self, hello: Hello) -> Start {
        let named = &*self.named;
        let program = PathBuf::from(hello.executable);
        if !program.is_absolute() || program == named.program {
            return named.clone();
        }
        let env = hello.environ.into_iter().map(|(name, value)| {
            // A value that is not UTF-8 arrives altered. If only that differs, the original is kept.
            let is_it = |given: &&(OsString, OsString)| {
                given.0 == name.as_str() && given.1.to_string_lossy() == value
            };
            let given = named.env.iter().find(is_it).cloned();
            given.unwrap_or_else(|| (name.into(), value.into()))
        });
        Start { program, env: env.collect(), ..named.clone() }
    }

    /// Why the configured program cannot run a worker, with the last line that it printed.
    fn refusal(&self, why: &str, connection: &mut Connection) -> String {
        let (program, printed) = (self.named.program.display(), connection.take_printed());
        let printed = String::from_utf8_lossy(&printed);
        let last = printed.lines().rev().map(str::trim).find(|line| !line.is_empty());
        let words = last.map_or(String::new(), |line| format!("; it said: {line:.300}"));
        format!("{program} cannot run Python hooks, which need Python 3.9 or later: {why}{words}")
    }

    /// Remembers the real interpreter behind the configured program.
    fn learn(&self, real: Option<Start>) {
        let real = real.map(Arc::new);
        *self.real.lock().unwrap_or_else(PoisonError::into_inner) = real.clone();
        let mut resolved = resolved();
        resolved.retain(|resolved| !is_same_start(&resolved.named, &self.named));
        if let Some(real) = real.filter(|real| real.program != self.named.program) {
            let excess = (resolved.len() + 1).saturating_sub(MAX_REMEMBERED);
            resolved.drain(..excess);
            resolved.push(ResolvedShim { named: Arc::clone(&self.named), real, at: Instant::now() });
        }
    }
}

/// The remembered shims that are not too old.
fn resolved() -> std::sync::MutexGuard<'static, Vec<ResolvedShim>> {
    let mut resolved = RESOLVED.lock().unwrap_or_else(PoisonError::into_inner);
    resolved.retain(|resolved| resolved.at.elapsed() < REMEMBERED);
    resolved
}

fn is_same_start(one: &Start, other: &Start) -> bool {
    one.program == other.program && one.cwd == other.cwd && one.env == other.env
}
