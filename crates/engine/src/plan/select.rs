//! Registry and event → the hooks that want it, in order.

use std::sync::Arc;

use super::Plan;
use crate::registry::{Entry, Lane, Registry};

/// What one event sees of the registry.
pub(super) struct View<'a> {
    base: &'a Lane,
    /// The scopes that count, in order.
    scopes: Vec<&'a Lane>,
    /// Whether only system hooks of the base count.
    pub(super) overridden: bool,
}

impl<'a> View<'a> {
    pub(super) fn of(registry: &'a Registry, agent: Option<&str>, place: usize) -> Self {
        let base = registry.base.lane(place);
        match agent.map(|agent| registry.scope(agent)) {
            Some(Some(scope)) => {
                let lane = scope.layer.lane(place);
                Self { base, scopes: vec![lane], overridden: lane.overrides() }
            }
            Some(None) => Self { base, scopes: Vec::new(), overridden: false },
            None => {
                let scopes = registry.scopes.iter().map(|scope| scope.layer.lane(place)).collect();
                Self { base, scopes, overridden: false }
            }
        }
    }

    pub(super) fn is_selective(&self) -> bool {
        self.base.is_selective() || self.scopes.iter().any(|lane| lane.is_selective())
    }

    pub(super) fn plan(&self, value: Option<&str>) -> Plan {
        let base = self.base.select(value).filter(|entry| !self.overridden || entry.system);
        let layers = std::iter::once(base.collect::<Vec<_>>())
            .chain(self.scopes.iter().map(|lane| lane.select(value).collect()));
        let mut ordered: Vec<(i32, usize, u64, &Arc<Entry>)> = layers
            .enumerate()
            .flat_map(|(rank, layer)| {
                layer.into_iter().map(move |entry| (entry.priority, rank, entry.sequence, entry))
            })
            .collect();
        // Total: no two hooks of one layer share a sequence number.
        ordered.sort_unstable_by_key(|&(priority, rank, sequence, _)| (priority, rank, sequence));
        Plan::new(ordered.into_iter().map(|(.., entry)| Arc::clone(entry)).collect())
    }

    pub(super) fn lanes(&self) -> impl Iterator<Item = &'a Lane> {
        std::iter::once(self.base).chain(self.scopes.iter().copied())
    }
}
