//! Runs Crosier inside the real agents: installs them, runs them headless against a scripted model on loopback, and
//! checks what the agent did and what the model was told. README.md says how to use it.

mod agent;
mod args;
mod check;
mod environment;
mod mcp;
mod model;
mod record;
mod report;
mod run;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::Context as _;
use clap::Parser as _;

use agent::{AGENTS, Agent};
use args::Args;
use report::Report;
use run::{Case, Hook, Installed, Missing};

/// The agents that `--quick` runs.
const QUICK: [&str; 3] = ["claude", "codex", "gemini"];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        // Agents start these: their hook while recording, and their MCP server.
        ["record", dir, agent, event] => record::record(Path::new(dir), agent, event).map(|()| true),
        ["mcp"] => mcp::serve().map(|()| true),
        _ => whole(&Args::parse()),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs everything that the command line asks for; returns whether all of it passed.
fn whole(args: &Args) -> anyhow::Result<bool> {
    let agents = chosen(args)?;
    let cache = args.cache.clone().or_else(environment::cache);
    let cache = cache.context("neither XDG_CACHE_HOME nor HOME is set: name a folder with --cache")?;
    let hook = hook(args)?;
    let mut report = Report::default();
    for agent in agents {
        match run::install(agent, &cache) {
            Ok(installed) => scenarios(agent, &installed, args, &hook, &mut report),
            Err(Missing::Registry(why)) if args.quick => {
                report.skip(agent.name(), &format!("the package registry cannot be reached: {why}"));
            }
            Err(Missing::Registry(why)) => anyhow::bail!("the package registry cannot be reached: {why}"),
            Err(Missing::Other(error)) => {
                return Err(error.context(format!("cannot install {}", agent.name())));
            }
        }
    }
    Ok(report.finish())
}

fn chosen(args: &Args) -> anyhow::Result<Vec<&'static dyn Agent>> {
    let names: Vec<&str> = match args.agents.as_slice() {
        [] => QUICK.to_vec(),
        [all] if all == "all" => return Ok(AGENTS.to_vec()),
        names => names.iter().map(String::as_str).collect(),
    };
    names.into_iter().map(agent::named).collect()
}

fn hook(args: &Args) -> anyhow::Result<Hook> {
    if let Some(dir) = &args.record {
        std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
        return Ok(Hook::Recorder { dir: dir.canonicalize()? });
    }
    let program = match &args.crosier {
        Some(program) => {
            program.canonicalize().with_context(|| format!("no program at {}", program.display()))?
        }
        None => build()?,
    };
    Ok(Hook::Crosier { program, named: true, deadline: None })
}

/// Builds the `crosier` of this workspace, which cargo puts beside this program.
fn build() -> anyhow::Result<PathBuf> {
    let itself = std::env::current_exe()?;
    let program = itself.with_file_name("crosier");
    let mut cargo = Command::new(environment::cargo());
    cargo.args(["build", "--quiet", "-p", "crosier-cli"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    if itself.parent().is_some_and(|folder| folder.ends_with("release")) {
        cargo.arg("--release");
    }
    let status = cargo.status().context("cannot start cargo to build crosier; name one with --crosier")?;
    anyhow::ensure!(status.success(), "crosier does not build");
    Ok(program)
}

fn scenarios(
    agent: &'static dyn Agent,
    installed: &Installed,
    args: &Args,
    hook: &Hook,
    report: &mut Report,
) {
    for scenario in agent.scenarios() {
        let wanted = args.only.as_ref().is_none_or(|only| scenario.name.contains(only.as_str()));
        if !wanted || (args.quick && !scenario.quick) {
            continue;
        }
        let mut hook = hook.clone();
        if let Hook::Crosier { named, deadline, .. } = &mut hook {
            *named = scenario.named;
            *deadline = scenario.deadline;
        }
        eprintln!("{}: {}", agent.name(), scenario.name);
        let keep = args.keep.as_deref();
        let case = Case { agent, scenario: &scenario, installed, hook, keep };
        let (verdicts, seconds) = run::start(case).unwrap_or_else(|error| {
            let verdicts = scenario.all_failed(&format!("the run did not begin: {error:#}"));
            (verdicts, 0.0)
        });
        if args.record.is_none() {
            report.add(agent.name(), scenario.name, verdicts, seconds);
        }
    }
}
