//! A failed case, for people: the expected and the actual value, line by line.

use std::fmt::Write;

use super::{Case, Difference, Verdict};
use crate::paint::{Paint, Tone};
use crate::print::{one_line, plain};

/// The maximum number of lines of one side that are shown.
const MAX_LINES: usize = 40;

/// Describes what failed, and how.
pub(crate) fn describe(case: &Case, verdict: &Verdict, paint: Paint) -> String {
    let (file, line) = case.place();
    let head = format!("FAILED {}:{line}: {}", one_line(file), one_line(&case.name));
    let mut text = format!("{}\n", paint.tone(Tone::Bad, &head));
    for difference in &verdict.differences {
        let _ = write!(text, "  {}\n{}", one_line(&difference.at), sides(difference, paint));
    }
    text
}

fn sides(difference: &Difference, paint: Paint) -> String {
    let (expected, got) = (plain(&difference.expected), plain(&difference.got));
    let mut text = String::new();
    if !expected.contains('\n') && !got.contains('\n') {
        let _ = writeln!(text, "    {} {expected}", paint.tone(Tone::Good, "- expected"));
        let _ = writeln!(text, "    {} {got}", paint.tone(Tone::Bad, "+ got     "));
        if let Some(at) = first_difference(&expected, &got) {
            let _ = writeln!(text, "               {}^", " ".repeat(at));
        }
        return text;
    }
    let _ =
        writeln!(text, "    {}, {}", paint.tone(Tone::Good, "- expected"), paint.tone(Tone::Bad, "+ got"));
    let (expected, got): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), got.lines().collect());
    let before = expected.iter().zip(&got).take_while(|(a, b)| a == b).count();
    let rest = expected.len().min(got.len()) - before;
    let after = expected.iter().rev().zip(got.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let mut lines = |lines: &[&str], mark: &str, tone: Tone| {
        for line in lines.iter().take(MAX_LINES) {
            let _ = writeln!(text, "    {}", paint.tone(tone, &format!("{mark} {line}")));
        }
        if lines.len() > MAX_LINES {
            let _ = writeln!(text, "    {mark} … {} more lines", lines.len() - MAX_LINES);
        }
    };
    lines(&expected[..before], " ", Tone::Faint);
    lines(&expected[before..expected.len() - after], "-", Tone::Good);
    lines(&got[before..got.len() - after], "+", Tone::Bad);
    lines(&expected[expected.len() - after..], " ", Tone::Faint);
    text
}

/// Where two long texts begin to differ, if that is hard to see.
fn first_difference(expected: &str, got: &str) -> Option<usize> {
    let same = expected.chars().zip(got.chars()).take_while(|(a, b)| a == b).count();
    (same > 8 && !expected.starts_with('/')).then_some(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(expected: &str, got: &str) -> String {
        sides(&Difference::new("reason", expected, got), Paint::Plain)
    }

    #[test]
    fn short_texts_stand_under_each_other() {
        assert_eq!(shown("deny", "allow"), "    - expected deny\n    + got      allow\n");
    }

    #[test]
    fn long_texts_get_a_mark_where_they_part() {
        assert_eq!(shown("abcdef", "abcxyz").lines().count(), 2, "short ones need none");
        let text = shown("one two three four", "one two three five");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0].chars().nth(lines[2].len() - 1), Some('o'));
        assert_eq!(lines[1].chars().nth(lines[2].len() - 1), Some('i'));
    }

    #[test]
    fn lines_that_are_the_same_are_shown_once() {
        let text = shown("a\nb\nc", "a\nx\nc");
        assert_eq!(text, "    - expected, + got\n      a\n    - b\n    + x\n      c\n");
    }
}
