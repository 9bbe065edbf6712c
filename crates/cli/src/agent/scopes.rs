//! The hooks that a configuration has for kinds of agents.
//!
//! `agents:` of a configuration names agents. An agent that the loop starts gets the hooks under its own id and
//! those under its type, for as long as it lives. Those of the main agent are there from the start.

use crosier::Scope;
use crosier::config::{AgentConfig, Config};
use crosier_agent::agent::{AgentHooks, MAIN};

/// Takes the hooks of agents that come and go out of a configuration.
pub(crate) fn take(config: &mut Config) -> Box<AgentHooks> {
    let all = std::mem::take(&mut config.agents);
    let (main, others): (Vec<AgentConfig>, Vec<_>) = all.into_iter().partition(|agent| &*agent.id == MAIN);
    config.agents = main;
    Box::new(move |agent_id, agent_type| {
        let fits = |agent: &&AgentConfig| &*agent.id == agent_id || &*agent.id == agent_type;
        others.iter().filter(fits).fold(Scope::new(agent_id), |scope, agent| {
            let scope = scope.hooks(agent.hooks.iter().cloned());
            agent.overrides.iter().fold(scope, |scope, (event, ..)| scope.overriding(event.clone()))
        })
    })
}
