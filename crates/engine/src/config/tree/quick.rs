//! A fast reader for simple YAML and JSON.
//!
//! A host may start `crosier fire` for every event, so the configuration is read for every event. the suite `cli` of
//! `bench/` measures it (goal G8).
//!
//! It returns the same tree as the full parser, or `None`: at the first thing that is not simple (anchors,
//! tags, block scalars, values of several lines, unusual indentation, a duplicate key, any error) it gives
//! up, and the full parser reads the text from the beginning. It never reports a problem, so all messages
//! come from the full parser. It must never accept what the full parser would reject or read differently; a
//! property test compares the two.

use std::borrow::Cow;

use saphyr_parser::ScalarStyle;

use super::node::{MapEntry, Node, Value};
use super::scalar;
use super::source::Span;

/// The deepest nesting that this reader follows: enough for configurations, and safe for the call stack.
const MAX_DEPTH: usize = 24;
/// The maximum number of keys of one mapping, which are compared pairwise, and the maximum length of a key.
const MAX_KEYS: usize = 64;
const MAX_KEY: usize = 200;
/// The initial capacity of lists and mappings, enough for most.
const INITIAL_CAPACITY: usize = 8;

/// Reads a text, if all of it is simple.
pub(super) fn read(text: &str) -> Option<Node> {
    // 0xef begins a byte order mark, which the full parser rejects even in a comment. The loop has no early
    // exit, so that the compiler can vectorise it.
    let is_odd = |byte: u8| (byte < b' ') & (byte != b'\n') | (byte == 0x7f) | (byte == 0xef);
    if text.bytes().fold(false, |odd, byte| odd | is_odd(byte)) {
        return None;
    }
    let mut reader = QuickReader { text, at: 0, column: 0, depth: 0, lines: false };
    reader.next_line();
    let node = match reader.peek() {
        b'{' if reader.column == 0 => {
            reader.lines = true;
            let node = reader.flow()?;
            reader.end_line()?;
            node
        }
        _ if reader.column == 0 => reader.block()?,
        _ => return None,
    };
    (reader.at == text.len()).then_some(node)
}

struct QuickReader<'a> {
    text: &'a str,
    at: usize,
    /// The column of the first character of the current line.
    column: usize,
    depth: usize,
    /// Whether `{ }` may span several lines: only if it is the whole text, where indentation has no meaning.
    lines: bool,
}

impl<'a> QuickReader<'a> {
    /// The next byte; 0 at the end.
    fn peek(&self) -> u8 {
        self.peek_at(self.at)
    }

