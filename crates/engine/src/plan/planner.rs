//! A registry and the plans that were made from it.

use std::collections::HashMap;
use std::sync::Arc;

use crosier_protocol::Event;

use super::Plan;
use super::cache::PlanCache;
use super::explain::{Explained, explain};
use super::select::View;
use crate::registry::Registry;

/// One moment of the engine: what is registered, and the plans that are known already.
///
/// There is a cache for the base, one per scope and one for events outside any agent, so that an agent can
/// never find another agent's plan. A change keeps the caches of everything that it does not touch.
#[derive(Debug)]
pub(crate) struct Planner {
    pub(crate) registry: Registry,
    base: Arc<PlanCache>,
    scopes: HashMap<Arc<str>, Arc<PlanCache>>,
    all: Arc<PlanCache>,
    events: usize,
}

impl Planner {
    pub(crate) fn new(registry: Registry, events: usize) -> Self {
        let fresh = || Arc::new(PlanCache::new(events));
        let scopes = registry.scopes.iter().map(|scope| (Arc::clone(&scope.id), fresh())).collect();
        Self { registry, base: fresh(), scopes, all: fresh(), events }
    }

    /// The next moment, after a change.
    pub(crate) fn next(&self, registry: Registry) -> Self {
        let mut next = Self::new(registry, self.events);
        if Arc::ptr_eq(&next.registry.base, &self.registry.base) {
            next.base = Arc::clone(&self.base);
            for scope in &next.registry.scopes {
                let unchanged = |old: &&crate::registry::Scope| Arc::ptr_eq(&old.layer, &scope.layer);
                if let Some(old) = self.registry.scope(&scope.id).filter(unchanged)
                    && let Some(cache) = self.scopes.get(&old.id)
                {
                    next.scopes.insert(Arc::clone(&scope.id), Arc::clone(cache));
                }
            }
        }
        next
    }

    /// The plan for this event; none when no hook wants it.
    pub(crate) fn plan(&self, event: &Event) -> Option<Arc<Plan>> {
        let place = event.kind().index();
        let cache = match self.scopes.is_empty() {
            true => &self.base,
            false => match event.agent_id() {
                Some(agent) => self.scopes.get(agent).unwrap_or(&self.base),
                None => &self.all,
            },
        };
        let view = || View::of(&self.registry, event.agent_id(), place);
        let any = cache.any(place, || {
            let view = view();
            (!view.is_selective()).then(|| view.plan(None))
        });
        if let Some(plan) = any {
            return (!plan.is_empty()).then(|| Arc::clone(plan));
        }
        let plan = match event.matcher_value() {
            Some(value) => cache.value(place, value, || view().plan(Some(value))),
            // A row of a host may leave its value out; match-all hooks still run.
            None => Arc::new(view().plan(None)),
        };
        Some(plan).filter(|plan| !plan.is_empty())
    }

    /// The plan for this event, and why the other hooks are not in it.
    pub(crate) fn explain(&self, event: &Event) -> Explained {
        explain(&self.registry, event, self.plan(event).unwrap_or_default())
    }
}
