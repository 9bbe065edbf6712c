//! `extends:`: packs of ready-made hooks, and the changes that a file makes to them.
//!
//! A pack is a configuration with a name: one that the host registered (`crosier:git`), or a file. Its hooks
//! come before those of the file that extends it. An entry of that file under the same event with the name of
//! a pack's hook changes that hook: if the entry has no handler key, its keys replace the pack's (those of
//! `options` one by one); otherwise the whole hook is replaced. A pack is added only once, and in one layer
//! only the first file that extends it can change it. If a later layer changes a hook of an earlier layer's
//! pack, the changed hook is added next to the original.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crosier_protocol::Catalog;
use crosier_protocol::nearest::nearest;

use super::hook_type::HookTypes;
use super::keys::canonical;
use super::section::ENFORCEMENT;
use super::tree::{MapEntry, Node, Source, Span, Value, parse_document, shorten};
use super::value::Reader;

/// Ready-made hooks that `extends:` can name, as the text of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pack {
    /// The name, such as `crosier:git`.
    pub name: &'static str,
    /// Its version. What it denies may change between versions.
    pub version: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// The configuration.
    pub text: &'static str,
}

impl Pack {
    /// A pack.
    #[must_use]
    pub const fn new(
        name: &'static str,
        version: &'static str,
        about: &'static str,
        text: &'static str,
    ) -> Self {
        Self { name, version, about, text }
    }
}

/// A configuration to read: a file, or a pack that it extends.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) source: Arc<Source>,
    pub(super) node: Node,
    pub(super) folder: PathBuf,
    pub(super) changed: Vec<ChangedHook>,
}

/// A hook of a pack that a file changed. It has keys of both, so its problems are shown at the change.
#[derive(Debug, Clone)]
pub(super) struct ChangedHook {
    /// The hook, in the pack.
    pub(super) hook: Span,
    /// The change, in its file.
    pub(super) change: Span,
    pub(super) source: Arc<Source>,
}

/// The known packs, and those that were already read.
pub(super) struct Packs<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) types: &'a HookTypes,
    pub(super) registered: &'a [Pack],
    /// The packs of the files so far: the key of each, and its tree.
    pub(super) read: Vec<(String, Node)>,
    /// The packs of earlier layers.
    pub(super) in_force: &'a [String],
}

/// The `mode:` of a file (its [`Enforcement`](crate::Enforcement)) also applies to the hooks of its packs, unless a pack
/// sets another.
fn inherit_enforcement(file: &Node, pack: &mut Node) {
    let is_known = |entry: &&MapEntry| {
        let word = entry.value.as_text();
        ENFORCEMENT.iter().any(|(known, _)| word == Some(known))
    };
    let Some(entry) = file.entry("mode").filter(is_known) else { return };
    if let Value::Map(entries) = &mut pack.value
        && !entries.iter().any(|other| other.key == "mode")
    {
        entries.push(entry.clone());
    }
}

