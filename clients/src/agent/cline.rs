//! Cline CLI.

use std::process::Command;

use serde_json::json;

use super::Agent;
use crate::check::{self, Scenario};
use crate::model::Call;
use crate::run::Home;

pub(crate) struct Cline;

impl Agent for Cline {
    fn name(&self) -> &'static str {
        "cline"
    }

    fn packages(&self) -> &'static [&'static str] {
        &["cline@3.0.65"]
    }

    fn events(&self) -> Vec<&'static str> {
        vec!["TaskStart", "PreToolUse", "PostToolUse", "TaskComplete"]
    }

    fn configure(&self, home: &Home, scenario: &Scenario) -> anyhow::Result<()> {
        for event in scenario.events_or(&self.events()) {
            // Its hooks are programs, each named after its event.
            home.write(
                &format!(".cline/hooks/{event}"),
                &format!("#!/bin/sh\nexec {}\n", home.line(event, true)),
            )?;
        }
        if scenario.mcp {
            let servers = super::servers(home, &json!({"autoApprove": ["touch", "fail"]}));
            home.write(".cline/data/settings/cline_mcp_settings.json", &servers.to_string())?;
        }
        Ok(())
    }

    fn before(&self, home: &Home) -> Vec<Command> {
        let mut command = Command::new(&home.installed.program);
        command.args(["auth", "-p", "openai-compatible", "-k", "dummy", "-m", "fake"]);
        command.args(["-b", &format!("{}/v1", home.url)]);
        vec![command]
    }

    fn arguments(&self, command: &mut Command, _home: &Home, scenario: &Scenario, prompt: &str) {
        command.args(&scenario.arguments).arg(prompt);
    }

    fn shell(&self, id: &'static str, command: &str) -> Call {
        Call::new(id, "run_commands", json!({"commands": [command]}))
    }

    fn write(&self, id: &'static str, path: &str, content: &str) -> Call {
        Call::new(id, "editor", json!({"path": format!("/PROJECT/{path}"), "new_text": content}))
    }

    fn read(&self, id: &'static str, path: &str) -> Call {
        Call::new(id, "read_files", json!({"files": [{"path": format!("/PROJECT/{path}")}]}))
    }

    fn edit(&self, id: &'static str, path: &str, old: &str, new: &str) -> Call {
        Call::new(id, "editor", json!({"path": format!("/PROJECT/{path}"), "old_text": old, "new_text": new}))
    }

    fn scenarios(&self) -> Vec<Scenario> {
        check::cline(self)
    }
}
