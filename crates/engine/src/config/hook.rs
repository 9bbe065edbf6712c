//! Turns the keys of one hook into a [`Hook`].

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use super::hook_type::{self, HookType, HookTypes};
use super::keys::{self, canonical, is_extension_key};
use super::loader::LoadContext;
use super::names::DeclaredHook;
use super::script::{SCRIPT_PRIORITY, run_line};
use super::section::{ENFORCEMENT, EventKey, ON_ERROR, Owner, Settings};
use super::tree::{MapEntry, Node, Span};
use super::value::{Reader, TimeUnit};
use super::{command, lint, python};
use crate::registry::{DEFAULT_PRIORITY, Enforcement, Handler, Hook, Layer, Matcher, Mode, OnError, Origin};

/// Settings of a group that apply to each of its hooks.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) matcher: Option<(String, Span)>,
    pub(super) timeout: Option<Duration>,
}

/// The keys of one hook, each in its canonical spelling.
pub(super) struct Keys<'a> {
    pub(super) span: Span,
    entries: Vec<(Cow<'a, str>, &'a MapEntry)>,
}

impl<'a> Keys<'a> {
    fn read(reader: &mut Reader<'_>, types: &HookTypes, node: &'a Node) -> Option<Self> {
        let Some(map) = node.as_map() else {
            let message =
                format!("a hook is a mapping like `command: ./check.sh`, but this is {}", node.kind_word());
            reader.error(node.span, message);
            return None;
        };
        let mut entries: Vec<(Cow<'_, str>, &MapEntry)> = Vec::with_capacity(map.len());
        for entry in map.iter().filter(|entry| !is_extension_key(&entry.key)) {
            let key = canonical(&entry.key);
            if !keys::HOOK.contains(&&*key) && !types.has_key(&key) {
                let known: Vec<&str> =
                    keys::HOOK.into_iter().chain(types.keys().map(|key| key.name)).collect();
                let help = keys::remedy(&entry.key, &known);
                reader.error_with_help(entry.key_span, format!("unknown key `{}`", entry.key), help);
            } else if entries.iter().any(|(other, _)| *other == key) {
                reader.error(
                    entry.key_span,
                    format!("`{}` is the key `{key}`, which is already here", entry.key),
                );
            } else {
                entries.push((key, entry));
            }
        }
        Some(Self { span: node.span, entries })
    }

    /// The value of a key; an empty value counts as absent.
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

    /// The start of the hook, as a position for problems.
    pub(super) fn start(&self) -> Span {
        Span::new(self.span.start, self.span.start)
    }
}

/// What a hook runs, by its `type:`.
#[derive(Clone, Copy)]
enum Type<'a> {
    Command,
    Python,
    Builtin,
    Script,
    /// A type that the host registered.
    Registered(&'a dyn HookType),
}

const ENGINE_TYPES: [(&str, Type<'static>); 4] = [
    ("command", Type::Command),
    ("python", Type::Python),
    ("builtin", Type::Builtin),
    ("script", Type::Script),
];

impl Type<'_> {
    fn word(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Python => "python",
            Self::Builtin => "builtin",
            Self::Script => "script",
            Self::Registered(hook_type) => hook_type.name(),
        }
    }

    /// Whether a key is specific to this type.
    fn owns(self, key: &str) -> bool {
        let own: &[&str] = match self {
            Self::Command => &["command", "argv", "handler", "env", "env_pass", "cwd", "output", "grace"],
            Self::Python => &["handler", "python", "python_path", "isolate", "env", "env_pass", "cwd"],
            Self::Script => &["run"],
            Self::Builtin => &["handler", "options"],
            Self::Registered(hook_type) => return hook_type.keys().iter().any(|own| own.name == key),
        };
        own.contains(&key)
    }
}

/// The types of the engine, then those of the host.
fn types<'a>(context: &LoadContext<'a>) -> Vec<(&'static str, Type<'a>)> {
    let registered = context.types.iter().map(|own| (own.name(), Type::Registered(own.as_ref())));
    ENGINE_TYPES.into_iter().chain(registered).collect()
}

/// What a hook inherits from where it stands in the file.
#[derive(Clone, Copy)]
pub(super) struct Inherited<'a> {
    pub(super) event: &'a EventKey,
    pub(super) owner: &'a Owner,
    pub(super) settings: &'a Settings,
    pub(super) group: &'a Group,
}

