//! Finds keys outside of `hooks:` that were probably meant for Crosier, and would be ignored.

use crosier_protocol::nearest::nearest;

use super::agents;
use super::keys;
use super::loader::LoadContext;
use super::tree::{MapEntry, Node, shorten};
use super::value::Reader;

/// Reports a top-level key.
pub(super) fn in_file(reader: &mut Reader<'_>, context: &LoadContext<'_>, entry: &MapEntry) {
    let key = entry.key.as_str();
    if keys::FILE.contains(&key) || keys::is_extension_key(key) || is_comment_or_event(reader, context, entry)
    {
        return;
    }
    // MassGen configures a single agent under `agent:`. Only hooks in it would be lost.
    if key == "agent" && agents::sections(&entry.value).is_empty() {
        return;
    }
    match nearest(key, keys::FILE_SECTIONS) {
        Some(near) => misspelled(reader, entry, &format!("did you mean `{near}`?")),
        None => misspelled_event(reader, context, entry),
    }
}

/// Reports the keys of one agent, and of its `backend`. Most keys there belong to other programs.
pub(super) fn in_agent(reader: &mut Reader<'_>, context: &LoadContext<'_>, agent: &Node) {
    let keys_of = |node: &'_ Node| node.as_map().unwrap_or_default().to_vec();
    let backend = agent.get("backend").map(keys_of).unwrap_or_default();
    for entry in keys_of(agent).iter().chain(&backend) {
        let key = entry.key.as_str();
        if key == "hooks" || keys::is_extension_key(key) || is_comment_or_event(reader, context, entry) {
            continue;
        }
        let has_events = entry
            .value
            .as_map()
            .is_some_and(|entries| entries.iter().any(|entry| context.catalog.resolve(&entry.key).is_some()));
        match has_events && nearest(key, ["hooks"]).is_some() {
            true => misspelled(reader, entry, "did you mean `hooks`?"),
            false => misspelled_event(reader, context, entry),
        }
    }
}

/// Reports a comment in JSON and an event. False if it is neither.
fn is_comment_or_event(reader: &mut Reader<'_>, context: &LoadContext<'_>, entry: &MapEntry) -> bool {
    let key = entry.key.as_str();
    if let Some(help) = keys::json_comment(key) {
        reader.error_with_help(entry.key_span, "JSON has no comments", help);
    } else if let Some(named) = context.catalog.resolve(key) {
        let message = format!("`{}` is an event, but it is not below `hooks:`", shorten(key));
        let help = format!("indent {} below `hooks:`", named.kind.name);
        reader.error_with_help(entry.key_span, message, help);
    } else {
        return false;
    }
    true
}

/// Reports a misspelled event: a list of mappings below such a name is probably a list of hooks.
fn misspelled_event(reader: &mut Reader<'_>, context: &LoadContext<'_>, entry: &MapEntry) {
    let looks_like_hooks =
        entry.value.as_list().is_some_and(|items| items.iter().all(|item| item.as_map().is_some()));
    let rows: Vec<_> = context.catalog.rows().collect();
    if looks_like_hooks && let Some(near) = nearest(&entry.key, rows.iter().map(|row| row.name)) {
        let help = format!("did you mean the event `{near}`? Events belong below `hooks:`");
        misspelled(reader, entry, &help);
    }
}

fn misspelled(reader: &mut Reader<'_>, entry: &MapEntry, help: &str) {
    let message = format!("`{}` is not a known key", shorten(&entry.key));
    reader.error_with_help(entry.key_span, message, help);
}
