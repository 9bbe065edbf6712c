//! Reads the top level of a configuration file.
//!
//! Unknown keys may belong to another program, so they are accepted if the file also configures something for
//! Crosier. A misspelled key, an event outside `hooks:` and a file that configures nothing are errors: a
//! guard must never be left out silently.

use crosier_protocol::nearest::nearest;

use super::agents::{self, agents};
use super::keys;
use super::loader::{Config, LoadContext};
use super::script::scripts;
use super::section::{ENFORCEMENT, Owner, Settings, section};
use super::tree::{MapEntry, Node, Span, Value, shorten};
use super::value::Reader;

/// Reads the base hooks of a file, then those of its scripts, then those of its agents.
pub(super) fn file(reader: &mut Reader<'_>, context: &mut LoadContext<'_>, node: &Node, config: &mut Config) {
    if node.is_null() {
        return nothing_found(reader, Span::at(0), "the file is empty");
    }
    let Some(entries) = node.as_map() else {
        let message = format!("a configuration is a mapping with `hooks:`, but this is {}", node.kind_word());
        return reader.error(node.span, message);
    };
    let errors = reader.problems.errors();
    for entry in entries {
        misplaced(reader, context, entry);
    }
    let before = (config.hooks.len(), config.agents.len());
    let mut settings = Settings::default();
    if let Some(node) = node.get("mode").filter(|node| !node.is_null()) {
        settings.enforcement = reader.word("mode", node, &ENFORCEMENT);
    }
    if let Some(entry) = node.entry("hooks") {
        let found = section(reader, context, &entry.value, &Owner::Base, &mut settings);
        config.hooks.extend(found.hooks);
        config.max_hooks_per_point = settings.max_hooks_per_point.or(config.max_hooks_per_point);
    }
    if let Some(node) = node.get("scripts") {
        config.hooks.extend(scripts(reader, context, node, &settings));
    }
    if let Some(node) = node.get("agents") {
        config.agents.extend(agents(reader, context, node, &settings));
    }
    let has_items = |key: &str| match node.get(key).map(|node| &node.value) {
        None | Some(Value::Null) => false,
        Some(Value::List(items)) => !items.is_empty(),
        Some(Value::Map(entries)) => !entries.is_empty(),
        Some(_) => true,
    };
    let has_settings = config.settings.read(reader, node, context.layer);
    let found = before != (config.hooks.len(), config.agents.len())
        || has_settings
        || has_items("extends")
        || settings.is_set()
        || has_items("scripts")
        || has_items("permissions");
    let may_be_empty =
        context.may_be_empty && entries.iter().all(|entry| keys::FILE.contains(&entry.key.as_str()));
    if !found && !may_be_empty && reader.problems.errors() == errors {
        match node.entry("hooks") {
            Some(entry) => nothing_found(reader, entry.key_span, "there is no hook in this file"),
            None => {
                nothing_found(reader, Span::at(node.span.start), "there is nothing for Crosier in this file")
            }
        }
    }
}

fn nothing_found(reader: &mut Reader<'_>, span: Span, message: &str) {
    let help = "hooks stand below `hooks:`, by event: `hooks: {PreToolUse: [{command: ./guard.sh}]}`";
    reader.error_with_help(span, message, help);
}

/// Reports a top-level key that was probably meant for Crosier and would be ignored.
fn misplaced(reader: &mut Reader<'_>, context: &LoadContext<'_>, entry: &MapEntry) {
    let key = entry.key.as_str();
    if keys::FILE.contains(&key) || keys::is_free(key) {
        return;
    }
    if let Some(help) = keys::json_comment(key) {
        return reader.error_with_help(entry.key_span, "JSON has no comments", help);
    }
    let shown = shorten(key);
    if let Some(named) = context.catalog.resolve(key) {
        let message = format!("`{shown}` is an event, but it does not stand in `hooks:`");
        let help = format!("indent {} below `hooks:`", named.kind.name);
        return reader.error_with_help(entry.key_span, message, help);
    }
    // MassGen configures a single agent under `agent:`. Only hooks in it would be lost.
    if key == "agent" && agents::sections(&entry.value).is_empty() {
        return;
    }
    if let Some(near) = nearest(key, keys::FILE_SECTIONS) {
        let message = format!("`{shown}` means nothing here");
        return reader.error_with_help(entry.key_span, message, format!("did you mean `{near}`?"));
    }
    // A list of mappings under a misspelled event name is probably a list of hooks.
    let looks_like_hooks =
        entry.value.as_list().is_some_and(|items| items.iter().all(|item| item.as_map().is_some()));
    let rows: Vec<_> = context.catalog.rows().collect();
    if looks_like_hooks && let Some(near) = nearest(key, rows.iter().map(|row| row.name)) {
        let message = format!("`{shown}` means nothing here");
        let help = format!("did you mean the event `{near}`? Events stand below `hooks:`");
        reader.error_with_help(entry.key_span, message, help);
    }
}
