//! Qwen Code.

use std::process::Command;

use serde_json::json;

use super::Agent;
use crate::check::{self, Scenario};
use crate::model::Call;
use crate::run::Home;

pub(crate) struct Qwen;

impl Agent for Qwen {
    fn name(&self) -> &'static str {
        "qwen"
    }

    fn packages(&self) -> &'static [&'static str] {
        // It needs a newer Node.js than many machines have.
        &["@qwen-code/qwen-code@0.24.4", "node@22"]
    }

    fn events(&self) -> Vec<&'static str> {
        vec![
            "PreToolUse",
            "PostToolUse",
            "PostToolUseFailure",
            "PostToolBatch",
            "Notification",
            "UserPromptSubmit",
            "SessionStart",
            "SessionEnd",
            "Stop",
            "SubagentStart",
            "SubagentStop",
            "PreCompact",
        ]
    }

    fn configure(&self, home: &Home, scenario: &Scenario) -> anyhow::Result<()> {
        let mut settings = json!({
            "hooks": super::nested(home, scenario, &self.events(), 60),
            "security": {"auth": {"selectedType": "openai"}},
            "memory": {"enableManagedAutoMemory": false},
            "general": {"enableAutoUpdate": false, "disableAutoUpdate": true},
            "privacy": {"usageStatisticsEnabled": false},
            "telemetry": {"enabled": false},
        });
        if scenario.mcp {
            super::merge(&mut settings, &super::servers(home, &json!({"trust": true})));
        }
        super::merge(&mut settings, &scenario.settings);
        home.write(".qwen/settings.json", &settings.to_string())
    }

    fn arguments(&self, command: &mut Command, home: &Home, scenario: &Scenario, prompt: &str) {
        command.arg("--yolo").args(&scenario.arguments).args(["-p", prompt]);
        command
            .env("OPENAI_API_KEY", "dummy")
            .env("OPENAI_BASE_URL", format!("{}/v1", home.url))
            .env("OPENAI_MODEL", "fake");
    }

    fn shell(&self, id: &'static str, command: &str) -> Call {
        let input = json!({"command": command, "description": "A step", "is_background": false});
        Call::new(id, "run_shell_command", input)
    }

    fn write(&self, id: &'static str, path: &str, content: &str) -> Call {
        Call::new(id, "write_file", json!({"file_path": format!("/PROJECT/{path}"), "content": content}))
    }

    fn read(&self, id: &'static str, path: &str) -> Call {
        Call::new(id, "read_file", json!({"file_path": format!("/PROJECT/{path}")}))
    }

    fn edit(&self, id: &'static str, path: &str, old: &str, new: &str) -> Call {
        let input = json!({"file_path": format!("/PROJECT/{path}"), "old_string": old, "new_string": new});
        Call::new(id, "edit", input)
    }

    fn scenarios(&self) -> Vec<Scenario> {
        check::qwen(self)
    }
}
