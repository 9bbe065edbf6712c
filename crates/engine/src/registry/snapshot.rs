//! The registry: base hooks, and scopes by agent.

use std::sync::Arc;

use rpds::HashTrieMapSync;

use super::error::SwitchError;
use super::hook::Entry;
use super::hook_set::{HookSet, Registration};
use super::layer::Layer;

/// All hooks at one moment. A changed copy shares everything else, so the cost of a change does not depend on
/// the number of scopes.
#[derive(Debug, Clone)]
pub(crate) struct Registry {
    pub(crate) base: Arc<HookSet>,
    scopes: HashTrieMapSync<Arc<str>, Scope>,
    /// The number that the next new scope gets.
    next_scope: u64,
}

/// The hooks of one agent.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    pub(crate) hooks: Arc<HookSet>,
    /// The order of registration.
    order: u64,
}

/// Which part of a registry a change touched.
#[derive(Debug, Clone)]
pub(crate) enum Changed {
    Base,
    Scope(Arc<str>),
}

impl Registry {
    pub(crate) fn new(events: usize) -> Self {
        let base = Arc::new(HookSet::new(None, events));
        Self { base, scopes: HashTrieMapSync::default(), next_scope: 0 }
    }

    pub(crate) fn scope(&self, id: &str) -> Option<&Scope> {
        self.scopes.get(id)
    }

    pub(crate) fn has_scopes(&self) -> bool {
        !self.scopes.is_empty()
    }

    /// The scopes with the ids of their agents, in the order of registration.
    pub(crate) fn scopes(&self) -> Vec<(&Arc<str>, &Scope)> {
        let mut scopes: Vec<_> = self.scopes.iter().collect();
        scopes.sort_unstable_by_key(|(_, scope)| scope.order);
        scopes
    }

    /// The same hooks with another base.
    pub(crate) fn with_base(&self, base: HookSet) -> Self {
        Self { base: Arc::new(base), ..self.clone() }
    }

    /// The same hooks, with this scope in place of the one with its id, or after the others. An empty scope
    /// is removed.
    pub(crate) fn with_scope(&self, id: &Arc<str>, hooks: HookSet) -> Self {
        if hooks.is_empty() {
            return self.without_scope(id);
        }
        let order = self.scope(id).map(|scope| scope.order);
        let scope = Scope { hooks: Arc::new(hooks), order: order.unwrap_or(self.next_scope) };
        let next_scope = self.next_scope + u64::from(order.is_none());
        let scopes = self.scopes.insert(Arc::clone(id), scope);
        Self { base: Arc::clone(&self.base), scopes, next_scope }
    }

    /// The same hooks without those of this agent.
    pub(crate) fn without_scope(&self, id: &str) -> Self {
        Self { scopes: self.scopes.remove(id), ..self.clone() }
    }

    /// Every hook, base first, then scope by scope.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        let scopes = self.scopes().into_iter();
        self.base.entries().chain(scopes.flat_map(|(_, scope)| scope.hooks.entries()))
    }

    /// The hook with this name as shown.
    pub(crate) fn find(&self, name: &str) -> Option<&Arc<Entry>> {
        // `agent/name`, where both parts may contain a slash.
        let agents = || name.match_indices('/').filter_map(|(slash, _)| name.get(..slash));
        // Or `layer:agent/name`.
        let within = |agent: &str| self.scope(agent)?.hooks.find(name);
        let in_layer = |agent: &str| within(agent.split_once(':')?.1);
        let in_scope = || agents().find_map(|agent| within(agent).or_else(|| in_layer(agent)));
        self.base.find(name).or_else(in_scope)
    }

    /// The same hooks with this one enabled or disabled.
    pub(crate) fn switched(&self, name: &str, enabled: bool) -> Result<(Self, Changed), SwitchError> {
        let Some(entry) = self.find(name) else {
            let names = self.entries().map(|entry| &*entry.name);
            let nearest = crosier_protocol::nearest::nearest(name, names).map(str::to_owned);
            return Err(SwitchError::Unknown { name: name.to_owned(), nearest });
        };
        if entry.layer == Layer::Managed && !enabled {
            return Err(SwitchError::Managed { name: name.to_owned() });
        }
        if entry.system && !enabled {
            return Err(SwitchError::System { name: name.to_owned() });
        }
        let switched = Entry { enabled, ..Entry::clone(entry) };
        Ok(self.edited(entry.scope.as_ref(), |hooks| hooks.replace(switched)))
    }

    /// The same hooks without this one.
    pub(crate) fn without(&self, gone: &Entry) -> (Self, Changed) {
        self.edited(gone.scope.as_ref(), |hooks| hooks.remove(Registration::of(gone)))
    }

    /// The same hooks with a change to the base or to one scope.
    pub(crate) fn edited(
        &self,
        scope: Option<&Arc<str>>,
        change: impl FnOnce(&mut HookSet),
    ) -> (Self, Changed) {
        let Some(id) = scope else {
            let mut base = HookSet::clone(&self.base);
            change(&mut base);
            return (self.with_base(base), Changed::Base);
        };
        let registry = self.scope(id).map(|scope| {
            let mut hooks = HookSet::clone(&scope.hooks);
            change(&mut hooks);
            self.with_scope(id, hooks)
        });
        (registry.unwrap_or_else(|| self.clone()), Changed::Scope(Arc::clone(id)))
    }
}
