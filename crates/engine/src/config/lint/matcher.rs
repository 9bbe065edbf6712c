//! Warns about matchers that can never match, or that match something other than intended.

use super::super::section::EventKey;
use super::super::tree::{Span, shorten};
use super::super::value::Reader;
use crate::registry::Matcher;

/// The names that tools have in events, whichever agent calls them.
const TOOLS: [&str; 14] = [
    "Bash",
    "Read",
    "Write",
    "Edit",
    "MultiEdit",
    "NotebookEdit",
    "Glob",
    "Grep",
    "LS",
    "WebFetch",
    "WebSearch",
    "Task",
    "TodoWrite",
    "mcp__server__tool",
];

/// Warns about a matcher that looks like a regular expression, a list or a permission rule, or that names
/// values that do not exist.
pub(in super::super) fn matcher(reader: &mut Reader<'_>, matcher: &Matcher, span: Span, event: &EventKey) {
    if !reader.lints || matcher.is_all() {
        return;
    }
    let found = match event.kind.matcher {
        Some("tool_name") => tool(matcher),
        _ => value(matcher, event),
    };
    if let Some((message, help)) = found.or_else(|| expression(matcher)) {
        reader.warn(span, message, help);
    }
}

type Warning = (String, String);

/// What is wrong with a matcher on the names of tools.
fn tool(matcher: &Matcher) -> Option<Warning> {
    let text = matcher.text();
    let shown = shorten(text);
    if let Some(expression) = text.strip_prefix("re:") {
        // A name with two underscores is a tool of an MCP server, whose names are not known.
        if expression.contains("__") || TOOLS.iter().any(|tool| matcher.matches(tool)) {
            return None;
        }
        let loose = Matcher::new(&format!("re:(?i).*(?:{expression}).*")).ok()?;
        let near = TOOLS.iter().find(|tool| loose.matches(tool));
        let help = match near {
            Some(near) => format!("it must match the whole name, and case matters: `re:{near}`"),
            None => format!("the tools that every agent has are {}", known()),
        };
        return Some((format!("the expression `{shown}` matches no known tool"), help));
    }
    if text.len() > 1 && text.starts_with('/') && text.ends_with('/') {
        let inside = text.trim_matches('/');
        let message = format!("the matcher `{shown}` can never match: no tool has a slash in its name");
        return Some((message, format!("an expression is written `re:{}`", shorten(inside))));
    }
    if let Some((name, _)) = text.split_once('(')
        && TOOLS.contains(&name.trim())
        && text.ends_with(')')
    {
        let message =
            format!("the matcher `{shown}` can never match: this is a permission rule, not a tool's name");
        let help = format!("write `matcher: {name}`; the built-in `permissions` takes rules like this one");
        return Some((message, help));
    }
    if text.contains(['(', ')']) {
        let plain = text.replace(['(', ')'], "");
        let message = format!("the matcher `{shown}` can never match: no tool has a parenthesis in its name");
        return Some((message, format!("write `{}`, or `re:{shown}` for an expression", shorten(&plain))));
    }
    if text.contains(',') {
        let message = format!("the matcher `{shown}` can never match: no tool has a comma in its name");
        return Some((message, format!("write `{}`", text.replace([',', ' '], "|").replace("||", "|"))));
    }
    let mut parts = text.split('|').map(str::trim);
    if let Some(part) = parts.clone().find(|part| part.contains(char::is_whitespace)) {
        let message =
            format!("the matcher `{}` can never match: no tool has a space in its name", shorten(part));
        let words: Vec<&str> = part.split_whitespace().collect();
        return Some((message, format!("write `{}`", shorten(&words.join("|")))));
    }
    let wrong_case = parts.find_map(|part| {
        let name = part.trim_matches('*');
        let tool = TOOLS.iter().find(|tool| tool.eq_ignore_ascii_case(name) && **tool != name)?;
        Some((name, *tool))
    });
    wrong_case.map(|(name, tool)| {
        let message = format!("the matcher `{shown}`: the tool `{}` is called `{tool}`", shorten(name));
        (message, format!("write `{tool}`; matchers are case-sensitive"))
    })
}

fn known() -> String {
    TOOLS.join(", ")
}

/// What is wrong with a matcher on a field whose values are all known.
fn value(matcher: &Matcher, event: &EventKey) -> Option<Warning> {
    let field = event.kind.matcher.and_then(|name| event.kind.field(name))?;
    if field.values.is_empty() || field.values.iter().any(|value| matcher.matches(value)) {
        return None;
    }
    let message = format!(
        "the matcher `{}` can never match: `{}` has other values",
        shorten(matcher.text()),
        field.name
    );
    Some((message, format!("use one of {}", field.values.join(", "))))
}

/// A glob that looks like a regular expression.
fn expression(matcher: &Matcher) -> Option<Warning> {
    let text = matcher.text();
    let looks_like_one = [".*", ".+", "^", "$", "\\"].iter().any(|part| text.contains(part));
    (looks_like_one && !text.starts_with("re:")).then(|| {
        let message = format!("the matcher `{text}` looks like a regular expression, but it is a glob");
        (message, format!("write `re:{text}`, or `*` for any characters"))
    })
}
