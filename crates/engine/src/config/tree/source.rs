//! A configuration text and positions in it.
//!
//! Nodes and problems have byte offsets into the text; this module converts them to lines and columns. Any
//! offset is accepted: one past the end or inside a character is moved back to the nearest valid one, because
//! a wrong offset in a report must not cause a panic.

use std::fmt;
use std::sync::{Arc, OnceLock};

/// Some editors put this at the start of a file. It is not part of the first line.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The maximum number of bytes that are scanned to compute a column.
const BLOCK: usize = 1024;

/// A text and its name for people.
#[derive(Clone)]
pub struct Source {
    /// The name as shown to people, usually a path.
    pub name: String,
    /// The whole text.
    pub text: String,
    /// The start of each line but the first, computed once, because the line of every hook is needed.
    breaks: OnceLock<Box<[usize]>>,
    /// How many characters come before each block of bytes. Computed once and for long lines only: a whole
    /// file may be one line with problems everywhere.
    blocks: OnceLock<Box<[usize]>>,
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.text) == (&other.name, &other.text)
    }
}

impl Eq for Source {}

/// A half-open range of bytes in a text: `start..end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset of the byte after the last one.
    pub end: usize,
}

/// A position as people count it: lines and columns start at 1, columns count characters.
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
        Arc::new(Self {
            name: name.into(),
            text: text.into(),
            breaks: OnceLock::new(),
            blocks: OnceLock::new(),
        })
    }

    /// The line and column of a byte offset.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset);
        let (breaks_before, start, _) = self.line_around(offset);
        Position { line: breaks_before + 1, column: self.characters(start, offset) + 1 }
    }

    /// The number of line breaks before an offset, where its line begins, and where the next one does.
    fn line_around(&self, offset: usize) -> (usize, usize, Option<usize>) {
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
        (breaks_before, start.unwrap_or_else(|| self.first()), breaks.get(breaks_before).copied())
    }

    /// How many characters begin in a range of bytes.
    fn characters(&self, start: usize, end: usize) -> usize {
        if end.saturating_sub(start) <= BLOCK {
            return count(self.text.as_bytes().get(start..end));
        }
        let blocks = self.blocks.get_or_init(|| {
            let all = self.text.as_bytes().chunks(BLOCK).scan(0, |before, block| {
                let here = *before;
                *before += count(Some(block));
                Some(here)
            });
            all.collect()
        });
        let before = |offset: usize| {
            // At the end of the text there may be no block that begins at the offset.
            let block = (offset / BLOCK).min(blocks.len().saturating_sub(1));
            let known = blocks.get(block).copied().unwrap_or_default();
            known + count(self.text.as_bytes().get(block * BLOCK..offset))
        };
        before(end).saturating_sub(before(start))
    }

    /// Where the first line begins.
    fn first(&self) -> usize {
        if self.text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 }
    }

    /// The range of the line that contains an offset, without its line break and without a byte order mark at
    /// the start of the text.
    #[must_use]
    pub fn line_at(&self, offset: usize) -> Span {
        let offset = self.text.floor_char_boundary(offset);
        let (_, start, next) = self.line_around(offset);
        let end = match next {
            Some(next) if self.text.get(..next).is_some_and(|before| before.ends_with("\r\n")) => next - 2,
            Some(next) => next - 1,
            None => self.text.len(),
        };
        Span::new(start, end.max(start))
    }

    /// The text of a range; empty if the range is not in the text.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }
}

/// Shows only the name and the size, because the text may be large.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("name", &self.name).field("bytes", &self.text.len()).finish()
    }
}

/// Whether a byte ends a line. A CRLF ends it once, at the LF.
fn is_break(byte: u8, next: Option<u8>) -> bool {
    byte == b'\n' || (byte == b'\r' && next != Some(b'\n'))
}

/// Counts the characters that begin in these bytes.
fn count(bytes: Option<&[u8]>) -> usize {
    let continues = |byte: u8| byte & 0b1100_0000 == 0b1000_0000;
    bytes.unwrap_or_default().iter().filter(|&&byte| !continues(byte)).count()
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

    /// A long line is counted in blocks, which must give the same columns as counting from its start.
    #[test]
    fn places_in_a_long_line_are_those_that_one_counts() {
        let texts = [
            ("", 1, "aé日x", ""),
            ("\u{feff}", 1, "ab", "\r"),
            ("one\ntwo\r\n", 3, "日", "\r\nend"),
            ("é\r", 2, "a", "\n"),
        ];
        for (before, line, part, after) in texts {
            let long = part.repeat(4 * BLOCK / part.len());
            let source = Source::new("t", format!("{before}{long}{after}"));
            let whole = Span::new(before.len(), before.len() + long.len());
            let ends = long.char_indices().map(|(at, _)| at).chain([long.len()]);
            for (known, at) in ends.enumerate() {
                let position = source.position(whole.start + at);
                assert_eq!(position, Position { line, column: known + 1 }, "{before:?} {at}");
            }
            for at in [whole.start, whole.start + BLOCK, whole.end] {
                assert_eq!(source.line_at(at), whole, "{before:?} {at}");
            }
        }
    }
}
