//! What is checked in opencode.

use serde_json::json;

use super::expect::told;
use super::{Scenario, edge, shared};
use crate::agent::Agent;
use crate::model::Call;

pub(crate) fn opencode(agent: &dyn Agent) -> Vec<Scenario> {
    let mut scenarios = shared::basics(agent);
    scenarios.extend([
        shared::decisions(agent),
        shared::rewritten(shared::rewrites(agent)),
        shared::context_before(shared::outputs_changed(shared::outputs(agent))),
        shared::faulty_hooks(agent),
        shared::beginning(agent).check("context of UserPromptSubmit arrives", told("CONTEXT-PROMPT")),
        shared::blocked_prompt(),
        shared::halt(agent),
        edge::secret(agent),
        edge::subagent(agent, spawn()),
        shared::mcp_changed(shared::mcp(agent, "demo_touch")),
    ]);
    scenarios
}

fn spawn() -> Call {
    let input =
        json!({"description": "look", "prompt": "[[helper]] Look around.", "subagent_type": "general"});
    Call::new("spawn", "task", input)
}
