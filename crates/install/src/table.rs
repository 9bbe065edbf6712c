//! Where each agent keeps its configuration, and what an entry in it looks like. One row per agent.
//!
//! What an agent sends and takes is in `crosier-dialect`; this table has only what an installer needs.

use std::path::PathBuf;

use crosier_dialect::table::{Agent, AgentEvent, TimeUnit, Verification};
use serde_json::{Value, json};

use crate::json::{Member, Nesting};
use crate::line::shell;
use crate::places::{Folder, Places};

/// The form of an agent's configuration.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// Entries in a JSON file.
    Json {
        /// How they are nested.
        nesting: Nesting,
        /// One of them.
        handler: fn(&Entry<'_>) -> Vec<Member>,
        /// What a new file begins with.
        first: fn() -> Vec<Member>,
    },
    /// `[[hooks]]` in a TOML file.
    Toml,
    /// A program for each event, named like the event.
    Programs,
    /// A plugin, which is a whole file.
    Plugin,
}

/// One entry, before it is written in the agent's format.
#[derive(Debug)]
pub struct Entry<'a> {
    /// The words of the command line.
    pub words: &'a [String],
    /// The timeout, in the agent's unit.
    pub timeout: u64,
    /// Whether its event comes before an action, which must not happen if the hook fails.
    pub is_before_action: bool,
}

/// One agent.
#[derive(Debug)]
pub struct Row {
    /// Its name, as in `crosier hook NAME`.
    pub agent: &'static str,
    /// Its programs: if one is on the search path, the agent is installed.
    pub programs: &'static [&'static str],
    /// Its folder: if it exists, the agent is installed.
    pub folder: Folder,
    /// The user's file, below its folder; for programs, the folder that they are in.
    pub user: &'static str,
    /// The project's file, below the project; empty when there is none.
    pub project: &'static str,
    /// Whether the project's file is one that is not committed.
    pub project_is_local: bool,
    /// The form.
    pub form: Form,
    /// Whether the command line names its event: it must, if the payload does not, or if a denial of an unreadable event
    /// would mean something else at another event.
    pub names_event: bool,
    /// The timeout to configure, in seconds.
    pub timeout_s: u32,
    /// The timeout at the end of a session.
    pub end_timeout_s: u32,
    /// What else a person has to do or should know.
    pub follow_up: &'static str,
}

fn nothing() -> Vec<Member> {
    Vec::new()
}

fn version_1() -> Vec<Member> {
    vec![("version", json!(1))]
}

fn kiro_agent() -> Vec<Member> {
    vec![
        ("name", json!("crosier")),
        ("description", json!("Every tool, checked by Crosier")),
        ("tools", json!(["*"])),
    ]
}

fn claude(entry: &Entry<'_>) -> Vec<Member> {
    let (program, args) = entry
        .words
        .split_first()
        .map_or((Value::Null, json!([])), |(program, args)| (json!(program), json!(args)));
    let mut members = vec![
        ("type", json!("command")),
        ("command", program),
        ("args", args),
        ("timeout", json!(entry.timeout)),
    ];
    if entry.is_before_action {
        members.push(("onFailure", json!("block")));
    }
    members
}

fn typed(entry: &Entry<'_>) -> Vec<Member> {
    vec![
        ("type", json!("command")),
        ("command", json!(shell(entry.words))),
        ("timeout", json!(entry.timeout)),
    ]
}

fn named(entry: &Entry<'_>) -> Vec<Member> {
    std::iter::once(("name", json!("crosier"))).chain(typed(entry)).collect()
}

fn copilot(entry: &Entry<'_>) -> Vec<Member> {
    vec![
        ("type", json!("command")),
        ("bash", json!(shell(entry.words))),
        ("timeoutSec", json!(entry.timeout)),
    ]
}

fn cursor(entry: &Entry<'_>) -> Vec<Member> {
    let mut members = vec![("command", json!(shell(entry.words))), ("timeout", json!(entry.timeout))];
    if entry.is_before_action {
        members.push(("failClosed", json!(true)));
    }
    members
}

fn windsurf(entry: &Entry<'_>) -> Vec<Member> {
    vec![("command", json!(shell(entry.words))), ("show_output", json!(true))]
}

fn crush(entry: &Entry<'_>) -> Vec<Member> {
    vec![
        ("name", json!("crosier")),
        ("command", json!(shell(entry.words))),
        ("timeout", json!(entry.timeout)),
    ]
}

fn kiro(entry: &Entry<'_>) -> Vec<Member> {
    vec![
        ("matcher", json!("*")),
        ("command", json!(shell(entry.words))),
        ("timeout_ms", json!(entry.timeout)),
    ]
}

