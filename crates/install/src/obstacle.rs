//! What keeps an agent from running Crosier's entries in its settings.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::codex;
use crate::file;
use crate::json::{self, Document, Nesting};
use crate::places::Places;
use crate::plan::{Scope, config_of_codex};
use crate::table::Row;
use crate::toml;

/// The value of an agent's setting when hooks are switched off.
#[derive(Debug, Clone, Copy)]
enum Off {
    True,
    False,
    /// A list that contains the name of Crosier's hooks.
    Names,
}

/// Settings that switch hooks off: the agent, the path in the file, the value.
const SWITCHES: &[(&str, &str, Off)] = &[
    ("claude", "disableAllHooks", Off::True),
    ("claude", "allowManagedHooksOnly", Off::True),
    ("gemini", "hooksConfig.enabled", Off::False),
    ("gemini", "hooksConfig.disabled", Off::Names),
    ("gemini", "hooks.disabled", Off::Names),
    ("qwen", "hooksConfig.enabled", Off::False),
    ("qwen", "hooksConfig.disabled", Off::Names),
    ("qwen", "disableAllHooks", Off::True),
    ("droid", "hooksDisabled", Off::True),
    ("copilot", "disableAllHooks", Off::True),
];

/// Where an agent looks for those settings, besides the file with the hooks.
#[derive(Debug)]
struct Files {
    agent: &'static str,
    /// Below its folder.
    user: &'static [&'static str],
    /// Below the project.
    project: &'static [&'static str],
    machine: &'static [&'static str],
}

const FILES: &[Files] = &[
    Files {
        agent: "claude",
        user: &["settings.json"],
        project: &[".claude/settings.json", ".claude/settings.local.json"],
        machine: &[
            "/etc/claude-code/managed-settings.json",
            "/Library/Application Support/ClaudeCode/managed-settings.json",
        ],
    },
    Files {
        agent: "gemini",
        user: &["settings.json"],
        project: &[".gemini/settings.json"],
        machine: &["/etc/gemini-cli/settings.json"],
    },
    Files {
        agent: "qwen",
        user: &["settings.json"],
        project: &[".qwen/settings.json"],
        machine: &["/etc/qwen-code/settings.json"],
    },
    Files {
        agent: "droid",
        user: &["settings.json"],
        project: &[".factory/settings.json", ".factory/settings.local.json"],
        machine: &[],
    },
    Files {
        agent: "copilot",
        user: &["settings.json", "config.json", "hooks/crosier.json"],
        project: &[".github/copilot/settings.json", ".github/copilot/settings.local.json"],
        machine: &[],
    },
];

impl Row {
    /// Why the agent would not run Crosier's entries, one sentence each.
    #[must_use]
    pub fn obstacles(&self, places: &Places, scope: Scope) -> Vec<String> {
        let mut all = self.switched_off(places);
        if self.agent == "codex" {
            all.extend(self.codex(places, scope));
        }
        if self.agent == "gemini" && scope == Scope::Project {
            all.extend(self.gemini_folder(places));
        }
        all
    }

    fn switched_off(&self, places: &Places) -> Vec<String> {
        let Some(known) = FILES.iter().find(|files| files.agent == self.agent) else { return Vec::new() };
        let folder = self.folder.of(places);
        let user = known.user.iter().map(|file| folder.join(file));
        let project = known.project.iter().map(|file| places.project.join(file));
        let files = user.chain(project).chain(known.machine.iter().map(PathBuf::from));
        let mut all = Vec::new();
        for file in files {
            if let Some(key) = read(&file).and_then(|text| self.switch_in(&text)) {
                all.push(format!("`{key}` in {} switches hooks off", file.display()));
            }
        }
        all
    }

    /// The setting in this text that switches hooks off.
    pub(crate) fn switch_in(&self, text: &str) -> Option<&'static str> {
        let settings = json::value(text).ok()?;
        let is_off = |key: &str, off: Off| {
            let value = key.split('.').try_fold(&settings, |value, name| value.get(name));
            match (off, value) {
                (Off::True, Some(value)) => value == &Value::Bool(true),
                (Off::False, Some(value)) => value == &Value::Bool(false),
                (Off::Names, Some(Value::Array(names))) => names.iter().any(|name| name == "crosier"),
                _ => false,
            }
        };
        let mut own = SWITCHES.iter().filter(|(agent, ..)| *agent == self.agent);
        own.find(|(_, key, off)| is_off(key, *off)).map(|(_, key, _)| *key)
    }

    fn codex(&self, places: &Places, scope: Scope) -> Vec<String> {
        let config = config_of_codex(places);
        let document = toml::parse(&read(&config).unwrap_or_default()).unwrap_or_default();
        let mut all = Vec::new();
        let features = document.get("features");
        for name in ["hooks", "codex_hooks"] {
            let is_on = features.and_then(|features| features.get(name)).and_then(|value| value.as_bool());
            if is_on == Some(false) {
                all.push(format!("`features.{name}` in {} switches hooks off", config.display()));
            }
        }
        if scope == Scope::Project && !codex::is_trusted_project(&document, &places.project) {
            all.push(format!(
                "Codex loads a project's hooks only in a trusted project, and {} is not trusted: start `codex` there and trust it",
                places.project.display()
            ));
        }
        let Ok(hooks) = self.path(places, scope) else { return all };
        let text = read(&hooks).unwrap_or_default();
        let Ok(entries) = Document::parse(&text, Nesting::Groups, self.agent) else { return all };
        let keys = codex::trusted_hooks(&hooks, &entries.found());
        let untrusted =
            keys.iter().filter(|one| codex::stored(&document, &one.key).as_ref() != Some(&one.hash));
        let untrusted = untrusted.count();
        if untrusted > 0 {
            all.push(format!(
                "Codex skips {untrusted} of {} entries, which are not trusted: start `codex` and trust them, or run \
                 `crosier install codex --trust`",
                keys.len()
            ));
        }
        if keys.iter().any(|one| codex::is_off(&document, &one.key)) {
            all.push(format!(
                "`enabled = false` below `hooks.state` in {} switches entries off",
                config.display()
            ));
        }
        all
    }

    /// Gemini CLI loads a project's hooks only in a folder that it trusts.
    fn gemini_folder(&self, places: &Places) -> Option<String> {
        let file = self.folder.of(places).join("trustedFolders.json");
        let folders = read(&file).and_then(|text| json::value(&text).ok()).unwrap_or(Value::Null);
        let is_trusted =
            folders.as_object().into_iter().flatten().any(|(folder, level)| match level.as_str() {
                Some("TRUST_FOLDER") => places.project.starts_with(folder),
                Some("TRUST_PARENT") => {
                    Path::new(folder).parent().is_some_and(|parent| places.project.starts_with(parent))
                }
                _ => false,
            });
        (!is_trusted).then(|| {
            format!(
                "Gemini CLI loads a project's hooks only in a trusted folder, and {} is not trusted",
                places.project.display()
            )
        })
    }
}

fn read(path: &Path) -> Option<String> {
    file::read(path).ok().flatten().and_then(|there| String::from_utf8(there.bytes).ok())
}
