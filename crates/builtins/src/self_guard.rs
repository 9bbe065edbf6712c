//! `self-guard`: agents cannot change or weaken Crosier itself.
//!
//! It denies writing to Crosier's own files and to the files of agents that call it (see
//! [`protect_paths`](mod@crate::protect_paths)), the commands that weaken it (`crosier trust`, `disable`, `uninstall`,
//! `install`, `init`; by any path, through `env`, as a package of npm or Python), setting `CROSIER_TRUST`, giving
//! `crosier` other folders (`XDG_STATE_HOME=… crosier …`), and ending its daemon. Reading and committing these files
//! is allowed, and so are commands that only show something (`crosier trust --diff`, `install --dry-run`, `crosier
//! status`).
//!
//! A configuration names it like any other built-in; a host that wants it to run first loads [`CONFIG`]. It
//! has no options. Code that runs as the person, outside the agent's tools, is not seen.

mod program;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crosier::Callback;
use crosier::config::{Builtin, BuiltinOption, BuiltinRequest};

use crate::guard::{self, Ruling, ToolCall};
use crate::path::{Case, Names, PathGlob, Places};
use crate::protect_paths::{self, ConfigurationPaths, OwnPaths, Patterns, Protected};
use crate::shell::{Command, Script, Word, base_name};
use crate::tool::{self, Subject};

/// A configuration with just this hook.
pub const CONFIG: &str = "\
hooks:
  PreToolUse:
    - {name: self-guard, type: builtin, handler: self-guard, system: true, priority: -1000000}
  PermissionRequest:
    - {name: self-guard-permission, type: builtin, handler: self-guard, system: true, priority: -1000000}
";

/// Commands of Crosier that only a person may run.
const FOR_PERSONS: &[&str] = &["trust", "disable", "uninstall", "install", "init"];
/// Commands of Crosier that only show something, whatever the environment says.
const READERS: &[&str] = &[
    "check",
    "test",
    "try",
    "explain",
    "list",
    "events",
    "packs",
    "log",
    "status",
    "config",
    "doctor",
    "help",
    "demo",
    "completions",
    "man",
];
/// Options with which the commands for persons only show something.
const SHOWS: &[&str] = &["--list", "--diff", "--digest", "--dry-run", "--help", "-h"];
/// Options of the program that are followed by a value.
const WITH_VALUE: &[&str] = &["-c", "--config", "--state-dir", "--config-home", "--state-home"];
/// Programs that run others by their name: `python -m crosier`.
const RUNNERS: &[&str] = &[
    "python", "pypy", "py", "uvx", "uv", "pipx", "pip-run", "npx", "bunx", "bun", "pnpm", "pnpx", "yarn",
    "npm", "deno", "cargo", "corepack", "node", "nix", "mise", "poetry", "hatch", "pdm", "rye",
];
/// Programs that end others.
const KILLERS: &[&str] = &["kill", "pkill", "killall", "skill", "xkill", "taskkill", "stop-process", "fuser"];
/// Programs that end, or keep from starting, what the system runs.
const SERVICES: &[&str] = &["systemctl", "service", "launchctl", "rc-service", "sc"];
/// Their subcommands that do so.
const STOPS: &[&str] = &["stop", "disable", "mask", "kill", "unload", "bootout", "remove", "delete"];

/// The built-in hook.
#[derive(Debug, Clone, Default)]
pub struct SelfGuard {
    own: Arc<OwnPaths>,
}

impl SelfGuard {
    /// The hook; these files and folders belong to Crosier too.
    #[must_use]
    pub fn with_own(own: Vec<PathBuf>) -> Self {
        Self::of_host(Arc::new(OwnPaths { files: own.into(), ..OwnPaths::default() }))
    }

    pub(crate) fn of_host(own: Arc<OwnPaths>) -> Self {
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
            no_read: Patterns::default(),
            no_read_files: Patterns::default(),
            ask_read: Patterns::default(),
            ask_write: Patterns::default(),
            no_write: Patterns::fixed(&[protect_paths::WIRING]),
            except: Patterns::default(),
            own: ConfigurationPaths::new(&request.file(), Arc::clone(&self.own)),
            guards_wiring: true,
            asks_about_form: false,
        };
        Some(guard::callback(request, move |call| {
            let subject = tool::any_subject(call.tool, call.input);
            let ruling = match &subject {
                Subject::Shell(scripts) => judge_lines(scripts, call, protected.own.home()),
                // A tool that also names files may run a command.
                Subject::Files(..) if tool::file_access(call.tool).is_none() => {
                    let scripts = tool::scripts(call.tool, call.input).unwrap_or_default();
                    judge_lines(&scripts, call, protected.own.home())
                }
                _ => Ruling::Nothing,
            };
            match (ruling, protected.judge_subject(call, subject)) {
                (Ruling::Deny(reason), _) | (_, Ruling::Deny(reason)) => Ruling::Deny(reason),
                (Ruling::Nothing, ruling) => ruling,
                (ruling, _) => ruling,
            }
        }))
    }
}

