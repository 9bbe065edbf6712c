//! What is checked in Copilot CLI.

use super::expect::told;
use super::{Scenario, edge, shared};
use crate::agent::Agent;

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
        edge::secret(agent),
        shared::mcp_changed(shared::mcp(agent, "demo-touch")),
    ]);
    scenarios
}
