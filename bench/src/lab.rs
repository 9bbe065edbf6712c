//! What suites share: a scratch folder, the tools of this machine, events of a given size.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use crosier::payload::PreToolUse;
use crosier::{Builder, Engine, Event, Json, Outcome};
use tempfile::TempDir;

use crate::args::variable;
use crate::measure::Budget;
use crate::report::Curve;
use crate::row::Row;

/// The scratch folder and the tools that all suites use.
pub(crate) struct Lab {
    pub(crate) budget: Budget,
    folder: TempDir,
    pub(crate) path: String,
    /// The interpreter itself, not a shim in front of it: a shim would make Crosier look six times better.
    pub(crate) python: Option<PathBuf>,
    /// Where other hook systems are installed.
    pub(crate) peers: Option<PathBuf>,
    cli: OnceCell<PathBuf>,
}

/// The results of suites.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) rows: Vec<Row>,
    pub(crate) curves: Vec<Curve>,
    pub(crate) skipped: Vec<String>,
}

impl Findings {
    pub(crate) fn skip(&mut self, what: &str, why: impl std::fmt::Display) {
        self.skipped.push(format!("{what}: {why}"));
    }
}

impl Lab {
    pub(crate) fn new(budget: Budget, peers: Option<PathBuf>) -> Result<Self> {
        let path = variable("PATH").unwrap_or_else(|| "/usr/bin:/bin".to_owned());
        let real = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().ok();
        let real = real.filter(|output| output.status.success());
        let python = real.map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
        Ok(Self {
            budget,
            folder: tempfile::tempdir().context("no scratch folder")?,
            path,
            python: python.filter(|python| python.is_absolute()),
            peers,
            cli: OnceCell::new(),
        })
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file into the scratch folder.
    pub(crate) fn file(&self, name: &str, text: impl AsRef<[u8]>) -> Result<PathBuf> {
        let path = self.folder().join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {name}"))?;
        Ok(path)
    }

    /// Writes a program into the scratch folder.
    pub(crate) fn program(&self, name: &str, text: &str) -> Result<PathBuf> {
        use std::os::unix::fs::PermissionsExt;
        let path = self.file(name, text)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(path)
    }

    /// An engine whose hooks inherit only `PATH`, like the raw commands.
    pub(crate) fn engine(&self) -> Builder {
        Engine::builder()
            .folder(self.folder())
            .max_hooks_per_point(100_000)
            .environment([("PATH".into(), self.path.clone().into())])
    }

    /// The command line, built as for a release if needed: linked statically.
    pub(crate) fn cli(&self) -> Result<&Path> {
        if self.cli.get().is_none() {
            eprintln!("  building the command line as it is released");
            let _ = self.cli.set(self.install(&build_cli()?, "crosier")?);
        }
        Ok(self.cli.get().context("the command line is not there")?)
    }

    /// Copies a program, as `cargo install` does. A file that a linker has just written is in the page cache in single
    /// pages, which makes every start of the program a little slower; a copy is there in large pieces.
    pub(crate) fn install(&self, built: &Path, name: &str) -> Result<PathBuf> {
        let path = self.folder().join(name);
        fs::copy(built, &path).with_context(|| format!("cannot copy {}", built.display()))?;
        Ok(path)
    }
}

fn build_cli() -> Result<PathBuf> {
    let cargo = variable("CARGO").unwrap_or_else(|| "cargo".to_owned());
    let built = Command::new(cargo)
        .args(["--config", "dist/static.toml", "build", "--release", "--quiet", "-p", "crosier-cli"])
        .args(["--message-format", "json"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .context("cargo could not be started to build the command line")?;
    if !built.status.success() {
        bail!("the command line could not be built: {}", String::from_utf8_lossy(&built.stderr).trim());
    }
    let lines = String::from_utf8_lossy(&built.stdout).into_owned();
    let messages = lines.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut executables = messages.filter_map(|message| Some(message["executable"].as_str()?.to_owned()));
    Ok(executables.next().context("cargo built no executable")?.into())
}

/// A tool call whose JSON has about this many bytes.
pub(crate) fn event_of(bytes: usize) -> PreToolUse {
    let text = "all work and no play makes jack a dull boy; ".repeat(bytes / 44 + 1);
    let input = serde_json::json!({ "command": &text[..bytes.saturating_sub(220)] });
    PreToolUse::new("Bash", Json::from(input))
}

/// The JSON of such an event, as a host writes it.
pub(crate) fn json_of(engine: &Engine, bytes: usize) -> Result<String> {
    let event = Event::from(event_of(bytes));
    let _ = engine.explain(&event);
    Ok(event.wire().map_err(|failure| anyhow::anyhow!("{failure}"))?.to_string())
}

/// Fails if a hook failed, because that would make the engine look fast.
pub(crate) fn check(outcome: &Outcome) -> Result<()> {
    match outcome.failures().next() {
        None => Ok(()),
        Some((hook, failure)) => bail!("the hook {hook} failed: {failure}"),
    }
}

/// Like [`check`], and this many hooks must have run.
pub(crate) fn check_ran(outcome: &Outcome, hooks: usize) -> Result<()> {
    check(outcome)?;
    if outcome.reports.len() != hooks {
        bail!("{} hooks ran instead of {hooks}", outcome.reports.len());
    }
    Ok(())
}
