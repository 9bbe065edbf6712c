//! The ordered hooks for one event.
//!
//! Input: the registry and an event. Output: a [`Plan`], a value that the walk and `explain` both use. Pure:
//! nothing here runs a hook, and the same registry and event give the same plan.

mod cache;
mod explain;
mod planner;
mod select;

use std::ops::Range;
use std::sync::Arc;

use crate::registry::{Callback, Entry, Handler, Mode};

pub use explain::{Explanation, Inclusion};
pub(crate) use planner::Planner;

/// The hooks of one event, in order.
#[derive(Debug, Default)]
pub struct Plan {
    /// The hooks of the walk, in order.
    hooks: Box<[Arc<Entry>]>,
    /// Where each stage ends in `hooks`.
    ends: Box<[usize]>,
    /// The observers, in order.
    observers: Box<[Arc<Entry>]>,
    /// The guards, in their stages; `None` if there are none.
    guards: Option<Box<Guards>>,
    needs_runtime: NeedsRuntime,
}

/// The guards of a plan, as a plan of their own.
#[derive(Debug)]
struct Guards {
    plan: Plan,
    /// The index of each guard in the whole plan.
    indexes: Box<[usize]>,
}

impl Plan {
    /// Groups ordered hooks into stages.
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
        let needs_runtime = NeedsRuntime::of(hooks.iter().chain(&observers));
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
        let needs_runtime = NeedsRuntime::of(guards.iter());
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

    /// The stage with this index.
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

    /// The observers, which run after the outcome is settled, in order.
    #[must_use]
    pub fn observers(&self) -> &[Arc<Entry>] {
        &self.observers
    }

    /// Whether nothing is planned.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty() && self.observers.is_empty()
    }

    /// Whether a fire needs an async runtime, if it is awaited or if it blocks the caller's thread.
    pub(crate) fn needs_runtime(&self, is_awaited: bool) -> bool {
        if is_awaited { self.needs_runtime.awaited } else { self.needs_runtime.blocking }
    }
}

/// Whether two consecutive hooks run in the same stage.
fn joins(before: &Entry, entry: &Entry) -> bool {
    let parallel = before.mode == Mode::Parallel && entry.mode == Mode::Parallel;
    parallel && before.layer == entry.layer
}

/// Whether a fire needs an async runtime, for each way to wait.
#[derive(Debug, Clone, Copy, Default)]
struct NeedsRuntime {
    blocking: bool,
    awaited: bool,
}

impl NeedsRuntime {
    fn of<'a>(hooks: impl Iterator<Item = &'a Arc<Entry>>) -> Self {
        let mut needs = Self::default();
        for entry in hooks.filter(|entry| entry.mode != Mode::Background) {
            let is_blocking = matches!(entry.handler, Handler::Callback(Callback::Blocking(_)));
            needs.awaited |= entry.handler.is_async() || is_blocking;
            // Awaiting the thread of a blocking callback takes a timer; if the caller's thread waits for it,
            // it does not.
            needs.blocking |= entry.handler.is_async() || (is_blocking && entry.mode == Mode::Parallel);
        }
        needs
    }
}