pub(super) fn hook(
    reader: &mut Reader<'_>,
    context: &mut LoadContext<'_>,
    node: &Node,
    Inherited { event, owner, settings, group }: Inherited<'_>,
) -> Option<Hook> {
    let keys = Keys::read(reader, context.types, node)?;
    let name: Option<Arc<str>> =
        keys.get("name").and_then(|node| reader.filled_text("name", node)).map(Into::into);
    let agent = match owner {
        Owner::Base => None,
        Owner::Agent(id) => Some(Arc::clone(id)),
    };
    let place =
        if keys.has("name") { keys.get("name").map_or(keys.span, |node| node.span) } else { keys.start() };
    let (source, span) = (Arc::clone(reader.source), place);
    let system = keys.get("system").and_then(Node::as_bool).unwrap_or(false);
    let named = DeclaredHook { agent, event: event.kind.name, system, name: name.clone(), source, span };
    context.names.add(named, reader.problems);

    let matcher = matcher(reader, &keys, event, group);
    let mut timeout = keys.get("timeout").and_then(|node| {
        let timeout = reader.duration("timeout", node, TimeUnit::Seconds);
        lint::timeout(reader, node, timeout);
        timeout
    });
    timeout = timeout.or(group.timeout);
    let mut on_error = on_error(reader, &keys);
    settings.apply(&mut timeout, &mut on_error);
    let flag = |reader: &mut Reader<'_>, key: &str| keys.get(key).and_then(|node| reader.boolean(key, node));
    let mode = mode(reader, &keys);
    let system = flag(reader, "system").unwrap_or(false);
    if system && matches!(owner, Owner::Agent(_)) {
        let help = "move it to the `hooks:` of the file, which apply to every agent";
        reader.error_with_help(keys.key_span("system"), "a hook of an agent cannot be `system`", help);
    }
    let enabled = flag(reader, "enabled").unwrap_or(true);
    if system && !enabled {
        reader.error(keys.key_span("enabled"), "a `system` hook cannot be disabled");
    }
    let priority = keys.get("priority").and_then(|node| reader.integer("priority", node));
    let usual = if keys.has("run") { SCRIPT_PRIORITY } else { DEFAULT_PRIORITY };
    let description = keys.get("description").and_then(|node| reader.text("description", node));
    let enforcement = keys.get("mode").and_then(|node| reader.word("mode", node, &ENFORCEMENT));
    let enforcement = enforcement.or(settings.enforcement).unwrap_or_default();
    if system && enforcement == Enforcement::Off {
        reader.error(keys.key_span("mode"), "a `system` hook cannot be off");
    }
    let guard = guard(reader, &keys, context, system, mode);
    let (handler, type_word) = handler(reader, context, &keys, event, mode?)?;
    lint::hook(reader, &keys, event, on_error);
    let position = reader.source.position(node.span.start);
    Some(Hook {
        kind: event.kind.clone(),
        name,
        matcher: Ok(matcher?),
        priority: priority.unwrap_or(usual),
        timeout,
        on_error,
        mode: mode?,
        enforcement,
        guard,
        layer: Layer::Host,
        system,
        enabled,
        description: description.map(Into::into),
        sources: None,
        origin: Some(Origin {
            file: reader.source.name.as_str().into(),
            line: position.line,
            column: position.column,
            type_word,
        }),
        handler,
    })
}

/// The matcher of the hook, of its group or of its point alias. Only one of them may set it.
fn matcher(reader: &mut Reader<'_>, keys: &Keys<'_>, event: &EventKey, group: &Group) -> Option<Matcher> {
    let own = keys.get("matcher");
    let own = match own {
        Some(node) => Some((reader.text("matcher", node)?, node.span)),
        None => None,
    };
    let given: Vec<(String, Span)> =
        [own, group.matcher.clone(), event.matcher.clone()].into_iter().flatten().collect();
    let Some((text, span)) = given.first() else { return Some(Matcher::all()) };
    if let Some((other, _)) = given.get(1) {
        let message = format!("two matchers for one hook: `{text}` and `{other}`");
        reader.error_with_help(*span, message, "leave one of them out");
        return None;
    }
    compiled_matcher(reader, text, *span, event)
}

/// Compiles a matcher, if the event can have one.
pub(super) fn compiled_matcher(
    reader: &mut Reader<'_>,
    text: &str,
    span: Span,
    event: &EventKey,
) -> Option<Matcher> {
    let matcher = match Matcher::new(text) {
        Ok(matcher) => matcher,
        Err(detail) => {
            reader.error(span, detail);
            return None;
        }
    };
    if event.kind.matcher.is_none() && !matcher.is_all() {
        let message = format!("{} has no field for a matcher", event.kind.name);
        reader.error_with_help(span, message, "leave the matcher out, or write \"*\"");
        return None;
    }
    lint::matcher(reader, &matcher, span, event);
    Some(matcher)
}

