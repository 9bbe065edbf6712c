//! Subagents: made, started, run, stopped, done.

use std::sync::Arc;

use crosier::payload::{PostAgentComplete, PreAgentSpawn, SubagentStart};
use crosier::{ActionGate, Gates, Json, Scope};
use serde_json::json;

use super::actor::{Actor, End, Kind};
use crate::conversation::{Message, Role};
use crate::tool::ToolError;

/// The tool that starts a subagent.
pub(super) const TASK: &str = "Task";
/// Subagents of subagents of subagents are enough.
const MAX_DEPTH: usize = 3;

impl Actor {
    /// Runs a subagent to its end; its last words are the result.
    pub(super) async fn spawn(&mut self, input: &Json) -> Result<Json, ToolError> {
        let text = |key: &str| input.get(key).and_then(|value| value.as_str().map(|text| text.into_owned()));
        let prompt = text("prompt").ok_or_else(|| ToolError::new("Task needs a `prompt`"))?;
        let agent_type = text("agent_type").unwrap_or_else(|| "general".to_owned());
        if self.depth >= MAX_DEPTH {
            return Err(ToolError::new(format!("subagents are at most {MAX_DEPTH} deep")));
        }
        let agent_id = format!("{agent_type}-{}", self.parts.next_agent());
        let config = json!({"prompt": prompt, "agent_type": agent_type, "model": self.parts.model.name()});
        let event = PreAgentSpawn {
            agent_id: agent_id.clone(),
            agent_type: agent_type.clone(),
            config: config.into(),
            ..Default::default()
        };
        let prompt = match self.fire(event).await.action_gate() {
            ActionGate::Halt(halt) => return Err(ToolError::new(halt.reason)),
            ActionGate::Deny(refusal) => return Err(ToolError::new(refusal.reason.to_string())),
            ActionGate::Go(None) => prompt,
            ActionGate::Go(Some(config)) => config
                .get("prompt")
                .and_then(|new| new.as_str().map(|new| new.into_owned()))
                .unwrap_or(prompt),
        };
        let (end, result) = self.run_subagent(agent_id.clone(), agent_type, prompt).await?;
        self.notify("agent_completed", &format!("subagent {agent_id}: {}", end.word())).await;
        match end {
            End::Done => Ok(Json::from(result)),
            other => {
                Err(ToolError::new(format!("the subagent ended ({}): {}", other.word(), other.reason())))
            }
        }
    }

    /// Its scope lives from before its first event until after its last.
    pub(super) async fn run_subagent(
        &mut self,
        agent_id: String,
        agent_type: String,
        prompt: String,
    ) -> Result<(End, String), ToolError> {
        let parts = Arc::clone(&self.parts);
        let hooks = parts.agent_hooks.as_ref().map(|make| make(&agent_type)).unwrap_or_default();
        let scope = parts.engine.enter(Scope::new(agent_id.as_str()).hooks(hooks));
        let scope = scope.map_err(|error| ToolError::new(error.to_string()))?;
        let child = Actor::new(
            Arc::clone(&parts),
            agent_id.clone(),
            agent_type.clone(),
            Kind::Subagent,
            self.depth + 1,
            Vec::new(),
        );
        let mut child = child.map_err(|error| ToolError::new(error.to_string()))?;
        let start = SubagentStart {
            agent_id: agent_id.clone(),
            agent_type: agent_type.clone(),
            ..Default::default()
        };
        child.fire(start).await;
        child.say(Message::user(prompt)).map_err(|error| ToolError::new(error.to_string()))?;
        // A loop inside a loop: the compiler wants to know where its state is.
        let end = Box::pin(child.work()).await;
        let last = child.messages.iter().rfind(|message| message.role == Role::Assistant);
        let result = last.map(Message::words).unwrap_or_default();
        let done = PostAgentComplete {
            agent_id,
            agent_type,
            result: json!({"end": end.word(), "text": result}).into(),
            ..Default::default()
        };
        child.fire(done).await;
        drop(scope);
        Ok((end, result))
    }
}
