//! What is checked in Cline CLI.

use super::expect::ended;
use super::{Scenario, shared};
use crate::agent::Agent;

pub(crate) fn cline(agent: &dyn Agent) -> Vec<Scenario> {
    vec![
        shared::decisions(agent),
        shared::force_push(agent),
        shared::first_minute(agent),
        shared::rewritten(shared::rewrites(agent)),
        shared::context_before(shared::outputs(agent)),
        shared::files(agent),
        shared::broken_configuration(agent),
        shared::no_configuration(agent),
        shared::faulty_hooks(agent),
        shared::deadline(agent),
        shared::halt(agent),
        shared::mcp(agent, "demo__touch")
            .check("a denial that Cline cannot tell the model ends the run", ended()),
    ]
}
