//! The ordered hooks for one event.
//!
//! In comes the registry and an event; out goes a [`Plan`], a value that execution, messages and `explain`
//! all use. Pure: nothing here runs a hook, and the same registry and event give the same plan.

mod cache;
mod explain;
mod planner;
mod select;

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
    needs_runtime: bool,
}

impl Plan {
    /// Puts hooks that are in order into stages.
    pub(crate) fn new(ordered: Vec<Arc<Entry>>) -> Self {
        let (observers, hooks): (Vec<_>, Vec<_>) =
            ordered.into_iter().partition(|entry| entry.mode == Mode::Observe);
        let mut ends: Vec<usize> = Vec::with_capacity(hooks.len());
        for (at, entry) in hooks.iter().enumerate() {
            let joins = at > 0 && entry.mode == Mode::Parallel && hooks[at - 1].mode == Mode::Parallel;
            match ends.last_mut() {
                Some(end) if joins => *end = at + 1,
                _ => ends.push(at + 1),
            }
        }
        let waits = |entry: &Arc<Entry>| match entry.handler {
            Handler::Callback(Callback::Async(_)) => true,
            // A thread's answer in a stage of several is awaited with a timer.
            Handler::Callback(Callback::Blocking(_)) => entry.mode == Mode::Parallel,
            _ => false,
        };
        let needs_runtime =
            hooks.iter().chain(&observers).any(|entry| entry.mode != Mode::Background && waits(entry));
        Self { hooks: hooks.into(), ends: ends.into(), observers: observers.into(), needs_runtime }
    }

    /// The stages of the walk: one hook, or several that run together.
    pub fn stages(&self) -> impl Iterator<Item = &[Arc<Entry>]> {
        (0..).map_while(|at| self.stage(at))
    }

    /// The stage at this place.
    pub(crate) fn stage(&self, at: usize) -> Option<&[Arc<Entry>]> {
        let end = *self.ends.get(at)?;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        self.hooks.get(start..end)
    }

    /// How many stages the walk has.
    pub(crate) fn stage_count(&self) -> usize {
        self.ends.len()
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
