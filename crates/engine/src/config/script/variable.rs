//! Variables: finds where the value of a variable comes from, and inserts it.
//!
//! Input: references as they were written, and the event's row. Output: [`Argument`]s, which turn an event
//! into text without parsing the line again. An unknown short name is an error; a field that an event does
//! not have is at most a warning, because hosts add fields of their own.

use std::borrow::Cow;
use std::sync::Arc;

use crosier_protocol::nearest::nearest;
use crosier_protocol::wire::BASE_FIELDS;
use crosier_protocol::{Event, EventRow, Json};

use super::super::tree::{Span, shorten};
use super::lexer::{Lexer, Piece, Word};

/// The short names and the fields that they refer to, in order of preference.
const SHORT: [(&str, &[&str]); 7] = [
    ("prompt", &["prompt"]),
    ("output", &["output", "tool_output"]),
    ("tool", &["tool_name"]),
    ("args", &["tool_input"]),
    ("agent", &["agent_id"]),
    ("path", &["path"]),
    ("phase", &["to"]),
];

/// A variable as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reference {
    /// `$tool`.
    Short(String),
    /// `${tool_input.command}`.
    Path(Vec<Segment>),
    /// An invalid reference, which was already reported.
    Broken,
}

/// One step of a path: a key of an object, or an index in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    key: Box<str>,
    index: Option<usize>,
}

impl Segment {
    fn new(key: &str) -> Self {
        Self { key: key.into(), index: key.parse().ok() }
    }

    fn of(&self, json: &Json) -> Option<Json> {
        if json.is_object() {
            return json.get(&self.key);
        }
        let list: Vec<Json> = serde_json::from_str(json.text()).ok()?;
        list.into_iter().nth(self.index?)
    }
}

/// Reads the text between `${` and `}`.
pub(super) fn path(text: &str) -> Result<Vec<Segment>, &'static str> {
    if text.is_empty() {
        return Err("names no field");
    }
    let mut segments = Vec::new();
    for part in text.split('.') {
        let (key, indexes) = part.split_once('[').map_or((part, None), |(key, rest)| (key, Some(rest)));
        if key.is_empty() || key.contains(']') {
            return Err("lacks a name");
        }
        segments.push(Segment::new(key));
        for index in indexes.into_iter().flat_map(|indexes| indexes.split('[')) {
            let digits = index.strip_suffix(']').filter(|digits| digits.parse::<usize>().is_ok());
            segments.push(Segment::new(digits.ok_or("lacks a number in `[…]`")?));
        }
    }
    Ok(segments)
}

/// One argument of a slash command, as it is known when a file is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument(Vec<ArgumentPart>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum ArgumentPart {
    Text(Box<str>),
    Value(Lookup),
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Lookup {
    /// The agent's id.
    Agent,
    /// The value that matchers run on.
    MatcherValue,
    /// A field of the event, and the path inside it.
    Field(Arc<str>, Box<[Segment]>),
}

impl Argument {
    /// The text, if it is the same for every event.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [ArgumentPart::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether a value comes from the event's JSON.
    pub(super) fn needs_wire(&self) -> bool {
        self.0.iter().any(|part| matches!(part, ArgumentPart::Value(Lookup::Field(..))))
    }

    /// The text for this event. A missing value is empty.
    pub(super) fn expand(&self, event: &Event) -> String {
        let mut out = String::new();
        for part in &self.0 {
            match part {
                ArgumentPart::Text(text) => out.push_str(text),
                ArgumentPart::Value(lookup) => lookup.push(event, &mut out),
            }
        }
        out
    }
}

impl Lookup {
    fn push(&self, event: &Event, out: &mut String) {
        match self {
            Self::Agent => out.push_str(event.agent_id().unwrap_or_default()),
            Self::MatcherValue => out.push_str(event.matcher_value().unwrap_or_default()),
            Self::Field(name, path) => {
                let found = event.get(name);
                let found =
                    found.and_then(|json| path.iter().try_fold(json, |json, segment| segment.of(&json)));
                if let Some(json) = found {
                    out.push_str(&json.plain());
                }
            }
        }
    }
}

