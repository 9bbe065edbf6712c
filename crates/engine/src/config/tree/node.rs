//! The tree into which a configuration text is parsed.
//!
//! Every value and every key has its position in the text, so that problems can point at it. The tree
//! contains exactly what was written: numbers keep their digits, keys keep their order, and no value is
//! converted to another kind.

use super::source::Span;

/// One value and its position.
///
/// The span of a quoted value includes the quotes; that of a list or mapping goes from its first to its last
/// character; that of `|` and `>` text covers its lines, without the `|` line; an anchor or tag in front
/// belongs to the value. The value of an alias has the span of the alias, but values inside it keep their
/// original spans. A missing value, as in `key:`, has an empty span.
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
    /// A number exactly as written; always a valid JSON number.
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
    /// The key as text; a number or true/false is kept as it was written.
    pub key: String,
    /// The position of the key.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

/// How a value was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes; also lists, mappings and missing values.
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

    /// The value of a key; `None` if the key is missing or this is not a mapping.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// A key together with its value and position.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&MapEntry> {
        self.as_map()?.iter().find(|entry| entry.key == key)
    }

    /// The text, if this is text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number as it was written, if this is a number.
    #[must_use]
    pub fn as_number(&self) -> Option<&str> {
        match &self.value {
            Value::Number(digits) => Some(digits),
            _ => None,
        }
    }

    /// The boolean, if this is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(truth) => Some(truth),
            _ => None,
        }
    }

    /// The items, if this is a list.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// The entries, if this is a mapping.
    #[must_use]
    pub fn as_map(&self) -> Option<&[MapEntry]> {
        match &self.value {
            Value::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// Whether this is `null` or missing.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.value == Value::Null
    }

    /// Whether this was written without quotes, so that it may not have been meant as text: `yes` is
    /// suspicious where `"yes"` is not.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.style == Style::Plain
    }

    /// The kind of value, in words that fit "expected text, found …".
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
