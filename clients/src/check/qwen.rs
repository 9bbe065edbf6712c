//! What is checked in one agent.

use super::{Scenario, shared};
use crate::agent::Agent;

pub(crate) fn qwen(agent: &dyn Agent) -> Vec<Scenario> {
    vec![shared::decisions(agent)]
}