/// The ruling about lines that begin in a folder which the call names.
fn judge_lines(scripts: &[Script], call: ToolCall<'_>, home: Option<&Path>) -> Ruling {
    let folders = tool::folders(call.input, call.cwd);
    let rulings = folders.iter().map(|cwd| judge_commands(scripts, Places { cwd, home }));
    rulings.max_by_key(Ruling::severity).unwrap_or(Ruling::Nothing)
}

fn judge_commands(scripts: &[Script], places: Places<'_>) -> Ruling {
    let mut asked = Ruling::Nothing;
    for script in scripts {
        if let Some(reason) = script.commands.iter().find_map(|command| objection(script, command)) {
            return Ruling::Deny(reason);
        }
        let about_program = |command| program::objection(script, command, places);
        if let Some(reason) = script.commands.iter().find_map(about_program) {
            return Ruling::Deny(reason);
        }
        if let Some(reason) = in_other_languages(script).or_else(|| unclear(script)) {
            asked = Ruling::Ask(reason);
        }
    }
    asked
}

fn is_about_crosier(text: &str) -> bool {
    text.to_ascii_lowercase().contains("crosier")
}

fn mentions_crosier(command: &Command) -> bool {
    command.words.iter().any(|word| is_about_crosier(&word.show()))
}

/// A line that mentions Crosier and cannot be parsed.
fn unclear(script: &Script) -> Option<String> {
    let doubt = script.doubts.iter().find(|doubt| doubt.kind == crate::shell::DoubtKind::Form)?;
    script
        .commands
        .iter()
        .any(mentions_crosier)
        .then(|| format!("self-guard cannot read the command line: {doubt}"))
}

/// Code in another language that names Crosier and one of the commands for persons.
fn in_other_languages(script: &Script) -> Option<String> {
    let weakens = |code: &String| {
        let code = code.to_ascii_lowercase();
        code.contains("crosier_trust")
            || (code.contains("crosier")
                && FOR_PERSONS.iter().any(|word| {
                    code.contains(&format!("{word}\""))
                        || code.contains(&format!("{word}\'"))
                        || code.contains(&format!("crosier {word}"))
                }))
    };
    let command = script.commands.iter().find(|command| command.code.iter().any(weakens))?;
    let name = command.name().unwrap_or("it");
    Some(format!("the code that `{name}` runs may weaken Crosier; that is for the person to run"))
}

fn objection(script: &Script, command: &Command) -> Option<String> {
    let own = own_arguments(command);
    if let Some(name) = changed_variables(command).find(|name| name == "CROSIER_TRUST") {
        return Some(format!("{name} says what a person trusts; an agent may not set it"));
    }
    if own.is_none() {
        return kills(script, command)
            .then(|| format!("`{}` would stop Crosier; only the person may do that", command.show()));
    }
    let found = own.and_then(subcommand);
    let reads = |word: &str| READERS.contains(&word);
    if !found.is_some_and(|(word, _)| word.known().is_some_and(reads))
        && let Some(name) =
            script.commands.iter().flat_map(changed_variables).find(|name| steers_crosier(name))
    {
        return Some(format!("{name} controls Crosier; an agent may not change it"));
    }
    let (subcommand, rest) = found?;
    // The daemon is ended by a person only; what an option is that nobody knows may be this one.
    let ends = |word: &Word| matches!(word.known(), None | Some("--stop" | "--restart" | "stop"));
    if subcommand.known() == Some("serve") && rest.iter().any(ends) {
        return Some(format!(
            "`{}` would end Crosier's daemon; that is for the person to do",
            command.show()
        ));
    }
    let is_for_persons = subcommand.known().is_none_or(|word| FOR_PERSONS.contains(&word));
    let only_shows = rest.iter().any(|word| word.known().is_some_and(|word| SHOWS.contains(&word)));
    (is_for_persons && !only_shows)
        .then(|| format!("`{}` is for the person to run, in a terminal outside the agent", command.show()))
}

