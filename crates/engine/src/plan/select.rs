//! Registry and event → the hooks that want it, in order.

use std::sync::Arc;

use super::Plan;
use crate::registry::{Entry, EventHooks, Registry};

/// What one event sees of the registry.
pub(super) struct View<'a> {
    base: Option<&'a EventHooks>,
    /// The scopes that count, in order.
    scopes: Vec<&'a EventHooks>,
    /// Whether only system hooks of the base count.
    pub(super) overridden: bool,
}

impl<'a> View<'a> {
    pub(super) fn of(registry: &'a Registry, agent: Option<&str>, event: usize) -> Self {
        let base = registry.base.event(event);
        let scopes: Vec<_> = match agent {
            Some(agent) => {
                registry.scope(agent).and_then(|scope| scope.hooks.event(event)).into_iter().collect()
            }
            None => registry.scopes().iter().filter_map(|(_, scope)| scope.hooks.event(event)).collect(),
        };
        let overridden = agent.is_some() && scopes.iter().any(|hooks| hooks.overrides());
        Self { base, scopes, overridden }
    }

    pub(super) fn is_selective(&self) -> bool {
        self.sets().any(EventHooks::is_selective)
    }

    /// The hooks that want one of these values, or any value.
    pub(super) fn plan(&self, values: &[&str]) -> Plan {
        let is_left_out = |entry: &Entry| self.overridden && entry.scope.is_none() && !entry.system;
        let selected = self.sets().zip(0_usize..).flat_map(|(hooks, set)| {
            hooks.select(values).map(move |entry| (entry.priority, set, entry.sequence, entry))
        });
        let mut ordered: Vec<_> = selected.filter(|(.., entry)| !is_left_out(entry)).collect();
        // Total: no two hooks share a sequence number.
        ordered.sort_unstable_by_key(|&(priority, set, sequence, _)| (priority, set, sequence));
        Plan::new(ordered.into_iter().map(|(.., entry)| Arc::clone(entry)).collect())
    }

    /// The base, then the scopes.
    pub(super) fn sets(&self) -> impl Iterator<Item = &'a EventHooks> {
        self.base.into_iter().chain(self.scopes.iter().copied())
    }
}
