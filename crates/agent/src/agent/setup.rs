//! What one agent works with: its instructions, its tools, its turns. Hooks on a spawn may change them.

use std::sync::Arc;

use crosier::Json;
use crosier::protocol::json;
use crosier::protocol::ordered::{Map, Value};

use super::session_context::SessionContext;
use crate::tool::{Tool, ToolSpec};

/// What one agent works with.
#[derive(Clone)]
pub(super) struct AgentSetup {
    pub(super) prompt: String,
    pub(super) agent_type: String,
    pub(super) system_prompt: String,
    pub(super) max_turns: usize,
    pub(super) tools: Vec<Arc<dyn Tool>>,
}

impl std::fmt::Debug for AgentSetup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentSetup").field("agent_type", &self.agent_type).finish_non_exhaustive()
    }
}

impl AgentSetup {
    /// Everything that the session has.
    pub(super) fn all(session_context: &SessionContext, agent_type: &str, prompt: &str) -> Self {
        Self {
            prompt: prompt.to_owned(),
            agent_type: agent_type.to_owned(),
            system_prompt: session_context.settings.system_prompt.clone(),
            max_turns: session_context.settings.max_turns,
            tools: session_context.tools.clone(),
        }
    }

    pub(super) fn tool(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.spec().name == name)
    }

    pub(super) fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|tool| tool.spec().clone()).collect()
    }

    pub(super) fn names(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| tool.spec().name.as_str()).collect()
    }

    /// The `config` of PreAgentSpawn.
    pub(super) fn to_json(&self) -> Json {
        json!({
            "prompt": self.prompt,
            "agent_type": self.agent_type,
            "system_prompt": self.system_prompt,
            "max_turns": self.max_turns,
            "tools": self.names(),
        })
        .into()
    }

    /// Applies the changes of a hook. A part that cannot be understood is reported and stays as it was. Tools can only
    /// be removed.
    pub(super) fn changed(mut self, config: &Json) -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        let entries = match config.to_ordered() {
            Some(Value::Object(entries)) => entries,
            _ => {
                problems.push(format!("config is not an object but {}", config.kind_word()));
                Map::new()
            }
        };
        for (key, value) in entries {
            match (key.as_str(), value) {
                ("prompt", Value::String(text)) => self.prompt = text,
                ("agent_type", Value::String(text)) => self.agent_type = text,
                ("system_prompt", Value::String(text)) => self.system_prompt = text,
                ("max_turns", Value::Number(turns)) if turns.is_u64() => {
                    // A number that does not fit means no limit.
                    let turns = turns.as_u64().and_then(|turns| usize::try_from(turns).ok());
                    self.max_turns = turns.unwrap_or(usize::MAX);
                }
                ("tools", Value::Array(names)) => {
                    let wanted: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
                    for name in wanted.iter().filter(|&&name| self.tool(name).is_none()) {
                        problems.push(format!("config.tools: there is no tool {name}"));
                    }
                    self.tools.retain(|tool| wanted.contains(&tool.spec().name.as_str()));
                }
                _ => problems.push(format!("config.{key} is not a setting of an agent")),
            }
        }
        (self, problems)
    }
}
