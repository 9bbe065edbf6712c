//! The keys of a configuration: one table per section, with the value and the meaning of each key.
//!
//! The loader accepts the keys in these tables, errors suggest the most similar one, and the JSON Schema and
//! the reference are generated from them. To add a key, add a row here.

use std::borrow::Cow;
use std::sync::Arc;

use crosier_protocol::nearest::nearest;

use super::hook_type::HookType;

/// One key, its value and its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Key {
    /// The key in snake case; `onError` is accepted for `on_error`.
    pub name: &'static str,
    /// The kind of its value.
    pub value: ValueKind,
    /// What it means, in one line.
    pub about: &'static str,
}

/// The kind of a key's value. An empty value (`key:`) is the same as leaving the key out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueKind {
    /// Text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A type of hook: one of [`KeyTables::types`].
    Type,
    /// True or false.
    Bool,
    /// A whole number.
    Integer,
    /// A whole number of at least 1.
    Count,
    /// A time: `2s`, `1500ms`, or a number of seconds.
    Seconds,
    /// A time: `2s`, `1500ms`, or a number of milliseconds.
    Milliseconds,
    /// A list of texts; one text alone is a list of one.
    Texts,
    /// A program and its arguments.
    Argv,
    /// A mapping from names to texts, numbers or booleans.
    Variables,
    /// A list of hooks.
    Hooks,
    /// Anything that the hook's code accepts.
    Any,
}

impl Key {
    /// A key with its value and meaning.
    #[must_use]
    pub const fn new(name: &'static str, value: ValueKind, about: &'static str) -> Self {
        Self { name, value, about }
    }
}

/// The keys of a configuration, by section.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct KeyTables {
    /// Settings of a `hooks` section, next to its events.
    pub section: Vec<Key>,
    /// Keys of an event in the form `{override, hooks}`.
    pub event: Vec<Key>,
    /// Keys of a group of hooks that share a matcher.
    pub group: Vec<Key>,
    /// Keys of one hook, including those of registered types.
    pub hook: Vec<Key>,
    /// The values of `type`.
    pub types: Vec<&'static str>,
}

impl KeyTables {
    pub(super) fn new(registered: &[Arc<dyn HookType>]) -> Self {
        let own = registered.iter().flat_map(|own| own.keys()).copied();
        let hook = HOOK_KEYS.into_iter().chain(own).collect();
        let types = TYPES.into_iter().chain(registered.iter().map(|own| own.name())).collect();
        Self { section: SECTION_KEYS.into(), event: EVENT_KEYS.into(), group: GROUP_KEYS.into(), hook, types }
    }
}

const fn key(name: &'static str, value: ValueKind, about: &'static str) -> Key {
    Key::new(name, value, about)
}

/// The types that every loader has.
const TYPES: [&str; 4] = ["command", "python", "script", "builtin"];

const ENFORCEMENT: ValueKind = ValueKind::Word(&["enforce", "warn", "off"]);
const ON_ERROR: ValueKind = ValueKind::Word(&["log", "skip", "abort"]);

/// Settings of a `hooks` section, next to its events.
const SECTION_KEYS: [Key; 4] = [
    key(
        "error_behavior",
        ON_ERROR,
        "what the failure of a hook without `on_error` means: log (the default) and skip go on, abort denies",
    ),
    key(
        "timeout",
        ValueKind::Milliseconds,
        "the timeout of every hook without one; a bare number HERE is milliseconds",
    ),
    key("max_hooks_per_point", ValueKind::Count, "the maximum number of hooks per event and scope (50)"),
    key("mode", ENFORCEMENT, "the mode of every hook of the section without one"),
];

/// Keys of an event's `{override, hooks}` form.
const EVENT_KEYS: [Key; 2] = [
    key(
        "override",
        ValueKind::Bool,
        "for an agent: leaves out the base hooks of this event, except `system` hooks",
    ),
    key("hooks", ValueKind::Hooks, "the hooks"),
];

/// Keys of a group of hooks that share a matcher.
const GROUP_KEYS: [Key; 3] = [
    key("matcher", ValueKind::Text, "the matcher of every hook of the group"),
    key(
        "timeout",
        ValueKind::Seconds,
        "the timeout of each hook of the group without one; a bare number is seconds",
    ),
    key("hooks", ValueKind::Hooks, "the hooks of the group"),
];

