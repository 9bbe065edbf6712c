//! The interpreter of a pool: the one that was named, and the one behind it.
//!
//! What people call python is often a shim that looks for the real interpreter, and takes six times its
//! start. So a worker is asked once what it runs in, and the next ones are started without the shim.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::super::process::Start;
use super::link::Link;
use super::talk::{Lost, Talk, When, Why};

/// The program that every worker runs.
const PROGRAM: &str = include_str!("worker.py");
/// How long the next engine believes what one found behind a shim. Not for ever: people switch versions.
const REMEMBERED: Duration = Duration::from_secs(10);
/// How many of them are remembered.
const MAX_REMEMBERED: usize = 16;

/// A program, and what was found behind it. For all engines of a process: a run of many short ones, like a
/// folder of cases, would else ask the shim for each.
static FOUND: Mutex<Vec<Found>> = Mutex::new(Vec::new());

#[derive(Debug, Clone)]
struct Found {
    /// What was started: a shim decides by folder and environment.
    named: Arc<Start>,
    real: Arc<Start>,
    at: Instant,
}

/// What a worker says of itself.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Hello {
    pub(super) python: String,
    pub(super) executable: String,
    pub(super) environ: BTreeMap<String, String>,
}

/// How the workers of a pool are started.
#[derive(Debug)]
pub(super) struct Interpreter {
    named: Arc<Start>,
    env: Arc<Vec<(OsString, OsString)>>,
    /// The interpreter behind the one that was named, when it is known.
    real: Mutex<Option<Arc<Start>>>,
}

impl Interpreter {
    pub(super) fn new(program: PathBuf, folder: PathBuf, env: Vec<(OsString, OsString)>) -> Self {
        let args = ["-I", "-X", "utf8", "-c", PROGRAM].map(OsString::from).into();
        let program = folder.join(program);
        let named = Arc::new(Start { program, args, cwd: folder, env: env.clone() });
        let found =
            found().iter().find(|found| is_same(&found.named, &named)).map(|found| Arc::clone(&found.real));
        Self { named, env: Arc::new(env), real: Mutex::new(found) }
    }

    /// Starts a worker that can be asked.
    pub(super) fn start(&self, talk: &Talk<'_>) -> Result<Link, Lost> {
        let known = self.real.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(real) = known {
            match Link::start(&real, &self.env, talk.deadline) {
                Ok(link) => return Ok(link),
                // It was there a while ago; what was named may have another one by now.
                Err(_) => self.learn(None),
            }
        }
        let broke = |detail: String| Lost { when: When::Starting, why: Why::Broke(detail) };
        let mut link = Link::start(&self.named, &self.env, talk.deadline).map_err(broke)?;
        let hello = link.hello(talk).map_err(|lost| match lost.why {
            Why::Ended(how) => {
                broke(self.refusal(&format!("it ended before it was ready, {how}"), &mut link))
            }
            Why::Broke(detail) => broke(self.refusal(&detail, &mut link)),
            why => Lost { when: When::Starting, why },
        })?;
        self.learn(Some(self.behind(hello)));
        Ok(link)
    }

    /// How to start what said this of itself. A wrapper may have changed the environment, for all of them.
    fn behind(&self, hello: Hello) -> Start {
        let named = &*self.named;
        let program = PathBuf::from(hello.executable);
        if !program.is_absolute() || program == named.program {
            return named.clone();
        }
        let env = hello.environ.into_iter().map(|(name, value)| {
            // What is no text came as something like it; where it was not changed, it is taken as it was.
            let is_it = |given: &&(OsString, OsString)| {
                given.0 == name.as_str() && given.1.to_string_lossy() == value
            };
            let given = named.env.iter().find(is_it).cloned();
            given.unwrap_or_else(|| (name.into(), value.into()))
        });
        Start { program, env: env.collect(), ..named.clone() }
    }

    /// Why the program that was named is none that can run a worker, in its own words if it has any.
    fn refusal(&self, why: &str, link: &mut Link) -> String {
        let (program, said) = (self.named.program.display(), link.take_said());
        let said = String::from_utf8_lossy(&said);
        let last = said.lines().rev().map(str::trim).find(|line| !line.is_empty());
        let words = last.map_or(String::new(), |line| format!("; it said: {line:.300}"));
        format!("{program} cannot run python hooks, for which it must be python 3.9 or later: {why}{words}")
    }

    /// Remembers what is behind the program that was named.
    fn learn(&self, real: Option<Start>) {
        let real = real.map(Arc::new);
        *self.real.lock().unwrap_or_else(PoisonError::into_inner) = real.clone();
        let mut found = found();
        found.retain(|found| !is_same(&found.named, &self.named));
        if let Some(real) = real.filter(|real| real.program != self.named.program) {
            let excess = (found.len() + 1).saturating_sub(MAX_REMEMBERED);
            found.drain(..excess);
            found.push(Found { named: Arc::clone(&self.named), real, at: Instant::now() });
        }
    }
}

/// What is remembered and not too old.
fn found() -> std::sync::MutexGuard<'static, Vec<Found>> {
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    found.retain(|found| found.at.elapsed() < REMEMBERED);
    found
}

fn is_same(one: &Start, other: &Start) -> bool {
    one.program == other.program && one.cwd == other.cwd && one.env == other.env
}
