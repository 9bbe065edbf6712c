//! `self-guard`: agents leave Crosier itself alone.
//!
//! It denies writing to Crosier's own files and to the files of agents that call it (see
//! [`protect_paths`](mod@crate::protect_paths)), the commands that weaken it (`crosier trust`, `disable`, `uninstall`,
//! `install`, `init`; by any path, behind `env`, as a module of Python), and setting `CROSIER_TRUST`. To read these files
//! and to version them is free, and so is what only shows something (`crosier trust --diff`, `install --dry-run`).
//!
//! A configuration names it like any other built-in; a host that wants it in front of everything loads [`CONFIG`]. It
//! has no options. Code that runs as the person, outside of the agent's tools, is not seen.

use crosier::config::{Builtin, BuiltinOption, BuiltinRequest};
use crosier::{Callback, Json};

use crate::guard::{self, Ruling, ToolCall};
use crate::path::{Case, Names};
use crate::protect_paths::{self, Protected};
use crate::shell::{Command, Script, Word, base_name};
use crate::tool::{self, Subject};

/// The configuration with which a program puts it in force.
pub const CONFIG: &str = "\
hooks:
  PreToolUse:
    - {name: self-guard, type: builtin, handler: self-guard, system: true, priority: -1000000}
";

/// Commands of Crosier that only a person runs.
const FOR_PERSONS: &[&str] = &["trust", "disable", "uninstall", "install", "init"];
/// Options with which these commands only show something.
const SHOWS: &[&str] = &["--list", "--diff", "--digest", "--dry-run", "--help", "-h"];
/// Options of the program that are followed by a value.
const WITH_VALUE: &[&str] = &["-c", "--config", "--state-dir", "--config-home", "--state-home"];
/// Programs that run others by their name: `python -m crosier`.
const RUNNERS: &[&str] = &["python", "python3", "uvx", "uv", "pipx", "npx", "bunx", "pnpm", "yarn"];

/// The built-in hook.
#[derive(Debug, Clone, Default)]
pub struct SelfGuard {
    own: Vec<std::path::PathBuf>,
}

impl SelfGuard {
    /// The hook; these files and folders belong to Crosier too.
    #[must_use]
    pub fn with_own(own: Vec<std::path::PathBuf>) -> Self {
        Self { own }
    }
}

const OPTIONS: &[BuiltinOption] = &[];

impl Builtin for SelfGuard {
    fn name(&self) -> &'static str {
        "self-guard"
    }

    fn about(&self) -> &'static str {
        "keeps agents from changing or weakening Crosier itself"
    }

    fn options(&self) -> &'static [BuiltinOption] {
        OPTIONS
    }

    fn make(&self, request: &mut BuiltinRequest<'_>) -> Option<Callback> {
        guard::check(request, self.name())?;
        let protected = Protected {
            base: Names::new(request.folder(), Case::Folded),
            no_read: Vec::new(),
            no_read_files: Vec::new(),
            no_write: protect_paths::compiled(protect_paths::WIRING),
            except: Vec::new(),
            own: protect_paths::own_files(&request.file(), &self.own),
            asks_about_form: false,
        };
        Some(guard::callback(request, move |call| match judge_commands(call.tool, call.input) {
            Ruling::Nothing => protected.judge(ToolCall { ..call }),
            ruling => ruling,
        }))
    }
}

fn judge_commands(tool: &str, input: &Json) -> Ruling {
    // Most lines have nothing to do with it.
    if !input.text().to_ascii_lowercase().contains("crosier") {
        return Ruling::Nothing;
    }
    let Subject::Shell(scripts) = tool::any_subject(tool, input) else { return Ruling::Nothing };
    let reason = scripts.iter().flat_map(|script| &script.commands).find_map(objection);
    if let Some(reason) = reason {
        return Ruling::Deny(reason);
    }
    match scripts.iter().find_map(unclear) {
        Some(reason) => Ruling::Ask(reason),
        None => Ruling::Nothing,
    }
}

/// A line about Crosier that cannot be read.
fn unclear(script: &Script) -> Option<String> {
    let doubt = script.doubts.iter().find(|doubt| doubt.kind == crate::shell::DoubtKind::Form)?;
    Some(format!("self-guard cannot read the command line: {doubt}"))
}

