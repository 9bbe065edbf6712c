//! Text with terminal escape sequences: secrets are looked for in the visible text.

use std::ops::Range;

pub(super) const ESCAPE: u8 = 0x1b;

/// A text without its escape sequences, and where each part of it comes from.
#[derive(Debug)]
pub(super) struct Visible {
    pub(super) text: String,
    /// For each sequence that was left out: where the text continues, here and in the original.
    joints: Vec<(usize, usize)>,
}

impl Visible {
    pub(super) fn new(original: &str) -> Self {
        let bytes = original.as_bytes();
        let mut text = String::with_capacity(original.len());
        let mut joints = Vec::new();
        let mut at = 0;
        while let Some(next) = memchr::memchr(ESCAPE, &bytes[at..]) {
            text.push_str(&original[at..at + next]);
            at += next;
            at += sequence_len(&original[at..]);
            joints.push((text.len(), at));
        }
        text.push_str(&original[at..]);
        Self { text, joints }
    }

    /// The bytes of the original that a part of the visible text comes from.
    pub(super) fn in_original(&self, part: &Range<usize>) -> Range<usize> {
        // Sequences in front of the part stay outside of it, and so do those after its last character.
        let start = self.offset(self.joints.partition_point(|(here, _)| *here <= part.start));
        let end = self.offset(self.joints.partition_point(|(here, _)| *here < part.end));
        part.start + start..part.end + end
    }

    /// How many bytes were left out by the first `count` sequences.
    fn offset(&self, count: usize) -> usize {
        count.checked_sub(1).map_or(0, |last| self.joints[last].1 - self.joints[last].0)
    }
}

/// How many bytes the sequence at the beginning of this text has; the text begins with an escape character.
pub(super) fn sequence_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let end = |from: usize, last: &dyn Fn(u8) -> bool| {
        bytes[from..].iter().position(|byte| last(*byte)).map(|at| from + at + 1)
    };
    let len = match bytes.get(1) {
        // Colours and cursor movements: parameters, then one letter.
        Some(b'[') => {
            let parameters =
                bytes[2..].iter().take_while(|byte| matches!(**byte, b' '..=b'/' | b'0'..=b'?')).count();
            (2 + parameters + 1).min(bytes.len())
        }
        // Titles and links: up to a bell or `ESC \`.
        Some(b']' | b'P' | b'_' | b'^') => end(2, &|byte| byte == 0x07 || byte == b'\\' || byte == b'\n')
            .map_or(2, |end| if bytes[end - 1] == b'\n' { end - 1 } else { end }),
        Some(b'(' | b')') => 3.min(bytes.len()),
        Some(_) => 2,
        None => 1,
    };
    text.ceil_char_boundary(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_can_be_found_again() {
        let original = "a\x1b[1;31mbc\x1b[0md\x1b]8;;https://x\x07e\x1b";
        let visible = Visible::new(original);
        assert_eq!(visible.text, "abcde");
        for (part, expected) in
            [(1..3, "bc"), (2..4, "c\x1b[0md"), (0..1, "a"), (3..5, "d\x1b]8;;https://x\x07e"), (4..5, "e")]
        {
            assert_eq!(&original[visible.in_original(&part)], expected);
        }
    }
}
