//! Reads a `hooks` section: settings, events and groups.

use std::sync::Arc;
use std::time::Duration;

use crosier_protocol::EventKind;

use super::hook::{Group, Inherited, hook};
use super::keys::{self, canonical, is_extension_key};
use super::loader::LoadContext;
use super::tree::{MapEntry, Node, Problems, Span};
use super::value::{Reader, TimeUnit};
use crate::registry::{Enforcement, Hook, OnError};

/// What the hooks of a section belong to.
#[derive(Debug, Clone)]
pub(super) enum Owner {
    Base,
    Agent(Arc<str>),
}

/// Defaults that a section sets for its hooks.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    pub(super) timeout: Option<Duration>,
    pub(super) on_error: Option<OnError>,
    pub(super) max_hooks_per_point: Option<usize>,
    pub(super) enforcement: Option<Enforcement>,
}

/// What a section holds.
#[derive(Debug, Default)]
pub(super) struct SectionHooks {
    pub(super) hooks: Vec<Hook>,
    pub(super) overrides: Vec<(EventKind, Span)>,
}

pub(super) const ENFORCEMENT: [(&str, Enforcement); 3] =
    [("enforce", Enforcement::Enforce), ("warn", Enforcement::Warn), ("off", Enforcement::Off)];

pub(super) const ON_ERROR: [(&str, OnError); 3] =
    [("log", OnError::Log), ("skip", OnError::Skip), ("abort", OnError::Abort)];

/// Reads a section. Settings are read first, wherever they are in the section.
pub(super) fn section(
    reader: &mut Reader<'_>,
    context: &mut LoadContext<'_>,
    node: &Node,
    owner: &Owner,
    settings: &mut Settings,
) -> SectionHooks {
    let mut found = SectionHooks::default();
    if node.is_null() {
        return found;
    }
    let Some(entries) = node.as_map() else {
        reader.expected("hooks", "a mapping from events to lists of hooks", node);
        return found;
    };
    for entry in entries {
        setting(reader, entry, settings);
    }
    for entry in entries {
        if is_extension_key(&entry.key) || keys::SECTION.contains(&&*canonical(&entry.key)) {
            continue;
        }
        let Some(named) = context.catalog.resolve(&entry.key) else {
            unknown(reader, context, entry);
            continue;
        };
        let event = EventKey {
            kind: named.kind,
            matcher: named.matcher.map(|text| (text.to_owned(), entry.key_span)),
        };
        let inherited = Inherited { event: &event, owner, settings, group: &Group::default() };
        self::event(reader, context, &entry.value, inherited, &mut found);
    }
    found
}

fn setting(reader: &mut Reader<'_>, entry: &MapEntry, settings: &mut Settings) {
    match &*canonical(&entry.key) {
        "mode" => {
            settings.enforcement =
                reader.word(&entry.key, &entry.value, &ENFORCEMENT).or(settings.enforcement);
        }
        "error_behavior" => {
            settings.on_error = reader.word(&entry.key, &entry.value, &ON_ERROR).or(settings.on_error);
        }
        "timeout" => {
            let timeout = reader.duration(&entry.key, &entry.value, TimeUnit::Milliseconds);
            if let (Some(timeout), Some(number)) = (timeout, entry.value.as_number())
                && timeout < Duration::from_millis(100)
            {
                let message = format!("`timeout: {number}` of a hooks section is {number} milliseconds");
                reader.warn(
                    entry.value.span,
                    message,
                    format!("write {number}s for seconds, or {number}ms to be clear"),
                );
            }
            settings.timeout = timeout.or(settings.timeout);
        }
        "max_hooks_per_point" => {
            settings.max_hooks_per_point = match reader.integer(&entry.key, &entry.value) {
                Some(number) if number > 0 => usize::try_from(number).ok(),
                Some(_) => {
                    reader.error(entry.value.span, format!("`{}` must be at least 1", entry.key));
                    None
                }
                None => None,
            }
        }
        _ => {}
    }
}

fn unknown(reader: &mut Reader<'_>, context: &LoadContext<'_>, entry: &MapEntry) {
    let rows: Vec<EventKind> = context.catalog.rows().collect();
    let names = rows.iter().flat_map(|row| std::iter::once(row.name).chain(row.alias));
    let known = names.chain(keys::SECTION);
    let help = match crosier_protocol::nearest::nearest(&entry.key, known) {
        _ if keys::json_comment(&entry.key).is_some() => keys::remedy(&entry.key, &[]),
        Some(near) => format!("did you mean `{near}`?"),
        None => "`crosier events` lists the events; `x-…` keys are ignored".to_owned(),
    };
    reader.error_with_help(entry.key_span, format!("unknown event or setting `{}`", entry.key), help);
}

