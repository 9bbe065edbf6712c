//! The immutable value: the base, and the scopes in the order they were registered.

use std::sync::Arc;

use super::error::SwitchError;
use super::hook::Entry;
use super::layer::Layer;

/// All hooks at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Registry {
    pub(crate) base: Arc<Layer>,
    /// In the order of registration.
    pub(crate) scopes: Vec<Scope>,
}

/// The hooks of one agent. Shared as it is when other scopes come and go.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    pub(crate) id: Arc<str>,
    pub(crate) layer: Arc<Layer>,
}

impl Registry {
    pub(crate) fn new(events: usize) -> Self {
        Self { base: Arc::new(Layer::new(None, events)), scopes: Vec::new() }
    }

    pub(crate) fn scope(&self, id: &str) -> Option<&Scope> {
        self.scopes.iter().find(|scope| *scope.id == *id)
    }

    /// The same hooks with another base.
    pub(crate) fn with_base(&self, base: Layer) -> Self {
        Self { base: Arc::new(base), scopes: self.scopes.clone() }
    }

    /// The same hooks with this scope put in place of the one with its id, or behind the others. An empty
    /// scope is taken out.
    pub(crate) fn with_scope(&self, id: &Arc<str>, layer: Layer) -> Self {
        let mut scopes = self.scopes.clone();
        let place = scopes.iter().position(|scope| scope.id == *id);
        match (place, layer.is_empty()) {
            (Some(place), true) => {
                scopes.remove(place);
            }
            (None, true) => {}
            (Some(place), false) => scopes[place].layer = Arc::new(layer),
            (None, false) => scopes.push(Scope { id: Arc::clone(id), layer: Arc::new(layer) }),
        }
        Self { base: Arc::clone(&self.base), scopes }
    }

    /// Every hook, base first, then scope by scope.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.base.entries().chain(self.scopes.iter().flat_map(|scope| scope.layer.entries()))
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Arc<Entry>> {
        self.entries().find(|entry| *entry.name == *name)
    }

    /// The same hooks with this one switched on or off.
    pub(crate) fn switched(&self, name: &str, enabled: bool) -> Result<Self, SwitchError> {
        let Some(entry) = self.find(name) else {
            let names = self.entries().map(|entry| &*entry.name);
            let nearest = crosier_protocol::nearest::nearest(name, names).map(str::to_owned);
            return Err(SwitchError::Unknown { name: name.to_owned(), nearest });
        };
        if entry.system && !enabled {
            return Err(SwitchError::System { name: name.to_owned() });
        }
        Ok(self.edited(entry.scope.clone().as_ref(), |entry| {
            (*entry.name == *name).then(|| Some(Entry { enabled, ..entry.clone() }))
        }))
    }

    /// The same hooks without this one.
    pub(crate) fn without(&self, gone: &Entry) -> Self {
        self.edited(gone.scope.as_ref(), |entry| (entry.sequence == gone.sequence).then_some(None))
    }

    fn edited(&self, scope: Option<&Arc<str>>, change: impl Fn(&Entry) -> Option<Option<Entry>>) -> Self {
        match scope {
            None => {
                let mut base = Layer::clone(&self.base);
                base.edit(change);
                self.with_base(base)
            }
            Some(id) => match self.scope(id) {
                None => self.clone(),
                Some(scope) => {
                    let mut layer = Layer::clone(&scope.layer);
                    layer.edit(change);
                    self.with_scope(id, layer)
                }
            },
        }
    }
}
