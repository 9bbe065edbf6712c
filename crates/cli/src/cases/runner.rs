//! Runs cases, several at a time, in any order.

use std::os::fd::AsFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crosier::config::Node;
use crosier::{Engine, Outcome, SwitchError};

use super::compare::{self, Difference};
use super::model::{Case, Configuration};
use crate::exit::{Exit, Failed};
use crate::lock::lock;
use crate::setup;
use crate::signals::Signals;

/// The result of one case. Passed when nothing differs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Verdict {
    pub(crate) differences: Vec<Difference>,
    pub(crate) took: Duration,
}

impl Verdict {
    pub(crate) fn is_passed(&self) -> bool {
        self.differences.is_empty()
    }
}

/// Hooks mostly wait for processes, so run a few more at a time than there are cores.
pub(crate) fn default_jobs() -> usize {
    2 * std::thread::available_parallelism().map_or(1, usize::from)
}

/// Runs all cases; the verdicts are in the order of the cases. `tell` is called for each case that is done.
///
/// # Errors
/// The signal that ended the run; hooks that were running were killed.
pub(crate) fn run_all(
    cases: &[Case],
    jobs: usize,
    tell: impl Fn(usize, &Case) + Sync,
) -> Result<Vec<Verdict>, Failed> {
    let signals = Signals::watch_and_wake()?;
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let verdicts: Vec<Mutex<Verdict>> = cases.iter().map(|_| Mutex::default()).collect();
    let running =
        Running { stopped: AtomicBool::new(false), engines: (0..jobs).map(|_| Mutex::default()).collect() };
    let work = |place: usize| {
        while !running.stopped.load(Ordering::SeqCst) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let (Some(case), Some(verdict)) = (cases.get(at), verdicts.get(at)) else { break };
            *lock(verdict) = run(case, &running, place);
            tell(done.fetch_add(1, Ordering::Relaxed) + 1, case);
        }
    };
    let (over, is_over) = std::io::pipe()
        .map_err(|error| Failed::new(Exit::Failed, format!("cases cannot be run: {error}")))?;
    signals.during("running hooks were killed", || {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // Woken by a signal, or when the last worker drops its end of the pipe.
                if !signals.wait_for(over.as_fd()).unwrap_or(true) {
                    running.stop();
                }
            });
            let workers = (0..jobs.min(cases.len())).map(|place| scope.spawn(move || work(place)));
            let workers: Vec<_> = workers.collect();
            let panics: Vec<_> = workers.into_iter().filter_map(|worker| worker.join().err()).collect();
            drop(is_over);
            if let Some(panic) = panics.into_iter().next() {
                std::panic::resume_unwind(panic);
            }
        });
    })?;
    Ok(verdicts.into_iter().map(|verdict| verdict.into_inner().unwrap_or_default()).collect())
}

/// The engines that run at the moment, so that a signal can stop them.
#[derive(Debug)]
struct Running {
    stopped: AtomicBool,
    /// One slot per worker.
    engines: Vec<Mutex<Option<Engine>>>,
}

impl Running {
    fn stop(&self) {
        // Set this first: an engine that is stored later sees it.
        self.stopped.store(true, Ordering::SeqCst);
        for engine in self.engines.iter().filter_map(|place| lock(place).clone()) {
            engine.shut_down();
        }
    }

    /// Runs `work` while a signal can stop the engine.
    fn with<T>(&self, place: usize, engine: &Engine, work: impl FnOnce() -> T) -> T {
        let set = |engine: Option<Engine>| {
            if let Some(place) = self.engines.get(place) {
                *lock(place) = engine;
            }
        };
        set(Some(engine.clone()));
        if self.stopped.load(Ordering::SeqCst) {
            engine.shut_down();
        }
        let done = work();
        set(None);
        done
    }
}

fn run(case: &Case, running: &Running, place: usize) -> Verdict {
    let started = Instant::now();
    let result = fire(case, |engine, fire| running.with(place, engine, fire));
    Verdict { differences: compare::differences(&case.expect, &result), took: started.elapsed() }
}

/// Fires the case's event at the case's hooks. `Err` says why there is no outcome.
fn fire(case: &Case, with: impl FnOnce(&Engine, &dyn Fn() -> Outcome) -> Outcome) -> Result<Outcome, String> {
    let engine = engine(case)?;
    for name in &case.disable {
        match engine.disable(name) {
            // A system hook cannot be switched off; a case may expect that.
            Ok(()) | Err(SwitchError::System { .. }) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    let input = case.input.as_ref().map_or_else(|| "{}".to_owned(), Node::to_json);
    let event = engine.event(&case.event, input.as_bytes()).map_err(|error| error.to_string())?;
    let event = match &case.agent {
        Some(agent) => event.in_agent(agent),
        None => event,
    };
    Ok(with(&engine, &|| engine.fire_blocking(&event)))
}

fn engine(case: &Case) -> Result<Engine, String> {
    let loader = setup::loader();
    let loader = match &case.config {
        Configuration::Part(node) => loader.part(&case.source, node.clone(), &case.folder),
        Configuration::Files(files) => {
            files.iter().fold(loader, |loader, file| loader.file(case.folder.join(file)))
        }
    };
    let config = loader.load().map_err(|problems| problems.to_string())?;
    setup::builder(config).build().map_err(|error| error.to_string())
}
