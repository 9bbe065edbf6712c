//! What registering a hook needs besides the registry: limits, defaults, the catalog, and which events had hooks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crosier_protocol::Catalog;

use super::hook::OnError;
use super::layer::Layer;

/// What every registration of an engine needs: limits, defaults for hooks that do not set these values, and events.
#[derive(Debug)]
pub(crate) struct Limits {
    pub(crate) max_hooks_per_point: usize,
    /// Layers with their own limit.
    pub(crate) max_in_layers: Vec<(Layer, usize)>,
    pub(crate) timeout: Duration,
    pub(crate) on_error: OnError,
    /// The catalog that the events of hooks are looked up in.
    pub(crate) catalog: Catalog,
    /// The events that a hook was ever registered for; unlike everything else here, it changes.
    pub(crate) hooked: HookedEvents,
}

impl Limits {
    /// The maximum number of hooks per event for this layer, in the base or in one scope.
    pub(super) fn max_hooks(&self, layer: Layer) -> usize {
        let own = self.max_in_layers.iter().find(|(other, _)| *other == layer);
        own.map_or(self.max_hooks_per_point, |(_, max)| *max)
    }
}

/// The events that a hook was ever registered for, in the base or any scope. Firing any other event skips the
/// registry. Flags are set when hooks are added and never cleared, so no hook can be missed.
#[derive(Debug)]
pub(crate) struct HookedEvents(Box<[AtomicBool]>);

impl HookedEvents {
    pub(crate) fn new(events: usize) -> Self {
        Self((0..events).map(|_| AtomicBool::new(false)).collect())
    }

    /// Whether the event with this index may have a hook.
    #[inline]
    pub(crate) fn may_have_hooks(&self, event: usize) -> bool {
        self.0.get(event).is_none_or(|hooked| hooked.load(Ordering::Acquire))
    }

    pub(super) fn add(&self, event: usize) {
        if let Some(hooked) = self.0.get(event) {
            hooked.store(true, Ordering::Release);
        }
    }
}
