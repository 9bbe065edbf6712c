//! What is measured. Each suite has its own setup and adds rows and curves.

mod agent;
mod builtins;
mod callback;
mod cli;
mod command;
mod concurrent;
mod counts;
mod deadline;
mod growth;
mod inside;
mod journey;
mod matcher;
mod memory;
mod parallel;
mod payload;
mod peers;
mod python;
mod registration;
mod serve;
mod soak;
mod trust;
mod wire;

use anyhow::{Result, bail};

use crate::lab::{Findings, Lab};

type Run = fn(&Lab, &mut Findings) -> Result<()>;

/// A suite: its name, its goals, and its function.
pub(crate) struct Suite {
    pub(crate) name: &'static str,
    pub(crate) goals: &'static [&'static str],
    pub(crate) run: Run,
}

pub(crate) const SUITES: &[Suite] = &[
    Suite { name: "command", goals: &["G1", "G3"], run: command::run },
    Suite { name: "command-1gib", goals: &["G2"], run: command::run_with_a_large_parent },
    Suite { name: "python", goals: &["G4"], run: python::run },
    Suite { name: "callback", goals: &["G5"], run: callback::run },
    Suite { name: "matcher", goals: &["G6"], run: matcher::run },
    Suite { name: "wire", goals: &["G7"], run: wire::run },
    Suite { name: "cli", goals: &["G8"], run: cli::run },
    Suite { name: "deadline", goals: &["G9"], run: deadline::run },
    Suite { name: "parallel", goals: &["G10"], run: parallel::run },
    Suite { name: "builtins", goals: &["G11"], run: builtins::run },
    Suite { name: "serve", goals: &["G12"], run: serve::run },
    Suite { name: "inside", goals: &["G12"], run: inside::run },
    Suite { name: "trust", goals: &["G13"], run: trust::run },
    Suite { name: "agent", goals: &[], run: agent::run },
    Suite { name: "journey", goals: &[], run: journey::run },
    Suite { name: "growth", goals: &[], run: growth::run },
    Suite { name: "payload", goals: &[], run: payload::run },
    Suite { name: "concurrent", goals: &[], run: concurrent::run },
    Suite { name: "registration", goals: &[], run: registration::run },
    Suite { name: "memory", goals: &[], run: memory::run },
    Suite { name: "counts", goals: &[], run: counts::run },
    Suite { name: "peers", goals: &[], run: peers::run },
    Suite { name: "soak", goals: &[], run: soak::run },
];

impl Suite {
    pub(crate) fn is_wanted(&self, only: &[String]) -> bool {
        let named = |word: &String| self.name == word || self.goals.contains(&word.as_str());
        only.is_empty() || only.iter().any(named)
    }
}

/// Runs the part of a suite that needs a separate process.
pub(crate) fn part(words: &[String]) -> Result<()> {
    match words {
        [name, hooks] if name == "memory" => memory::part(hooks.parse()?),
        [name] if name == "spawn" => command::part(),
        [name, callbacks, way, count] if name == "fires" => {
            counts::fires(callbacks.parse()?, way, count.parse()?)
        }
        [name, work, hooks] if name == "ours" => peers::ours(work, hooks.parse()?),
        [name, how] if name == "counts" => counts::compare(how == "accept"),
        _ => bail!("no such part: {words:?}"),
    }
}
