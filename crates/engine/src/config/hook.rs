//! One hook: its keys → what it wants, how it runs, what it runs.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use super::keys::{self, canonical, is_free};
use super::loader::Reading;
use super::names::Named;
use super::script::{SCRIPT_PRIORITY, run_line};
use super::section::{Event, ON_ERROR, Owner, Settings};
use super::tree::{Entry, Node, Span};
use super::value::{Sheet, Unit};
use super::{command, lint, python, reply};
use crate::registry::{DEFAULT_PRIORITY, Handler, Hook, Matcher, Mode, OnError, Origin};

/// What a group says for each of its hooks.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) matcher: Option<(String, Span)>,
    pub(super) timeout: Option<Duration>,
}

/// The keys of one hook, each in its canonical spelling.
pub(super) struct Keys<'a> {
    pub(super) span: Span,
    entries: Vec<(Cow<'a, str>, &'a Entry)>,
}

impl<'a> Keys<'a> {
    fn read(sheet: &mut Sheet<'_>, node: &'a Node) -> Option<Self> {
        let Some(map) = node.as_map() else {
            let message =
                format!("a hook is a mapping like `command: ./check.sh`, but this is {}", node.kind_word());
            sheet.error(node.span, message);
            return None;
        };
        let mut entries: Vec<(Cow<'_, str>, &Entry)> = Vec::with_capacity(map.len());
        for entry in map.iter().filter(|entry| !is_free(&entry.key)) {
            let key = canonical(&entry.key);
            if !keys::HOOK.contains(&&*key) {
                let help = keys::remedy(&entry.key, &keys::HOOK);
                sheet.error_with_help(entry.key_span, format!("unknown key `{}`", entry.key), help);
            } else if entries.iter().any(|(other, _)| *other == key) {
                sheet.error(
                    entry.key_span,
                    format!("`{}` is the key `{key}`, which is here already", entry.key),
                );
            } else {
                entries.push((key, entry));
            }
        }
        Some(Self { span: node.span, entries })
    }

    /// The value of a key; nothing is the same as not being there.
    pub(super) fn get(&self, key: &str) -> Option<&'a Node> {
        let entry = self.entries.iter().find(|(other, _)| other == key)?.1;
        (!entry.value.is_null()).then_some(&entry.value)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(super) fn key_span(&self, key: &str) -> Span {
        self.entries.iter().find(|(other, _)| other == key).map_or(self.span, |(_, entry)| entry.key_span)
    }

    /// Where the hook begins, for people.
    pub(super) fn start(&self) -> Span {
        Span::new(self.span.start, self.span.start)
    }
}

/// The kinds of hooks, and the keys that only they have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Command,
    Python,
    Builtin,
    Script,
    Reply,
}

const TYPES: [(&str, Type); 5] = [
    ("command", Type::Command),
    ("python", Type::Python),
    ("builtin", Type::Builtin),
    ("script", Type::Script),
    ("reply", Type::Reply),
];

impl Type {
    /// The keys that mean something to this type and not to every hook.
    const fn own_keys(self) -> &'static [&'static str] {
        match self {
            Self::Command => &["command", "argv", "handler", "env", "env_pass", "cwd", "output", "grace"],
            Self::Python => &["handler", "python", "python_path", "isolate", "env", "env_pass", "cwd"],
            Self::Script => &["run"],
            Self::Builtin => &["handler", "options"],
            Self::Reply => &["reply", "then", "delay", "fail"],
        }
    }
}

pub(super) fn hook(
    sheet: &mut Sheet<'_>,
    reading: &mut Reading<'_>,
    node: &Node,
    event: &Event,
    owner: &Owner,
    settings: &Settings,
    group: &Group,
) -> Option<Hook> {
    let keys = Keys::read(sheet, node)?;
    let name: Option<Arc<str>> =
        keys.get("name").and_then(|node| sheet.filled_text("name", node)).map(Into::into);
    let agent = match owner {
        Owner::Base => None,
        Owner::Agent(id) => Some(Arc::clone(id)),
    };
    let place =
        if keys.has("name") { keys.get("name").map_or(keys.span, |node| node.span) } else { keys.start() };
    let (source, span) = (Arc::clone(sheet.source), place);
    let system = keys.get("system").and_then(Node::as_bool).unwrap_or(false);
    let named = Named { agent, event: event.kind.name, system, name: name.clone(), source, span };
    reading.names.add(named, sheet.problems);

    let matcher = matcher(sheet, &keys, event, group);
    let mut timeout = keys.get("timeout").and_then(|node| {
        let timeout = sheet.duration("timeout", node, Unit::Seconds);
        lint::timeout(sheet, node, timeout);
        timeout
    });
    timeout = timeout.or(group.timeout);
    let mut on_error = on_error(sheet, &keys);
    settings.apply(&mut timeout, &mut on_error);
    let flag = |sheet: &mut Sheet<'_>, key: &str| keys.get(key).and_then(|node| sheet.boolean(key, node));
    let mode = mode(sheet, &keys);
    let system = flag(sheet, "system").unwrap_or(false);
    if system && matches!(owner, Owner::Agent(_)) {
        let help = "move it to the `hooks:` of the file, which hold for every agent";
        sheet.error_with_help(keys.key_span("system"), "a hook of an agent cannot be `system`", help);
    }
    let enabled = flag(sheet, "enabled").unwrap_or(true);
    if system && !enabled {
        sheet.error(keys.key_span("enabled"), "a `system` hook cannot be disabled");
    }
    let priority = keys.get("priority").and_then(|node| sheet.integer("priority", node));
    let usual = if keys.has("run") { SCRIPT_PRIORITY } else { DEFAULT_PRIORITY };
    let description = keys.get("description").and_then(|node| sheet.text("description", node));
    let (handler, type_word) = handler(sheet, reading, &keys, event, mode?)?;
    lint::hook(sheet, &keys, event, on_error);
    let position = sheet.source.position(node.span.start);
    Some(Hook {
        kind: event.kind.clone(),
        name,
        matcher: Ok(matcher?),
        priority: priority.unwrap_or(usual),
        timeout,
        on_error,
        mode: mode?,
        system,
        enabled,
        description: description.map(Into::into),
        origin: Some(Origin {
            file: sheet.source.name.as_str().into(),
            line: position.line,
            column: position.column,
            type_word,
        }),
        handler,
    })
}

