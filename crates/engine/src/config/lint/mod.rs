//! Warnings about what is allowed but probably not intended.

mod matcher;
mod program;

pub(super) use matcher::matcher;
pub(super) use program::program;

use std::time::Duration;

use crosier_protocol::Capability;

use super::hook::Keys;
use super::loader::Config;
use super::names::Names;
use super::section::EventKey;
use super::tree::{Node, Problem, Problems, Span};
use super::value::Reader;
use crate::registry::OnError;

/// A bare number on a hook is in seconds; thousands of them were probably meant as milliseconds.
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

/// Warns if a hook denies on failure at an event that cannot be denied.
pub(super) fn hook(reader: &mut Reader<'_>, keys: &Keys<'_>, event: &EventKey, on_error: Option<OnError>) {
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

/// Rejects a shell line that inserts event data.
pub(super) fn pasted_data(reader: &mut Reader<'_>, line: &str, span: Span) -> Option<()> {
    let pastes = line.contains("${") || line.contains("{{");
    for pasted in ["${tool_input", "${tool_response", "${tool_output", "${prompt", "{{"] {
        if pastes && line.contains(pasted) {
            let message =
                format!("`{pasted}…` in a command: event data is never inserted into a shell command");
            let help =
                "the event is JSON on the hook's stdin; small values are in $CROSIER_TOOL_NAME and the like";
            reader.error_with_help(span, message, help);
            return None;
        }
    }
    Some(())
}

/// Warns about base hooks that an agent leaves out.
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