/// Resolves the variables of a word for this event. Without an event only names are checked.
pub(super) fn argument(line: &mut Lexer<'_>, word: &Word, event: Option<&EventRow>) -> Argument {
    let mut parts = Vec::with_capacity(word.pieces.len());
    for (at, piece) in word.pieces.iter().enumerate() {
        match piece {
            Piece::Text(text) => parts.push(ArgumentPart::Text(text.as_str().into())),
            Piece::Variable(reference, span) => {
                let next = word.pieces.get(at + 1);
                lint_dotted(line, reference, *span, next);
                parts.push(ArgumentPart::Value(lookup(line, reference, *span, event)));
            }
        }
    }
    Argument(parts)
}

fn lookup(line: &mut Lexer<'_>, reference: &Reference, span: Span, event: Option<&EventRow>) -> Lookup {
    let (written, path): (Cow<'_, str>, &[Segment]) = match reference {
        Reference::Broken => return Lookup::Agent,
        Reference::Short(name) => {
            if !SHORT.iter().any(|(short, _)| short == name) {
                unknown(line, name, span, event);
                return Lookup::Agent;
            }
            (name.as_str().into(), &[])
        }
        Reference::Path(path) => match path.split_first() {
            Some((first, rest)) => ((&*first.key).into(), rest),
            None => return Lookup::Agent,
        },
    };
    let is_short = matches!(reference, Reference::Short(_));
    let field = match event {
        Some(event) if is_short || !has(event, &written) => {
            self::field(line, reference, &written, span, event)
        }
        _ => written,
    };
    match event.and_then(|event| event.matcher) {
        _ if path.is_empty() && field == "agent_id" => Lookup::Agent,
        Some(matcher) if path.is_empty() && matcher == field => Lookup::MatcherValue,
        _ => Lookup::Field(field.into(), path.into()),
    }
}

/// The field that a short name refers to at this event, or a field that the row does not have.
fn field<'a>(
    line: &mut Lexer<'_>,
    reference: &Reference,
    written: &Cow<'a, str>,
    span: Span,
    event: &EventRow,
) -> Cow<'a, str> {
    let Some((_, fields)) = SHORT.iter().find(|(name, _)| name == written) else {
        let known = event.fields.iter().map(|field| field.name).chain(BASE_FIELDS);
        if let Some(near) = nearest(written, known) {
            let message = format!("{} has no field `{}`", event.name, shorten(written));
            line.warn(span, message, format!("did you mean `{near}`? What is not there is empty"));
        }
        return written.clone();
    };
    let present = fields.iter().find(|field| has(event, field));
    if let Some(field) = present.or(fields.first()) {
        if present.is_none() {
            let shown = match reference {
                Reference::Short(name) => format!("${name}"),
                _ => format!("${{{written}…}}"),
            };
            let message = format!("{} has no `{field}`, so `{shown}` is empty", event.name);
            line.warn(span, message, "`crosier events` shows what each event has");
        }
        return Cow::Borrowed(field);
    }
    written.clone()
}

fn has(event: &EventRow, field: &str) -> bool {
    event.field(field).is_some()
        || event.derived.is_some_and(|(derived, _)| derived == field)
        || BASE_FIELDS.contains(&field)
}

fn unknown(line: &mut Lexer<'_>, name: &str, span: Span, event: Option<&EventRow>) {
    let help = if event.is_some_and(|event| has(event, name)) {
        format!("a field of the event is written `${{{name}}}`")
    } else if let Some(near) = nearest(name, SHORT.iter().map(|(short, _)| *short)) {
        format!("did you mean `${near}`?")
    } else {
        let all: Vec<String> = SHORT.iter().map(|(short, _)| format!("${short}")).collect();
        format!("the short names are {}; any field is `${{field}}`, a dollar sign is `$$`", all.join(" "))
    };
    line.error(span, format!("unknown variable `${}`", shorten(name)), help);
}

/// Warns about `$args.command`: it is the whole input followed by `.command`, which is rarely intended.
fn lint_dotted(line: &mut Lexer<'_>, reference: &Reference, span: Span, next: Option<&Piece>) {
    if let (Reference::Short(name), Some(Piece::Text(text))) = (reference, next)
        && name == "args"
        && let Some(rest) = text.strip_prefix('.')
        && rest.starts_with(char::is_alphabetic)
    {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let key = rest.get(..end).unwrap_or_default();
        let message = format!("`$args.{}` is `$args` and then the text `.{}`", shorten(key), shorten(key));
        line.warn(span, message, format!("write `${{args.{key}}}` for what is inside"));
    }
}

#[cfg(test)]
#[path = "variable_tests.rs"]
mod tests;
