//! Gemini CLI.

use std::process::Command;

use serde_json::json;

use super::Agent;
use crate::check::{self, Scenario};
use crate::model::Call;
use crate::run::Home;

pub(crate) struct Gemini;

impl Agent for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn packages(&self) -> &'static [&'static str] {
        &["@google/gemini-cli@0.61.0"]
    }

    fn configure(&self, home: &Home, scenario: &Scenario) -> anyhow::Result<()> {
        let mut settings = json!({
            // Milliseconds.
            "hooks": super::nested(home, scenario, &self.events(), 60_000),
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
            "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
            "privacy": {"usageStatisticsEnabled": false},
            "telemetry": {"enabled": false},
        });
        if scenario.mcp {
            super::merge(&mut settings, &super::servers(home, &json!({"trust": true})));
        }
        super::merge(&mut settings, &scenario.settings);
        home.write(".gemini/settings.json", &settings.to_string())
    }

    fn arguments(&self, command: &mut Command, home: &Home, scenario: &Scenario, prompt: &str) {
        command.args(["-m", "gemini-2.5-flash", "--yolo"]);
        command.args(&scenario.arguments);
        command.args(["-p", prompt]);
        command
            .env("GEMINI_API_KEY", "dummy")
            .env("GOOGLE_GEMINI_BASE_URL", &home.url)
            .env("GEMINI_CLI_TRUST_WORKSPACE", "true");
    }

    fn shell(&self, id: &'static str, command: &str) -> Call {
        Call::new(id, "run_shell_command", json!({"command": command, "description": "A step"}))
    }

    fn write(&self, id: &'static str, path: &str, content: &str) -> Call {
        Call::new(id, "write_file", json!({"file_path": format!("/PROJECT/{path}"), "content": content}))
    }

    fn read(&self, id: &'static str, path: &str) -> Call {
        Call::new(id, "read_file", json!({"file_path": format!("/PROJECT/{path}")}))
    }

    fn edit(&self, id: &'static str, path: &str, old: &str, new: &str) -> Call {
        let file = format!("/PROJECT/{path}");
        let input = json!({
            "file_path": file, "instruction": "Change the part", "old_string": old, "new_string": new,
        });
        Call::new(id, "replace", input)
    }

    fn scenarios(&self) -> Vec<Scenario> {
        check::gemini(self)
    }
}
