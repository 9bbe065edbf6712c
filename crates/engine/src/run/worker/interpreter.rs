//! The interpreter of a pool: the one that was named, and the one behind it.
//!
//! What people call python is often a shim that looks for the real interpreter, and takes six times its
//! start. So a worker is asked once what it runs in, and the next ones are started without the shim.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

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

/// How the workers of a pool are started.
#[derive(Debug)]
pub(super) struct Interpreter {
    named: Arc<Start>,
    /// The interpreter behind the one that was named, when it is known.
    real: Mutex<Option<Arc<Start>>>,
}

impl Interpreter {
    pub(super) fn new(program: PathBuf, folder: PathBuf, env: Vec<(OsString, OsString)>) -> Self {
        let args = ["-I", "-X", "utf8", "-c", PROGRAM].map(OsString::from).into();
        let named = Arc::new(Start { program, args, cwd: folder, env });
        let found =
            found().iter().find(|found| is_same(&found.named, &named)).map(|found| Arc::clone(&found.real));
        Self { named, real: Mutex::new(found) }
    }

    /// Starts a worker that can be asked.
    pub(super) fn start(&self, talk: &Talk<'_>) -> Result<Link, Lost> {
        let known = self.real.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(real) = known {
            match Link::start(&real, talk.deadline) {
                Ok(link) => return Ok(link),
                // It was there a while ago; what was named may have another one by now.
                Err(_) => self.learn(None),
            }
        }
        let broke = |detail: String| Lost { when: When::Starting, why: Why::Broke(detail) };
        let mut link = Link::start(&self.named, talk.deadline).map_err(broke)?;
        let info = link.hello(talk).map_err(|lost| match lost.why {
            Why::Ended(how) => broke(self.refusal(&format!("it ended before it was ready, {how}"), &link)),
            Why::Broke(detail) => broke(self.refusal(&detail, &link)),
            why => Lost { when: When::Starting, why },
        })?;
        let real = PathBuf::from(info.executable);
        let real = if real.is_absolute() { real } else { self.named.program.clone() };
        self.learn(Some(Start { program: real, ..Start::clone(&self.named) }));
        Ok(link)
    }

    /// Why the program that was named is none that can run a worker, in its own words if it has any.
    fn refusal(&self, why: &str, link: &Link) -> String {
        let (program, words) = (self.named.program.display(), link.last_words());
        let words = if words.is_empty() { words } else { format!("; it said: {words}") };
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
