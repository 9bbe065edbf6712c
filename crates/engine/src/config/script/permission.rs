//! `permissions:`: the decisions that `/perms check` looks up.
//!
//! Input: the mapping of a file. Output: a decision per capability. A capability that no file names is
//! denied. If several files name one, the strictest decision counts.

use std::collections::HashMap;

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

/// The permissions of all files.
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

    pub(super) fn of(&self, capability: &str) -> Option<Permission> {
        self.0.get(capability).copied()
    }

    /// The capabilities that are named, sorted.
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.0.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }
}

fn is_claudes(entry: &MapEntry) -> bool {
    let key = entry.key.as_str();
    MODES.contains(&key) || (LISTS.contains(&key) && matches!(entry.value.value, Value::List(_)))
}
