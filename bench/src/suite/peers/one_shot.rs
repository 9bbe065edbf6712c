//! Programs that run hooks once and end: git, prek, lefthook.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::super::command::LINE;
use crate::floor::Raw;
use crate::lab::{Findings, Lab, json_of};
use crate::measure::{CaseId, Group, clock};
use crate::row::Row;

pub(super) fn run(lab: &Lab, folder: &Path, findings: &mut Findings) -> Result<()> {
    let repository = match repository(lab) {
        Ok(repository) => repository,
        Err(error) => {
            findings.skip("peer.once", format!("{error:#}"));
            return Ok(());
        }
    };
    let input = json_of(&lab.engine().build()?, 1_024)?;
    let config = lab.file("once.yaml", format!("hooks: {{PreToolUse: [{{command: \"{LINE}\"}}]}}\n"))?;
    let crosier =
        Raw::new(lab.cli()?, &["fire", "PreToolUse", "-c", &config.display().to_string()], &lab.path);
    let mut found = Vec::new();
    for (name, words) in [("prek", &["run", "--all-files"][..]), ("lefthook", &["run", "pre-push"])] {
        let raw = Raw::new(folder.join("bin").join(name), words, &lab.path)
            .in_folder(&repository)
            .with("HOME", lab.folder().display().to_string());
        match raw.run("") {
            Ok(_) => found.push((name, raw)),
            Err(error) => findings.skip(&format!("peer.{name}"), format!("{error:#}")),
        }
    }
    let mut group = Group::default();
    let timed = |raw: &Raw, input: &str| {
        let (time, written) = clock(|| raw.run(input));
        written.map(|_| time)
    };
    let ours = group.case("crosier fire", || timed(&crosier, &input));
    let theirs: Vec<(&str, CaseId)> =
        found.iter().map(|(name, raw)| (*name, group.case(*name, move || timed(raw, "")))).collect();
    let samples = group.run(lab.budget.pick(3, 1), lab.budget.pick(60, 10))?;
    for (name, case) in theirs {
        let work = format!("run one command hook and end, under {name}");
        let row = Row::under(&format!("peer.{name}"), work, &samples, ours, case).at_least(1.0);
        findings.rows.push(row.note(
            "equal: starts, reads its configuration, runs the same line. It also reads the state of git; \
             Crosier also hands over an event and reads the reply",
        ));
    }
    Ok(())
}

/// A repository with one commit, and the same hook for both programs.
fn repository(lab: &Lab) -> Result<std::path::PathBuf> {
    let folder = lab.folder().join("once");
    fs::create_dir_all(&folder)?;
    let prek = format!(
        "repos:\n  - repo: local\n    hooks:\n      - {{id: bench, name: bench, language: system, entry: \"sh -c '{LINE}'\", always_run: true, pass_filenames: false}}\n"
    );
    lab.file("once/.pre-commit-config.yaml", prek)?;
    let lefthook = format!(
        "no_auto_install: true\noutput: false\npre-push:\n  commands:\n    bench: {{run: \"{LINE}\"}}\n"
    );
    lab.file("once/lefthook.yml", lefthook)?;
    let author = ["-c", "user.name=bench", "-c", "user.email=bench@example.invalid"];
    let steps: [&[&str]; 3] =
        [&["init", "--quiet"], &["add", "--all"], &["commit", "--quiet", "-m", "bench"]];
    for words in steps {
        let mut git = Command::new("git");
        let done = git.arg("-C").arg(&folder).args(author).args(words).status();
        if !done.context("there is no git")?.success() {
            bail!("git {} failed", words.join(" "));
        }
    }
    Ok(folder)
}
