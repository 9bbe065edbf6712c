//! Why each hook of an event is in its plan, or not.

use std::fmt;
use std::sync::Arc;

use crosier_protocol::Event;

use super::Plan;
use super::select::View;
use crate::registry::{Entry, Registry};

/// Why a hook is in or out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inclusion {
    /// It runs.
    Planned,
    /// It is switched off.
    Disabled,
    /// The scope's `override` leaves it out.
    Overridden,
    /// Its matcher does not match the event.
    Unmatched,
    /// It belongs to the scope of another agent.
    OtherAgent,
}

impl fmt::Display for Inclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Planned => "planned",
            Self::Disabled => "disabled",
            Self::Overridden => "overridden by the agent",
            Self::Unmatched => "its matcher does not match",
            Self::OtherAgent => "belongs to another agent",
        })
    }
}

/// The plan of an event, and the hooks that are not in it.
#[derive(Debug)]
pub struct Explained {
    /// What will run.
    pub plan: Arc<Plan>,
    /// What will not, and why.
    pub out: Vec<(Arc<Entry>, Inclusion)>,
}

pub(super) fn explain(registry: &Registry, event: &Event, plan: Arc<Plan>) -> Explained {
    let place = event.kind().index();
    let view = View::of(registry, event.agent_id(), place);
    let planned = |entry: &Arc<Entry>| {
        plan.hooks().iter().chain(plan.observers()).any(|other| Arc::ptr_eq(entry, other))
    };
    let mine = view.lanes().flat_map(|lane| &lane.hooks);
    let mut out: Vec<(Arc<Entry>, Inclusion)> = mine
        .filter(|entry| !planned(entry))
        .map(|entry| {
            let standing = if !entry.enabled {
                Inclusion::Disabled
            } else if view.overridden && entry.scope.is_none() && !entry.system {
                Inclusion::Overridden
            } else {
                Inclusion::Unmatched
            };
            (Arc::clone(entry), standing)
        })
        .collect();
    if let Some(agent) = event.agent_id() {
        let others = registry.scopes.iter().filter(|scope| *scope.id != *agent);
        let hooks = others.flat_map(|scope| &scope.layer.lane(place).hooks);
        out.extend(hooks.map(|entry| (Arc::clone(entry), Inclusion::OtherAgent)));
    }
    Explained { plan, out }
}