/// The matcher of the hook, its group or its point alias: only one of them can have one.
fn matcher(sheet: &mut Sheet<'_>, keys: &Keys<'_>, event: &Event, group: &Group) -> Option<Matcher> {
    let own = keys.get("matcher");
    let own = match own {
        Some(node) => Some((sheet.text("matcher", node)?, node.span)),
        None => None,
    };
    let given: Vec<(String, Span)> =
        [own, group.matcher.clone(), event.matcher.clone()].into_iter().flatten().collect();
    let Some((text, span)) = given.first() else { return Some(Matcher::all()) };
    if let Some((other, _)) = given.get(1) {
        let message = format!("two matchers for one hook: `{text}` and `{other}`");
        sheet.error_with_help(*span, message, "leave one of them out");
        return None;
    }
    compiled_matcher(sheet, text, *span, event)
}

/// A matcher that the event can have.
pub(super) fn compiled_matcher(
    sheet: &mut Sheet<'_>,
    text: &str,
    span: Span,
    event: &Event,
) -> Option<Matcher> {
    let matcher = match Matcher::new(text) {
        Ok(matcher) => matcher,
        Err(detail) => {
            sheet.error(span, detail);
            return None;
        }
    };
    if event.kind.matcher.is_none() && !matcher.is_all() {
        let message = format!("{} has no field that a matcher runs on", event.kind.name);
        sheet.error_with_help(span, message, "leave the matcher out, or write \"*\"");
        return None;
    }
    lint::matcher(sheet, &matcher, span, event);
    Some(matcher)
}

fn on_error(sheet: &mut Sheet<'_>, keys: &Keys<'_>) -> Option<OnError> {
    let own = keys.get("on_error").and_then(|node| sheet.word("on_error", node, &ON_ERROR));
    let closed = keys.get("fail_closed").and_then(|node| sheet.boolean("fail_closed", node));
    match (own, closed) {
        (Some(OnError::Abort), Some(false)) | (Some(OnError::Log | OnError::Skip), Some(true)) => {
            let help = "`fail_closed: true` is `on_error: abort`; leave one of them out";
            sheet.error_with_help(keys.key_span("fail_closed"), "`fail_closed` contradicts `on_error`", help);
            None
        }
        (None, Some(true)) => Some(OnError::Abort),
        (own, _) => own,
    }
}

fn mode(sheet: &mut Sheet<'_>, keys: &Keys<'_>) -> Option<Mode> {
    let words = [("observe", Mode::Observe), ("parallel", Mode::Parallel), ("background", Mode::Background)];
    let mut chosen: Option<(&str, Mode)> = None;
    for (word, mode) in words {
        if keys.get(word).and_then(|node| sheet.boolean(word, node)) == Some(true) {
            if let Some((other, _)) = chosen {
                sheet.error(keys.key_span(word), format!("a hook cannot be both `{other}` and `{word}`"));
                return None;
            }
            chosen = Some((word, mode));
        }
    }
    Some(chosen.map_or(Mode::Sequential, |(_, mode)| mode))
}

/// What the hook runs, and the word for it. The type may be left out when a key says it.
fn handler(
    sheet: &mut Sheet<'_>,
    reading: &mut Reading<'_>,
    keys: &Keys<'_>,
    event: &Event,
    mode: Mode,
) -> Option<(Handler, &'static str)> {
    let said = match keys.get("type") {
        Some(node) => Some(sheet.word("type", node, &TYPES)?),
        None => None,
    };
    let is = |all: &[&str]| all.iter().any(|key| keys.has(key));
    let kind = match said {
        Some(kind) => kind,
        None if is(&["command", "argv"]) => Type::Command,
        None if is(Type::Script.own_keys()) => Type::Script,
        None if is(Type::Reply.own_keys()) => Type::Reply,
        None if keys.has("handler") => {
            let help = "`type: command` runs a file, `type: python` calls module.function, `type: builtin` is ready made";
            sheet.error_with_help(keys.key_span("handler"), "`handler` needs a `type`", help);
            return None;
        }
        None => {
            let help = "say what it runs: `command:`, `argv:`, `run:`, or `type:` with `handler:`";
            sheet.error_with_help(keys.start(), "this hook runs nothing", help);
            return None;
        }
    };
    let word = TYPES.iter().find(|(_, other)| *other == kind).map_or("", |(word, _)| word);
    let is_own = |kind: Type, key: &str| kind.own_keys().contains(&key);
    for (key, entry) in
        keys.entries.iter().filter(|(key, entry)| !entry.value.is_null() && !is_own(kind, key))
    {
        if TYPES.iter().any(|(_, other)| is_own(*other, key)) {
            sheet.error(entry.key_span, format!("`{key}` has no meaning for a hook of type {word}"));
        }
    }
    let handler = match kind {
        Type::Command => command::command(sheet, reading, keys),
        Type::Python => python::python(sheet, reading, keys),
        Type::Builtin => reading.builtins.make(sheet, keys, &event.kind, mode, reading.folder),
        Type::Script => run_line(sheet, reading, keys, event),
        Type::Reply => reply::reply(sheet, keys, event),
    };
    Some((handler?, word))
}
