//! The hooks of the base or of one scope, by event and by name.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crosier_protocol::EventKind;
use rpds::HashTrieMapSync;

use super::error::RegisterError;
use super::event_hooks::{EventHooks, SortKey};
use super::hook::{Entry, Hook};
use super::layer::Layer;
use super::limits::Limits;
use super::resolve::resolve;

/// The hooks of the base (`scope: None`) or of one scope. A copy shares what does not change, so the cost of
/// a change does not depend on the number of hooks.
#[derive(Debug, Clone)]
pub(crate) struct HookSet {
    pub(super) scope: Option<Arc<str>>,
    /// Indexed by event; `None` if no hook was ever added.
    by_event: Box<[Option<Arc<EventHooks>>]>,
    by_name: HashTrieMapSync<Arc<str>, Named>,
    overrides: usize,
}

/// What a shown name refers to.
#[derive(Debug, Clone, Copy)]
enum Named {
    Hook(usize, SortKey),
    /// This many hooks, of several layers; they are shown with their layer: `managed:guard`.
    InSeveralLayers(usize),
}

/// Something that was added to a set, to remove it later.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Registration {
    Hook { event: usize, position: SortKey },
    Override { event: usize, number: u64 },
}

/// A number for a registration. Never reused, so that a handle cannot remove what was registered later.
pub(super) fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl HookSet {
    pub(crate) fn new(scope: Option<Arc<str>>, events: usize) -> Self {
        let by_event = (0..events).map(|_| None).collect();
        Self { scope, by_event, by_name: HashTrieMapSync::default(), overrides: 0 }
    }

    /// The hooks of the event with this index; `None` if it never had any here.
    pub(crate) fn event(&self, event: usize) -> Option<&EventHooks> {
        self.by_event.get(event)?.as_deref()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_name.is_empty() && self.overrides == 0
    }

    /// Every hook, event by event.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.by_event.iter().flatten().flat_map(|hooks| hooks.entries())
    }

    /// The hook with this name as shown.
    pub(crate) fn find(&self, name: &str) -> Option<&Arc<Entry>> {
        match self.by_name.get(name)? {
            Named::Hook(event, position) => self.event(*event)?.hooks.get(position),
            Named::InSeveralLayers(_) => None,
        }
    }

    /// Leaves out the base hooks of this event for this scope, until the registration is removed.
    pub(crate) fn add_override(
        &mut self,
        layer: Layer,
        kind: &EventKind,
        limits: &Limits,
    ) -> Result<Registration, RegisterError> {
        let (event, number) = (bind(kind, limits)?.index(), next_number());
        self.change(event).overrides.push((layer, number));
        self.overrides += 1;
        Ok(Registration::Override { event, number })
    }

    /// Adds a hook and returns it as registered.
    ///
    /// # Errors
    /// What is wrong with it; the set must not be used afterwards.
    pub(crate) fn add(&mut self, mut hook: Hook, limits: &Limits) -> Result<Arc<Entry>, RegisterError> {
        hook.kind = bind(&hook.kind, limits)?;
        let event = hook.kind.index();
        let scope = self.scope.clone();
        let hooks = self.change(event);
        let mut entry = resolve(hook, scope, &mut hooks.unnamed, limits)?;
        let count = *hooks.count(entry.layer);
        self.disambiguate(&mut entry)?;
        let limit = limits.max_hooks(entry.layer);
        if count >= limit {
            return Err(RegisterError::TooManyHooks { event: entry.kind.name, limit });
        }
        let position = SortKey::of(&entry);
        let entry = Arc::new(entry);
        let hooks = self.change(event);
        hooks.hooks.insert_mut(position, Arc::clone(&entry));
        *hooks.count(entry.layer) += 1;
        self.by_name.insert_mut(Arc::clone(&entry.name), Named::Hook(event, position));
        limits.hooked.add(event);
        Ok(entry)
    }

    /// Removes what was added, if it is still there.
    pub(crate) fn remove(&mut self, registration: Registration) {
        match registration {
            Registration::Hook { event, position } => {
                let found = self.event(event).and_then(|hooks| hooks.hooks.get(&position));
                if let Some(entry) = found.cloned() {
                    let hooks = self.change(event);
                    hooks.hooks.remove_mut(&position);
                    *hooks.count(entry.layer) -= 1;
                    self.by_name.remove_mut(&entry.name);
                    self.release(entry.shared_name.as_ref());
                }
            }
            Registration::Override { event, number } => {
                let overrides = &mut self.change(event).overrides;
                let before = overrides.len();
                overrides.retain(|(_, other)| *other != number);
                self.overrides -= before - overrides.len();
            }
        }
    }

    /// Frees a name that hooks of several layers had, when the last one of them is removed. Until then the
    /// others keep the names under which they are shown.
    fn release(&mut self, shared_name: Option<&Arc<str>>) {
        let Some(name) = shared_name else { return };
        match self.by_name.get(name) {
            Some(Named::InSeveralLayers(hooks @ 2..)) => {
                let left = Named::InSeveralLayers(hooks - 1);
                self.by_name.insert_mut(Arc::clone(name), left);
            }
            _ => {
                self.by_name.remove_mut(name);
            }
        }
    }

    /// Prefixes hooks of the same name with their layers. Two of the same layer are an error.
    fn disambiguate(&mut self, entry: &mut Entry) -> Result<(), RegisterError> {
        let duplicate = |name: &str| RegisterError::DuplicateName { name: name.to_owned() };
        let with_layer = |entry: &Entry| -> Arc<str> { format!("{}:{}", entry.layer, entry.name).into() };
        let Some(taken) = self.by_name.get(&entry.name) else { return Ok(()) };
        let (plain, shown) = (Arc::clone(&entry.name), with_layer(entry));
        let others = match *taken {
            Named::InSeveralLayers(hooks) => Some(hooks),
            Named::Hook(event, position) => {
                let other = self.event(event).and_then(|hooks| hooks.hooks.get(&position)).cloned();
                let other =
                    other.filter(|_| position.layer != entry.layer).ok_or_else(|| duplicate(&plain))?;
                // A hook that is already shown with its layer keeps that name.
                if other.shared_name.is_some() {
                    None
                } else {
                    let name = with_layer(&other);
                    if self.by_name.contains_key(&name) {
                        return Err(duplicate(&name));
                    }
                    self.by_name.insert_mut(Arc::clone(&name), Named::Hook(event, position));
                    let shared_name = Some(Arc::clone(&plain));
                    self.replace(Entry { name, shared_name, ..Entry::clone(&other) });
                    Some(1)
                }
            }
        };
        if self.by_name.contains_key(&shown) {
            return Err(duplicate(&shown));
        }
        if let Some(others) = others {
            self.by_name.insert_mut(Arc::clone(&plain), Named::InSeveralLayers(others + 1));
            entry.shared_name = Some(plain);
        }
        entry.name = shown;
        Ok(())
    }

    /// Replaces the hook from which this one was copied.
    pub(crate) fn replace(&mut self, entry: Entry) {
        let (event, position) = (entry.kind.index(), SortKey::of(&entry));
        self.change(event).hooks.insert_mut(position, Arc::new(entry));
    }

    /// The hooks of this event for changing, not shared with any other set.
    fn change(&mut self, event: usize) -> &mut EventHooks {
        Arc::make_mut(self.by_event[event].get_or_insert_default()).change()
    }
}

impl Registration {
    pub(crate) fn of(entry: &Entry) -> Self {
        Self::Hook { event: entry.kind.index(), position: SortKey::of(entry) }
    }
}

/// The same event in this engine's catalog.
fn bind(kind: &EventKind, limits: &Limits) -> Result<EventKind, RegisterError> {
    limits.catalog.bind(kind).ok_or_else(|| RegisterError::ForeignEvent { event: kind.name.to_owned() })
}
