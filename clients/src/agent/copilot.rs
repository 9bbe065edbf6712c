//! GitHub Copilot CLI.

use std::process::Command;

use serde_json::json;

use super::Agent;
use crate::check::{self, Scenario};
use crate::model::Call;
use crate::run::Home;

pub(crate) struct Copilot;

impl Agent for Copilot {
    fn name(&self) -> &'static str {
        "copilot"
    }

    fn packages(&self) -> &'static [&'static str] {
        &["@github/copilot@1.0.102"]
    }

    fn events(&self) -> Vec<&'static str> {
        vec![
            "SessionStart",
            "SessionEnd",
            "UserPromptSubmit",
            "PreToolUse",
            "PermissionRequest",
            "PostToolUse",
            "PostToolUseFailure",
            "Stop",
            "SubagentStop",
        ]
    }

    fn configure(&self, home: &Home, scenario: &Scenario) -> anyhow::Result<()> {
        let mut hooks = json!({});
        for event in scenario.events_or(&self.events()) {
            // The payload of PermissionRequest does not name the event, so the command line does.
            hooks[*event] = json!([{"type": "command", "bash": home.line(event, true), "timeoutSec": 60}]);
        }
        home.write(".copilot/hooks/crosier.json", &json!({"version": 1, "hooks": hooks}).to_string())?;
        if scenario.mcp {
            let servers = super::servers(home, &json!({"type": "local", "tools": ["*"]}));
            home.write(".copilot/mcp-config.json", &servers.to_string())?;
        }
        Ok(())
    }

    fn arguments(&self, command: &mut Command, home: &Home, scenario: &Scenario, prompt: &str) {
        command.args(["-p", prompt]);
        if scenario.arguments.is_empty() {
            command.arg("--allow-all-tools");
        }
        command.args(&scenario.arguments);
        command
            .env("COPILOT_OFFLINE", "true")
            .env("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", home.url))
            .env("COPILOT_PROVIDER_API_KEY", "dummy")
            .env("COPILOT_MODEL", "fake")
            .env("COPILOT_AUTO_UPDATE", "false");
    }

    fn shell(&self, id: &'static str, command: &str) -> Call {
        Call::new(id, "bash", json!({"command": command, "description": "A step"}))
    }

    fn write(&self, id: &'static str, path: &str, content: &str) -> Call {
        Call::new(id, "create", json!({"path": format!("/PROJECT/{path}"), "file_text": content}))
    }

    fn read(&self, id: &'static str, path: &str) -> Call {
        Call::new(id, "view", json!({"path": format!("/PROJECT/{path}")}))
    }

    fn edit(&self, id: &'static str, path: &str, old: &str, new: &str) -> Call {
        Call::new(id, "edit", json!({"path": format!("/PROJECT/{path}"), "old_str": old, "new_str": new}))
    }

    fn scenarios(&self) -> Vec<Scenario> {
        check::copilot(self)
    }
}
