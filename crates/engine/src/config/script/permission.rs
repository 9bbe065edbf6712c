//! `permissions:`: the decisions that `/perms check` looks up.
//!
//! Input: the mapping of a file. Output: a decision per capability. A capability that no file names is
//! denied. If several files or layers name one, the strictest decision counts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::tree::{MapEntry, Node, Value};
use super::super::value::Reader;

/// The decision about a capability. A later variant is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Permission {
    Allow,
    Ask,
    Deny,
}

const WORDS: [(&str, Permission); 3] =
    [("allow", Permission::Allow), ("ask", Permission::Ask), ("deny", Permission::Deny)];

/// Keys of Claude's settings, which may be in the same file: lists of rules, and modes.
const LISTS: [&str; 4] = ["allow", "ask", "deny", "additionalDirectories"];
const MODES: [&str; 2] = ["defaultMode", "disableBypassPermissionsMode"];

/// The permissions of all files of a layer.
#[derive(Debug, Default)]
pub(in super::super) struct Permissions(HashMap<String, Permission>);

impl Permissions {
    /// Reads the mapping of one file.
    pub(in super::super) fn read(&mut self, reader: &mut Reader<'_>, node: &Node) {
        if node.is_null() {
            return;
        }
        let Some(entries) = node.as_map() else {
            return reader.expected("permissions", "a mapping like {shellExec: ask}", node);
        };
        for entry in entries.iter().filter(|entry| !is_claudes(entry)) {
            let Some(permission) = reader.word(&entry.key, &entry.value, &WORDS) else { continue };
            let known = self.0.entry(entry.key.clone()).or_insert(permission);
            *known = permission.max(*known);
        }
    }

    fn of(&self, capability: &str) -> Option<Permission> {
        self.0.get(capability).copied()
    }
}

/// The permissions of several layers, in their order: those of [`Config`](super::super::Config), for the
/// [`Loader`](super::super::Loader) of the next layer.
#[derive(Debug, Clone, Default)]
pub struct LayeredPermissions(Arc<Mutex<Vec<Permissions>>>);

impl LayeredPermissions {
    /// Adds those of the next layer.
    pub(in super::super) fn add(&self, permissions: Permissions) -> PermissionsOfLayer {
        let mut layers = self.lock();
        layers.push(permissions);
        PermissionsOfLayer { layers: self.clone(), own: layers.len() - 1 }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Permissions>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The permissions as the hooks of one layer see them.
#[derive(Debug)]
pub(in super::super) struct PermissionsOfLayer {
    layers: LayeredPermissions,
    /// The index of the layer.
    own: usize,
}

impl PermissionsOfLayer {
    /// The strictest decision of all layers. A later layer only tightens: what neither this layer nor an earlier one
    /// names is denied, whatever a later one allows.
    pub(super) fn of(&self, capability: &str) -> Option<Permission> {
        let layers = self.layers.lock();
        let (known, later) = layers.split_at(self.own + 1);
        let strictest = |layers: &[Permissions]| layers.iter().filter_map(|layer| layer.of(capability)).max();
        strictest(known).max(strictest(later).filter(|_| strictest(known).is_some()))
    }

    /// The capabilities that this layer and earlier ones name, sorted.
    pub(super) fn names(&self) -> Vec<String> {
        let layers = self.layers.lock();
        let mut names: Vec<String> =
            layers.iter().take(self.own + 1).flat_map(|layer| layer.0.keys().cloned()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

fn is_claudes(entry: &MapEntry) -> bool {
    let key = entry.key.as_str();
    MODES.contains(&key) || (LISTS.contains(&key) && matches!(entry.value.value, Value::List(_)))
}
