//! A bounded cache of plans, by event and matcher value.
//!
//! There is one cache per scope, one for the base, and one for events without an agent, so that no agent can
//! get the plan of another. A model chooses matcher values, so the number of plans is bounded; a full cache
//! starts over.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use arc_swap::{ArcSwap, ArcSwapOption};
use rpds::HashTrieMapSync;

use super::Plan;

/// The maximum number of cached values per event.
const MAX_VALUES: usize = 256;
/// Longer values are not cached, so that the cache's memory is bounded too.
const MAX_VALUE_BYTES: usize = 256;

#[derive(Debug)]
pub(crate) struct PlanCache {
    slots: Box<[Slot]>,
}

#[derive(Debug, Default)]
struct Slot {
    /// The plan, if the event's hooks do not depend on the value.
    any: OnceLock<Arc<Plan>>,
    /// The plans by value. Copied on write, so that reading takes no lock.
    values: ArcSwapOption<HashMap<Box<str>, Arc<Plan>>>,
}

impl PlanCache {
    pub(crate) fn new(events: usize) -> Self {
        Self { slots: (0..events).map(|_| Slot::default()).collect() }
    }

    /// The plan of this event if it is the same for every value, made on first use. `make` returns `None` if
    /// the value matters.
    pub(crate) fn any(&self, event: usize, make: impl FnOnce() -> Option<Plan>) -> Option<&Arc<Plan>> {
        let slot = &self.slots[event];
        if let Some(plan) = slot.any.get() {
            return Some(plan);
        }
        if slot.values.load().is_some() {
            return None;
        }
        let plan = make()?;
        Some(slot.any.get_or_init(|| Arc::new(plan)))
    }

    /// The plan of this event and value, made if it is not cached.
    pub(crate) fn value(&self, event: usize, value: &str, make: impl FnOnce() -> Plan) -> Arc<Plan> {
        let values = &self.slots[event].values;
        if let Some(plan) = values.load().as_ref().and_then(|plans| plans.get(value)) {
            return Arc::clone(plan);
        }
        let plan = Arc::new(make());
        if value.len() <= MAX_VALUE_BYTES {
            values.rcu(|old| {
                let mut plans = match old {
                    Some(old) if old.len() < MAX_VALUES => HashMap::clone(old),
                    _ => HashMap::new(),
                };
                plans.insert(value.into(), Arc::clone(&plan));
                Some(Arc::new(plans))
            });
        }
        plan
    }
}

/// The caches of the scopes, by agent. Each is made when its agent first fires an event.
///
/// They belong to one planner, so that a scope does not keep an outdated plan alive.
#[derive(Debug)]
pub(super) struct ScopeCaches(ArcSwap<CachesByAgent>);

type CachesByAgent = HashTrieMapSync<Arc<str>, Arc<PlanCache>>;

impl ScopeCaches {
    pub(super) fn new() -> Self {
        Self(ArcSwap::from_pointee(CachesByAgent::default()))
    }

    /// The same caches without the one of this agent, whose scope has changed.
    pub(super) fn without(&self, agent: &str) -> Self {
        Self(ArcSwap::from_pointee(self.0.load().remove(agent)))
    }

    /// Calls `find` with the cache of an agent that has a scope.
    pub(super) fn of<T>(&self, agent: &str, events: usize, find: impl FnOnce(&PlanCache) -> T) -> T {
        if let Some(cache) = self.0.load().get(agent) {
            return find(cache);
        }
        let made = Arc::new(PlanCache::new(events));
        let before = self.0.rcu(|caches| match caches.get(agent) {
            Some(_) => Arc::clone(caches),
            None => Arc::new(caches.insert(agent.into(), Arc::clone(&made))),
        });
        find(before.get(agent).unwrap_or(&made))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_bounded_whatever_names_come() {
        let cache = PlanCache::new(1);
        for n in 0..10_000 {
            cache.value(0, &format!("tool-{n}"), Plan::default);
        }
        cache.value(0, &"x".repeat(MAX_VALUE_BYTES + 1), Plan::default);
        assert!(cache.slots[0].values.load().as_ref().unwrap().len() <= MAX_VALUES);
    }

    #[test]
    fn a_plan_is_made_once() {
        let cache = PlanCache::new(1);
        let first = cache.value(0, "Bash", Plan::default);
        let again = cache.value(0, "Bash", || unreachable!("it is cached"));
        assert!(Arc::ptr_eq(&first, &again));
    }
}
