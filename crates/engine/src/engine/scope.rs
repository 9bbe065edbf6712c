//! Scopes: the hooks of one agent, while it lives.

use std::sync::{Arc, Weak};

use crosier_protocol::EventKind;

use super::fire::Shared;
use crate::registry::{Hook, HookSet, Layer, Limits, RegisterError, Registration, Registry};

/// The hooks of one agent, before they are registered.
#[derive(Debug, Clone)]
#[must_use = "a scope has an effect only when it is registered"]
pub struct Scope {
    id: Arc<str>,
    hooks: Vec<Hook>,
    overrides: Vec<(Layer, EventKind)>,
}

impl Scope {
    /// An agent's scope without hooks.
    pub fn new(agent_id: impl Into<Arc<str>>) -> Self {
        Self { id: agent_id.into(), hooks: Vec::new(), overrides: Vec::new() }
    }

    /// Adds a hook.
    pub fn hook(mut self, hook: Hook) -> Self {
        self.hooks.push(hook);
        self
    }

    /// Adds hooks.
    pub fn hooks(mut self, hooks: impl IntoIterator<Item = Hook>) -> Self {
        self.hooks.extend(hooks);
        self
    }

    /// Leaves out the base hooks of this event for this agent, except system hooks and hooks of the managed
    /// layer.
    pub fn overriding(self, event: EventKind) -> Self {
        self.overriding_in(Layer::Host, event)
    }

    /// Leaves out the base hooks of this event for this agent, except system hooks and hooks of layers before
    /// this one.
    pub fn overriding_in(mut self, layer: Layer, event: EventKind) -> Self {
        self.overrides.push((layer, event));
        self
    }

    pub(super) fn id(&self) -> &Arc<str> {
        &self.id
    }

    /// The registry with this scope's hooks and overrides added.
    pub(super) fn add_to(
        self,
        registry: &Registry,
        limits: &Limits,
    ) -> Result<(Registry, Vec<Registration>), RegisterError> {
        let mut set = match registry.scope(&self.id) {
            Some(scope) => HookSet::clone(&scope.hooks),
            None => HookSet::new(Some(Arc::clone(&self.id)), limits.catalog.len()),
        };
        let mut added = Vec::with_capacity(self.hooks.len() + self.overrides.len());
        for hook in self.hooks {
            let entry = set.add(hook, limits)?;
            added.push(Registration::of(&entry));
        }
        for (layer, event) in &self.overrides {
            added.push(set.add_override(*layer, event, limits)?);
        }
        Ok((registry.with_scope(&self.id, set), added))
    }
}

/// Keeps an agent's hooks registered. Dropping it removes these hooks; other hooks of the same scope stay.
#[derive(Debug)]
#[must_use = "the scope is unregistered when its handle is dropped"]
pub struct ScopeHandle {
    pub(super) engine: Weak<Shared>,
    pub(super) id: Arc<str>,
    /// Its hooks and overrides.
    pub(super) added: Vec<Registration>,
}

impl ScopeHandle {
    /// The agent that the hooks belong to.
    #[must_use]
    pub fn agent_id(&self) -> &str {
        &self.id
    }
}

impl Drop for ScopeHandle {
    fn drop(&mut self) {
        let Some(engine) = self.engine.upgrade() else { return };
        engine.change(|registry| {
            registry.edited(Some(&self.id), |hooks| {
                self.added.iter().for_each(|&registration| hooks.remove(registration));
            })
        });
    }
}
