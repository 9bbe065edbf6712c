//! G13: what trust costs a hook. The same policy named with `-c`, in a trusted project, and in a trusted project with
//! two hundred recorded files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::serve::{EVENT, Home};
use crate::floor::Raw;
use crate::lab::{Findings, Lab};
use crate::measure::{Group, clock};
use crate::row::Row;

/// How many files the large project records besides its configuration.
const FILES: usize = 200;
const POLICY: &str = "hooks: {PreToolUse: [{name: guard, type: builtin, handler: block-commands}]}\n";

pub(super) fn run(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let cli = lab.cli()?;
    let home = Home::new(lab, "trust")?;
    let named = project(&home, "named", 0)?;
    let (small, large) = (project(&home, "small", 0)?, project(&home, "large", FILES)?);
    for folder in [&small, &large] {
        trust(cli, lab, &home, folder)?;
    }

    let with = |folder: &Path, args: &[&str]| {
        let raw = Raw::new(cli, &[&["hook", "claude"], args].concat(), &lab.path).in_folder(folder);
        // As Claude Code says which project it is: the folder of a session's first event would be pinned otherwise.
        let raw = raw.with("CLAUDE_PROJECT_DIR", folder.display().to_string());
        home.variables().into_iter().fold(raw, |raw, (name, value)| raw.with(name, value))
    };
    let file = named.join("crosier.yaml").display().to_string();
    let (named, small, large) = (with(&named, &["-c", &file]), with(&small, &[]), with(&large, &[]));
    for raw in [&small, &large] {
        let denied = raw.run(&EVENT.replace("ls -la", "git push --force"))?;
        if !String::from_utf8_lossy(&denied).contains("deny") {
            bail!("the trusted policy is not in force");
        }
    }

    let timed = |raw: &Raw| {
        let (time, ran) = clock(|| raw.run(EVENT));
        ran.map(|_| time)
    };
    let mut group = Group::default();
    let named = group.case("named with -c", || timed(&named));
    let small = group.case("trusted", || timed(&small));
    let large = group.case("trusted, 200 files", || timed(&large));
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(200))?;
    let work = "crosier hook claude in a trusted project, against the same file named with -c";
    findings.rows.push(Row::ratio("G13.trust", work, &samples, small, named).at_most(1.15));
    let work = "crosier hook claude in a trusted project with 200 recorded files, against one with none";
    findings.rows.push(Row::ratio("G13.files", work, &samples, large, small).at_most(1.3));
    Ok(())
}

/// A repository with a policy, and with files that it records.
fn project(home: &Home, name: &str, files: usize) -> Result<PathBuf> {
    let folder = home.folder.join("projects").join(name);
    fs::create_dir_all(folder.join(".git"))?;
    let scripts = folder.join("scripts");
    fs::create_dir_all(&scripts)?;
    for number in 0..files {
        fs::write(scripts.join(format!("{number}.sh")), format!("#!/bin/sh\n# {number}\nexit 0\n"))?;
    }
    let more = if files > 0 { "trust: ['scripts/*.sh']\n" } else { "" };
    fs::write(folder.join("crosier.yaml"), format!("{POLICY}{more}"))?;
    Ok(folder)
}

fn trust(cli: &Path, lab: &Lab, home: &Home, folder: &Path) -> Result<()> {
    let mut command = Command::new(cli);
    command.args(["trust", "--yes"]).current_dir(folder).env_clear().env("PATH", &lab.path);
    command.envs(home.variables()).stdin(Stdio::null());
    let output = command.output().context("crosier trust")?;
    if !output.status.success() {
        bail!("crosier trust: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}