/// Keys of one hook.
const HOOK_KEYS: [Key; 28] = [
    key("name", ValueKind::Text, "its name, unique in its scope; needed to enable and disable it"),
    key(
        "matcher",
        ValueKind::Text,
        "for which tools (or other values) it runs: names and globs separated by `|`, or `re:` and a regular expression",
    ),
    key("type", ValueKind::Type, "what kind of handler it is; may be left out when another key implies it"),
    key("command", ValueKind::Text, "a line for `sh -c`"),
    key("argv", ValueKind::Argv, "a program and its arguments, run without a shell"),
    key(
        "handler",
        ValueKind::Text,
        "with `type: command` a file to run, with `type: python` module.function, with `type: builtin` its name",
    ),
    key("run", ValueKind::Text, "a script line like `/log info \"$tool\"`"),
    key("timeout", ValueKind::Seconds, "how long it may take (30 s); a bare number is seconds"),
    key(
        "priority",
        ValueKind::Integer,
        "its place in the order, lower first: 1 system-critical, 10 security, 50 scripts, 100 the default",
    ),
    key("on_error", ON_ERROR, "what its failure means: log and skip go on, abort denies"),
    key("fail_closed", ValueKind::Bool, "true is `on_error: abort`"),
    key("observe", ValueKind::Bool, "runs after the decision, sees the outcome, has no effect: for audits"),
    key("parallel", ValueKind::Bool, "runs together with its parallel neighbours; it may not rewrite"),
    key("background", ValueKind::Bool, "the event does not wait for it; only its context is used, later"),
    key(
        "guard",
        ValueKind::Bool,
        "decides about the final input: it runs again when a later hook changed what it let through; true for `system` hooks and the built-ins that decide",
    ),
    key(
        "mode",
        ENFORCEMENT,
        "enforce (the default); warn runs it without an effect and reports what it would have done; off leaves it out",
    ),
    key("system", ValueKind::Bool, "can be neither disabled nor overridden by an agent"),
    key("enabled", ValueKind::Bool, "false switches it off"),
    key("env", ValueKind::Variables, "environment variables to set for it"),
    key(
        "env_pass",
        ValueKind::Texts,
        "inherited environment variables that the credential filter lets through",
    ),
    key(
        "cwd",
        ValueKind::Text,
        "its working directory: a folder, or `event` for the event's `cwd`; the default is the folder of this file",
    ),
    key(
        "output",
        ValueKind::Word(&["reply", "text"]),
        "how its stdout is read: as a reply (the default), or as text for the model",
    ),
    key("grace", ValueKind::Seconds, "how long it may take to end after SIGTERM (100ms)"),
    key("description", ValueKind::Text, "a description, for people"),
    key("options", ValueKind::Any, "the options of a built-in hook"),
    key("python", ValueKind::Text, "the interpreter of a Python hook"),
    key("python_path", ValueKind::Texts, "folders in which Python modules are looked for"),
    key(
        "isolate",
        ValueKind::Word(&["worker", "fork"]),
        "where a Python hook runs: in the warm worker (the default), or in a fork of it for each event",
    ),
];

/// The names of a table's keys.
const fn names<const N: usize>(keys: &[Key; N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = keys[at].name;
        at += 1;
    }
    names
}

/// The top-level keys that hold hooks or rules. A key that is similar to one of them is reported as a
/// misspelling.
pub(super) const FILE_SECTIONS: [&str; 5] = ["hooks", "agents", "scripts", "permissions", "extends"];
/// All top-level keys.
pub(super) const FILE: [&str; 11] = [
    "hooks",
    "agents",
    "scripts",
    "permissions",
    "extends",
    "mode",
    "trust",
    "log",
    "daemon",
    "self_guard",
    "otlp",
];
pub(super) const SECTION: [&str; 4] = names(&SECTION_KEYS);
pub(super) const EVENT: [&str; 2] = names(&EVENT_KEYS);
pub(super) const GROUP: [&str; 3] = names(&GROUP_KEYS);
pub(super) const HOOK: [&str; 28] = names(&HOOK_KEYS);

/// The key in snake case: `on_error` for `onError`.
pub(super) fn canonical(key: &str) -> Cow<'_, str> {
    if !key.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Borrowed(key);
    }
    let mut snake = String::with_capacity(key.len() + 4);
    for (at, c) in key.char_indices() {
        if c.is_ascii_uppercase() && at > 0 {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    Cow::Owned(snake)
}

/// Whether a key (`x-…`) is reserved for other programs and ignored here.
pub(super) fn is_extension_key(key: &str) -> bool {
    key.starts_with("x-")
}

/// What to do about a comment in JSON, which YAML reads as a key: `{ // guards` and the next line are one
/// text.
pub(super) fn json_comment(key: &str) -> Option<&'static str> {
    let is_comment = key.starts_with("//") || key.starts_with("/*");
    is_comment.then_some("leave it out, or write YAML, where `#` begins a comment")
}

/// What to do about an unknown key.
pub(super) fn remedy(key: &str, known: &[&str]) -> String {
    if let Some(help) = json_comment(key) {
        return format!("JSON has no comments: {help}");
    }
    if let Some(near) = nearest(key, known.iter().copied()) {
        return format!("did you mean `{near}`?");
    }
    match key {
        "async" | "asyncRewake" => {
            "a hook that the event does not wait for is `background: true` here".to_owned()
        }
        "args" => "arguments without a shell are `argv: [program, argument, …]` here".to_owned(),
        "if" => "choose events with `matcher:`; anything finer is for the hook itself to decide".to_owned(),
        "onFailure" => "what a failure means is `on_error: log | skip | abort` here".to_owned(),
        "url" | "headers" | "server" | "tool" | "prompt" | "model" => {
            "hooks are commands, python functions, script lines or built-ins here".to_owned()
        }
        _ => format!("the keys are {}; `x-…` keys are ignored", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_spelled_as_it_is_looked_up_and_stands_once() {
        for table in [&SECTION[..], &EVENT, &GROUP, &HOOK] {
            for (place, name) in table.iter().enumerate() {
                assert_eq!(canonical(name), *name);
                assert!(!table[..place].contains(name), "{name} stands twice");
            }
        }
    }
}
