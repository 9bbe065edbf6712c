//! The keys of a `hooks` section, spelled once, and how others spell them.

use crosier_protocol::nearest::nearest;

/// Settings of a `hooks` section beside the events.
pub(super) const SECTION: [&str; 3] = ["error_behavior", "timeout", "max_hooks_per_point"];

/// Keys of an event's `{override, hooks}` form.
pub(super) const EVENT: [&str; 2] = ["override", "hooks"];

/// Keys of a group of hooks with one matcher.
pub(super) const GROUP: [&str; 3] = ["matcher", "timeout", "hooks"];

/// Keys of one hook.
pub(super) const HOOK: [&str; 30] = [
    "name",
    "matcher",
    "type",
    "command",
    "argv",
    "handler",
    "run",
    "reply",
    "then",
    "delay",
    "fail",
    "timeout",
    "priority",
    "on_error",
    "fail_closed",
    "observe",
    "parallel",
    "background",
    "system",
    "enabled",
    "env",
    "env_pass",
    "cwd",
    "output",
    "grace",
    "description",
    "options",
    "python",
    "python_path",
    "isolate",
];

/// The key as it is spelled here: `onError` is `on_error`.
pub(super) fn canonical(key: &str) -> String {
    let mut snake = String::with_capacity(key.len() + 4);
    for (at, c) in key.char_indices() {
        if c.is_ascii_uppercase() && at > 0 {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
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
