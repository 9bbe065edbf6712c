//! The output of a process: its beginning and end are kept, and text is passed to a listener meanwhile.

use std::collections::VecDeque;

/// Keeps bytes up to a limit: the first half of it and the last.
#[derive(Debug)]
pub(crate) struct BoundedOutput {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: usize,
}

impl BoundedOutput {
    pub(crate) fn new(limit: usize) -> Self {
        Self { half: limit / 2, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.total += bytes.len();
        let room = self.half - self.head.len();
        let (head, rest) = bytes.split_at(bytes.len().min(room));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(self.half)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(self.half);
        self.tail.drain(..excess);
        self.tail.extend(rest);
    }

    /// The kept bytes as text, with a note where something is left out.
    pub(crate) fn into_text(self) -> String {
        let left_out = self.total - self.head.len() - self.tail.len();
        let mut bytes = self.head;
        if left_out > 0 {
            bytes.extend_from_slice(format!("\n[{left_out} bytes left out]\n").as_bytes());
        }
        bytes.extend(self.tail);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Decodes a stream of bytes as text without splitting characters.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    /// The beginning of a character, at most three bytes.
    held: Vec<u8>,
}

impl Decoder {
    pub(crate) fn take(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        let mut text = String::with_capacity(self.held.len());
        let mut chunks = self.held.utf8_chunks().peekable();
        let mut torn = 0;
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            let invalid = chunk.invalid();
            if chunks.peek().is_none() && may_go_on(invalid) {
                torn = invalid.len();
            } else if !invalid.is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        let whole = self.held.len() - torn;
        self.held.drain(..whole);
        text
    }

    /// The rest, at the end of the stream.
    pub(crate) fn rest(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.held)).into_owned()
    }
}

/// Whether these bytes are the beginning of a valid character.
fn may_go_on(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginning_and_end_are_kept_and_the_rest_is_counted() {
        let mut kept = BoundedOutput::new(8);
        kept.take(b"ab");
        kept.take(b"cdefgh");
        assert_eq!(kept.into_text(), "abcdefgh");
        let mut kept = BoundedOutput::new(8);
        kept.take(b"abcdefghi");
        kept.take(b"jk");
        assert_eq!(kept.into_text(), "abcd\n[3 bytes left out]\nhijk");
        let mut kept = BoundedOutput::new(4);
        kept.take(&[b'x'; 100]);
        assert_eq!(kept.into_text(), "xx\n[96 bytes left out]\nxx");
    }

    #[test]
    fn characters_are_told_whole() {
        let mut decoder = Decoder::default();
        let text = "h\u{e4}\u{1f600}".as_bytes();
        let told: Vec<String> = text.iter().map(|&byte| decoder.take(&[byte])).collect();
        assert_eq!(told, ["h", "", "\u{e4}", "", "", "", "\u{1f600}"]);
        assert_eq!(decoder.take(b"\xff\xc3"), "\u{fffd}");
        assert_eq!(decoder.rest(), "\u{fffd}");
        assert_eq!(decoder.rest(), "");
    }
}