    fn peek_at(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    fn skip_spaces(&mut self) {
        while self.peek() == b' ' {
            self.at += 1;
        }
    }

    /// Moves from the start of a line to the next content, and sets its column.
    fn next_line(&mut self) {
        loop {
            let start = self.at;
            self.skip_spaces();
            self.column = self.at - start;
            match self.peek() {
                b'#' => self.skip_comment(),
                b'\n' => {}
                _ => return,
            }
            self.at = (self.at + 1).min(self.text.len());
        }
    }

    fn skip_comment(&mut self) {
        while !matches!(self.peek(), b'\n' | 0) {
            self.at += 1;
        }
    }

    /// Ends a line, on which only a comment may follow, and moves to the next one.
    fn end_line(&mut self) -> Option<()> {
        let value_end = self.at;
        self.skip_spaces();
        if self.peek() == b'#' && self.at > value_end {
            self.skip_comment();
        }
        match self.peek() {
            b'\n' => self.at += 1,
            _ if self.at == self.text.len() => {}
            _ => return None,
        }
        self.next_line();
        Some(())
    }

    /// Whether a `-` begins an item here.
    fn is_item(&self) -> bool {
        self.peek() == b'-' && self.peek_at(self.at + 1) == b' '
    }

    /// Reads a list or mapping that begins here, and moves to the line after it.
    fn block(&mut self) -> Option<Node> {
        self.depth += 1;
        if self.depth > MAX_DEPTH || self.at == self.text.len() {
            return None;
        }
        let node = if self.is_item() { self.list() } else { self.map() };
        self.depth -= 1;
        node
    }

    fn list(&mut self) -> Option<Node> {
        let (column, start) = (self.column, self.at);
        let mut items: Vec<Node> = Vec::with_capacity(INITIAL_CAPACITY);
        let mut end = start;
        while self.column == column && self.at < self.text.len() && self.is_item() {
            let dash = self.at;
            self.at += 1;
            self.skip_spaces();
            // A mapping that begins after the dash has the column of its first key.
            let inner = column + self.at - dash;
            let item = if self.is_key() {
                self.column = inner;
                self.block()?
            } else {
                self.inline()?
            };
            end = item.span.end;
            items.push(item);
            if self.column > column && self.at < self.text.len() {
                return None;
            }
        }
        Some(Node::new(Value::List(items), Span::new(start, end)))
    }

    fn map(&mut self) -> Option<Node> {
        let (column, start) = (self.column, self.at);
        let mut entries: Vec<MapEntry> = Vec::with_capacity(INITIAL_CAPACITY);
        let mut end = start;
        while self.column == column && self.at < self.text.len() {
            let (key, key_span) = self.key(false)?;
            let colon = self.at;
            self.at += 1;
            let value = self.value(column, colon)?;
            end = value.span.end;
            add(&mut entries, MapEntry { key: key.into_owned(), key_span, value })?;
            if self.column > column && self.at < self.text.len() {
                return None;
            }
        }
        Some(Node::new(Value::Map(entries), Span::new(start, end)))
    }

    /// Reads the value after a colon: on the same line, on the next lines, or missing.
    fn value(&mut self, column: usize, colon: usize) -> Option<Node> {
        let after_colon = self.at;
        self.skip_spaces();
        let comment = self.peek() == b'#' && self.at > after_colon;
        if !comment && !matches!(self.peek(), b'\n' | 0) {
            return self.inline();
        }
        self.at = after_colon;
        self.end_line()?;
        let is_list = self.column == column && self.is_item();
        if self.at < self.text.len() && (self.column > column || is_list) {
            let mut node = self.block()?;
            // For a list in the column of its key, the full parser's span begins after the first dash.
            if let (true, Value::List(items)) = (is_list, &node.value) {
                node.span.start = items.first()?.span.start;
            }
            return Some(node);
        }
        Some(plain_node("", colon + 1))
    }

    /// Reads a value that ends on its line, and moves to the next line.
    fn inline(&mut self) -> Option<Node> {
        let node = match self.peek() {
            b'[' | b'{' => self.flow()?,
            b'"' | b'\'' => self.quoted_node()?,
            _ => self.plain()?,
        };
        self.end_line()?;
        Some(node)
    }

    /// Reads a value without quotes, up to the end of the line or a comment.
    fn plain(&mut self) -> Option<Node> {
        let start = self.at;
        if !begins_plain(self.peek(), self.peek_at(start + 1)) {
            return None;
        }
        let line = self.text.get(start..)?;
        let line = line.get(..line.find('\n').unwrap_or(line.len()))?;
        let mut before = b' ';
        let mut length = line.len();
        for (at, byte) in line.bytes().enumerate() {
            match byte {
                b'#' if before == b' ' => {
                    length = at;
                    break;
                }
                b' ' if before == b':' => return None,
                0x80.. => return None,
                _ => before = byte,
            }
        }
        let text = line.get(..length)?.trim_end_matches(' ');
        if text.ends_with(':') {
            return None;
        }
        self.at = start + text.len();
        Some(plain_node(text, start))
    }

    fn quoted_node(&mut self) -> Option<Node> {
        let start = self.at;
        let text = self.quoted()?;
        Some(scalar::node(text, ScalarStyle::DoubleQuoted, false, Span::new(start, self.at)))
    }

    /// Reads a quoted text on one line, with only the most common escapes.
    fn quoted(&mut self) -> Option<Cow<'a, str>> {
        let quote = self.peek();
        let mut text: Option<String> = None;
        let mut from = self.at + 1;
        let mut at = from;
        loop {
            match self.text.as_bytes().get(at)? {
                b'\n' => return None,
                b'\\' if quote == b'"' => {
                    let meant = match self.peek_at(at + 1) {
                        c @ (b'"' | b'\\' | b'/') => char::from(c),
                        b'n' => '\n',
                        b't' => '\t',
                        _ => return None,
                    };
                    let text = text.get_or_insert_default();
                    text.push_str(self.text.get(from..at)?);
                    text.push(meant);
                    at += 2;
                    from = at;
                }
                &byte if byte == quote => break,
                _ => at += 1,
            }
        }
        let rest = self.text.get(from..at)?;
        self.at = at + 1;
        if quote == b'\'' && self.peek() == quote {
            return None; // two single quotes are one
        }
        Some(match text {
            None => Cow::Borrowed(rest),
            Some(text) => Cow::Owned(text + rest),
        })
    }

    /// Whether a key is next.
    fn is_key(&self) -> bool {
        let mut ahead = QuickReader { text: self.text, ..*self };
        ahead.key(false).is_some()
    }

