//! Commands for people only: those that trust, install or weaken something refuse to run inside an agent.
//!
//! An agent is recognised by the variables that it sets for its child processes, and by its name among the ancestors:
//! an `env -u` in a script does not get around it. Neither does a terminal or `--yes`: agents open terminals too.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use crate::environment;
use crate::exit::{Exit, Failed};

/// Variables that agents set for the processes that they run, and the agents' names. `CLAUDE_PROJECT_DIR` is not one of
/// them, because people export it.
const VARIABLES: &[(&str, &str)] = &[
    ("CLAUDECODE", "Claude Code"),
    ("GEMINI_CLI", "Gemini CLI"),
    ("QWEN_CODE", "Qwen Code"),
    ("OPENCODE", "opencode"),
    ("CODEX_SANDBOX", "Codex"),
    ("COPILOT_CLI", "Copilot CLI"),
    ("CROSIER_DEPTH", "a hook"),
];

/// Agents by the name of their program or script.
const PROGRAMS: &[(&str, &str)] = &[
    ("claude", "Claude Code"),
    ("claude-code", "Claude Code"),
    ("codex", "Codex"),
    ("gemini", "Gemini CLI"),
    ("gemini-cli", "Gemini CLI"),
    ("qwen", "Qwen Code"),
    ("qwen-code", "Qwen Code"),
    ("opencode", "opencode"),
    ("opencode-ai", "opencode"),
    ("copilot", "Copilot CLI"),
    ("droid", "Factory droid"),
    ("cline", "Cline"),
    ("cursor-agent", "Cursor"),
    ("crush", "Crush"),
    ("goose", "Goose"),
    ("kimi", "Kimi"),
    ("kimi-cli", "Kimi"),
    ("openhands", "OpenHands"),
    ("kiro-cli", "Kiro"),
    ("aider", "Aider"),
];

/// Programs that run scripts: the agent is recognised by its script.
const INTERPRETERS: &[&str] = &["node", "bun", "deno", "python", "sh", "bash", "dash", "zsh", "ruby", "tsx"];

/// Options of interpreters that take the next word as their value.
const OPTIONS_WITH_VALUE: &[&str] = &[
    "-r",
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
    "-C",
    "--conditions",
    "-X",
    "-W",
    "-o",
    "-I",
];

/// How many ancestors are checked.
const MAX_ANCESTORS: usize = 64;

/// Refuses a command that runs inside an agent.
///
/// # Errors
/// Why it is refused, and how a person runs it.
pub(crate) fn require(command: &str) -> Result<(), Failed> {
    let Some(agent) = agent_above() else { return Ok(()) };
    let message = format!(
        "`crosier {command}` is for a person, and this runs inside {agent}: use a terminal outside the agent"
    );
    Err(Failed::new(Exit::Failed, message))
}

/// The agent that this process runs inside, and how it was recognised.
pub(crate) fn agent_above() -> Option<String> {
    let set = VARIABLES.iter().find(|(name, _)| environment::is_set(name));
    if let Some((name, agent)) = set {
        return Some(format!("{agent} ({name} is set)"));
    }
    let own = Process::read("self")?;
    // A process in the background loses its parent, but not its session.
    let leader = Process::read(&own.session).map(|leader| leader.id);
    if let Some(found) = [Some(own.parent.clone()), leader].into_iter().flatten().find_map(agent_from) {
        return Some(found);
    }
    (own.parent == "1" && own.session == own.id).then(|| {
        "a session that is detached from the process that started it, which may be an agent".to_owned()
    })
}

/// The agent among this process and its ancestors.
fn agent_from(mut id: String) -> Option<String> {
    for _ in 0..MAX_ANCESTORS {
        if matches!(id.as_str(), "0" | "1") {
            return None;
        }
        if let Some(agent) = agent_of(&id) {
            return Some(format!("{agent} (process {id})"));
        }
        id = Process::read(&id)?.parent;
    }
    None
}

/// What the system says about a process.
struct Process {
    id: String,
    parent: String,
    /// The process that began its session.
    session: String,
}

