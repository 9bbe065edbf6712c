//! Claude Code.

use std::process::Command;

use serde_json::json;

use super::Agent;
use crate::check::{self, Scenario};
use crate::model::Call;
use crate::run::Home;

pub(crate) struct Claude;

impl Agent for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn packages(&self) -> &'static [&'static str] {
        &["@anthropic-ai/claude-code@2.1.325"]
    }

    fn events(&self) -> Vec<&'static str> {
        // A hook on WorktreeCreate replaces `git worktree`.
        let mut events = super::events_of(self.name());
        events.retain(|event| *event != "WorktreeCreate");
        events
    }

    fn configure(&self, home: &Home, scenario: &Scenario) -> anyhow::Result<()> {
        let mut settings = json!({"hooks": super::nested(home, scenario, &self.events(), 60)});
        super::merge(&mut settings, &scenario.settings);
        if settings.get("permissions").is_none() {
            settings["permissions"] =
                json!({"allow": ["Bash", "Write", "Edit", "Read", "NotebookEdit", "mcp__demo"]});
        }
        home.write(".claude/settings.json", &settings.to_string())?;
        let trusted = json!({"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true});
        let state = json!({"hasCompletedOnboarding": true, "projects": {home.project().display().to_string(): trusted}});
        home.write(".claude/.claude.json", &state.to_string())?;
        if scenario.mcp {
            home.write("mcp.json", &super::servers(home, &json!({})).to_string())?;
        }
        Ok(())
    }

    fn arguments(&self, command: &mut Command, home: &Home, scenario: &Scenario, prompt: &str) {
        command.args(["-p", prompt, "--output-format", "stream-json", "--verbose"]);
        command.args(["--model", "claude-sonnet-4-5"]);
        if scenario.mcp {
            command.arg("--mcp-config").arg(home.user().join("mcp.json"));
        }
        command.args(&scenario.arguments);
        command
            .env("ANTHROPIC_BASE_URL", &home.url)
            .env("ANTHROPIC_API_KEY", "dummy")
            .env("CLAUDE_CONFIG_DIR", home.user().join(".claude"))
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            // Offer all tools from the start, including those of MCP servers.
            .env("ENABLE_TOOL_SEARCH", "false")
            .env("DISABLE_AUTOUPDATER", "1");
    }

    fn continued(&self) -> &'static [&'static str] {
        &["--continue"]
    }

    fn shell(&self, id: &'static str, command: &str) -> Call {
        Call::new(id, "Bash", json!({"command": command, "description": "A step"}))
    }

    fn write(&self, id: &'static str, path: &str, content: &str) -> Call {
        Call::new(id, "Write", json!({"file_path": format!("/PROJECT/{path}"), "content": content}))
    }

    fn read(&self, id: &'static str, path: &str) -> Call {
        Call::new(id, "Read", json!({"file_path": format!("/PROJECT/{path}")}))
    }

    fn edit(&self, id: &'static str, path: &str, old: &str, new: &str) -> Call {
        let input = json!({"file_path": format!("/PROJECT/{path}"), "old_string": old, "new_string": new});
        Call::new(id, "Edit", input)
    }

    fn scenarios(&self) -> Vec<Scenario> {
        check::claude(self)
    }
}