    /// Reads a key, and moves to its colon. In `{ }` no space is needed after the colon of a quoted key.
    fn key(&mut self, in_flow: bool) -> Option<(Cow<'a, str>, Span)> {
        let start = self.at;
        let (key, end) = match self.peek() {
            b'"' | b'\'' => {
                let key = self.quoted()?;
                let end = self.at;
                self.skip_spaces();
                (key, end)
            }
            byte if byte.is_ascii_alphanumeric() || byte == b'_' => {
                while is_plain_key(self.peek())
                    || self.peek() == b':' && is_plain_key(self.peek_at(self.at + 1))
                {
                    self.at += 1;
                }
                (Cow::Borrowed(self.text.get(start..self.at)?), self.at)
            }
            _ => return None,
        };
        let quoted = matches!(self.peek_at(start), b'"' | b'\'');
        let apart = matches!(self.peek_at(self.at + 1), b' ' | b'\n' | 0) || in_flow && quoted;
        let ends = self.peek() == b':' && apart;
        (ends && end - start <= MAX_KEY).then(|| (key, Span::new(start, end)))
    }

    /// `[ ]` or `{ }`.
    fn flow(&mut self) -> Option<Node> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let start = self.at;
        let open = self.peek();
        self.at += 1;
        self.skip_blank();
        let value = if open == b'[' {
            let mut items = Vec::new();
            while self.has_next(b']', items.is_empty())? {
                items.push(self.flow_value()?);
            }
            Value::List(items)
        } else {
            let mut entries = Vec::new();
            while self.has_next(b'}', entries.is_empty())? {
                let (key, key_span) = self.key(true)?;
                self.at += 1;
                self.skip_blank();
                let value = self.flow_value()?;
                add(&mut entries, MapEntry { key: key.into_owned(), key_span, value })?;
            }
            Value::Map(entries)
        };
        self.depth -= 1;
        Some(Node::new(value, Span::new(start, self.at)))
    }

    /// Whether another value follows in `[ ]` or `{ }`. Moves to the value, or past the end.
    fn has_next(&mut self, close: u8, first: bool) -> Option<bool> {
        self.skip_blank();
        match self.peek() {
            byte if byte == close => {
                self.at += 1;
                Some(false)
            }
            b',' if !first => {
                self.at += 1;
                self.skip_blank();
                (self.peek() != close).then_some(true)
            }
            _ => first.then_some(true),
        }
    }

    fn skip_blank(&mut self) {
        while self.peek() == b' ' || self.lines && self.peek() == b'\n' {
            self.at += 1;
        }
    }

    fn flow_value(&mut self) -> Option<Node> {
        let start = self.at;
        match self.peek() {
            b'[' | b'{' => return self.flow(),
            b'"' | b'\'' => return self.quoted_node(),
            _ => {}
        }
        if !begins_plain(self.peek(), self.peek_at(start + 1)) {
            return None;
        }
        while is_plain_flow(self.peek()) {
            self.at += 1;
        }
        let text = self.text.get(start..self.at)?.trim_end_matches(' ');
        if !matches!(self.peek(), b',' | b']' | b'}') {
            return None;
        }
        self.at = start + text.len();
        Some(plain_node(text, start))
    }
}

fn plain_node(text: &str, start: usize) -> Node {
    scalar::node(Cow::Borrowed(text), ScalarStyle::Plain, false, Span::new(start, start + text.len()))
}

/// Adds an entry; `None` if its key exists already or there are too many.
fn add(entries: &mut Vec<MapEntry>, entry: MapEntry) -> Option<()> {
    if entries.len() == MAX_KEYS || entries.iter().any(|other| other.key == entry.key) {
        return None;
    }
    entries.push(entry);
    Some(())
}

/// Whether a value without quotes can begin like this. YAML allows more; these are unambiguous.
fn begins_plain(first: u8, second: u8) -> bool {
    first.is_ascii_alphanumeric()
        || matches!(first, b'.' | b'/' | b'~' | b'$' | b'_' | b'(' | b'+' | b'=' | b'<' | b'^')
        || first == b'-' && second.is_ascii_digit()
}

fn is_plain_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'*' | b'|')
}

fn is_plain_flow(byte: u8) -> bool {
    is_plain_key(byte)
        || matches!(byte, b' ' | b'$' | b'~' | b'+' | b'=' | b'(' | b')' | b'<' | b'>' | b'^' | b'@' | b';')
}

#[cfg(test)]
#[path = "quick_tests.rs"]
mod tests;
