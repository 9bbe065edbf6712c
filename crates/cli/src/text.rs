//! Cuts and wraps lines by the number of columns that they take.

use unicode_width::UnicodeWidthChar;

/// The columns that a text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// As much of a line as fits, with an ellipsis if it was cut.
pub(crate) fn cut(line: &str, width: usize) -> String {
    if columns(line) <= width {
        return line.to_owned();
    }
    let mut short = split(line, width.saturating_sub(1)).0.to_owned();
    short.push('…');
    short
}

/// The part that fits into the width, and the rest.
fn split(text: &str, width: usize) -> (&str, &str) {
    let mut used = 0;
    let fits = |c: char| {
        used += c.width().unwrap_or(0);
        used <= width
    };
    let end = text.char_indices().scan(fits, |fits, (at, c)| fits(c).then_some(at + c.len_utf8())).last();
    text.split_at(end.unwrap_or(0))
}

/// Wraps words into lines that fit; a word that is too long is broken.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(2);
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for (number, word) in paragraph.split(' ').enumerate() {
            let mut word = word;
            if number > 0 && columns(&line) + 1 + columns(word) > width {
                lines.push(std::mem::take(&mut line));
            } else if number > 0 {
                line.push(' ');
            }
            while columns(&line) + columns(word) > width {
                let (start, rest) = split(word, width - columns(&line));
                line.push_str(start);
                lines.push(std::mem::take(&mut line));
                word = rest;
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_stay_whole_where_they_can() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("  indented text", 10), ["  indented", "text"]);
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(cut("one two", 5), "one …");
        assert_eq!(cut("one", 3), "one");
    }

    proptest! {
        #[test]
        fn nothing_is_too_wide_and_no_word_is_lost(text in "(\\PC|漢| ){0,80}", width in 2..40_usize) {
            prop_assert!(columns(&cut(&text, width)) <= width);
            let lines = wrap(&text, width);
            prop_assert!(lines.iter().all(|line| columns(line) <= width), "{lines:?}");
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(letters(&lines.concat()), letters(&text));
        }
    }
}
