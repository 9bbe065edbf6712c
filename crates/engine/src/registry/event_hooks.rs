//! The hooks of one event, in the base or in one scope: sorted, and indexed by matcher value.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use rpds::RedBlackTreeMapSync;

use super::hook::Entry;
use super::layer::Layer;

/// The position of a hook in the order of its set. Unique in the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SortKey {
    pub(super) layer: Layer,
    pub(super) priority: i32,
    pub(super) sequence: u64,
}

impl SortKey {
    pub(crate) fn of(entry: &Entry) -> Self {
        Self { layer: entry.layer, priority: entry.priority, sequence: entry.sequence }
    }
}

/// The hooks of one event. A copy shares what does not change.
#[derive(Debug, Default)]
pub(crate) struct EventHooks {
    /// In order, disabled ones included.
    pub(super) hooks: RedBlackTreeMapSync<SortKey, Arc<Entry>>,
    /// The registrations that leave out the base hooks of this event for this scope, each with its layer.
    pub(super) overrides: Vec<(Layer, u64)>,
    /// How many hooks each layer has.
    pub(super) counts: Vec<(Layer, usize)>,
    /// How many unnamed hooks were ever declared. Never decreases, so that their generated names stay unique.
    pub(super) unnamed: usize,
    index: OnceLock<Index>,
}

/// A clone is about to change, so it starts without an index.
impl Clone for EventHooks {
    fn clone(&self) -> Self {
        let Self { hooks, overrides, counts, unnamed, index: _ } = self;
        Self {
            hooks: hooks.clone(),
            overrides: overrides.clone(),
            counts: counts.clone(),
            unnamed: *unnamed,
            index: OnceLock::new(),
        }
    }
}

/// Finds the hooks that want a value without running every matcher. Numbers are positions in `hooks`.
#[derive(Debug, Default)]
struct Index {
    /// The enabled hooks, in order.
    hooks: Vec<Arc<Entry>>,
    /// Hooks whose matcher lists plain names, by name.
    exact: HashMap<Box<str>, Vec<u32>>,
    /// Hooks that match everything, in order.
    all: Vec<u32>,
    /// Hooks whose matcher has to be run.
    patterns: Vec<u32>,
}

impl EventHooks {
    /// All hooks in order, disabled ones included.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.hooks.values()
    }

    /// The enabled hooks that want one of these values, in order.
    pub(crate) fn select<'a>(&'a self, values: &[&str]) -> impl Iterator<Item = &'a Arc<Entry>> {
        let index = self.index();
        let mut places = index.all.clone();
        for value in values {
            places.extend(index.exact.get(*value).into_iter().flatten());
            let wants = |&&place: &&u32| index.hooks[place as usize].matcher.matches(value);
            places.extend(index.patterns.iter().filter(wants));
        }
        places.sort_unstable();
        places.dedup();
        places.into_iter().map(|place| &index.hooks[place as usize])
    }

    /// Whether the selected hooks depend on the matcher value.
    pub(crate) fn is_selective(&self) -> bool {
        let index = self.index();
        !(index.exact.is_empty() && index.patterns.is_empty())
    }

    /// The first layer whose base hooks of this event are left out for this scope, with all layers after it.
    pub(crate) fn overrides_from(&self) -> Option<Layer> {
        self.overrides.iter().map(|(layer, _)| *layer).min()
    }

    /// The number of hooks of this layer.
    pub(super) fn count(&mut self, layer: Layer) -> &mut usize {
        let place = self.counts.iter().position(|(other, _)| *other == layer).unwrap_or_else(|| {
            self.counts.push((layer, 0));
            self.counts.len() - 1
        });
        &mut self.counts[place].1
    }

    /// For making changes: discards the index, which is rebuilt when it is next needed.
    pub(super) fn change(&mut self) -> &mut Self {
        self.index = OnceLock::new();
        self
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::new(self.entries().filter(|entry| entry.enabled).cloned().collect()))
    }
}

impl Index {
    fn new(hooks: Vec<Arc<Entry>>) -> Self {
        let mut index = Self::default();
        for (hook, place) in hooks.iter().zip(0..) {
            if hook.matcher.is_all() {
                index.all.push(place);
            } else if let Some(values) = hook.matcher.exact_values() {
                for value in values {
                    index.exact.entry(value.into()).or_default().push(place);
                }
            } else {
                index.patterns.push(place);
            }
        }
        Self { hooks, ..index }
    }
}
