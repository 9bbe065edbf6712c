//! What is checked in Copilot CLI.

use serde_json::json;

use super::expect::told;
use super::{Scenario, edge, shared};
use crate::agent::Agent;
use crate::model::Call;

pub(crate) fn copilot(agent: &dyn Agent) -> Vec<Scenario> {
    let mut scenarios = shared::basics(agent);
    scenarios.extend([
        shared::decisions(agent),
        shared::rewritten(shared::rewrites(agent)),
        shared::context_before(shared::outputs_changed(shared::outputs(agent))),
        shared::faulty_hooks(agent),
        shared::beginning(agent)
            .check("context of SessionStart arrives", told("CONTEXT-START"))
            .check("context of UserPromptSubmit arrives", told("CONTEXT-PROMPT")),
        shared::blocked_prompt(),
        shared::resume_once(agent),
        shared::resume_always(9),
        shared::halt(agent),
        edge::subagent(agent, spawn()),
        edge::secret(agent),
        shared::mcp_changed(shared::mcp(agent, "demo-touch")),
    ]);
    scenarios
}

fn spawn() -> Call {
    let input = json!({"description": "look", "prompt": "[[helper]] Look around.", "agent_type": "general-purpose", "name": "helper", "mode": "sync"});
    Call::new("spawn", "task", input)
}
