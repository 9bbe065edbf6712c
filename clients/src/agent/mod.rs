//! The agents: how each is installed, configured and started, and how its tools are called.

mod claude;
mod cline;
mod codex;
mod copilot;
mod droid;
mod gemini;
mod opencode;
mod qwen;

pub(crate) use codex::patch;

use std::process::Command;

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::check::Scenario;
use crate::model::Call;
use crate::run::Home;

/// One agent. Paths in calls begin with `/PROJECT`, which is replaced by the project of the run.
pub(crate) trait Agent: Sync {
    /// Its name, as in `crosier hook NAME`.
    fn name(&self) -> &'static str;
    /// The npm packages to install, the agent's own first, each with its version.
    fn packages(&self) -> &'static [&'static str];
    /// Its version: that of its package.
    fn version(&self) -> &'static str {
        self.packages()
            .first()
            .and_then(|package| package.rsplit_once('@'))
            .map_or("", |(_, version)| version)
    }
    /// The name of its program.
    fn program(&self) -> &'static str {
        self.name()
    }
    /// The events to ask for, by the agent's own names.
    fn events(&self) -> Vec<&'static str> {
        events_of(self.name())
    }
    /// Writes its settings: the model, no permission prompts, the hooks.
    fn configure(&self, home: &Home, scenario: &Scenario) -> anyhow::Result<()>;
    /// Commands to run before it.
    fn before(&self, _home: &Home) -> Vec<Command> {
        Vec::new()
    }
    /// Sets its arguments and environment variables for a prompt.
    fn arguments(&self, command: &mut Command, home: &Home, scenario: &Scenario, prompt: &str);
    /// The arguments that continue the previous session.
    fn continued(&self) -> &'static [&'static str] {
        &[]
    }
    /// A call of its shell tool.
    fn shell(&self, id: &'static str, command: &str) -> Call;
    /// A call that writes a file.
    fn write(&self, id: &'static str, path: &str, content: &str) -> Call;
    /// A call that reads a file.
    fn read(&self, id: &'static str, path: &str) -> Call;
    /// A call that changes a part of a file.
    fn edit(&self, id: &'static str, path: &str, old: &str, new: &str) -> Call;
    /// Its scenarios.
    fn scenarios(&self) -> Vec<Scenario>;
}

/// All agents.
pub(crate) static AGENTS: [&dyn Agent; 8] = [
    &claude::Claude,
    &codex::Codex,
    &gemini::Gemini,
    &qwen::Qwen,
    &droid::Droid,
    &copilot::Copilot,
    &cline::Cline,
    &opencode::Opencode,
];

/// An agent by its name.
pub(crate) fn named(name: &str) -> anyhow::Result<&'static dyn Agent> {
    let known = || AGENTS.iter().map(|agent| agent.name()).collect::<Vec<_>>().join(", ");
    let found = AGENTS.iter().find(|agent| agent.name() == name).copied();
    found.with_context(|| format!("no agent is called `{name}`; there are {}, and `all`", known()))
}

/// Every event of an agent that its dialect knows, by the agent's own names.
fn events_of(agent: &str) -> Vec<&'static str> {
    let known = crosier_dialect::find(agent).map(|agent| agent.events).unwrap_or_default();
    let mut events: Vec<&str> = known.iter().filter_map(|event| event.agent_names.first().copied()).collect();
    // Several entries may read one event of the agent; they are adjacent.
    events.dedup();
    events
}

/// The setting that starts this program as the MCP server `demo`, with the keys that only this agent has.
fn servers(home: &Home, more: &Value) -> Value {
    let mut server = json!({"command": home.itself(), "args": ["mcp"]});
    merge(&mut server, more);
    json!({"mcpServers": {"demo": server}})
}

/// Hooks in the form that several agents share: `{EVENT: [{"hooks": [HANDLER]}]}`, with a timeout in the agent's unit.
fn nested(home: &Home, scenario: &Scenario, events: &[&'static str], timeout: u64) -> Value {
    let mut hooks = json!({});
    for event in scenario.events_or(events) {
        let handler = json!({"type": "command", "command": home.line(event, false), "timeout": timeout});
        hooks[*event] = json!([{"hooks": [handler]}]);
    }
    hooks
}

/// Adds keys to settings.
fn merge(settings: &mut Value, more: &Value) {
    if let Value::Object(more) = more {
        for (key, value) in more {
            settings[key] = value.clone();
        }
    }
}
