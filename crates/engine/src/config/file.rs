//! Reads the top level of a configuration file.
//!
//! Unknown keys may belong to another program, so they are accepted if the file also configures something for
//! Crosier. A misspelled key, an event outside `hooks:` and a file that configures nothing are errors: a
//! guard must never be left out silently.

use super::agents::agents;
use super::keys;
use super::loader::{AgentConfig, Config, LoadContext};
use super::misplaced;
use super::script::scripts;
use super::section::{ENFORCEMENT, Owner, Settings, section};
use super::tree::{Node, Span, Value};
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
        misplaced::in_file(reader, context, entry);
    }
    let before = config.hooks.len();
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
    let agents = node.get("agents").map(|node| agents(reader, context, node, &settings)).unwrap_or_default();
    let has_agents = agents.iter().any(AgentConfig::does_something);
    config.agents.extend(agents);
    let has_items = |key: &str| match node.get(key).map(|node| &node.value) {
        None | Some(Value::Null) => false,
        Some(Value::List(items)) => !items.is_empty(),
        Some(Value::Map(entries)) => !entries.is_empty(),
        Some(_) => true,
    };
    let has_settings = config.settings.read(reader, node, context.layer);
    let found = before != config.hooks.len()
        || has_agents
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
    let help = "hooks belong below `hooks:`, by event: `hooks: {PreToolUse: [{command: ./guard.sh}]}`";
    reader.error_with_help(span, message, help);
}
