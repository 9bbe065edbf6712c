//! Installs agents from their registry packages, into a cache outside the repository.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};

use super::processes;
use crate::agent::Agent;
use crate::environment;

/// How long an install may take.
const LIMIT: Duration = Duration::from_secs(300);

/// An agent that can be started.
#[derive(Clone, Debug)]
pub(crate) struct Installed {
    /// Its program.
    pub(crate) program: PathBuf,
    /// `PATH` for it: programs of its own packages first (a newer `node`).
    pub(crate) path: OsString,
}

/// Why an agent could not be installed.
#[derive(Debug)]
pub(crate) enum Missing {
    /// The registry cannot be reached: nothing to do with the agent.
    Registry(String),
    Other(anyhow::Error),
}

/// Installs an agent, unless it is already installed.
pub(crate) fn install(agent: &dyn Agent, cache: &Path) -> Result<Installed, Missing> {
    let dir = cache.join(format!("{}-{}", agent.name(), agent.version()));
    let bin = dir.join("node_modules/.bin");
    let program = bin.join(agent.program());
    if !program.exists() {
        download(agent, &dir)?;
    }
    if !program.exists() {
        let error = anyhow::anyhow!("{} has no program `{}`", agent.packages().join(" "), agent.program());
        return Err(Missing::Other(error));
    }
    let mut path = bin.into_os_string();
    path.push(":");
    path.push(environment::path());
    Ok(Installed { program, path })
}

fn download(agent: &dyn Agent, dir: &Path) -> Result<(), Missing> {
    eprintln!("installing {}", agent.packages().join(" "));
    let output = npm(agent, dir).map_err(Missing::Other)?;
    if output.is_empty() {
        return Ok(());
    }
    let network = ["ENOTFOUND", "ECONNREFUSED", "ETIMEDOUT", "EAI_AGAIN", "ECONNRESET", "took longer"];
    if network.iter().any(|word| output.contains(word)) {
        return Err(Missing::Registry(output));
    }
    Err(Missing::Other(anyhow::anyhow!("npm install: {output}")))
}

/// Runs npm; returns its error output, empty on success.
fn npm(agent: &dyn Agent, dir: &Path) -> anyhow::Result<String> {
    fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    // Without a package.json here, npm would search the parent folders for one.
    fs::write(dir.join("package.json"), "{\"private\": true}\n")?;
    let log = dir.join("install.log");
    let file = fs::File::create(&log)?;
    let mut command = Command::new("npm");
    command
        .args(["install", "--no-audit", "--no-fund", "--no-save", "--loglevel=error", "--fetch-retries=1"])
        .args(agent.packages())
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file);
    let ended = processes::run(&mut command, LIMIT, || false).context("cannot start npm")?;
    match ended {
        processes::Ended::Exit(0) => Ok(String::new()),
        processes::Ended::Late => Ok(format!("took longer than {} s", LIMIT.as_secs())),
        _ => {
            let text = fs::read_to_string(&log)?;
            if text.trim().is_empty() {
                bail!("npm ended with {ended:?} and said nothing");
            }
            Ok(text)
        }
    }
}
