//! Splits bytes into lines of limited length.

use super::MAX_LINE;

/// Splits its input into lines. A line that is too long is discarded.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    bytes: Vec<u8>,
    /// Where the next line begins.
    start: usize,
    /// Up to where the input was searched for the end of a line.
    looked: usize,
    /// Whether the rest of a line that is too long is being discarded.
    skipping: bool,
}

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Whole(&'a [u8]),
    TooLong,
}

impl Lines {
    /// The buffer to read into.
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        if self.start > 0 {
            self.bytes.drain(..self.start);
            self.looked -= self.start;
            self.start = 0;
        }
        if self.bytes.is_empty() && self.bytes.capacity() > 1 << 20 {
            // One large event must not keep its memory for the life of the connection.
            self.bytes = Vec::new();
        }
        &mut self.bytes
    }

    /// The next line, if it is complete.
    pub(crate) fn next(&mut self) -> Option<Line<'_>> {
        loop {
            let Some(length) = self.bytes[self.looked..].iter().position(|&byte| byte == b'\n') else {
                self.looked = self.bytes.len();
                let is_too_long = self.looked - self.start > MAX_LINE;
                if self.skipping || is_too_long {
                    (self.start, self.skipping) = (self.looked, true);
                }
                if is_too_long {
                    return Some(Line::TooLong);
                }
                return None;
            };
            let (start, end) = (self.start, self.looked + length);
            (self.start, self.looked) = (end + 1, end + 1);
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            let line = &self.bytes[start..end];
            return Some(if line.len() > MAX_LINE { Line::TooLong } else { Line::Whole(line) });
        }
    }

    /// What is left at the end of the input: an unfinished line.
    pub(crate) fn rest(&mut self) -> Option<Vec<u8>> {
        let rest = self.bytes.get(self.start..).unwrap_or_default().to_vec();
        self.start = self.bytes.len();
        self.looked = self.start;
        (!self.skipping && !rest.trim_ascii().is_empty()).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(lines: &mut Lines) -> Vec<Option<Vec<u8>>> {
        let mut found = Vec::new();
        while let Some(line) = lines.next() {
            found.push(match line {
                Line::Whole(line) => Some(line.to_vec()),
                Line::TooLong => None,
            });
        }
        found
    }

    #[test]
    fn a_line_that_is_too_long_is_told_once_and_thrown_away() {
        let mut lines = Lines::default();
        for _ in 0..70 {
            lines.buffer().extend(std::iter::repeat_n(b'x', 1 << 20));
            assert!(all(&mut lines).len() <= 1);
        }
        assert!(lines.buffer().len() < 2 << 20);
        lines.buffer().extend(b"end\n{}\n");
        assert_eq!(all(&mut lines), [Some(b"{}".to_vec())]);
    }

    proptest! {
        #[test]
        fn lines_are_the_same_however_they_come(
            text in proptest::collection::vec(proptest::sample::select(vec![b'a', b'\n', b'{']), 0..60),
            cut in 1..7_usize,
        ) {
            let mut lines = Lines::default();
            let mut found = Vec::new();
            for piece in text.chunks(cut) {
                lines.buffer().extend_from_slice(piece);
                found.extend(all(&mut lines));
            }
            let mut wanted: Vec<Option<Vec<u8>>> = text.split(|&b| b == b'\n').map(|line| Some(line.to_vec())).collect();
            wanted.pop();
            prop_assert_eq!(found, wanted);
        }
    }
}
