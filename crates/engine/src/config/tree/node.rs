//! The tree a configuration text is read into.
//!
//! Every value and every key knows its place in the text, so that whoever gives it a meaning can
//! point at it. The tree says what was written and nothing more: numbers keep the digits they were
//! written with, keys keep their order, and no value is changed into another kind on the way.

use super::source::Span;

/// One value and its position.
///
/// The span of a value in quotes includes the quotes; that of a list or mapping goes from its
/// first to its last character; that of `|` and `>` text covers its lines, without the `|` line;
/// an anchor or tag in front belongs to the value. What an alias stands for has the place of the
/// alias, and what is inside it keeps the place where it was written. A value that is not there,
/// as in `key:`, has an empty span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What was written.
    pub value: Value,
    /// Where it was written.
    pub span: Span,
    /// How it was written.
    pub style: Style,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `null`, `~`, or nothing at all.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number exactly as written; always valid as a number in JSON.
    Number(Box<str>),
    /// Any other scalar.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order of the text, every key once.
    Map(Vec<MapEntry>),
}

/// One key of a mapping with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapEntry {
    /// The key; one written as a number or as true/false is the text it was written with.
    pub key: String,
    /// The position of the key.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

/// How a value was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes; lists, mappings and nothing count as this too.
    Plain,
    /// In single or double quotes.
    Quoted,
    /// As a block under `|` or `>`.
    Block,
}

impl Node {
    /// Makes a value that was written without quotes.
    #[must_use]
    pub fn new(value: Value, span: Span) -> Self {
        Self { value, span, style: Style::Plain }
    }

    /// Finds the value of a key; none when the key is missing or this is not a mapping.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// Finds a key together with its value and place.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&MapEntry> {
        self.as_map()?.iter().find(|entry| entry.key == key)
    }

    /// Gives the text, if this is text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Gives the number as it was written, if this is a number.
    #[must_use]
    pub fn as_number(&self) -> Option<&str> {
        match &self.value {
            Value::Number(digits) => Some(digits),
            _ => None,
        }
    }

    /// Gives the boolean, if this is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(truth) => Some(truth),
            _ => None,
        }
    }

    /// Gives the items, if this is a list.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// Gives the entries, if this is a mapping.
    #[must_use]
    pub fn as_map(&self) -> Option<&[MapEntry]> {
        match &self.value {
            Value::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// Says whether there is no value here.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.value == Value::Null
    }

    /// Says whether this was written without quotes, so that it could have meant something else
    /// than text: `yes` is suspicious where `"yes"` is not.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.style == Style::Plain
    }

    /// Names the kind of value in words that fit "expected text, found …".
    #[must_use]
    pub fn kind_word(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "true/false",
            Value::Number(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }

    /// Writes the value as compact JSON, with the digits of numbers and the order of keys kept.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        write_json(&self.value, &mut out);
        out
    }
}

fn write_json(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(digits) => out.push_str(digits),
        Value::Text(text) => write_json_text(text, out),
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_json(&item.value, out);
            }
            out.push(']');
        }
        Value::Map(entries) => {
            out.push('{');
            for (index, entry) in entries.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_json_text(&entry.key, out);
                out.push(':');
                write_json(&entry.value.value, out);
            }
            out.push('}');
        }
    }
}

fn write_json_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
#[path = "node_tests.rs"]
mod tests;
