//! The hooks of the base or of one scope, sorted and indexed per event.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crosier_protocol::{Catalog, Kind};

use super::error::RegisterError;
use super::hook::{Entry, Hook, OnError};

/// What holds for every hook that says nothing else.
#[derive(Debug)]
pub(crate) struct Limits {
    pub(crate) max_hooks_per_point: usize,
    pub(crate) timeout: Duration,
    pub(crate) on_error: OnError,
    /// The events that there can be hooks for.
    pub(crate) catalog: Catalog,
    /// Which of them have hooks.
    pub(crate) hooked: Hooked,
}

/// The events that a hook was ever registered for, in whatever layer: whoever fires another one need not look any
/// further. Only ever added to, in the one place where hooks come in: a guard must not be overlooked.
#[derive(Debug)]
pub(crate) struct Hooked(Box<[AtomicBool]>);

impl Hooked {
    pub(crate) fn new(events: usize) -> Self {
        Self((0..events).map(|_| AtomicBool::new(false)).collect())
    }

    /// Whether there may be a hook on the event with this index.
    #[inline]
    pub(crate) fn may_be(&self, event: usize) -> bool {
        self.0.get(event).is_none_or(|hooked| hooked.load(Ordering::Acquire))
    }

    fn add(&self, event: usize) {
        if let Some(hooked) = self.0.get(event) {
            hooked.store(true, Ordering::Release);
        }
    }
}

/// The hooks of the base (`scope: None`) or of one scope.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    pub(crate) scope: Option<Arc<str>>,
    lanes: Box<[Arc<Lane>]>,
}

/// The hooks of one event in one layer.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    /// By (priority, declaration), disabled ones included.
    pub(crate) hooks: Vec<Arc<Entry>>,
    /// Who wants base hooks of this event to be left out for this scope, by number.
    overrides: Vec<u64>,
    /// How many unnamed hooks were ever declared; their names count on.
    unnamed: usize,
    index: OnceLock<Index>,
}

/// Where to look for the hooks that want a value, without asking each of them.
#[derive(Debug, Default)]
struct Index {
    /// Hooks that want plain names, by name.
    exact: HashMap<Box<str>, Vec<u32>>,
    /// Hooks that want all, in order.
    all: Vec<u32>,
    /// Hooks that must be asked.
    patterns: Vec<u32>,
}

impl Lane {
    /// The enabled hooks that want this value, in order.
    pub(crate) fn select<'a>(&'a self, value: Option<&str>) -> impl Iterator<Item = &'a Arc<Entry>> {
        let index = self.index.get_or_init(|| self.build_index());
        let mut places = index.all.clone();
        if let Some(value) = value {
            places.extend(index.exact.get(value).into_iter().flatten());
            let wants = |&&place: &&u32| self.hooks[place as usize].matcher.matches(value);
            places.extend(index.patterns.iter().filter(wants));
            places.sort_unstable();
            places.dedup();
        }
        places.into_iter().map(|place| &self.hooks[place as usize])
    }

    /// Whether the matcher value makes any difference.
    pub(crate) fn is_selective(&self) -> bool {
        let index = self.index.get_or_init(|| self.build_index());
        !(index.exact.is_empty() && index.patterns.is_empty())
    }

    fn build_index(&self) -> Index {
        let mut index = Index::default();
        for (place, hook) in self.hooks.iter().enumerate().filter(|(_, hook)| hook.enabled) {
            let place = u32::try_from(place).unwrap_or(u32::MAX);
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
        index
    }

    /// Whether base hooks of this event are left out for this scope.
    pub(crate) fn overrides(&self) -> bool {
        !self.overrides.is_empty()
    }

    fn changed(&self, hooks: Vec<Arc<Entry>>) -> Self {
        Self { hooks, overrides: self.overrides.clone(), unnamed: self.unnamed, index: OnceLock::new() }
    }
}

