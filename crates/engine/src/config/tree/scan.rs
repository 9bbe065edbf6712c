//! Feeds the text to the YAML parser, and maps its positions to byte offsets.
//!
//! [`Chars`] gives the parser one character at a time. It also makes two things work that JSON allows and the
//! parser rejects: a tab right after a colon, and a character written as two `\u` escapes. The parser's
//! positions count characters; [`Offsets`] converts them to bytes, and takes into account what [`Chars`] has
//! changed.

use std::cell::RefCell;
use std::rc::Rc;

use saphyr_parser::Input;

use super::source::Span;

/// The bytes of a character written as a surrogate pair: `\ud83d\ude00`.
pub(super) const PAIR_BYTES: usize = 12;
/// The characters of the form that the parser gets instead: `\U0001f600`.
const PAIR_CHARS: usize = 10;
/// How far the parser looks ahead at most. It also reserves this much for each plain scalar.
const LOOK_AHEAD: usize = 16;

/// The byte offsets of joined surrogate pairs, in order.
type Pairs = Rc<RefCell<Vec<usize>>>;

/// The characters of a text, as input for the parser.
pub(super) struct Chars<'a> {
    text: &'a str,
    /// The part that has not been read yet.
    rest: &'a str,
    /// The character whose eight hexadecimal digits the parser is about to read.
    joined: Option<u32>,
    pairs: Pairs,
}

impl<'a> Chars<'a> {
    /// Starts reading a text at an offset.
    pub(super) fn new(text: &'a str, start: usize) -> Self {
        Self { text, rest: text.get(start..).unwrap_or_default(), joined: None, pairs: Pairs::default() }
    }

    /// The converter from the parser's positions in this text to byte offsets.
    pub(super) fn offsets(&self) -> Offsets<'a> {
        Offsets {
            text: self.text,
            plain: self.text.is_ascii(),
            index: 0,
            byte: self.read(),
            pairs: Rc::clone(&self.pairs),
            passed: 0,
        }
    }

    /// How many bytes have been read.
    fn read(&self) -> usize {
        self.text.len() - self.rest.len()
    }

    #[inline]
    fn first_byte(&self) -> u8 {
        self.rest.as_bytes().first().copied().unwrap_or(0)
    }

    fn skip_bytes(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
    }
}

/// Nothing is buffered: the whole text is in memory, so looking ahead needs no preparation.
impl Input for Chars<'_> {
    #[inline]
    fn lookahead(&mut self, _count: usize) {}

    #[inline]
    fn buflen(&self) -> usize {
        LOOK_AHEAD
    }

    #[inline]
    fn bufmaxlen(&self) -> usize {
        LOOK_AHEAD
    }

    #[inline]
    fn raw_read_ch(&mut self) -> char {
        let c = self.peek();
        self.skip();
        c
    }

    #[inline]
    fn raw_read_non_breakz_ch(&mut self) -> Option<char> {
        let c = self.peek();
        if matches!(c, '\0' | '\n' | '\r' | '\u{feff}') {
            return None;
        }
        self.skip();
        Some(c)
    }

    #[inline]
    fn skip(&mut self) {
        let mut chars = self.rest.chars();
        chars.next();
        self.rest = chars.as_str();
    }

    fn skip_n(&mut self, count: usize) {
        if self.joined.take().is_some() {
            // The `\u` was already skipped: four digits and the second escape are left.
            self.skip_bytes(PAIR_BYTES - 2);
            return;
        }
        if count == 2
            && let Some(code) = surrogate_pair(self.rest)
        {
            self.pairs.borrow_mut().push(self.read());
            self.joined = Some(code);
            self.skip_bytes(2);
            return;
        }
        for _ in 0..count {
            self.skip();
        }
    }

    #[inline]
    fn peek(&self) -> char {
        self.rest.chars().next().unwrap_or('\0')
    }

    #[inline]
    fn peek_nth(&self, n: usize) -> char {
        if let Some(code) = self.joined {
            let digit = u32::try_from(n).map_or(0, |n| code >> (28 - 4 * n.min(7)) & 0xf);
            return char::from_digit(digit, 16).unwrap_or('0');
        }
        if n == 1 && self.first_byte() == b'\\' && surrogate_pair(self.rest).is_some() {
            // What follows a backslash matters only inside double quotes.
            return 'U';
        }
        self.rest.chars().nth(n).unwrap_or('\0')
    }

    #[inline]
    fn peek_opt(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// The parser rejects a tab between a colon and its value, though both YAML and JSON allow it. It calls
    /// this function to check for that, so it gets a space.
    #[inline]
    fn look_ch(&mut self) -> char {
        match self.peek() {
            '\t' if self.text.as_bytes().get(self.read().wrapping_sub(1)) == Some(&b':') => ' ',
            c => c,
        }
    }

    #[inline]
    fn next_is_blank_or_break(&self) -> bool {
        matches!(self.first_byte(), b' ' | b'\t' | b'\n' | b'\r')
    }

    #[inline]
    fn next_is_blank_or_breakz(&self) -> bool {
        matches!(self.first_byte(), b' ' | b'\t' | b'\n' | b'\r' | 0)
    }

    // Called for every character of a plain scalar.
    #[inline(always)]
    fn next_can_be_plain_scalar(&self, in_flow: bool) -> bool {
        match self.peek() {
            ':' => match self.peek_nth(1) {
                ' ' | '\t' | '\n' | '\r' | '\0' => false,
                ',' | '[' | ']' | '{' | '}' => !in_flow,
                _ => true,
            },
            ',' | '[' | ']' | '{' | '}' => !in_flow,
            c => c != '\u{feff}',
        }
    }
}

