//! opencode.

use std::process::Command;

use crosier_dialect::agent::opencode_plugin;
use serde_json::json;

use super::Agent;
use crate::check::{self, Scenario};
use crate::model::Call;
use crate::run::{Home, Hook};

pub(crate) struct Opencode;

impl Agent for Opencode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn packages(&self) -> &'static [&'static str] {
        &["opencode-ai@1.18.33"]
    }

    fn configure(&self, home: &Home, scenario: &Scenario) -> anyhow::Result<()> {
        let model =
            json!({"name": "Fake", "tool_call": true, "limit": {"context": 200_000, "output": 8_000}});
        let provider = json!({
            "npm": "@ai-sdk/openai-compatible", "name": "Fake",
            "options": {"baseURL": format!("{}/v1", home.url), "apiKey": "dummy"},
            "models": {"fake-model": model},
        });
        let mut settings = json!({
            "provider": {"fake": provider}, "model": "fake/fake-model", "small_model": "fake/fake-model",
            "autoupdate": false, "share": "disabled",
        });
        if scenario.mcp {
            let server = json!({"type": "local", "command": [home.itself(), "mcp"], "enabled": true});
            settings["mcp"] = json!({"demo": server});
        }
        super::merge(&mut settings, &scenario.settings);
        home.write(".config/opencode/opencode.json", &settings.to_string())?;
        if scenario.set_up_by_init {
            return Ok(());
        }
        let words = home.words("", false);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let plugin = match &home.hook {
            Hook::Recorder { .. } => RECORDER.replace("COMMAND", &json!(words).to_string()),
            Hook::Crosier { .. } => opencode_plugin(&words),
        };
        home.write(".config/opencode/plugins/crosier.ts", &plugin)
    }

    fn arguments(&self, command: &mut Command, _home: &Home, scenario: &Scenario, prompt: &str) {
        command.arg("run").args(&scenario.arguments).arg(prompt);
        command.env("OPENCODE_DISABLE_MODELS_FETCH", "1").env("OPENCODE_DISABLE_AUTOUPDATE", "1");
        command.env("OPENCODE_DISABLE_LSP_DOWNLOAD", "1");
    }

    fn shell(&self, id: &'static str, command: &str) -> Call {
        Call::new(id, "bash", json!({"command": command, "description": "A step"}))
    }

    fn write(&self, id: &'static str, path: &str, content: &str) -> Call {
        Call::new(id, "write", json!({"filePath": format!("/PROJECT/{path}"), "content": content}))
    }

    fn read(&self, id: &'static str, path: &str) -> Call {
        Call::new(id, "read", json!({"filePath": format!("/PROJECT/{path}")}))
    }

    fn edit(&self, id: &'static str, path: &str, old: &str, new: &str) -> Call {
        let input = json!({"filePath": format!("/PROJECT/{path}"), "oldString": old, "newString": new});
        Call::new(id, "edit", input)
    }

    fn scenarios(&self) -> Vec<Scenario> {
        check::opencode(self)
    }
}

/// A plugin that passes everything to the recorder.
const RECORDER: &str = r#"import { spawnSync } from "node:child_process"
const command = COMMAND
const record = (name) => async (input, output) => {
  const [program, ...words] = [...command.slice(0, -1), name]
  spawnSync(program, words, { input: JSON.stringify({ name, tool: input?.tool, input, output }) })
}
const names = ["tool.execute.before", "tool.execute.after", "chat.message", "chat.params", "permission.ask", "shell.env"]
export const Crosier = async () => ({
  ...Object.fromEntries(names.map((name) => [name, record(name)])),
  event: async ({ event }) => record(`event.${event.type}`)(event, {}),
})
"#;