const fn json(nesting: Nesting, handler: fn(&Entry<'_>) -> Vec<Member>, first: fn() -> Vec<Member>) -> Form {
    Form::Json { nesting, handler, first }
}

/// The defaults of a row.
const BASE: Row = Row {
    agent: "",
    programs: &[],
    folder: Folder::Home("", None),
    user: "",
    project: "",
    project_is_local: false,
    form: json(Nesting::Groups, typed, nothing),
    names_event: false,
    timeout_s: 600,
    end_timeout_s: 10,
    follow_up: "",
};

/// Every agent, in the order of the documentation.
pub static ALL: &[Row] = &[
    Row {
        agent: "claude",
        programs: &["claude"],
        folder: Folder::Home(".claude", Some("CLAUDE_CONFIG_DIR")),
        user: "settings.json",
        project: ".claude/settings.local.json",
        project_is_local: true,
        form: json(Nesting::Groups, claude, nothing),
        follow_up: "open sessions use it at once",
        ..BASE
    },
    Row {
        agent: "codex",
        programs: &["codex"],
        folder: Folder::Home(".codex", Some("CODEX_HOME")),
        user: "hooks.json",
        project: ".codex/hooks.json",
        // Codex allows at most three seconds at the end of a session.
        end_timeout_s: 3,
        ..BASE
    },
    Row {
        agent: "gemini",
        programs: &["gemini"],
        folder: Folder::OtherHome(".gemini", "GEMINI_CLI_HOME"),
        user: "settings.json",
        project: ".gemini/settings.json",
        form: json(Nesting::Groups, named, nothing),
        names_event: true,
        follow_up: "restart open sessions",
        ..BASE
    },
    Row {
        agent: "qwen",
        programs: &["qwen"],
        folder: Folder::Home(".qwen", Some("QWEN_HOME")),
        user: "settings.json",
        project: ".qwen/settings.json",
        form: json(Nesting::Groups, named, nothing),
        follow_up: "restart open sessions",
        ..BASE
    },
    Row {
        agent: "droid",
        programs: &["droid"],
        folder: Folder::Home(".factory", None),
        user: "settings.json",
        project: ".factory/settings.local.json",
        project_is_local: true,
        follow_up: "restart open sessions",
        ..BASE
    },
    Row {
        agent: "copilot",
        programs: &["copilot"],
        folder: Folder::Home(".copilot", None),
        user: "hooks/crosier.json",
        project: ".github/hooks/crosier.json",
        form: json(Nesting::Flat, copilot, version_1),
        names_event: true,
        follow_up: "restart open sessions",
        ..BASE
    },
    Row {
        agent: "cline",
        programs: &["cline"],
        folder: Folder::Home(".cline", None),
        user: "hooks",
        project: ".cline/hooks",
        form: Form::Programs,
        names_event: true,
        timeout_s: 30,
        follow_up: "in the editor, hooks must be switched on in Cline's settings",
        ..BASE
    },
    Row {
        agent: "opencode",
        programs: &["opencode"],
        folder: Folder::Config("opencode"),
        user: "plugins/crosier.ts",
        project: ".opencode/plugins/crosier.ts",
        form: Form::Plugin,
        timeout_s: 60,
        follow_up: "restart open sessions",
        ..BASE
    },
    Row {
        agent: "cursor",
        programs: &["cursor", "cursor-agent"],
        folder: Folder::Home(".cursor", None),
        user: "hooks.json",
        project: ".cursor/hooks.json",
        form: json(Nesting::Flat, cursor, version_1),
        timeout_s: 60,
        ..BASE
    },
    Row {
        agent: "windsurf",
        programs: &["windsurf"],
        folder: Folder::Home(".codeium/windsurf", None),
        user: "hooks.json",
        project: ".windsurf/hooks.json",
        form: json(Nesting::Flat, windsurf, nothing),
        timeout_s: 60,
        ..BASE
    },
    Row {
        agent: "crush",
        programs: &["crush"],
        folder: Folder::Config("crush"),
        user: "crush.json",
        project: ".crush.json",
        form: json(Nesting::Flat, crush, nothing),
        timeout_s: 30,
        ..BASE
    },
    Row {
        agent: "goose",
        programs: &["goose"],
        folder: Folder::Config("goose"),
        // Not below its folder: several agents share this folder of plugins.
        user: "~/.agents/plugins/crosier/hooks/hooks.json",
        project: ".agents/plugins/crosier/hooks/hooks.json",
        timeout_s: 30,
        ..BASE
    },
    Row {
        agent: "kimi",
        programs: &["kimi"],
        folder: Folder::Home(".kimi", Some("KIMI_SHARE_DIR")),
        user: "config.toml",
        form: Form::Toml,
        timeout_s: 30,
        ..BASE
    },
    Row {
        agent: "openhands",
        programs: &["openhands"],
        folder: Folder::Home(".openhands", None),
        user: "hooks.json",
        project: ".openhands/hooks.json",
        names_event: true,
        timeout_s: 60,
        ..BASE
    },
    Row {
        agent: "kiro",
        programs: &["kiro-cli", "kiro", "q"],
        folder: Folder::Home(".kiro", None),
        user: "agents/crosier.json",
        project: ".kiro/agents/crosier.json",
        form: json(Nesting::Flat, kiro, kiro_agent),
        timeout_s: 30,
        follow_up: "in Kiro, hooks belong to an agent: start it with `--agent crosier`, or copy `hooks` into the agent that \
               you use",
        ..BASE
    },
    Row {
        agent: "vscode",
        programs: &["code"],
        folder: Folder::Home(".vscode", None),
        // It reads the same folder as Copilot CLI, but needs a separate file, because it sends other events.
        user: "~/.copilot/hooks/crosier-vscode.json",
        project: ".github/hooks/crosier-vscode.json",
        form: json(Nesting::Flat, typed, nothing),
        timeout_s: 30,
        ..BASE
    },
];

/// The row of an agent.
#[must_use]
pub fn find(agent: &str) -> Option<&'static Row> {
    ALL.iter().find(|row| row.agent == agent)
}

