//! Selects the hooks that want an event, in order.

use std::sync::Arc;

use super::Plan;
use crate::registry::{Entry, EventHooks, Layer, Registry};

/// The part of the registry that applies to one event.
pub(super) struct View<'a> {
    base: Option<&'a EventHooks>,
    /// The scopes that apply, in order.
    scopes: Vec<&'a EventHooks>,
    /// The first layer whose base hooks are left out, except system hooks.
    overridden_from: Option<Layer>,
}

impl<'a> View<'a> {
    /// An event of an agent: the base and that agent's scope, whose `override` applies. An event without an agent: the base
    /// and all scopes, because it is not known whose it is; no `override` applies, because it is for one agent only.
    pub(super) fn of(registry: &'a Registry, agent: Option<&str>, event: usize) -> Self {
        let base = registry.base.event(event);
        let scopes: Vec<_> = match agent {
            Some(agent) => {
                registry.scope(agent).and_then(|scope| scope.hooks.event(event)).into_iter().collect()
            }
            None => registry.scopes().iter().filter_map(|(_, scope)| scope.hooks.event(event)).collect(),
        };
        let overridden_from = match agent {
            Some(_) => scopes.iter().filter_map(|hooks| hooks.overrides_from()).min(),
            None => None,
        };
        Self { base, scopes, overridden_from }
    }

    pub(super) fn is_selective(&self) -> bool {
        self.sets().any(EventHooks::is_selective)
    }

    /// The hooks that want one of these values, or any value.
    pub(super) fn plan(&self, values: &[&str]) -> Plan {
        let selected = self.sets().zip(0_usize..).flat_map(|(hooks, set)| {
            hooks.select(values).map(move |entry| (entry.layer, entry.priority, set, entry.sequence, entry))
        });
        let mut ordered: Vec<_> = selected.filter(|(.., entry)| !self.is_overridden(entry)).collect();
        // The order is total: no two hooks share a sequence number.
        ordered.sort_unstable_by_key(|&(layer, priority, set, sequence, _)| (layer, priority, set, sequence));
        Plan::new(ordered.into_iter().map(|(.., entry)| Arc::clone(entry)).collect())
    }

    /// Whether the scope's override leaves this hook out. It cannot leave out hooks of an earlier layer.
    pub(super) fn is_overridden(&self, entry: &Entry) -> bool {
        let covered = self.overridden_from.is_some_and(|from| from <= entry.layer);
        covered && entry.scope.is_none() && !entry.system
    }

    /// The base, then the scopes.
    pub(super) fn sets(&self) -> impl Iterator<Item = &'a EventHooks> {
        self.base.into_iter().chain(self.scopes.iter().copied())
    }
}
