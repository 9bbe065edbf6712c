//! What is checked in Factory droid.

use super::expect::told;
use super::{Scenario, shared};
use crate::agent::Agent;

pub(crate) fn droid(agent: &dyn Agent) -> Vec<Scenario> {
    let mut scenarios = shared::basics(agent);
    scenarios.extend([
        shared::decisions(agent),
        shared::rewritten(shared::rewrites(agent)),
        shared::context_before(shared::outputs(agent))
            .check("context after a tool arrives", told("CONTEXT-POST")),
        shared::faulty_hooks(agent),
        shared::beginning(agent).check("context of SessionStart arrives", told("CONTEXT-START")),
        shared::resume_once(agent),
        shared::resume_always(9),
        shared::halt(agent),
        shared::mcp_told(shared::mcp(agent, "demo___touch")),
    ]);
    scenarios
}