fn objection(command: &Command) -> Option<String> {
    let sets_trust = command.assignments.iter().any(|assignment| assignment.name == "CROSIER_TRUST")
        || command.words.iter().any(|word| word.head().starts_with("CROSIER_TRUST="));
    if sets_trust {
        return Some("CROSIER_TRUST says what a person trusts; an agent does not set it".to_owned());
    }
    let arguments = own_arguments(command)?;
    let (subcommand, rest) = subcommand(arguments)?;
    let is_for_persons = subcommand.known().is_none_or(|word| FOR_PERSONS.contains(&word));
    let only_shows = rest.iter().any(|word| word.known().is_some_and(|word| SHOWS.contains(&word)));
    (is_for_persons && !only_shows)
        .then(|| format!("`{}` is for the person to run, in a terminal outside of the agent", command.show()))
}

/// The words behind `crosier`, when the command runs it.
fn own_arguments(command: &Command) -> Option<&[Word]> {
    let is_own = |word: &Word| word.known().is_some_and(|word| base_name(word) == "crosier");
    if command.words.first().is_some_and(is_own) {
        return command.words.get(1..);
    }
    let name = command.name()?;
    let runner = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if !RUNNERS.contains(&name) && !RUNNERS.contains(&runner) {
        return None;
    }
    let at = command.words.iter().position(is_own)?;
    command.words.get(at + 1..)
}

/// The first word that is no option, and those behind it.
fn subcommand(words: &[Word]) -> Option<(&Word, &[Word])> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word.known().is_some_and(|word| WITH_VALUE.contains(&word)) {
            at += 2;
        } else if word.head().starts_with('-') {
            at += 1;
        } else {
            return Some((word, &words[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crosier::config::Loader;
    use crosier::{Catalog, Decision, Engine};
    use serde_json::json;

    use super::{CONFIG, SelfGuard};

    #[test]
    fn crosier_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let loader = Loader::new(Catalog::default()).builtin(SelfGuard::with_own(vec![state]));
        let config = loader.text("self-guard.yaml", CONFIG, folder.path()).load().unwrap();
        let engine = Engine::builder().config(config).build().unwrap();
        let decide = |line: &str, cwd: &Path| {
            let event = json!({"tool_name": "Bash", "tool_input": {"command": line}, "cwd": cwd}).to_string();
            engine.fire_blocking(engine.event("PreToolUse", event.as_bytes()).unwrap()).decision
        };
        for line in [
            "crosier trust",
            "crosier trust --yes",
            "crosier disable guard",
            "crosier uninstall",
            "crosier install claude",
            "crosier init --yes",
            "/usr/local/bin/crosier trust",
            "../bin/crosier -c x.yaml disable guard",
            "env -u CLAUDECODE crosier trust --yes",
            "unset CLAUDECODE; crosier trust --yes",
            "sudo crosier uninstall",
            "bash -c 'crosier trust'",
            "c=crosier; $c trust",
            "yes | crosier trust",
            "python3 -m crosier trust",
            "uvx crosier uninstall",
            "crosier $X",
            "CROSIER_TRUST=sha256:abc crosier fire PreToolUse",
            "export CROSIER_TRUST=sha256:abc",
            "env CROSIER_TRUST=x make",
            "echo x > crosier.yaml",
            "rm -rf ~/.local/state/crosier",
            "rm -rf state",
            "sed -i s/crosier/true/ ~/.claude/settings.json",
            "rm .codex/hooks.json",
            "cp x .gemini/settings.json",
        ] {
            assert_eq!(decide(line, folder.path()), Some(Decision::Deny), "{line}");
        }
        for line in [
            "crosier check",
            "crosier test spec",
            "crosier trust --diff",
            "crosier install --dry-run",
            "crosier --help",
            "crosier try 'crosier trust'",
            "cat crosier.yaml",
            "git add crosier.yaml",
            "git commit -m 'crosier trust'",
            "echo crosier trust",
            "grep -rn 'crosier install' docs",
            "cat .claude/settings.json",
            "cat .env",
            "echo 'unclosed",
            "cargo test -p crosier",
            "rm -rf target",
        ] {
            assert_eq!(decide(line, folder.path()), None, "{line}");
        }
    }
}
