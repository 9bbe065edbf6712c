//! The short form of an event's input: enough for a person to recognise it, on one line, with secrets masked.

use std::borrow::Cow;

use crosier::{Event, Json};
use crosier_builtins::redact_secrets::{Redactor, redact};

use crate::needed::needs_rules;

/// The maximum number of characters of a short form.
const MAX: usize = 200;
/// How many bytes of a text are searched for secrets, so that one that begins in the short form is found whole.
const WINDOW: usize = 4096;

/// Fields of a tool's input that show what it is about, the most informative first.
const TELLING: [&str; 9] =
    ["command", "file_path", "path", "notebook_path", "url", "pattern", "query", "description", "prompt"];

/// Fields of other events that show what happened.
const SAYING: [&str; 10] = [
    "prompt",
    "message",
    "task_subject",
    "reason",
    "file_path",
    "teammate_name",
    "to",
    "source",
    "trigger",
    "agent_type",
];

/// What the event is about.
#[must_use]
pub fn short_input(event: &Event) -> Option<String> {
    let telling = match event.get("tool_input") {
        Some(input) => Some(of_tool(&input)),
        None => SAYING.iter().find_map(|name| event.get(name)).filter(|value| !value.is_null()),
    };
    telling.map(|value| masked(&value)).filter(|text| !text.is_empty())
}

fn of_tool(input: &Json) -> Json {
    let told = TELLING.iter().find_map(|name| input.get(name).filter(|value| !value.is_null()));
    told.unwrap_or_else(|| input.clone())
}

fn masked(value: &Json) -> String {
    if let Some(text) = value.as_str() {
        return bounded(&text, MAX);
    }
    let whole = value.text();
    if whole.len() <= WINDOW
        && needs_rules(whole)
        && let Ok(redactor) = Redactor::standard()
        && let Some(masked) = redactor.json(value, &mut |_| {})
    {
        return cut(masked.text(), MAX).into_owned();
    }
    bounded(whole, MAX)
}

/// A text without its secrets, at most this many characters of it.
pub(crate) fn bounded(text: &str, most: usize) -> String {
    // Only a window is searched, because a text can have megabytes; masking keeps the length.
    let window = text.get(..text.floor_char_boundary(WINDOW.max(most * 4))).unwrap_or_default();
    match needs_rules(window) {
        true => cut(&redact(window), most).into_owned(),
        false => cut(window, most).into_owned(),
    }
}

/// At most this many characters, with an ellipsis if something was cut.
pub(crate) fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some(_) => {
            let end = text.char_indices().nth(most.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
            Cow::Owned(format!("{}…", &text[..end]))
        }
    }
}
