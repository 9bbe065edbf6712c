//! What is allowed but probably not meant: warnings.

use std::path::Path;
use std::time::Duration;

use crosier_protocol::Capability;

use super::hook::Keys;
use super::loader::Config;
use super::names::Names;
use super::section::Event;
use super::tree::{Node, Problem, Problems, Span};
use super::value::Reader;
use crate::registry::{Matcher, OnError};

/// A bare number on a hook is seconds; thousands of them were meant as milliseconds.
pub(super) fn timeout(reader: &mut Reader<'_>, node: &Node, timeout: Option<Duration>) {
    if let (Some(timeout), Some(number)) = (timeout, node.as_number())
        && timeout >= Duration::from_secs(1000)
    {
        let message = format!("`timeout: {number}` of a hook is {number} seconds");
        reader.warn(
            node.span,
            message,
            format!("write {number}ms for milliseconds, or {number}s to be clear"),
        );
    }
}

/// Matchers that come from a place where they were expressions or lists, and values that never come.
pub(super) fn matcher(reader: &mut Reader<'_>, matcher: &Matcher, span: Span, event: &Event) {
    let text = matcher.text();
    if !reader.lints || matcher.is_all() || text.starts_with("re:") {
        return;
    }
    if [".*", ".+", "^", "$", "\\"].iter().any(|part| text.contains(part)) {
        let message = format!("the matcher `{text}` looks like a regular expression, but it is a glob");
        reader.warn(span, message, format!("write `re:{text}`, or `*` for any characters"));
    } else if text.contains(',') && event.kind.name.contains("Tool") {
        let message = format!("the matcher `{text}` can never match: no tool has a comma in its name");
        reader.warn(span, message, format!("write `{}`", text.replace([',', ' '], "|").replace("||", "|")));
    } else if let Some(field) = event.kind.matcher.and_then(|name| event.kind.field(name))
        && !field.values.is_empty()
        && !field.values.iter().any(|value| matcher.matches(value))
    {
        let message = format!("the matcher `{text}` can never match: `{}` has other values", field.name);
        reader.warn(span, message, format!("it is one of {}", field.values.join(", ")));
    }
}

/// A hook that wants to decide where nothing can be decided.
pub(super) fn hook(reader: &mut Reader<'_>, keys: &Keys<'_>, event: &Event, on_error: Option<OnError>) {
    if !reader.lints {
        return;
    }
    let may = event.kind.capabilities;
    let own = keys.has("on_error") || keys.has("fail_closed");
    if on_error == Some(OnError::Abort) && own && !may.has(Capability::Deny) {
        let instead =
            if may.has(Capability::Suppress) { "hides the output" } else { "halts the host's loop" };
        let key = if keys.has("on_error") { "on_error" } else { "fail_closed" };
        let message = format!("{} has no deny, so a failure of this hook {instead}", event.kind.name);
        reader.warn(keys.key_span(key), message, "leave it out if that is too much");
    }
}

/// A shell line: data pasted into it is refused, a script that is not there is suspicious.
pub(super) fn shell_line(reader: &mut Reader<'_>, line: &str, span: Span, folder: &Path) -> Option<()> {
    let pastes = line.contains("${") || line.contains("{{");
    for pasted in ["${tool_input", "${tool_response", "${tool_output", "${prompt", "{{"] {
        if pastes && line.contains(pasted) {
            let message = format!("`{pasted}…` in a command: event data is never pasted into a shell line");
            let help =
                "the event is JSON on the hook's stdin; small values are in $CROSIER_TOOL_NAME and the like";
            reader.error_with_help(span, message, help);
            return None;
        }
    }
    if !reader.lints {
        return Some(());
    }
    let mut words = line.split_ascii_whitespace().skip_while(|word| word.contains('='));
    let first = words.next()?;
    let plain = |word: &str| !word.contains(['$', '`', '"', '\'', '*', ';', '&', '|', '(', '<', '>', '~']);
    let program = first.rsplit('/').next().unwrap_or(first);
    let interprets = ["python", "python3", "sh", "bash", "node", "ruby", "perl"].contains(&program);
    let script = if interprets { words.find(|word| !word.starts_with('-')) } else { Some(first) };
    // `python -m module` and `sh -c '…'` name no file.
    let names_no_file =
        interprets && line.split_ascii_whitespace().any(|word| ["-m", "-c", "-e"].contains(&word));
    if let Some(script) = script
        && !names_no_file
        && plain(script)
        && (interprets || script.contains('/'))
        && !folder.join(script).exists()
    {
        let message = format!("the command runs `{script}`, which does not exist in {}", folder.display());
        reader.warn(span, message, "relative paths begin at the configuration's folder");
    }
    Some(())
}

/// Base hooks that an agent leaves out.
pub(super) fn shadowed(config: &Config, names: &Names, problems: &mut Problems) {
    for agent in &config.agents {
        for (event, span, source) in &agent.overrides {
            let shadowed: Vec<String> = names
                .of(None, event.name)
                .filter(|hook| !hook.system)
                .map(|hook| {
                    hook.name
                        .as_deref()
                        .map_or_else(|| "an unnamed one".to_owned(), |name| format!("`{name}`"))
                })
                .collect();
            if !shadowed.is_empty() {
                let message = format!(
                    "the base hooks of {} do not run for agent `{}`: {}",
                    event.name,
                    agent.id,
                    shadowed.join(", ")
                );
                let help = "mark a hook that must always run with `system: true`";
                problems.push(Problem::warning(source, *span, message).with_help(help));
            }
        }
    }
}
