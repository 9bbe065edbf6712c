//! What is checked in Cline CLI.

use super::expect::ended;
use super::{Scenario, shared};
use crate::agent::Agent;

pub(crate) fn cline(agent: &dyn Agent) -> Vec<Scenario> {
    let mut scenarios = shared::basics(agent);
    scenarios.extend([
        shared::decisions(agent),
        shared::rewritten(shared::rewrites(agent)),
        shared::context_before(shared::outputs(agent)),
        shared::faulty_hooks(agent),
        shared::halt(agent),
        shared::mcp(agent, "demo__touch")
            .check("a denial that Cline cannot tell the model ends the run", ended()),
    ]);
    scenarios
}