impl Process {
    fn read(id: &str) -> Option<Self> {
        let stat = fs::read(format!("/proc/{id}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        let id = stat.split(' ').next()?.to_owned();
        // After the last `)`, because the name of a program can contain anything.
        let mut fields = stat.rsplit_once(") ")?.1.split(' ').map(str::to_owned);
        Some(Self { id, parent: fields.nth(1)?, session: fields.nth(1)? })
    }
}

/// The agent that this process is, if it is one.
fn agent_of(id: &str) -> Option<&'static str> {
    let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    let words: Vec<&str> =
        line.split(|byte| *byte == 0).filter_map(|word| std::str::from_utf8(word).ok()).collect();
    let program = fs::read_link(format!("/proc/{id}/exe")).ok();
    let program = program.as_deref().and_then(Path::file_name).and_then(OsStr::to_str).unwrap_or_default();
    agent_by_words(program, &words)
}

/// The agent, by the name of its program and its arguments.
fn agent_by_words(program: &str, words: &[&str]) -> Option<&'static str> {
    // `crosier run` is an agent too.
    if program == "crosier" {
        return words.get(1).filter(|word| **word == "run").map(|_| "crosier run");
    }
    let first = words.first().copied().unwrap_or_default();
    let known = |name: &str| PROGRAMS.iter().find(|(own, _)| *own == name).map(|(_, agent)| *agent);
    if let Some(agent) = known(stem(program)).or_else(|| known(stem(base(first)))) {
        return Some(agent);
    }
    let plain = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').to_owned();
    if !INTERPRETERS.contains(&plain(program).as_str())
        && !INTERPRETERS.contains(&plain(base(first)).as_str())
    {
        return None;
    }
    let script = script(words.get(1..).unwrap_or_default())?;
    // `…/node_modules/@anthropic-ai/claude-code/cli.js`: recognised by its package.
    let package = script.rsplit_once("node_modules/").map(|(_, rest)| rest).unwrap_or_default();
    let package = package.split('/').take(2).find_map(known);
    package.or_else(|| known(stem(base(script))))
}

/// The script among an interpreter's arguments: the first word that is neither an option nor the value of one, or the
/// module after `-m`.
fn script<'w>(words: &[&'w str]) -> Option<&'w str> {
    let mut words = words.iter().copied().filter(|word| !word.is_empty());
    loop {
        match words.next()? {
            option if OPTIONS_WITH_VALUE.contains(&option) => drop(words.next()),
            // `bun run script`, `deno run script`.
            "run" | "x" => {}
            word if word.starts_with('-') => {}
            word => return Some(word),
        }
    }
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A file name without the extension of a script.
fn stem(name: &str) -> &str {
    let name = name.strip_prefix('-').unwrap_or(name);
    ["js", "mjs", "cjs", "ts", "py", "exe"]
        .iter()
        .find_map(|end| name.strip_suffix(end)?.strip_suffix('.'))
        .unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_known_by_program_and_by_script() {
        for (program, words, is_agent) in [
            ("claude", &["claude"][..], true),
            ("2.0.1", &["/home/x/.local/bin/claude", "-p"], true),
            (
                "node",
                &["node", "--no-warnings", "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js"],
                true,
            ),
            ("node", &["node", "/usr/local/bin/gemini"], true),
            ("python3.12", &["python3", "/opt/bin/aider"], true),
            ("python3.12", &["python3", "-m", "openhands"], true),
            ("codex", &["codex", "exec"], true),
            ("node", &["node", "-r", "dotenv/config", "--import", "tsx", "/usr/bin/gemini"], true),
            ("python3.12", &["python3", "-X", "dev", "-W", "ignore", "/opt/bin/aider"], true),
            ("bun", &["bun", "run", "/opt/opencode/opencode.ts"], true),
            ("node", &["node", "-r", "gemini", "server.js"], false),
            ("crosier", &["crosier", "run", "x"], true),
            ("dash", &["sh", "/tmp/claude"], true),
            ("crosier", &["crosier", "trust"], false),
            ("bash", &["-bash"], false),
            ("node", &["node", "server.js"], false),
            ("vim", &["vim", "claude"], false),
            ("git", &["git", "log", "codex"], false),
        ] {
            assert_eq!(agent_by_words(program, words).is_some(), is_agent, "{program} {words:?}");
        }
    }
}
