//! What is checked in one agent.

use super::{Scenario, shared};
use crate::agent::Agent;

pub(crate) fn claude(agent: &dyn Agent) -> Vec<Scenario> {
    vec![shared::decisions(agent)]
}
