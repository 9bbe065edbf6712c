//! A registry and the cached plans that were made from it.

use std::sync::Arc;

use crosier_protocol::Event;

use super::Plan;
use super::cache::{PlanCache, ScopeCaches};
use super::explain::{Explanation, explain};
use super::select::View;
use crate::registry::{Changed, Registry};

/// A snapshot of the engine: the registered hooks, and the plans made from them so far.
///
/// There is a cache for the base, one per scope and one for events without an agent (which run the hooks of all scopes), so that no agent can get the plan
/// of another. A change keeps the caches of everything that it does not touch.
#[derive(Debug)]
pub(crate) struct Planner {
    pub(crate) registry: Registry,
    base: Arc<PlanCache>,
    scopes: ScopeCaches,
    /// Plans with the hooks of all scopes: see [`View::of`].
    without_agent: PlanCache,
    events: usize,
}

impl Planner {
    pub(crate) fn new(registry: Registry, events: usize) -> Self {
        let (base, without_agent) = (Arc::new(PlanCache::new(events)), PlanCache::new(events));
        Self { registry, base, scopes: ScopeCaches::new(), without_agent, events }
    }

    /// The next snapshot, after a change.
    pub(crate) fn next(&self, registry: Registry, changed: &Changed) -> Self {
        match changed {
            Changed::Base => Self::new(registry, self.events),
            Changed::Scope(id) => {
                let (base, scopes) = (Arc::clone(&self.base), self.scopes.without(id));
                let without_agent = PlanCache::new(self.events);
                Self { registry, base, scopes, without_agent, events: self.events }
            }
        }
    }

    /// The plan for this event; `None` when no hook wants it.
    pub(crate) fn plan(&self, event: &Event) -> Option<Arc<Plan>> {
        let find = |plans: &PlanCache| self.plan_in(plans, event);
        if !self.registry.has_scopes() {
            return find(&self.base);
        }
        match event.agent_id() {
            None => find(&self.without_agent),
            Some(agent) if self.registry.scope(agent).is_some() => self.scopes.of(agent, self.events, find),
            Some(_) => find(&self.base),
        }
    }

    fn plan_in(&self, plans: &PlanCache, event: &Event) -> Option<Arc<Plan>> {
        let index = event.kind().index();
        let view = || View::of(&self.registry, event.agent_id(), index);
        let any = plans.any(index, || {
            let view = view();
            (!view.is_selective()).then(|| view.plan(&[]))
        });
        if let Some(plan) = any {
            return (!plan.is_empty()).then(|| Arc::clone(plan));
        }
        let plan = match event.matcher_value() {
            // Only hosts that relay events of other agents set these: not worth a cache.
            Some(value) if !event.other_names().is_empty() => {
                let others = event.other_names().iter().map(String::as_str);
                Arc::new(view().plan(&others.chain([value]).collect::<Vec<_>>()))
            }
            Some(value) => plans.value(index, value, || view().plan(&[value])),
            // An event of a host's own row may have no value; hooks that match everything still run.
            None => Arc::new(view().plan(&[])),
        };
        Some(plan).filter(|plan| !plan.is_empty())
    }

    /// The plan for this event, and why the other hooks are not in it.
    pub(crate) fn explain(&self, event: &Event) -> Explanation {
        explain(&self.registry, event, self.plan(event).unwrap_or_default())
    }
}
