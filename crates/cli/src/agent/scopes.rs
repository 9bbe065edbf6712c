//! The hooks that a configuration has for kinds of agents.
//!
//! `agents:` of a configuration names agents. An agent that the loop starts gets the hooks under its own id and
//! those under its type, for as long as it lives. Those of the main agent are registered from the start.

use std::sync::Arc;

use crosier::config::{AgentConfig, Config};
use crosier::{Layer, Scope, Sources};
use crosier_agent::agent::{AgentHooks, MAIN};

/// Removes the hooks of all agents but the main one from the layers, and returns them.
pub(crate) fn take(
    layers: &mut [(Layer, Config)],
    sources: impl Fn(Layer) -> Option<Arc<dyn Sources>>,
) -> Box<AgentHooks> {
    let mut others: Vec<(Layer, AgentConfig)> = Vec::new();
    for (layer, config) in layers {
        let all = std::mem::take(&mut config.agents);
        let (main, rest): (Vec<AgentConfig>, Vec<_>) = all.into_iter().partition(|agent| &*agent.id == MAIN);
        config.agents = main;
        let sources = sources(*layer);
        for mut agent in rest {
            if let Some(sources) = &sources {
                let hooks = agent.hooks.into_iter();
                agent.hooks = hooks.map(|hook| hook.with_sources(Arc::clone(sources))).collect();
            }
            others.push((*layer, agent));
        }
    }
    Box::new(move |agent_id, agent_type| {
        let fits = |(_, agent): &&(Layer, AgentConfig)| &*agent.id == agent_id || &*agent.id == agent_type;
        others.iter().filter(fits).fold(Scope::new(agent_id), |scope, (layer, agent)| {
            let scope = scope.hooks(agent.hooks.iter().cloned().map(|hook| hook.in_layer(*layer)));
            agent
                .overrides
                .iter()
                .fold(scope, |scope, (event, ..)| scope.overriding_in(*layer, event.clone()))
        })
    })
}
