//! Codex.

use std::process::Command;

use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::Agent;
use crate::check::{self, Scenario};
use crate::model::Call;
use crate::run::Home;

pub(crate) struct Codex;

const EVENTS: [(&str, &str); 12] = [
    ("SessionStart", "session_start"),
    ("SessionEnd", "session_end"),
    ("UserPromptSubmit", "user_prompt_submit"),
    ("PreToolUse", "pre_tool_use"),
    ("PermissionRequest", "permission_request"),
    ("PostToolUse", "post_tool_use"),
    ("PreCompact", "pre_compact"),
    ("PostCompact", "post_compact"),
    ("SubagentStart", "subagent_start"),
    ("SubagentStop", "subagent_stop"),
    ("Stop", "stop"),
    ("Interrupt", "interrupt"),
];

impl Agent for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn packages(&self) -> &'static [&'static str] {
        &["@openai/codex@0.166.0"]
    }

    fn configure(&self, home: &Home, scenario: &Scenario) -> anyhow::Result<()> {
        let project = home.project().display().to_string();
        let mut settings = json!({
            "model": "gpt-5.5", "model_provider": "fake", "sandbox_mode": "danger-full-access",
            "check_for_update_on_startup": false,
        });
        super::merge(&mut settings, &scenario.settings);
        // Strings, numbers and lists of them are written the same way in JSON and TOML.
        let settings = settings.as_object().into_iter().flatten();
        let config: String = settings.map(|(key, value)| format!("{key} = {value}\n")).collect();
        let mut more = String::new();
        more += &format!(
            "[model_providers.fake]\nname = \"Fake\"\nbase_url = \"{}/v1\"\nwire_api = \"responses\"\n\
             env_key = \"FAKE_API_KEY\"\nrequest_max_retries = 0\nstream_max_retries = 0\n\
             [projects.\"{project}\"]\ntrust_level = \"trusted\"\n",
            home.url
        );
        if scenario.mcp {
            more += &format!(
                "[mcp_servers.demo]\ncommand = \"{}\"\nargs = [\"mcp\"]\ncwd = \"{project}\"\n\
                 default_tools_approval_mode = \"approve\"\n",
                home.itself()
            );
        }
        let file = home.user().join(".codex/hooks.json").display().to_string();
        let mut hooks = json!({});
        for (event, key) in EVENTS {
            let is_left_out = !scenario.events.is_empty() && !scenario.events.contains(&event);
            if is_left_out || scenario.set_up_by_init {
                continue;
            }
            let command = home.line(event, false);
            let timeout = if matches!(event, "SessionEnd" | "Interrupt") { 3 } else { 60 };
            hooks[event] = json!([{"hooks": [{"type": "command", "command": command, "timeout": timeout}]}]);
            // Codex silently skips a hook whose hash is not trusted.
            let handler = json!({"async": false, "command": command, "timeout": timeout, "type": "command"});
            let hashed = json!({"event_name": key, "hooks": [handler]}).to_string();
            let digest = Sha256::digest(hashed.as_bytes());
            let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            more += &format!("[hooks.state.\"{file}:{key}:0:0\"]\ntrusted_hash = \"sha256:{digest}\"\n");
        }
        home.write(".codex/hooks.json", &json!({"hooks": hooks}).to_string())?;
        home.write(".codex/config.toml", &(config + &more))
    }

    fn arguments(&self, command: &mut Command, home: &Home, scenario: &Scenario, prompt: &str) {
        command.args(["exec", "--skip-git-repo-check"]);
        command.args(&scenario.arguments);
        command.arg(prompt);
        command.env("CODEX_HOME", home.user().join(".codex")).env("FAKE_API_KEY", "dummy");
    }

    fn shell(&self, id: &'static str, command: &str) -> Call {
        Call::new(id, "exec_command", json!({"cmd": command}))
    }

    fn write(&self, id: &'static str, path: &str, content: &str) -> Call {
        let lines: String = content.lines().map(|line| format!("+{line}\n")).collect();
        patch(id, &format!("*** Add File: {path}\n{lines}"))
    }

    fn read(&self, id: &'static str, path: &str) -> Call {
        self.shell(id, &format!("cat {path}"))
    }

    fn edit(&self, id: &'static str, path: &str, old: &str, new: &str) -> Call {
        patch(id, &format!("*** Update File: {path}\n@@\n-{old}\n+{new}\n"))
    }

    fn scenarios(&self) -> Vec<Scenario> {
        check::codex(self)
    }
}

/// A patch with these parts.
pub(crate) fn patch(id: &'static str, parts: &str) -> Call {
    Call::new(id, "apply_patch", json!(format!("*** Begin Patch\n{parts}*** End Patch\n")))
}