/// A number for something that is registered: larger than all before it, and never used again, so that a
/// handle cannot take out what came after it.
fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Layer {
    pub(crate) fn new(scope: Option<Arc<str>>, events: usize) -> Self {
        Self { scope, lanes: (0..events).map(|_| Arc::default()).collect() }
    }

    pub(crate) fn lane(&self, event: usize) -> &Lane {
        &self.lanes[event]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lanes.iter().all(|lane| lane.hooks.is_empty() && !lane.overrides())
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.lanes.iter().flat_map(|lane| &lane.hooks)
    }

    /// Leaves out the base hooks of this event for this scope, until the number is given back.
    pub(crate) fn add_override(&mut self, event: &Kind, limits: &Limits) -> Result<u64, RegisterError> {
        if !limits.catalog.contains(event) {
            return Err(RegisterError::ForeignEvent { event: event.name.to_owned() });
        }
        let number = next_number();
        let lane = &mut self.lanes[event.index()];
        let mut changed = lane.changed(lane.hooks.clone());
        changed.overrides.push(number);
        *lane = Arc::new(changed);
        Ok(number)
    }

    /// Takes out the hooks and overrides with these numbers.
    pub(crate) fn remove(&mut self, numbers: &[u64]) {
        for lane in &mut self.lanes {
            let goes = |number: &u64| numbers.contains(number);
            if lane.hooks.iter().any(|entry| goes(&entry.sequence)) || lane.overrides.iter().any(goes) {
                let stays = lane.hooks.iter().filter(|entry| !goes(&entry.sequence)).cloned();
                let mut changed = lane.changed(stays.collect());
                changed.overrides.retain(|number| !goes(number));
                *lane = Arc::new(changed);
            }
        }
    }

    /// Adds these hooks and gives them back as registered, or says the first thing that is wrong with one of
    /// them.
    pub(crate) fn add(
        &mut self,
        hooks: Vec<Hook>,
        limits: &Limits,
    ) -> Result<Vec<Arc<Entry>>, RegisterError> {
        let mut taken: HashMap<Arc<str>, ()> =
            self.entries().map(|entry| (Arc::clone(&entry.name), ())).collect();
        let mut lanes: HashMap<usize, Lane> = HashMap::new();
        let mut added = Vec::with_capacity(hooks.len());
        for hook in hooks {
            let place = hook.kind.index();
            if !limits.catalog.contains(&hook.kind) {
                return Err(RegisterError::ForeignEvent { event: hook.kind.name.to_owned() });
            }
            let lane = lanes.entry(place).or_insert_with(|| {
                let lane = &self.lanes[place];
                lane.changed(lane.hooks.clone())
            });
            let entry = self.resolve(hook, lane, limits)?;
            if taken.insert(Arc::clone(&entry.name), ()).is_some() {
                return Err(RegisterError::DuplicateName { name: entry.name.to_string() });
            }
            if lane.hooks.len() >= limits.max_hooks_per_point {
                return Err(RegisterError::TooMany {
                    event: entry.kind.name,
                    limit: limits.max_hooks_per_point,
                });
            }
            let entry = Arc::new(entry);
            added.push(Arc::clone(&entry));
            lane.hooks.push(entry);
        }
        for (place, mut lane) in lanes {
            limits.hooked.add(place);
            lane.hooks.sort_by_key(|entry| (entry.priority, entry.sequence));
            self.lanes[place] = Arc::new(lane);
        }
        Ok(added)
    }

    fn resolve(&self, hook: Hook, lane: &mut Lane, limits: &Limits) -> Result<Entry, RegisterError> {
        let own = match hook.name {
            Some(name) => name,
            None => {
                lane.unnamed += 1;
                format!("{}[{}]", hook.kind.name, lane.unnamed).into()
            }
        };
        let name: Arc<str> = match &self.scope {
            Some(scope) => format!("{scope}/{own}").into(),
            None => own,
        };
        let matcher = hook.matcher.map_err(|detail| RegisterError::Matcher { detail })?;
        if hook.kind.matcher.is_none() && !matcher.is_all() {
            let matcher = matcher.text().to_owned();
            return Err(RegisterError::NoMatcherField { event: hook.kind.name, matcher });
        }
        if let (true, Some(scope)) = (hook.system, &self.scope) {
            return Err(RegisterError::SystemInScope { name: name.to_string(), scope: scope.to_string() });
        }
        let timeout = hook.timeout.unwrap_or(limits.timeout);
        if timeout.is_zero() {
            return Err(RegisterError::NoTime { name: name.to_string() });
        }
        Ok(Entry {
            name,
            kind: hook.kind,
            scope: self.scope.clone(),
            matcher,
            priority: hook.priority,
            timeout,
            on_error: hook.on_error.unwrap_or(limits.on_error),
            mode: hook.mode,
            system: hook.system,
            enabled: hook.enabled || hook.system,
            description: hook.description,
            origin: hook.origin,
            handler: hook.handler,
            sequence: next_number(),
        })
    }

    /// Changes every hook for which `change` gives something new; `Some(None)` removes it.
    pub(crate) fn edit(&mut self, change: impl Fn(&Entry) -> Option<Option<Entry>>) {
        for lane in &mut self.lanes {
            if lane.hooks.iter().any(|entry| change(entry).is_some()) {
                let edited = lane.hooks.iter().filter_map(|entry| match change(entry) {
                    None => Some(Arc::clone(entry)),
                    Some(changed) => changed.map(Arc::new),
                });
                let hooks = edited.collect();
                *lane = Arc::new(lane.changed(hooks));
            }
        }
    }
}