impl Packs<'_> {
    /// The packs that a file extends, with its changes applied, followed by the file itself.
    pub(super) fn expand(&mut self, reader: &mut Reader<'_>, mut node: Node, folder: &Path) -> Vec<Document> {
        let mut units = Vec::new();
        for item in names(&node) {
            let Some(name) = reader.filled_text("extends", &item) else { continue };
            let Some((key, source, folder)) = self.find(reader, &item, &name, folder) else { continue };
            if let Some((_, earlier)) = self.read.iter().find(|(other, _)| *other == key) {
                self.refuse_changes(reader, &node, earlier, &name);
                continue;
            }
            match parse_document(&source) {
                Ok(mut pack) if self.in_force.contains(&key) => {
                    let changed = self.apply(reader.source, &mut pack, &mut node);
                    inherit_enforcement(&node, &mut pack);
                    self.keep_changed(&mut pack, &changed);
                    if !changed.is_empty() {
                        units.push(Document { source, node: pack, folder, changed });
                    }
                }
                Ok(mut pack) => {
                    if pack.get("extends").is_some() {
                        let message =
                            format!("`{}` extends another pack, which a pack cannot", shorten(&name));
                        reader.error_with_help(item.span, message, "name both packs here");
                    }
                    self.read.push((key, pack.clone()));
                    let changed = self.apply(reader.source, &mut pack, &mut node);
                    inherit_enforcement(&node, &mut pack);
                    units.push(Document { source, node: pack, folder, changed });
                }
                Err(found) => reader.problems.extend(found),
            }
        }
        let source = Arc::clone(reader.source);
        units.push(Document { source, node, folder: folder.to_owned(), changed: Vec::new() });
        units
    }

    /// The key that identifies a pack, its text, and its folder.
    fn find(
        &self,
        reader: &mut Reader<'_>,
        item: &Node,
        name: &str,
        folder: &Path,
    ) -> Option<(String, Arc<Source>, PathBuf)> {
        if let Some(pack) = self.registered.iter().find(|pack| pack.name == name) {
            return Some((name.to_owned(), Source::new(pack.name, pack.text), folder.to_owned()));
        }
        let is_path = name.contains('/')
            || name.ends_with(".yaml")
            || name.ends_with(".yml")
            || name.ends_with(".json");
        if !is_path || name.starts_with("crosier:") {
            let known = self.registered.iter().map(|pack| pack.name);
            let help = match nearest(name, known.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if self.registered.is_empty() => "name a file, like `./team.yaml`".to_owned(),
                None => format!(
                    "the packs are {}; a file is named like `./team.yaml`",
                    known.collect::<Vec<_>>().join(", ")
                ),
            };
            reader.error_with_help(item.span, format!("there is no pack `{}`", shorten(name)), help);
            return None;
        }
        let path = folder.join(name);
        // Opening a named pipe would block until something is written to it.
        let text = match fs::metadata(&path) {
            Ok(meta) if !meta.is_file() => Err("it is not a file".to_owned()),
            Ok(_) => fs::read_to_string(&path).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match text {
            Ok(text) => {
                let folder = path.parent().map_or_else(|| folder.to_owned(), Path::to_owned);
                let key = fs::canonicalize(&path).unwrap_or_else(|_| path.clone()).display().to_string();
                Some((key, Source::new(path.display().to_string(), text), folder))
            }
            Err(why) => {
                let message = format!("the pack cannot be read: {}: {why}", path.display());
                reader.error_with_help(
                    item.span,
                    message,
                    "relative paths begin at the configuration's folder",
                );
                None
            }
        }
    }

    /// Applies the changes of a file to the hooks of a pack, and removes them from the file.
    fn apply(&self, source: &Arc<Source>, pack: &mut Node, file: &mut Node) -> Vec<ChangedHook> {
        let mut changed = Vec::new();
        let mut merged: Vec<Span> = Vec::new();
        let mut changes: Vec<(&'static str, String, Node)> = Vec::new();
        self.visit(file, &mut |event, item| {
            if let Some(name) = item.get("name").and_then(Node::as_text) {
                changes.push((event, name.to_owned(), item.clone()));
            }
            true
        });
        self.visit(pack, &mut |event, item| {
            let name = item.get("name").and_then(Node::as_text);
            let Some((.., change)) =
                changes.iter().find(|(other, by, _)| *other == event && Some(&**by) == name)
            else {
                return true;
            };
            if self.runs_something(change) {
                return false;
            }
            merge(item, change);
            merged.push(change.span);
            changed.push(ChangedHook { hook: item.span, change: change.span, source: Arc::clone(source) });
            true
        });
        self.visit(file, &mut |_, item| !merged.contains(&item.span));
        changed
    }

    /// Removes all but the changed hooks of a pack that an earlier layer extends: they run next to that
    /// layer's hooks, which stay as they are.
    fn keep_changed(&self, pack: &mut Node, changed: &[ChangedHook]) {
        if let Value::Map(entries) = &mut pack.value {
            entries.retain(|entry| matches!(entry.key.as_str(), "hooks" | "mode"));
        }
        self.visit(pack, &mut |_, item| changed.iter().any(|change| change.hook == item.span));
    }

    /// Reports changes to a pack that an earlier file of the same layer extends: they could weaken its hooks.
    fn refuse_changes(&self, reader: &mut Reader<'_>, file: &Node, pack: &Node, name: &str) {
        let mut known: Vec<(&'static str, String)> = Vec::new();
        let mut pack = pack.clone();
        self.visit(&mut pack, &mut |event, item| {
            known.extend(item.get("name").and_then(Node::as_text).map(|name| (event, name.to_owned())));
            true
        });
        let mut refused = Vec::new();
        self.visit(&mut file.clone(), &mut |event, item| {
            let own = item.get("name").and_then(Node::as_text);
            if known.iter().any(|(other, by)| *other == event && Some(&**by) == own) {
                refused.push((item.span, own.unwrap_or_default().to_owned()));
            }
            true
        });
        for (span, hook) in refused {
            let message = format!("`{hook}` is a hook of `{}`, which an earlier file extends", shorten(name));
            reader.error_with_help(
                span,
                message,
                "only the first file that extends a pack can change its hooks",
            );
        }
    }

    fn runs_something(&self, item: &Node) -> bool {
        let keys = item.as_map().unwrap_or_default().iter().filter(|entry| !entry.value.is_null());
        let handlers = ["type", "command", "argv", "handler", "run"];
        keys.into_iter().any(|entry| handlers.contains(&entry.key.as_str()) || self.types.has_key(&entry.key))
    }

    /// Visits every base hook with its event, and removes those for which `keep` returns false.
    fn visit(&self, file: &mut Node, keep: &mut dyn FnMut(&'static str, &mut Node) -> bool) {
        let Some(Value::Map(events)) = value_of(file, "hooks") else { return };
        for entry in events {
            let Some(named) = self.catalog.resolve(&entry.key) else { continue };
            let event = named.kind.name;
            let list = match &mut entry.value.value {
                Value::List(items) => Some(items),
                Value::Map(_) => list_of(&mut entry.value),
                _ => None,
            };
            list.into_iter().for_each(|items| {
                items.retain_mut(|item| match list_of(item) {
                    Some(group) => {
                        group.retain_mut(|item| keep(event, item));
                        true
                    }
                    None => keep(event, item),
                })
            });
        }
    }
}

/// The values of `extends:`.
fn names(node: &Node) -> Vec<Node> {
    match node.get("extends") {
        None => Vec::new(),
        Some(node) => match &node.value {
            Value::Null => Vec::new(),
            Value::List(items) => items.clone(),
            _ => vec![node.clone()],
        },
    }
}

fn value_of<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Value> {
    let Value::Map(entries) = &mut node.value else { return None };
    entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.value.value)
}

fn list_of(node: &mut Node) -> Option<&mut Vec<Node>> {
    match value_of(node, "hooks")? {
        Value::List(items) => Some(items),
        _ => None,
    }
}

/// Replaces the keys of a hook with those of a change, and its options one by one.
fn merge(hook: &mut Node, change: &Node) {
    let Value::Map(entries) = &mut hook.value else { return };
    for new in change.as_map().unwrap_or_default() {
        let same = |old: &&mut MapEntry| canonical(&old.key) == canonical(&new.key);
        match entries.iter_mut().find(same) {
            Some(old) if new.key == "options" && old.value.as_map().is_some() => {
                merge(&mut old.value, &new.value)
            }
            Some(old) => old.value = new.value.clone(),
            None => entries.push(new.clone()),
        }
    }
}

#[cfg(test)]
#[path = "pack_tests.rs"]
mod tests;
