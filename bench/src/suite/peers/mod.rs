//! Other hook systems, which do the same work in the same run.
//!
//! Each side is a separate process that prints its tenth percentile; the processes alternate. Every row says what is
//! equal and what is not. `bench/peers/install.sh` installs the peers; those that are missing are left out.

mod one_shot;
mod ours;

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::lab::{Findings, Lab};
use crate::measure::{CaseId, Group};
use crate::row::Row;

pub(super) use ours::ours;

const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/peer.py");
const NODE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/peer.mjs");

/// One peer, and what it is compared on.
struct Peer {
    id: &'static str,
    name: &'static str,
    /// Its name in `peer.py` or `peer.mjs`.
    case: &'static str,
    language: Language,
    /// Crosier's side of the work, in `ours.rs`.
    ours: &'static str,
    hooks: &'static [usize],
    work: &'static str,
    note: &'static str,
    /// Whether there is a goal to be faster. For a peer that does less work, usually only the ratio is printed.
    is_promised: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Python,
    Node,
}

const PEERS: &[Peer] = &[
    Peer {
        id: "peer.pluggy",
        name: "pluggy",
        case: "pluggy",
        language: Language::Python,
        ours: "sync",
        hooks: &[1, 10],
        work: "guards on an event that is ready, sync",
        note: "equal: the event is ready, each guard looks for a text. Crosier also matches, catches panics, \
               reports and folds; pluggy does not. Python against Rust",
        is_promised: true,
    },
    Peer {
        id: "peer.tapable",
        name: "tapable AsyncSeriesBailHook, with what a host of guards needs",
        case: "tapable-host",
        language: Language::Node,
        ours: "async",
        hooks: &[1, 10],
        work: "guards on an event that is ready, async",
        note: "equal: the event is ready, each guard is an async function that looks for a text. A few lines do what \
               tapable leaves to its host: they look up the hooks of an event and a tool, catch exceptions, keep a \
               report for each guard, and combine the answers into one outcome",
        is_promised: true,
    },
    Peer {
        id: "peer.tapable.bare",
        name: "tapable AsyncSeriesBailHook",
        case: "tapable-async",
        language: Language::Node,
        ours: "async",
        hooks: &[1, 10],
        work: "guards on an event that is ready, async",
        note: "the event is ready, each guard is an async function that looks for a text. NOT equal otherwise: \
               Crosier also matches, catches panics, reports and folds; tapable does not. The goal applies all the \
               same",
        is_promised: true,
    },
    Peer {
        id: "peer.tapable.sync",
        name: "tapable SyncBailHook, with what a host of guards needs",
        case: "tapable-sync-host",
        language: Language::Node,
        ours: "sync",
        hooks: &[1, 10],
        work: "guards on an event that is ready, sync",
        note: "NOT equal: the same few lines around it as above, but in a single-threaded program, where nothing is \
               shared and the compiler inlines everything. An engine of Crosier can be fired and changed from any \
               thread at any time, so its pointers are reference-counted",
        is_promised: false,
    },
    Peer {
        id: "peer.tapable.sync.bare",
        name: "tapable SyncBailHook",
        case: "tapable-sync",
        language: Language::Node,
        ours: "sync",
        hooks: &[1, 10],
        work: "guards on an event that is ready, sync",
        note: "NOT equal: tapable compiles a direct call of the functions and does nothing else, like the raw loop of \
               G5. Crosier matches, catches panics, reports and folds",
        is_promised: false,
    },
    Peer {
        id: "peer.sdk",
        name: "claude-agent-sdk",
        case: "sdk",
        language: Language::Python,
        ours: "answer",
        hooks: &[1, 10],
        work: "async guards, from a ready event to the answer as JSON text",
        note: "equal: async guards, the answer is written as JSON. The SDK's dispatch is timed with a \
               transport that discards its output; ten hooks are ten requests there, and one fire here",
        is_promised: true,
    },
    Peer {
        id: "peer.massgen",
        name: "MassGen GeneralHookManager",
        case: "massgen",
        language: Language::Python,
        ours: "whole",
        hooks: &[1, 10],
        work: "async guards that wait once: JSON text in, matching, a timer each, timing, one result",
        note: "equal: arguments come as JSON text and are parsed, matchers `Bash|Write`, every hook waits once \
               under its own timer and is timed. MassGen's logging is off, and the rest of its package is not loaded",
        is_promised: true,
    },
    Peer {
        id: "peer.gemini",
        name: "Gemini CLI HookRunner, runtime hooks",
        case: "gemini-runtime",
        language: Language::Node,
        ours: "waits",
        hooks: &[1, 10],
        work: "async guards that wait once under a timer, on an event that is ready",
        note: "equal: each hook waits once under its own timer and is timed. The runner alone is timed: no \
               planning, no aggregation there; Crosier plans and folds",
        is_promised: true,
    },
    Peer {
        id: "peer.gemini.command",
        name: "Gemini CLI HookRunner, command hook",
        case: "gemini-command",
        language: Language::Node,
        ours: "command",
        hooks: &[1],
        work: "one command hook `cat >/dev/null; echo {}`, 1 KB",
        note: "equal: the same line, event and reply. Gemini runs it with `bash -c`, Crosier with `sh -c`",
        is_promised: true,
    },
    Peer {
        id: "peer.gemini.deadline",
        name: "Gemini CLI HookRunner, command hook",
        case: "gemini-deadline",
        language: Language::Node,
        ours: "deadline",
        hooks: &[1],
        work: "back after the deadline of 200 ms, shell + 3 sleeps of 3 s on the pipe",
        note: "equal: the same line and deadline. One observation a round: the effect is seconds, not noise",
        is_promised: true,
    },
];