/// The event of a list of hooks, and the matcher in its point alias.
pub(super) struct EventKey {
    pub(super) kind: EventKind,
    pub(super) matcher: Option<(String, Span)>,
}

fn event(
    reader: &mut Reader<'_>,
    context: &mut LoadContext<'_>,
    node: &Node,
    inherited: Inherited<'_>,
    found: &mut SectionHooks,
) {
    if node.is_null() {
        return;
    }
    let event = inherited.event;
    let mut list = node;
    if let Some(entries) = node.as_map() {
        for entry in entries.iter().filter(|entry| !is_extension_key(&entry.key)) {
            match entry.key.as_str() {
                "override" => {
                    if reader.boolean("override", &entry.value) == Some(true) {
                        match inherited.owner {
                            Owner::Agent(_) => found.overrides.push((event.kind.clone(), entry.key_span)),
                            Owner::Base => reader.error_with_help(
                                entry.key_span,
                                "`override: true` has a meaning only for an agent",
                                "move it to `agents:`, or leave it out",
                            ),
                        }
                    }
                }
                "hooks" => list = &entry.value,
                key if context.is_hook_key(key) && node.get("hooks").is_none() => {
                    let message = format!("the hooks of {} must be a list", event.kind.name);
                    return reader.error_with_help(node.span, message, "begin the hook with `- `");
                }
                key => {
                    let help = keys::remedy(key, &keys::EVENT);
                    reader.error_with_help(entry.key_span, format!("unknown key `{key}`"), help);
                }
            }
        }
        if std::ptr::eq(list, node) || list.is_null() {
            return;
        }
    }
    let Some(items) = list.as_list() else {
        return reader.expected(event.kind.name, "a list of hooks", list);
    };
    for item in items {
        match item.get("hooks") {
            Some(_) => group(reader, context, item, inherited, found),
            None => found.hooks.extend(hook_or_change(reader, context, item, inherited)),
        }
    }
}

/// Reads a hook. A pack's hook that a file changed has keys of both, so its problems are shown at the change.
fn hook_or_change(
    reader: &mut Reader<'_>,
    context: &mut LoadContext<'_>,
    item: &Node,
    inherited: Inherited<'_>,
) -> Option<Hook> {
    let Some(changed) = context.changed.iter().find(|changed| changed.hook == item.span) else {
        return hook(reader, context, item, inherited);
    };
    let mut found = Problems::new();
    let mut merged = Reader { source: reader.source, problems: &mut found, lints: reader.lints };
    let hook = hook(&mut merged, context, item, inherited);
    reader
        .problems
        .extend(found.into_iter().map(|problem| problem.moved_to(&changed.source, changed.change)));
    hook
}

/// Reads a group of hooks that share a matcher, as in Claude's settings.
fn group(
    reader: &mut Reader<'_>,
    context: &mut LoadContext<'_>,
    node: &Node,
    inherited: Inherited<'_>,
    found: &mut SectionHooks,
) {
    let mut group = Group::default();
    for entry in node.as_map().unwrap_or_default().iter().filter(|entry| !is_extension_key(&entry.key)) {
        match entry.key.as_str() {
            "matcher" if entry.value.is_null() => {}
            "matcher" => {
                group.matcher = reader.text("matcher", &entry.value).map(|text| (text, entry.value.span))
            }
            "timeout" => group.timeout = reader.duration("timeout", &entry.value, TimeUnit::Seconds),
            "hooks" => {}
            key => {
                let mut help = keys::remedy(key, &keys::GROUP);
                if context.is_hook_key(key) {
                    help = format!("`{key}` belongs to each hook of the group's `hooks:` list");
                }
                reader.error_with_help(
                    entry.key_span,
                    format!("unknown key `{key}` of a group of hooks"),
                    help,
                );
            }
        }
    }
    let Some(list) = node.get("hooks") else { return };
    let Some(items) = list.as_list() else {
        return reader.expected("hooks", "a list of hooks", list);
    };
    let inherited = Inherited { group: &group, ..inherited };
    let hooks = items.iter().filter_map(|item| hook_or_change(reader, context, item, inherited));
    let mut hooks: Vec<Hook> = hooks.collect();
    // Within a group, callbacks run before processes.
    hooks.sort_by_key(|hook| !hook.handler.is_callback());
    found.hooks.extend(hooks);
}
