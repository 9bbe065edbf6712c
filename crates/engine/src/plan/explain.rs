//! Explains why each hook of an event is in its plan or not.

use std::fmt;
use std::sync::Arc;

use crosier_protocol::Event;

use super::Plan;
use super::select::View;
use crate::registry::{Entry, EventHooks, Registry};

/// Why a hook is in a plan, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Inclusion {
    /// It runs.
    Planned,
    /// It is disabled.
    Disabled,
    /// The scope's `override` leaves it out.
    Overridden,
    /// Its matcher does not match the event.
    Unmatched,
    /// It belongs to the scope of another agent.
    OtherAgent,
}

impl Inclusion {
    /// A stable name, for programs.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Disabled => "disabled",
            Self::Overridden => "overridden",
            Self::Unmatched => "matcher",
            Self::OtherAgent => "other_agent",
        }
    }
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
#[non_exhaustive]
pub struct Explanation {
    /// What will run.
    pub plan: Arc<Plan>,
    /// What will not run, and why.
    pub excluded: Vec<(Arc<Entry>, Inclusion)>,
}

pub(super) fn explain(registry: &Registry, event: &Event, plan: Arc<Plan>) -> Explanation {
    let index = event.kind().index();
    let view = View::of(registry, event.agent_id(), index);
    let planned = |entry: &Arc<Entry>| {
        plan.hooks().iter().chain(plan.observers()).any(|other| Arc::ptr_eq(entry, other))
    };
    let own = view.sets().flat_map(EventHooks::entries);
    let mut excluded: Vec<(Arc<Entry>, Inclusion)> = own
        .filter(|entry| !planned(entry))
        .map(|entry| {
            let inclusion = if !entry.enabled {
                Inclusion::Disabled
            } else if view.is_overridden(entry) {
                Inclusion::Overridden
            } else {
                Inclusion::Unmatched
            };
            (Arc::clone(entry), inclusion)
        })
        .collect();
    if let Some(agent) = event.agent_id() {
        let others = registry.scopes().into_iter().filter(|(id, _)| ***id != *agent);
        let hooks = others.filter_map(|(_, scope)| scope.hooks.event(index)).flat_map(EventHooks::entries);
        excluded.extend(hooks.map(|entry| (Arc::clone(entry), Inclusion::OtherAgent)));
    }
    Explanation { plan, excluded }
}