/// The variables that a command sets or unsets, for itself or for later commands.
fn changed_variables(command: &Command) -> impl Iterator<Item = String> {
    let assigned = command.assignments.iter().map(|assignment| assignment.name.clone());
    let words: &[Word] = match command.name() {
        Some(
            "env" | "export" | "declare" | "typeset" | "readonly" | "unset" | "setenv" | "set" | "sudo"
            | "doas" | "local",
        ) => command.arguments(),
        _ => &[],
    };
    let names = words.iter().map(|word| {
        let head = word.head();
        head.split('=').next().unwrap_or_default().trim_start_matches("-u").to_owned()
    });
    assigned.chain(names)
}

/// Whether a variable decides which files Crosier uses, or whether it knows that an agent runs it.
fn steers_crosier(name: &str) -> bool {
    (name.starts_with("CROSIER_") && name != "CROSIER_GENERATE")
        || (name.starts_with("XDG_") && name.ends_with("_HOME"))
        || matches!(
            name,
            "HOME" | "CLAUDECODE" | "GEMINI_CLI" | "QWEN_CODE" | "OPENCODE" | "CODEX_SANDBOX" | "COPILOT_CLI"
        )
}

/// Whether the command kills Crosier: by its name, or by a process id that a search for it printed.
fn kills(script: &Script, command: &Command) -> bool {
    let Some(name) = command.name().map(str::to_ascii_lowercase) else { return false };
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    if SERVICES.contains(&name) {
        let stops =
            command.arguments().iter().any(|word| word.known().is_some_and(|word| STOPS.contains(&word)));
        return stops && mentions_crosier(command);
    }
    if !KILLERS.contains(&name) {
        return false;
    }
    let sent = |word: &Word| word.unknowns().next().is_some();
    let looked_up = command.arguments().iter().any(sent) || command.wrapper.is_some();
    let looks = |other: &Command| {
        other.name().is_some_and(|name| {
            matches!(
                name,
                "pgrep"
                    | "pidof"
                    | "ps"
                    | "lsof"
                    | "cat"
                    | "grep"
                    | "awk"
                    | "head"
                    | "jq"
                    | "fuser"
                    | "ss"
                    | "rg"
            )
        }) && mentions_crosier(other)
    };
    mentions_crosier(command) || (looked_up && script.commands.iter().any(looks))
}

/// The words after `crosier`, when the command runs it.
fn own_arguments(command: &Command) -> Option<&[Word]> {
    if command.words.first().is_some_and(is_crosier) {
        return command.words.get(1..);
    }
    let name = command.name()?;
    let runner = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if !RUNNERS.contains(&name) && !RUNNERS.contains(&runner) {
        return None;
    }
    let at = command.words.iter().position(is_crosier)?;
    let rest = command.words.get(at + 1..)?;
    // `cargo run -p crosier-cli -- trust` runs it, `cargo test -p crosier` and `uv add crosier` do not.
    let before = &command.words[1..at];
    let has =
        |wanted: &[&str]| before.iter().any(|word| word.known().is_some_and(|word| wanted.contains(&word)));
    match runner {
        "cargo" => {
            let dashes = rest.iter().position(|word| word.known() == Some("--"))?;
            (has(&["run", "r"])).then(|| &rest[dashes + 1..])
        }
        "uv" | "pnpm" | "npm" | "yarn" | "bun" | "pipx" | "deno" | "poetry" | "hatch" | "pdm" | "rye"
        | "mise" | "nix" | "corepack" => has(&["run", "exec", "x", "dlx", "shell", "tool"]).then_some(rest),
        _ => Some(rest),
    }
}

/// `crosier`, `/usr/bin/crosier`, `/usr/bin/cros*`, `crosier@latest`, `npm:crosier`, `--package=crosier`
fn is_crosier(word: &Word) -> bool {
    let Some(text) = word.known() else {
        // A wildcard that matches the program runs it.
        let shown = word.show();
        let name = PathGlob::new(base_name(&shown), Case::Exact);
        return word.has_wildcard() && name.is_ok_and(|name| name.matches_name("crosier"));
    };
    let text = base_name(text);
    let text = text.rsplit(':').next().unwrap_or(text);
    let text = text.split(['@', '=', '<', '>', '~']).next().unwrap_or(text);
    let text = text.strip_suffix(".exe").unwrap_or(text);
    matches!(text, "crosier" | "crosier-cli" | "crosier.__main__")
}

/// The first word that is not an option, and those after it.
fn subcommand(words: &[Word]) -> Option<(&Word, &[Word])> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word.known().is_some_and(|word| WITH_VALUE.contains(&word)) {
            at += 2;
        } else if word.head().starts_with('-') || is_crosier(word) {
            at += 1;
        } else {
            return Some((word, &words[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
#[path = "self_guard/guard_tests.rs"]
mod tests;
