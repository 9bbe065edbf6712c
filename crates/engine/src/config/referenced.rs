//! The files that a configuration refers to: packs, scripts, and rules of built-in hooks.

use std::path::{Path, PathBuf};

use super::pack::Document;
use super::tree::{Node, Value};

/// The options of built-in hooks that name files with rules.
const RULES: [&str; 2] = ["also", "rules"];

/// The files that these documents refer to, without the documents that the loader was given (`sources`).
pub(super) fn files<'a>(documents: &[Document], sources: impl Iterator<Item = &'a str>) -> Vec<PathBuf> {
    let own: Vec<&str> = sources.collect();
    let mut files = Vec::new();
    for Document { source, node, folder, .. } in documents {
        let name = source.name.as_str();
        if !own.contains(&name) {
            if !Path::new(name).is_absolute() {
                continue; // a pack of the program
            }
            files.push(PathBuf::from(name));
        }
        files.extend(texts(node.get("scripts")).map(|script| folder.join(script)));
        rules(node, folder, &mut files);
    }
    files
}

fn rules(node: &Node, folder: &Path, files: &mut Vec<PathBuf>) {
    if let Some(options) = node.get("options").filter(|_| node.get("handler").is_some()) {
        let named = RULES.iter().flat_map(|key| texts(options.get(key)));
        files.extend(named.map(|file| folder.join(file)));
    }
    match &node.value {
        Value::Map(entries) => entries.iter().for_each(|entry| rules(&entry.value, folder, files)),
        Value::List(items) => items.iter().for_each(|item| rules(item, folder, files)),
        _ => {}
    }
}

/// A list of texts, or one text.
fn texts(node: Option<&Node>) -> impl Iterator<Item = &str> {
    let items = match node.map(|node| (node, &node.value)) {
        Some((_, Value::List(items))) => items.as_slice(),
        Some((node, _)) => std::slice::from_ref(node),
        None => &[],
    };
    items.iter().filter_map(Node::as_text)
}