/// Reads a surrogate pair: the two escapes of a character above U+FFFF in JSON.
pub(super) fn surrogate_pair(text: &str) -> Option<u32> {
    let unit = |from: usize| {
        let digits = text.get(from..from + 6)?.strip_prefix("\\u")?;
        let hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        hex.then(|| u32::from_str_radix(digits, 16).ok())?
    };
    let (high, low) = (unit(0)?, unit(6)?);
    let pair = (0xd800..0xdc00).contains(&high) && (0xdc00..0xe000).contains(&low);
    pair.then(|| 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00))
}

/// Turns positions counted in characters into byte offsets.
///
/// Positions are mostly requested in order, so it moves on from the last one.
pub(super) struct Offsets<'a> {
    text: &'a str,
    /// Whether every character is one byte.
    plain: bool,
    index: usize,
    byte: usize,
    pairs: Pairs,
    /// How many of the pairs are before the current position.
    passed: usize,
}

impl Offsets<'_> {
    /// The byte offset of a position; for one past the end, the end of the text.
    pub(super) fn byte(&mut self, index: usize) -> usize {
        let pairs = self.pairs.borrow();
        if self.plain && pairs.is_empty() {
            return index.min(self.text.len());
        }
        while self.index < index {
            if pairs.get(self.passed) == Some(&self.byte) {
                self.passed += 1;
                self.index += PAIR_CHARS;
                self.byte += PAIR_BYTES;
                continue;
            }
            let rest = self.text.get(self.byte..).unwrap_or_default();
            let Some(c) = rest.chars().next() else { break };
            self.index += 1;
            self.byte += c.len_utf8();
        }
        while self.index > index {
            let before = self.passed.checked_sub(1);
            if let Some(last) = before
                && pairs.get(last).map(|start| start + PAIR_BYTES) == Some(self.byte)
            {
                self.passed = last;
                self.index = self.index.saturating_sub(PAIR_CHARS);
                self.byte -= PAIR_BYTES;
                continue;
            }
            let read = self.text.get(..self.byte).unwrap_or_default();
            let Some(c) = read.chars().next_back() else { break };
            self.index -= 1;
            self.byte -= c.len_utf8();
        }
        self.byte
    }
}

/// Finds the start of a value after its anchor and tag.
pub(super) fn skip_properties(text: &str, start: usize) -> usize {
    let mut rest = text.get(start..).unwrap_or_default();
    while rest.starts_with(['&', '!']) {
        let end = if rest.starts_with("!<") {
            rest.find('>').map(|at| at + 1)
        } else {
            rest.find([' ', '\t', '\n', '\r', ',', '[', ']', '{', '}'])
        };
        rest = skip_blanks(end.and_then(|at| rest.get(at..)).unwrap_or_default());
    }
    text.len() - rest.len()
}

/// Skips white space and comments.
fn skip_blanks(text: &str) -> &str {
    let mut rest = text.trim_start_matches([' ', '\t', '\n', '\r']);
    while rest.starts_with('#') {
        let line = rest.find(['\n', '\r']).unwrap_or(rest.len());
        rest = rest.get(line..).unwrap_or_default();
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }
    rest
}

/// Finds the end of a quoted text, including the closing quote. The parser's end is after the white space and
/// the comment that follow.
pub(super) fn quoted_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let quote = bytes.get(start).copied().unwrap_or(b'"');
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        at += match byte {
            b'\\' if quote == b'"' => 2,
            b'\'' if quote == b'\'' && bytes.get(at + 1) == Some(&b'\'') => 2,
            byte if byte == quote => return at + 1,
            _ => 1,
        };
    }
    text.len()
}

/// Finds a tab in the indentation of the line that `offset` is in.
pub(super) fn indenting_tab(text: &str, offset: usize) -> Option<Span> {
    let before = text.get(..offset)?;
    let line = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let rest = text.get(line..)?;
    let indent = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let tab = rest.get(..indent)?.find('\t')?;
    Some(Span::new(line + tab, line + tab + 1))
}
