//! Shows a line of a text to people, with carets under a position.
//!
//! The text can be anything, and the position anywhere. The output is one line that fits a screen and
//! contains the position, without characters that would control a terminal.

use std::fmt;

use unicode_width::UnicodeWidthStr;

use super::source::{Source, Span};

/// Wider lines are cut around the position.
const WIDEST_LINE: usize = 100;
/// Columns to the left of the position that are kept when a line is cut.
const LEAD: usize = 30;
/// What a tab looks like in a snippet; its real width depends on the terminal.
const TAB: &str = "    ";

/// Writes the line of a span with carets under it. A span of several lines is marked in its first line only.
/// For an empty text nothing is written.
pub(super) fn write_snippet(
    f: &mut fmt::Formatter<'_>,
    source: &Source,
    span: Span,
    number: usize,
    gutter: usize,
) -> fmt::Result {
    if source.text.is_empty() {
        return Ok(());
    }
    let line = source.line_at(span.start);
    let within = |offset: usize, from: usize| {
        let offset = source.text.floor_char_boundary(offset);
        offset.clamp(from, line.end.max(from))
    };
    let start = within(span.start, line.start);
    let (shown, cut_left, cut_right) = window(source, line, start);
    let end = within(span.end, start).min(shown.end);

    let part = |from, to| render(source.slice(Span::new(from, to)), TAB);
    let before = format!("{cut_left}{}", part(shown.start, start));
    let under = part(start, end);
    let after = format!("{}{cut_right}", part(end, shown.end));

    let indent = before.width();
    let carets = under.width().max(1);
    let text = format!("{before}{under}{after}");
    write!(f, "\n{:gutter$} |", "")?;
    write!(f, "\n{number:>gutter$} | {}", text.trim_end())?;
    write!(f, "\n{:gutter$} | {:indent$}{:^<carets$}", "", "", "")
}

/// Chooses which part of a line to show around a position, and the marks for what is cut.
fn window(source: &Source, line: Span, offset: usize) -> (Span, &'static str, &'static str) {
    let whole = source.slice(line);
    if fitting(whole.chars(), WIDEST_LINE) == whole.len() {
        return (line, "", "");
    }
    let before = source.slice(Span::new(line.start, offset));
    let after = source.slice(Span::new(offset, line.end));
    let start = offset - fitting(before.chars().rev(), LEAD);
    let end = offset + fitting(after.chars(), WIDEST_LINE - LEAD);
    let mark = |cut| if cut { "…" } else { "" };
    let cuts = (mark(start > line.start), mark(end < line.end));
    (Span::new(start, end), cuts.0, cuts.1)
}

/// How many bytes of these characters fit into a number of columns.
fn fitting(chars: impl Iterator<Item = char>, columns: usize) -> usize {
    let mut used = 0;
    chars
        // Limits characters without width, which take no columns.
        .take(4 * columns)
        .take_while(|&c| {
            used += render(c.encode_utf8(&mut [0; 4]), TAB).width();
            used <= columns
        })
        .map(char::len_utf8)
        .sum()
}

/// Makes a text safe to print on one line.
pub(super) fn safe(text: &str) -> String {
    render(text, "\\t")
}

/// Replaces tabs with `tab`, and characters that could control a terminal with escapes.
fn render(text: &str, tab: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => out.push_str(tab),
            c if is_unsafe_to_print(c) => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

/// Whether a character could control a terminal or hide text: control characters, line separators, marks that
/// change the direction of text, and invisible characters.
pub(super) fn is_unsafe_to_print(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
