//! Runs cases, several at a time, in an order that does not matter.

use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crosier::config::Loader;
use crosier::config::tree::Value as Tree;
use crosier::{Catalog, Engine, Outcome};

use super::compare::{self, Difference};
use super::model::Case;
use crate::setup;

/// What came of one case. Passed when nothing differs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Verdict {
    pub(crate) differences: Vec<Difference>,
    pub(crate) took: Duration,
}

/// Runs all cases; the verdicts are in the order of the cases.
pub(crate) fn run_all(cases: &[Case]) -> Vec<Verdict> {
    let next = AtomicUsize::new(0);
    let verdicts: Vec<Mutex<Verdict>> = cases.iter().map(|_| Mutex::default()).collect();
    // Hooks mostly wait for processes: a few more at a time than there are cores.
    let width = 2 * std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..width.min(cases.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let (Some(case), Some(place)) = (cases.get(at), verdicts.get(at)) else { break };
                    *place.lock().unwrap_or_else(PoisonError::into_inner) = run(case);
                }
            });
        }
    });
    verdicts.into_iter().map(|verdict| verdict.into_inner().unwrap_or_default()).collect()
}

fn run(case: &Case) -> Verdict {
    let started = Instant::now();
    let result = outcome(case);
    let differences = match case.expect.get("error") {
        Some(expected) => compare::error(expected, &case.expect, result.as_ref().err().map(String::as_str)),
        None => match &result {
            Ok(outcome) => compare::outcome(&case.expect, outcome),
            Err(error) => vec![Difference::new("error", "none", error)],
        },
    };
    Verdict { differences, took: started.elapsed() }
}

/// Fires the case's event at the case's hooks.
fn outcome(case: &Case) -> Result<Outcome, String> {
    let engine = engine(case)?;
    for name in &case.disable {
        match engine.disable(name) {
            // A system hook stays on, whoever wants it off; the case says what follows.
            Ok(()) | Err(crosier::SwitchError::System { .. }) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    let input = case.input.as_ref().map_or_else(|| "{}".to_owned(), crosier::config::tree::Node::to_json);
    let event = engine.event(&case.event, input.as_bytes()).map_err(|error| error.to_string())?;
    let event = match &case.agent {
        Some(agent) => event.in_agent(agent),
        None => event,
    };
    Ok(engine.fire_blocking(event))
}

fn engine(case: &Case) -> Result<Engine, String> {
    let loader = Loader::new(Catalog::default());
    let loader = match &case.config {
        None => loader,
        Some(node) => match &node.value {
            Tree::Text(path) => loader.file(case.folder.join(path)),
            _ => loader.part(&case.source, node.clone(), &case.folder),
        },
    };
    let config = loader.load().map_err(|problems| problems.to_string())?;
    setup::builder(config).build().map_err(|error| error.to_string())
}

/// A failed case, for people.
pub(crate) fn describe(case: &Case, verdict: &Verdict) -> String {
    let (file, line) = case.place();
    let mut text = format!("FAILED {file}:{line}: {}\n", case.name);
    for difference in &verdict.differences {
        let indent = |text: &str| text.replace('\n', "\n             ");
        let _ = writeln!(
            text,
            "  {}\n    expected {}\n    got      {}",
            difference.at,
            indent(&difference.expected),
            indent(&difference.got)
        );
    }
    text
}
