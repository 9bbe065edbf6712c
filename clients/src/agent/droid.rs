//! Factory droid.

use std::process::Command;

use serde_json::json;

use super::Agent;
use crate::check::{self, Scenario};
use crate::model::Call;
use crate::run::Home;

pub(crate) struct Droid;

impl Agent for Droid {
    fn name(&self) -> &'static str {
        "droid"
    }

    fn packages(&self) -> &'static [&'static str] {
        &["droid@0.215.0"]
    }

    fn configure(&self, home: &Home, scenario: &Scenario) -> anyhow::Result<()> {
        let model = json!({
            "model": "fake", "displayName": "Fake", "baseUrl": format!("{}/v1", home.url), "apiKey": "dummy",
            "provider": "generic-chat-completion-api", "maxOutputTokens": 4096,
        });
        let mut settings = json!({
            "hooks": super::nested(home, scenario, &self.events(), 60),
            "customModels": [model],
            "cloudSessionSync": false,
        });
        super::merge(&mut settings, &scenario.settings);
        home.write(".factory/settings.json", &settings.to_string())?;
        if scenario.mcp {
            let servers = super::servers(home, &json!({"type": "stdio"}));
            home.write(".factory/mcp.json", &servers.to_string())?;
        }
        Ok(())
    }

    fn arguments(&self, command: &mut Command, _home: &Home, scenario: &Scenario, prompt: &str) {
        command.args(["exec", "--auto", "high", "-m", "custom:Fake-0"]);
        command.args(&scenario.arguments).arg(prompt);
        command.env("FACTORY_API_KEY", "fk-dummy");
    }

    fn shell(&self, id: &'static str, command: &str) -> Call {
        let input =
            json!({"command": command, "summary": "A step", "riskLevel": "low", "riskLevelReason": "a test"});
        Call::new(id, "Execute", input)
    }

    fn write(&self, id: &'static str, path: &str, content: &str) -> Call {
        Call::new(id, "Create", json!({"file_path": format!("/PROJECT/{path}"), "content": content}))
    }

    fn read(&self, id: &'static str, path: &str) -> Call {
        Call::new(id, "Read", json!({"file_path": format!("/PROJECT/{path}")}))
    }

    fn edit(&self, id: &'static str, path: &str, old: &str, new: &str) -> Call {
        Call::new(
            id,
            "Edit",
            json!({"file_path": format!("/PROJECT/{path}"), "old_str": old, "new_str": new}),
        )
    }

    fn scenarios(&self) -> Vec<Scenario> {
        check::droid(self)
    }
}