/// Events that are always installed: those before an action, those at which the person is told, those that protect the
/// installed entries, and the end of a session, at which its state is removed.
const ALWAYS: &[&str] =
    &["PreToolUse", "PermissionRequest", "UserPromptSubmit", "SessionStart", "SessionEnd", "ConfigChange"];
/// Events that a project may have hooks for. An installation for the user also applies to projects that do not exist
/// yet, so these are installed even without a hook.
const FOR_ANY_PROJECT: &[&str] = &[
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "Notification",
];
/// Events before an action.
const BEFORE_ACTION: &[&str] = &["PreToolUse", "PermissionRequest"];

impl Row {
    /// What this agent sends and takes.
    #[must_use]
    pub fn dialect(&self) -> Option<&'static Agent> {
        crosier_dialect::find(self.agent)
    }

    /// The name that people use.
    #[must_use]
    pub fn title(&self) -> &'static str {
        self.dialect().map_or(self.agent, |agent| agent.title)
    }

    /// Whether this table was tested with the real program.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        self.dialect().is_some_and(|agent| matches!(agent.verification, Verification::Run(_)))
    }

    /// The file, or folder of programs, for the user.
    #[must_use]
    pub fn user_path(&self, places: &Places) -> PathBuf {
        match self.user.strip_prefix("~/") {
            Some(below) => places.home.join(below),
            None => self.folder.of(places).join(self.user),
        }
    }

    /// The same for a project; `None` when it has no such file.
    #[must_use]
    pub fn project_path(&self, places: &Places) -> Option<PathBuf> {
        (!self.project.is_empty()).then(|| places.project.join(self.project))
    }

    /// The events to install, as the agent calls them: those that are always installed, for the user those that any
    /// project may have hooks for, and those of hooks in force. Never one that the dialect excludes.
    #[must_use]
    pub fn events(&self, is_user: bool, in_force: &[String]) -> Vec<Event> {
        let mut events: Vec<Event> = Vec::new();
        for entry in self.dialect().map(|agent| agent.events).unwrap_or_default() {
            let known = |list: &[&str]| list.contains(&entry.event);
            let named = in_force.iter().any(|name| name == entry.event);
            let is_wanted = known(ALWAYS) || (is_user && known(FOR_ANY_PROJECT)) || named;
            let name = self.spelled(entry);
            if entry.install && is_wanted && !events.iter().any(|event| event.name == name) {
                events.push(Event {
                    name,
                    is_before_action: known(BEFORE_ACTION),
                    is_end: entry.event == "SessionEnd",
                });
            }
        }
        events
    }

    /// Copilot's events in Claude Code's spelling contain their name, so that spelling is used.
    fn spelled(&self, entry: &AgentEvent) -> &'static str {
        let own = entry.agent_names.iter().find(|name| name.starts_with(char::is_uppercase));
        match self.agent {
            "copilot" => own.copied().unwrap_or_else(|| entry.name()),
            _ => entry.name(),
        }
    }

    /// The timeout of an entry: in seconds for Crosier, which answers earlier, and in the agent's unit.
    #[must_use]
    pub fn timeout(&self, event: &Event) -> (u32, u64) {
        let seconds = if event.is_end { self.end_timeout_s.min(self.timeout_s) } else { self.timeout_s };
        let unit = self.dialect().map_or(TimeUnit::Seconds, |agent| agent.timeout.unit);
        let given =
            if unit == TimeUnit::Milliseconds { u64::from(seconds) * 1000 } else { u64::from(seconds) };
        (seconds - (seconds / 10).clamp(1, 5), given)
    }
}

/// One event of an agent that is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// The agent's name for it.
    pub name: &'static str,
    /// Whether it comes before an action.
    pub is_before_action: bool,
    /// Whether it is the end of a session.
    pub is_end: bool,
}
