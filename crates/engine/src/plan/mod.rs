//! The ordered hooks for one event.
//!
//! In comes the registry and an event; out goes a [`Plan`], a value that execution, messages and `explain`
//! all use. Pure: nothing here runs a hook, and the same registry and event give the same plan.

mod cache;
mod explain;
mod planner;
mod select;

use std::ops::Range;
use std::sync::Arc;

use crate::registry::{Callback, Entry, Handler, Mode};

pub use explain::{Explained, Inclusion};
pub(crate) use planner::Planner;

/// The hooks of one event, in order.
#[derive(Debug, Default)]
pub struct Plan {
    /// The hooks of the walk, in order.
    hooks: Box<[Arc<Entry>]>,
    /// Where each stage ends in `hooks`.
    ends: Box<[usize]>,
    /// The hooks that only look on, in order.
    observers: Box<[Arc<Entry>]>,
    /// The guards in their stages; none when there is no guard.
    guards: Option<Box<Guards>>,
    needs_runtime: bool,
}

/// The guards of a plan, as a plan of their own.
#[derive(Debug)]
struct Guards {
    plan: Plan,
    /// The index of each guard in the whole plan.
    indexes: Box<[usize]>,
}

impl Plan {
    /// Puts hooks that are in order into stages.
    pub(crate) fn new(ordered: Vec<Arc<Entry>>) -> Self {
        let (observers, hooks): (Vec<_>, Vec<_>) =
            ordered.into_iter().partition(|entry| entry.mode == Mode::Observe);
        let mut ends: Vec<usize> = Vec::with_capacity(hooks.len());
        for (at, entry) in hooks.iter().enumerate() {
            let joins = at > 0 && joins(&hooks[at - 1], entry);
            match ends.last_mut() {
                Some(end) if joins => *end = at + 1,
                _ => ends.push(at + 1),
            }
        }
        let guards = Self::guards_of(&hooks, &ends);
        let needs_runtime =
            hooks.iter().chain(&observers).any(|entry| entry.mode != Mode::Background && waits(entry));
        let (hooks, ends, observers) = (hooks.into(), ends.into(), observers.into());
        Self { hooks, ends, observers, guards, needs_runtime }
    }

    /// The guards, in the stages that they have in the whole plan.
    fn guards_of(hooks: &[Arc<Entry>], ends: &[usize]) -> Option<Box<Guards>> {
        let mut indexes = Vec::new();
        let (mut guard_ends, mut start) = (Vec::new(), 0);
        for &end in ends {
            indexes.extend((start..end).filter(|&index| hooks[index].guard));
            if guard_ends.last().copied().unwrap_or(0) < indexes.len() {
                guard_ends.push(indexes.len());
            }
            start = end;
        }
        if indexes.is_empty() {
            return None;
        }
        let guards: Vec<_> = indexes.iter().map(|&index| Arc::clone(&hooks[index])).collect();
        let needs_runtime = guards.iter().any(waits);
        let plan = Self { hooks: guards.into(), ends: guard_ends.into(), needs_runtime, ..Self::default() };
        Some(Box::new(Guards { plan, indexes: indexes.into() }))
    }

    /// The guards, as a plan of their own.
    #[must_use]
    pub fn guards(&self) -> Option<&Self> {
        self.guards.as_ref().map(|guards| &guards.plan)
    }

    /// The indexes in this plan of the guards in this stage of [`guards`](Self::guards).
    pub(crate) fn guard_indexes(&self, stage: usize) -> &[usize] {
        let Some(guards) = &self.guards else { return &[] };
        let range = guards.plan.range(stage);
        range.and_then(|range| guards.indexes.get(range)).unwrap_or_default()
    }

    /// The stages of the walk: one hook, or several that run together.
    pub fn stages(&self) -> impl Iterator<Item = &[Arc<Entry>]> {
        (0..).map_while(|at| self.stage(at))
    }

    /// The stage at this place.
    pub(crate) fn stage(&self, at: usize) -> Option<&[Arc<Entry>]> {
        self.hooks.get(self.range(at)?)
    }

    fn range(&self, at: usize) -> Option<Range<usize>> {
        let end = *self.ends.get(at)?;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        Some(start..end)
    }

    /// The hooks of the walk, in order.
    #[must_use]
    pub fn hooks(&self) -> &[Arc<Entry>] {
        &self.hooks
    }

    /// The hooks that look on when all is settled, in order.
    #[must_use]
    pub fn observers(&self) -> &[Arc<Entry>] {
        &self.observers
    }

    /// Whether nothing is planned.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty() && self.observers.is_empty()
    }

    /// Whether a blocking fire needs an async runtime for it.
    pub(crate) fn needs_runtime(&self) -> bool {
        self.needs_runtime
    }
}

/// Whether two neighbours run together.
fn joins(before: &Entry, entry: &Entry) -> bool {
    let parallel = before.mode == Mode::Parallel && entry.mode == Mode::Parallel;
    parallel && before.layer == entry.layer
}

/// Whether a hook is awaited with a timer.
fn waits(entry: &Arc<Entry>) -> bool {
    match entry.handler {
        Handler::Callback(Callback::Async(_)) => true,
        // The answer of a thread in a stage of several is awaited with a timer.
        Handler::Callback(Callback::Blocking(_)) => entry.mode == Mode::Parallel,
        _ => false,
    }
}