pub(super) fn run(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let Some(folder) = &lab.peers else {
        findings.skip("peers", "no folder of peers: run bench/peers/install.sh and name it with --peers");
        return Ok(());
    };
    for peer in PEERS {
        for &hooks in peer.hooks {
            if let Err(error) = compare(lab, folder, peer, hooks, findings) {
                findings.skip(&format!("{}.{hooks}", peer.id), format!("{error:#}"));
            }
        }
    }
    one_shot::run(lab, folder, findings)
}

fn compare(lab: &Lab, folder: &Path, peer: &Peer, hooks: usize, findings: &mut Findings) -> Result<()> {
    let batches = match peer.case {
        "gemini-command" => lab.budget.pick(150, 30),
        _ => lab.budget.pick(400, 60),
    };
    let theirs = |hooks: usize| -> Result<(f64, String)> {
        let mut command = match peer.language {
            Language::Python => {
                let mut command = Command::new(folder.join("python/bin/python"));
                command.arg(PYTHON);
                command
            }
            Language::Node => {
                let mut command = Command::new("node");
                command.arg(NODE).arg(folder.join("node"));
                command
            }
        };
        read(command.args([peer.case, &hooks.to_string(), &batches.to_string()]))
    };
    let (_, version) = theirs(hooks).context("not installed, or it does not run")?;
    let exe = std::env::current_exe()?;
    let mut group = Group::default();
    let ours: CaseId = group.case("Crosier", || {
        let mut command = Command::new(&exe);
        Ok(read(command.args(["--part", "ours", peer.ours, &hooks.to_string()]))?.0)
    });
    let other = group.case(format!("{} {version}", peer.name), || Ok(theirs(hooks)?.0));
    let rounds = if peer.case == "gemini-deadline" { lab.budget.pick(4, 2) } else { lab.budget.pick(8, 4) };
    let samples = group.run(1, rounds)?;
    let plural = if hooks == 1 { "hook" } else { "hooks" };
    let work = format!("{}, {hooks} {plural}", peer.work);
    let row = Row::under(&format!("{}.{hooks}", peer.id), work, &samples, ours, other).note(peer.note);
    findings.rows.push(if peer.is_promised { row.at_least(1.0) } else { row });
    Ok(())
}

/// The nanoseconds and the version that a process prints as its last line.
fn read(command: &mut Command) -> Result<(f64, String)> {
    // A bash without a parent shell whose input is a socket, as with the pipes of node, takes itself for a remote shell
    // and reads the user's start-up file, which is not the work of the peer.
    let output = command.env("SHLVL", "1").output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = said.lines().last().unwrap_or_default();
    let answer: Option<Value> = serde_json::from_str(line).ok();
    let number = answer.as_ref().and_then(|answer| answer["ns"].as_f64());
    match (number, answer) {
        (Some(number), Some(answer)) => {
            Ok((number, answer["version"].as_str().unwrap_or_default().to_owned()))
        }
        _ => {
            let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
            bail!("{}", complaints.lines().last().unwrap_or("it printed nothing"))
        }
    }
}
