//! A configuration text and places in it.
//!
//! Everything that is read or reported carries byte offsets into one text; this module turns them
//! into lines and columns for people. Any offset is accepted: one past the end or inside a
//! character is moved to the nearest earlier place that exists, because a wrong offset in a
//! report must never become a panic.

use std::fmt;
use std::sync::{Arc, OnceLock};

/// The mark some editors put at the start of a file; it is no part of the first line.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A text together with the name by which people know it.
#[derive(Clone)]
pub struct Source {
    /// The name as shown to people, usually a path.
    pub name: String,
    /// The whole text.
    pub text: String,
    /// Where each line but the first begins, found once: every hook is asked for its line.
    breaks: OnceLock<Box<[usize]>>,
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.text) == (&other.name, &other.text)
    }
}

impl Eq for Source {}

/// A range of bytes in a text: `start` is in it, `end` is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset of the byte behind the last one.
    pub end: usize,
}

/// A place as people count: both numbers start at 1, columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

impl Span {
    /// Makes the range from `start` up to, but not including, `end`.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Makes the empty range at `offset`.
    #[must_use]
    pub fn at(offset: usize) -> Self {
        Self::new(offset, offset)
    }
}

impl Source {
    /// Makes a source that nodes and problems can share.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { name: name.into(), text: text.into(), breaks: OnceLock::new() })
    }

    /// Tells line and column of a byte offset.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset);
        let breaks = self.breaks.get_or_init(|| {
            let bytes = self.text.as_bytes();
            let has_returns = self.text.contains('\r');
            let is_end = |at: usize, byte: u8| {
                byte == b'\n' || has_returns && is_break(byte, bytes.get(at + 1).copied())
            };
            let after_break = |(at, &byte): (usize, &u8)| is_end(at, byte).then_some(at + 1);
            bytes.iter().enumerate().filter_map(after_break).collect()
        });
        let breaks_before = breaks.partition_point(|&start| start <= offset);
        let start = breaks_before.checked_sub(1).and_then(|last| breaks.get(last).copied());
        let start = start.unwrap_or_else(|| self.first());
        let before = self.text.get(start..offset).unwrap_or_default();
        Position { line: breaks_before + 1, column: before.chars().count() + 1 }
    }

    /// Where the first line begins.
    fn first(&self) -> usize {
        if self.text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 }
    }

    /// Gives the range of the line an offset is in, without its line break and without a byte
    /// order mark at the start of the text.
    #[must_use]
    pub fn line_at(&self, offset: usize) -> Span {
        let bytes = self.text.as_bytes();
        let mut offset = self.text.floor_char_boundary(offset);
        // Between the two halves of a CRLF the line has not ended yet.
        if offset > 0 && bytes.get(offset - 1) == Some(&b'\r') && bytes.get(offset) == Some(&b'\n') {
            offset -= 1;
        }
        let (before, after) = self.text.split_at_checked(offset).unwrap_or_default();
        let start = before.rfind(['\n', '\r']).map_or_else(|| self.first(), |at| at + 1);
        let end = after.find(['\n', '\r']).map_or(self.text.len(), |at| offset + at);
        Span::new(start, end.max(start))
    }

    /// Gives the text of a range, or nothing when the range does not lie in the text.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }
}

/// Shows the name and the size only: a report about a large file must stay readable.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("name", &self.name).field("bytes", &self.text.len()).finish()
    }
}

/// Says whether a byte ends a line; a CRLF ends it once, at its second half.
fn is_break(byte: u8, next: Option<u8>) -> bool {
    byte == b'\n' || (byte == b'\r' && next != Some(b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, offset: usize) -> (usize, usize) {
        let position = Source::new("t", text).position(offset);
        (position.line, position.column)
    }

    #[test]
    fn position_counts_characters_when_they_are_wide() {
        assert_eq!(at("aé日x", 6), (1, 4));
    }

    #[test]
    fn position_is_the_same_for_every_kind_of_line_break() {
        for text in ["a\nb\nc", "a\r\nb\r\nc", "a\rb\rc"] {
            assert_eq!(at(text, text.len() - 1), (3, 1), "{text:?}");
        }
        assert_eq!(at("a\r\nb", 2), (1, 3));
    }

    #[test]
    fn position_is_clamped_when_the_offset_is_not_in_the_text() {
        assert_eq!(at("ab", 99), (1, 3));
        assert_eq!(at("é", 1), (1, 1));
        assert_eq!(at("", 0), (1, 1));
    }

    #[test]
    fn byte_order_mark_takes_no_column() {
        assert_eq!(at("\u{feff}ab", 3), (1, 1));
        assert_eq!(at("\u{feff}ab", 4), (1, 2));
        assert_eq!(at("\u{feff}ab", 0), (1, 1));
    }

    #[test]
    fn line_at_leaves_the_line_break_out() {
        let source = Source::new("t", "one\r\ntwo\n");
        assert_eq!(source.slice(source.line_at(1)), "one");
        assert_eq!(source.slice(source.line_at(4)), "one");
        assert_eq!(source.slice(source.line_at(6)), "two");
        assert_eq!(source.slice(source.line_at(9)), "");
    }
}
