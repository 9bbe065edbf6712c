//! Captures what a process writes: stdout up to a limit, the last part of stderr, and progress for listeners.

use std::collections::VecDeque;
use std::io::{self, Read};

/// Stdout up to a limit. The rest is read and discarded, so that the process does not block.
#[derive(Debug)]
pub(super) struct Stdout {
    bytes: Vec<u8>,
    limit: usize,
    over: bool,
}

/// The last part of stderr.
#[derive(Debug)]
pub(super) struct Stderr {
    bytes: VecDeque<u8>,
    limit: usize,
}

/// The result of one read.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::run) enum ReadResult {
    /// This many bytes; there may be more.
    Bytes(usize),
    /// There is nothing to read now.
    WouldBlock,
    /// The other end is closed.
    End,
}

/// Reads once, without blocking.
pub(in crate::run) fn read(from: &mut impl Read, scratch: &mut [u8]) -> ReadResult {
    match from.read(scratch) {
        Ok(0) => ReadResult::End,
        Ok(count) => ReadResult::Bytes(count),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
            ReadResult::WouldBlock
        }
        Err(_) => ReadResult::End,
    }
}

impl Stdout {
    pub(super) fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), limit, over: false }
    }

    pub(super) fn take(&mut self, bytes: &[u8]) {
        let room = self.limit - self.bytes.len();
        self.over |= bytes.len() > room;
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The limit, if more than that was written.
    pub(super) fn oversize(&self) -> Option<usize> {
        self.over.then_some(self.limit)
    }
}

impl Stderr {
    pub(super) fn new(limit: usize) -> Self {
        Self { bytes: VecDeque::new(), limit }
    }

    pub(super) fn take(&mut self, bytes: &[u8]) {
        let kept = &bytes[bytes.len().saturating_sub(self.limit)..];
        let excess = (self.bytes.len() + kept.len()).saturating_sub(self.limit);
        self.bytes.drain(..excess);
        self.bytes.extend(kept);
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes.into()
    }
}

/// Splits a stream into whole lines for progress messages. Bounded: a very long line is passed on in pieces,
/// and past the limit nothing more is passed on.
#[derive(Debug, Default)]
pub(in crate::run) struct Lines {
    buffered: Vec<u8>,
    passed: usize,
}

const MAX_BUFFERED: usize = 8 * 1024;
const MAX_PASSED: usize = 1024 * 1024;

impl Lines {
    /// Adds bytes, and returns the lines that are complete.
    pub(in crate::run) fn take(&mut self, bytes: &[u8]) -> String {
        if self.passed >= MAX_PASSED {
            return String::new();
        }
        self.buffered.extend_from_slice(bytes);
        let whole = match self.buffered.iter().rposition(|&byte| byte == b'\n') {
            Some(at) => at + 1,
            None if self.buffered.len() >= MAX_BUFFERED => whole_characters(&self.buffered),
            None => 0,
        };
        let lines: Vec<u8> = self.buffered.drain(..whole).collect();
        self.passed += lines.len();
        String::from_utf8_lossy(&lines).into_owned()
    }

    /// The rest at the end: an incomplete last line.
    pub(in crate::run) fn rest(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.buffered)).into_owned()
    }
}

/// How many bytes can be passed on without splitting a character.
fn whole_characters(bytes: &[u8]) -> usize {
    let longest = 4;
    // The last character begins at the last byte that is not a continuation byte (10xxxxxx).
    let begins = bytes.iter().rev().take(longest).position(|byte| byte & 0xC0 != 0x80);
    let Some(begin) = begins.map(|back| bytes.len() - 1 - back) else { return bytes.len() };
    match std::str::from_utf8(&bytes[begin..]) {
        Err(error) if error.error_len().is_none() => begin,
        _ => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stdout_of_exactly_the_limit_is_kept_and_one_more_is_not() {
        let mut stdout = Stdout::new(4);
        stdout.take(b"ab");
        stdout.take(b"cd");
        assert_eq!(stdout.oversize(), None);
        stdout.take(b"e");
        assert_eq!(stdout.oversize(), Some(4));
        assert_eq!(stdout.into_bytes(), b"abcd");
    }

    #[test]
    fn stderr_keeps_its_end() {
        let mut stderr = Stderr::new(4);
        stderr.take(b"abc");
        stderr.take(b"def");
        stderr.take(b"");
        assert_eq!(stderr.into_bytes(), b"cdef");
        let mut stderr = Stderr::new(2);
        stderr.take(b"abcdef");
        assert_eq!(stderr.into_bytes(), b"ef");
    }

    #[test]
    fn lines_are_passed_on_whole() {
        let mut lines = Lines::default();
        assert_eq!(lines.take("h\u{e4}".as_bytes()), "");
        assert_eq!(lines.take(b"\nx\ny"), "h\u{e4}\nx\n");
        assert_eq!(lines.rest(), "y");
    }

    #[test]
    fn a_character_that_is_not_all_there_waits_for_its_rest() {
        for (text, whole) in [("a\u{e4}", 3), ("a\u{20ac}", 4), ("a\u{1f600}", 5)] {
            for cut in 2..whole {
                assert_eq!(whole_characters(&text.as_bytes()[..cut]), 1, "{text} {cut}");
            }
            assert_eq!(whole_characters(text.as_bytes()), whole);
        }
        assert_eq!(whole_characters(b"a\xff"), 2);
        assert_eq!(whole_characters(&[0x80; 9]), 9);
        assert_eq!(whole_characters(b""), 0);
    }
}