fn on_error(reader: &mut Reader<'_>, keys: &Keys<'_>) -> Option<OnError> {
    let own = keys.get("on_error").and_then(|node| reader.word("on_error", node, &ON_ERROR));
    let closed = keys.get("fail_closed").and_then(|node| reader.boolean("fail_closed", node));
    match (own, closed) {
        (Some(OnError::Abort), Some(false)) | (Some(OnError::Log | OnError::Skip), Some(true)) => {
            let help = "`fail_closed: true` is `on_error: abort`; leave one of them out";
            reader.error_with_help(
                keys.key_span("fail_closed"),
                "`fail_closed` contradicts `on_error`",
                help,
            );
            None
        }
        (None, Some(true)) => Some(OnError::Abort),
        (own, _) => own,
    }
}

/// Whether the hook is a guard. A background hook or an observer cannot be one.
fn guard(
    reader: &mut Reader<'_>,
    keys: &Keys<'_>,
    context: &LoadContext<'_>,
    system: bool,
    mode: Option<Mode>,
) -> Option<bool> {
    let said = keys.get("guard").and_then(|node| reader.boolean("guard", node));
    let judges = !matches!(mode, Some(Mode::Observe | Mode::Background));
    if said == Some(true) && !judges {
        let word = if mode == Some(Mode::Observe) { "observe" } else { "background" };
        let message = format!("a guard decides, which a hook with `{word}` cannot");
        reader.error_with_help(keys.key_span("guard"), message, "leave one of the two out");
        return None;
    }
    let builtin = keys
        .get("handler")
        .and_then(Node::as_text)
        .filter(|_| keys.get("type").and_then(Node::as_text) == Some("builtin"));
    let by_default = system || builtin.is_some_and(|name| context.builtins.is_guard(name));
    said.or((by_default && judges).then_some(true))
}

fn mode(reader: &mut Reader<'_>, keys: &Keys<'_>) -> Option<Mode> {
    let words = [("observe", Mode::Observe), ("parallel", Mode::Parallel), ("background", Mode::Background)];
    let mut chosen: Option<(&str, Mode)> = None;
    for (word, mode) in words {
        if keys.get(word).and_then(|node| reader.boolean(word, node)) == Some(true) {
            if let Some((other, _)) = chosen {
                reader.error(keys.key_span(word), format!("a hook cannot be both `{other}` and `{word}`"));
                return None;
            }
            chosen = Some((word, mode));
        }
    }
    Some(chosen.map_or(Mode::Sequential, |(_, mode)| mode))
}

/// The handler of the hook, and the name of its type. The type may be left out if a key implies it.
fn handler(
    reader: &mut Reader<'_>,
    context: &mut LoadContext<'_>,
    keys: &Keys<'_>,
    event: &EventKey,
    mode: Mode,
) -> Option<(Handler, &'static str)> {
    let kind = hook_type(reader, context, keys)?;
    let word = kind.word();
    let others = keys.entries.iter().filter(|(key, entry)| !entry.value.is_null() && !kind.owns(key));
    for (key, entry) in others {
        if types(context).iter().any(|(_, other)| other.owns(key)) {
            reader.error(entry.key_span, format!("`{key}` has no meaning for a hook of type {word}"));
        }
    }
    let handler = match kind {
        Type::Command => command::command(reader, context, keys),
        Type::Python => python::python(reader, context, keys),
        Type::Builtin => context.builtins.make(reader, keys, &event.kind, mode, context.folder),
        Type::Script => run_line(reader, context, keys, event),
        Type::Registered(own) => hook_type::make(own, reader, context, keys, event, mode),
    };
    Some((handler?, word))
}

/// The type that the hook names, or the one that its keys belong to.
fn hook_type<'a>(reader: &mut Reader<'_>, context: &LoadContext<'a>, keys: &Keys<'_>) -> Option<Type<'a>> {
    if let Some(node) = keys.get("type") {
        return reader.word("type", node, &types(context));
    }
    if keys.has("command") || keys.has("argv") {
        return Some(Type::Command);
    }
    if keys.has("run") {
        return Some(Type::Script);
    }
    let is_own = |own: &&Arc<dyn HookType>| own.keys().iter().any(|key| keys.has(key.name));
    if let Some(own) = context.types.iter().find(is_own) {
        return Some(Type::Registered(own.as_ref()));
    }
    if keys.has("handler") && context.is_massgen {
        return Some(Type::Python);
    }
    if keys.has("handler") {
        let help = "`type: command` runs a file, `type: python` calls module.function, `type: builtin` is ready made";
        reader.error_with_help(keys.key_span("handler"), "`handler` needs a `type`", help);
    } else {
        let help = "say what it runs: `command:`, `argv:`, `run:`, or `type:` with `handler:`";
        reader.error_with_help(keys.start(), "this hook runs nothing", help);
    }
    None
}
