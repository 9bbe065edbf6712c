//! What is checked in opencode.

use super::expect::told;
use super::{Scenario, shared};
use crate::agent::Agent;

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
        shared::mcp_changed(shared::mcp(agent, "demo_touch")),
    ]);
    scenarios
}
