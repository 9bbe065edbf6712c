//! The keys of a configuration: one table each, with what a key holds and what it means.
//!
//! The loader knows a key by these tables, an error names the nearest one from them, and the JSON Schema and
//! the reference are written from them. Whoever adds a key adds a row here.

use std::borrow::Cow;

use crosier_protocol::FailureKind;
use crosier_protocol::nearest::nearest;

/// One key, its value and its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// The spelling here; `onError` is accepted for `on_error`.
    pub name: &'static str,
    /// What it holds.
    pub holds: Holds,
    /// What it means, in one line.
    pub about: &'static str,
}

/// What a key holds. Nothing (`key:`) is the same as leaving the key out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// Text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// True or false.
    Bool,
    /// A whole number.
    Integer,
    /// A whole number from 1 on.
    Count,
    /// A time: `2s`, `1500ms`, or a number of seconds.
    Seconds,
    /// A time: `2s`, `1500ms`, or a number of milliseconds.
    Milliseconds,
    /// A list of texts; one text alone is a list of one.
    Texts,
    /// A program and its arguments.
    Argv,
    /// A mapping from names to texts, numbers or truth values.
    Variables,
    /// A list of hooks.
    Hooks,
    /// Whatever the hook's code takes.
    Any,
}

const fn key(name: &'static str, holds: Holds, about: &'static str) -> Key {
    Key { name, holds, about }
}

const ON_ERROR: Holds = Holds::Word(&["log", "skip", "abort"]);

/// Settings of a `hooks` section beside the events.
pub const SECTION_KEYS: [Key; 3] = [
    key(
        "error_behavior",
        ON_ERROR,
        "what a failing hook means that says nothing about it: log (the default) and skip go on, abort denies",
    ),
    key(
        "timeout",
        Holds::Milliseconds,
        "the time of every hook that names none; a bare number HERE is milliseconds",
    ),
    key("max_hooks_per_point", Holds::Count, "the most hooks per event and scope (50)"),
];

/// Keys of an event's `{override, hooks}` form.
pub const EVENT_KEYS: [Key; 2] = [
    key(
        "override",
        Holds::Bool,
        "for an agent: leaves out the base hooks of this event, but for `system` ones",
    ),
    key("hooks", Holds::Hooks, "the hooks"),
];

/// Keys of a group of hooks with one matcher.
pub const GROUP_KEYS: [Key; 3] = [
    key("matcher", Holds::Text, "which events the hooks of the group want"),
    key(
        "timeout",
        Holds::Seconds,
        "the time of each hook of the group that names none; a bare number is seconds",
    ),
    key("hooks", Holds::Hooks, "the hooks of the group"),
];

/// Keys of one hook.
pub const HOOK_KEYS: [Key; 30] = [
    key("name", Holds::Text, "its name, unique in its scope; needed to enable and disable it"),
    key(
        "matcher",
        Holds::Text,
        "which events it wants: names and globs with `|` between them, or `re:` and a regular expression",
    ),
    key(
        "type",
        Holds::Word(&["command", "python", "script", "builtin", "reply"]),
        "what kind of code it runs; may be left out when another key says it",
    ),
    key("command", Holds::Text, "a line for `sh -c`"),
    key("argv", Holds::Argv, "a program and its arguments, run without a shell"),
    key(
        "handler",
        Holds::Text,
        "with `type: command` a file to run, with `type: python` module.function, with `type: builtin` its name",
    ),
    key("run", Holds::Text, "a script line like `/log info \"$tool\"`"),
    key("reply", Holds::Any, "the answer itself, for cases"),
    key("then", Holds::Any, "the answer of the second run, when `reply` asks for one"),
    key("delay", Holds::Seconds, "how long a written reply takes"),
    key("fail", Holds::Word(&FAILURES), "the failure that it plays, for cases"),
    key("timeout", Holds::Seconds, "how long it may take (30 s); a bare number is seconds"),
    key(
        "priority",
        Holds::Integer,
        "its place in the order, lower first: 1 system-critical, 10 security, 50 scripts, 100 the default",
    ),
    key("on_error", ON_ERROR, "what its failure means: log and skip go on, abort denies"),
    key("fail_closed", Holds::Bool, "true is `on_error: abort`"),
    key("observe", Holds::Bool, "runs when all is settled, sees the outcome, has no effect: for audits"),
    key("parallel", Holds::Bool, "runs together with its parallel neighbours; it may not rewrite"),
    key("background", Holds::Bool, "the event does not wait for it; only its context is taken, later"),
    key("system", Holds::Bool, "can be neither disabled nor overridden by an agent"),
    key("enabled", Holds::Bool, "false leaves it out without losing it"),
    key("env", Holds::Variables, "variables of its own"),
    key("env_pass", Holds::Texts, "names of inherited variables that the credential filter lets through"),
    key(
        "cwd",
        Holds::Text,
        "where it runs: a folder, or `event` for the event's; else the folder of this file",
    ),
    key(
        "output",
        Holds::Word(&["reply", "text"]),
        "how its stdout is read: as a reply (the default), or as text for the model",
    ),
    key("grace", Holds::Seconds, "how long it may take to end after SIGTERM (100ms)"),
    key("description", Holds::Text, "what it is for, for people"),
    key("options", Holds::Any, "what a built-in hook is told"),
    key("python", Holds::Text, "the interpreter of a python hook"),
    key("python_path", Holds::Texts, "folders where python modules are looked for"),
    key(
        "isolate",
        Holds::Word(&["worker", "fork"]),
        "where a python hook runs: in the warm worker (the default), or in a fork of it for each event",
    ),
];

const FAILURES: [&str; FailureKind::ALL.len()] = {
    let mut words = [""; FailureKind::ALL.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = FailureKind::ALL[at].word();
        at += 1;
    }
    words
};

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

pub(super) const SECTION: [&str; 3] = names(&SECTION_KEYS);
pub(super) const EVENT: [&str; 2] = names(&EVENT_KEYS);
pub(super) const GROUP: [&str; 3] = names(&GROUP_KEYS);
pub(super) const HOOK: [&str; 30] = names(&HOOK_KEYS);

/// The key as it is spelled here: `onError` is `on_error`.
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

/// Whether a key is free for anybody's use.
pub(super) fn is_free(key: &str) -> bool {
    key.starts_with("x-")
}

/// What to do about a key that nobody knows here.
pub(super) fn remedy(key: &str, known: &[&'static str]) -> String {
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
        _ => format!("the keys are {}; `x-…` keys are free", known.join(", ")),
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
