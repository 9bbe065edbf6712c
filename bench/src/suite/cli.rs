//! G8: the command line, from its start to its end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::command::LINE;
use crate::floor::Raw;
use crate::lab::{Findings, Lab, json_of};
use crate::measure::{CaseId, Group, clock};
use crate::row::Row;

/// What a person would write to do the same without YAML: read the event, read the hooks, match, answer.
const PYTHON: &str = r#"
import fnmatch, json, sys
event = json.load(sys.stdin)
with open(sys.argv[1]) as file:
    hooks = json.load(file)["hooks"]["PreToolUse"]
name = event["tool_name"]
for hook in hooks:
    if any(fnmatch.fnmatchcase(name, part) for part in hook["matcher"].split("|")):
        raise SystemExit("a hook matches")
print(json.dumps({"event": "PreToolUse", "decision": None, "reports": []}))
"#;

pub(super) fn run(lab: &Lab, findings: &mut Findings) -> Result<()> {
    let cli = lab.cli()?;
    no_match(lab, cli, findings)?;
    one_command(lab, cli, findings)
}

/// Twenty hooks for other tools, as YAML and as JSON.
fn configurations(lab: &Lab) -> Result<(PathBuf, PathBuf)> {
    let matcher = |number: usize| match number % 2 {
        0 => format!("Tool{number}|Other{number}"),
        _ => format!("mcp__server{number}__*"),
    };
    let hooks: Vec<_> = (0..20)
        .map(|number| serde_json::json!({"name": format!("hook-{number}"), "matcher": matcher(number), "type": "command", "command": LINE, "timeout": 10}))
        .collect();
    let json = serde_json::json!({ "hooks": { "PreToolUse": hooks } });
    let mut yaml = String::from("hooks:\n  PreToolUse:\n");
    for number in 0..20 {
        yaml.push_str(&format!(
            "    - name: hook-{number}\n      matcher: \"{}\"\n      type: command\n      command: \"{LINE}\"\n      timeout: 10\n",
            matcher(number)
        ));
    }
    Ok((lab.file("twenty.yaml", yaml)?, lab.file("twenty.json", json.to_string())?))
}

fn timed(raw: &Raw, input: &str, begins: &str) -> Result<f64> {
    let (time, written) = clock(|| raw.run(input));
    let written = written?;
    if !written.starts_with(begins.as_bytes()) {
        bail!("it answered something else: {}", String::from_utf8_lossy(&written));
    }
    Ok(time)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn no_match(lab: &Lab, cli: &Path, findings: &mut Findings) -> Result<()> {
    let (yaml, json) = configurations(lab)?;
    let input = json_of(&lab.engine().build()?, 1_024)?;
    let fire = |config: &Path| Raw::new(cli, &["fire", "PreToolUse", "-c", &text(config)], &lab.path);
    let (with_yaml, with_json) = (fire(&yaml), fire(&json));
    let static_true = static_true(lab, findings)?.map(|program| Raw::new(program, &[], &lab.path));
    let script = lab.file("twenty.py", PYTHON)?;
    let python =
        lab.python.as_ref().map(|python| Raw::new(python, &[&text(&script), &text(&json)], &lab.path));
    let answer = "{\"event\":\"PreToolUse\"";
    let mut group = Group::default();
    let yaml = group.case("crosier, YAML", || timed(&with_yaml, &input, answer));
    let json = group.case("crosier, JSON", || timed(&with_json, &input, answer));
    let (input, start) = (&input, &static_true);
    let floor = start.as_ref().map(|raw| group.case("static true", move || timed(raw, input, "")));
    let python = python.as_ref().map(|raw| group.case("python", move || timed(raw, input, "{\"event\"")));
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(334))?;
    let work = |what: &str| format!("crosier fire, 20 hooks, no match, {what}");
    if let Some(floor) = floor {
        let row = |id: &str, what: &str, ours: CaseId| Row::ratio(id, work(what), &samples, ours, floor);
        findings.rows.push(row("G8", "YAML", yaml).at_most(1.6));
        findings.rows.push(row("G8.json", "JSON", json));
    }
    match python {
        Some(python) => {
            let work = work("YAML, under python with JSON");
            findings.rows.push(Row::under("G8.python", work, &samples, yaml, python).at_least(20.0));
        }
        None => findings.skip("G8.python", "there is no python3"),
    }
    findings.rows.push(Row::time("G8.start", work("YAML, from start to end"), &samples, yaml));
    Ok(())
}

/// The smallest program.
pub(super) fn static_true(lab: &Lab, findings: &mut Findings) -> Result<Option<PathBuf>> {
    let source = lab.file("true.c", "int main(void) { return 0; }\n")?;
    let program = lab.folder().join("true.out");
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-static", "-o"]).arg(&program).arg(source);
    match compiler.output() {
        Ok(output) if output.status.success() => return lab.install(&program, "static-true").map(Some),
        Ok(output) => {
            let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
            findings.skip("G8", complaint.lines().next().unwrap_or("cc failed"));
        }
        Err(_) => findings.skip("G8", "there is no cc to make a static `true`"),
    }
    Ok(None)
}

fn one_command(lab: &Lab, cli: &Path, findings: &mut Findings) -> Result<()> {
    let config = format!("hooks:\n  PreToolUse:\n    - {{matcher: Bash, command: \"{LINE}\"}}\n");
    let config = lab.file("one.yaml", config)?;
    let input = json_of(&lab.engine().build()?, 1_024)?;
    let crosier = Raw::new(cli, &["fire", "PreToolUse", "-c", &text(&config)], &lab.path);
    let bare = Raw::shell(LINE, &lab.path);
    let git = match git_hook(lab, &input) {
        Ok(git) => Some(git),
        Err(error) => {
            findings.skip("G8.git", format!("{error:#}"));
            None
        }
    };
    let input = &input;
    let mut group = Group::default();
    let ours = group.case("crosier", || timed(&crosier, input, "{\"event\":\"PreToolUse\""));
    let bare = group.case("the bare command", || timed(&bare, input, "{}"));
    let git = git.as_ref().map(|git| group.case("git hook run", move || timed(git, input, "")));
    let samples = group.run(lab.budget.runs(), lab.budget.rounds(334))?;
    let work = |what: &str| format!("crosier fire, one command hook, {what}");
    let row = Row::ratio("G8.command", work("against the bare command"), &samples, ours, bare);
    findings.rows.push(row.at_most(1.6));
    if let Some(git) = git {
        let row = Row::ratio("G8.git", work("against git hook run"), &samples, ours, git).at_most(1.0);
        findings.rows.push(row.note("git runs the same line as a file with `#!/bin/sh`"));
    }
    Ok(())
}

/// The same line as a git hook, with the event on its stdin.
fn git_hook(lab: &Lab, input: &str) -> Result<Raw> {
    let repository = lab.folder().join("repository");
    let made = Command::new("git").args(["init", "--quiet"]).arg(&repository).status();
    if !made.context("there is no git")?.success() {
        bail!("git init failed");
    }
    fs::create_dir_all(repository.join(".git/hooks"))?;
    lab.program("repository/.git/hooks/pre-push", &format!("#!/bin/sh\n{LINE}\n"))?;
    let event = lab.file("event.json", input)?;
    let found = Command::new("sh").args(["-c", "command -v git"]).output()?;
    let git = String::from_utf8_lossy(&found.stdout).trim().to_owned();
    let from = format!("--to-stdin={}", text(&event));
    let raw = Raw::new(git, &["-C", &text(&repository), "hook", "run", &from, "pre-push"], &lab.path);
    raw.run("").context("git hook run")?;
    Ok(raw)
}
