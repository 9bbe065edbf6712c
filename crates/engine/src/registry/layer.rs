//! The hooks of the base or of one scope, sorted and indexed per event.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::error::RegisterError;
use super::hook::{Entry, Hook, OnError};

/// What holds for every hook that says nothing else.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    pub(crate) max_hooks_per_point: usize,
    pub(crate) timeout: Duration,
    pub(crate) on_error: OnError,
    /// How many rows the catalog has.
    pub(crate) events: usize,
}

/// The hooks of the base (`scope: None`) or of one scope.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    pub(crate) scope: Option<Arc<str>>,
    lanes: Box<[Arc<Lane>]>,
    next: u64,
}

/// The hooks of one event in one layer.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    /// By (priority, declaration), disabled ones included.
    pub(crate) hooks: Vec<Arc<Entry>>,
    /// Whether base hooks of this event are left out for this scope.
    pub(crate) overrides: bool,
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

    fn changed(&self, hooks: Vec<Arc<Entry>>) -> Self {
        Self { hooks, overrides: self.overrides, unnamed: self.unnamed, index: OnceLock::new() }
    }
}

impl Layer {
    pub(crate) fn new(scope: Option<Arc<str>>, events: usize) -> Self {
        Self { scope, lanes: (0..events).map(|_| Arc::default()).collect(), next: 0 }
    }

    pub(crate) fn lane(&self, event: usize) -> &Lane {
        &self.lanes[event]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lanes.iter().all(|lane| lane.hooks.is_empty() && !lane.overrides)
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.lanes.iter().flat_map(|lane| &lane.hooks)
    }

    /// Leaves out the base hooks of these events for this scope, or no longer.
    pub(crate) fn set_override(&mut self, event: usize, overrides: bool) {
        let lane = &self.lanes[event];
        let hooks = lane.hooks.clone();
        self.lanes[event] = Arc::new(Lane { overrides, ..lane.changed(hooks) });
    }

    /// The same layer with these hooks added, or the first thing that is wrong with one of them.
    pub(crate) fn add(&mut self, hooks: Vec<Hook>, limits: &Limits) -> Result<Vec<Arc<str>>, RegisterError> {
        let mut taken: HashMap<Arc<str>, ()> =
            self.entries().map(|entry| (Arc::clone(&entry.name), ())).collect();
        let mut lanes: HashMap<usize, Lane> = HashMap::new();
        let mut names = Vec::with_capacity(hooks.len());
        for hook in hooks {
            let place = hook.kind.index();
            if place >= self.lanes.len() {
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
            names.push(Arc::clone(&entry.name));
            lane.hooks.push(Arc::new(entry));
        }
        for (place, mut lane) in lanes {
            lane.hooks.sort_by_key(|entry| (entry.priority, entry.sequence));
            self.lanes[place] = Arc::new(lane);
        }
        Ok(names)
    }

    fn resolve(&mut self, hook: Hook, lane: &mut Lane, limits: &Limits) -> Result<Entry, RegisterError> {
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
        let sequence = self.next;
        self.next += 1;
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
            sequence,
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
