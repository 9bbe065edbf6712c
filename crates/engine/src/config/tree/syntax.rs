//! Turns the parser's errors into messages for people.
//!
//! Input: the parser's message and where it noticed the error. Output: a problem that says what to do, at the
//! position where it has to be done, which is often earlier. An error that is not known here is passed on as
//! it is.

use std::sync::Arc;

use super::problem::{Problem, shorten};
use super::scan::{PAIR_BYTES, indenting_tab, surrogate_pair};
use super::source::{Source, Span};

/// A part of the parser's message, the message for people, and how to fix it.
type Wording = (&'static str, &'static str, &'static str);

/// Errors that only need a better message. The first match is used.
const WORDINGS: &[Wording] = &[
    (
        "did not find expected key",
        "this line does not belong to the mapping above it",
        "every line of a mapping is `key: value` and starts in the same column",
    ),
    (
        "expected '-' indicator",
        "this line does not belong to the list above it",
        "every item of a list starts with `- ` in the same column",
    ),
    (
        "block sequence entries",
        "a list item cannot start here",
        "put `- ` on a line of its own below the key, or put the value in quotes if it is text",
    ),
    (
        "only valid inside a block",
        "an item with `- ` is not allowed inside `[ ]` or `{ }`",
        "separate the items with commas",
    ),
    ("cannot start with '-'", "a single `-` must be in quotes here", "write `\"-\"`"),
    ("unexpected end of stream", "this quoted text is never closed", "is the closing quote missing?"),
    (
        "unexpected document indicator",
        "this quoted text is not closed before the document ends",
        "is the closing quote missing?",
    ),
    (
        "indentation in quoted",
        "this quoted text goes on in a line that is not indented",
        "is the closing quote missing?",
    ),
    (
        "trailing content after",
        "unexpected text after the closing quote",
        "a quote inside quoted text is written `''` in single quotes and `\\\"` in double quotes",
    ),
    (
        "invalid indentation",
        "this line must be indented more than the key it belongs to",
        "or is a closing `]` or `}` missing above it?",
    ),
    ("misplaced bracket", "this bracket closes nothing", "remove it, or put the value in quotes"),
    ("may not precede any of", "a space is missing after the `:`", "write `: `"),
    ("placement of ':'", "a `:` is not allowed here", "is a closing `]` missing above it?"),
    (
        "mapping keys are not allowed",
        "a `?` key is not allowed here",
        "put the value in quotes if it is text",
    ),
    (
        "comment intercepting",
        "a comment is not allowed in the middle of a text of several lines",
        "put the text in quotes, or the comment on a line above",
    ),
    (
        "comments must be separated",
        "a space is missing before the `#` of this comment",
        "put the value in quotes if the `#` belongs to it",
    ),
    (
        "scanning a block scalar, did not",
        "nothing may follow `|` or `>` on its line",
        "put the text on the lines below, or put the value in quotes",
    ),
    ("equal to 0", "a block cannot be indented by 0", "leave the number out"),
    (
        "in block scalar",
        "this line is indented less than the block it belongs to",
        "indent all lines of the block alike",
    ),
    ("directive", "this `%` line is not understood", "remove it"),
    ("handle wasn't declared", BAD_TAG, QUOTE_TAG),
    (" tag", BAD_TAG, QUOTE_TAG),
    (
        "document start",
        "this does not belong to the value above it",
        "a file holds one value; is the indentation right?",
    ),
    ("document end marker", "nothing may follow `...` on its line", "remove it"),
    (
        "byte order mark",
        "there is an invisible character, a byte order mark, in the middle of the file",
        "delete it and write the text around it again",
    ),
    ("expected node content", "a value is missing here", "or is there a comma too many?"),
    ("end of plain scalar", "a value is missing here", "or is there a comma too many?"),
];

const BAD_TAG: &str = "this tag is not valid";
const QUOTE_TAG: &str = "put the value in quotes if its `!` is not a tag";

/// Errors that can be caused by a tab in the indentation: on a line that starts with a tab, the tab is
/// reported.
const FROM_TABS: &[&str] = &[
    "mapping values",
    "invalid indentation",
    "did not find expected key",
    "expected '-' indicator",
    "simple key",
    "block sequence entries",
];

/// Reports a tab that is used as indentation.
pub(super) fn tab(source: &Arc<Source>, tab: Span) -> Problem {
    Problem::error(source, tab, "a tab cannot be used as indentation; use spaces")
}

/// Reports nesting that is too deep.
pub(super) fn too_deep(source: &Arc<Source>, at: usize) -> Problem {
    let message = "lists and mappings are nested more than 128 deep";
    Problem::error(source, character(source, at), message)
}

/// Turns an error of the parser into a problem. `open` is the start of the innermost `[` or `{` that is not
/// closed.
pub(super) fn explain(source: &Arc<Source>, info: &str, at: usize, open: Option<usize>) -> Problem {
    let text = source.text.as_str();
    let end = text.trim_end().len();
    let problem = |span, message: &str, help: &str| Problem::error(source, span, message).with_help(help);
    let from_tab = FROM_TABS.iter().any(|part| info.contains(part));
    if let Some(found) = indenting_tab(text, at).filter(|_| from_tab) {
        return tab(source, found);
    }
    if info.contains("tab") || info.contains("valid YAML whitespace") {
        return tab(source, culprit_tab(text, at));
    }
    if info.contains("recursion limit") {
        return too_deep(source, at);
    }
    if info.contains("simple key") {
        let message = "this line is neither `key: value` nor `- item`";
        return problem(content_before(source, at), message, "is a `:` or the space after it missing?");
    }
    if info.contains("mapping values") {
        return misplaced_key(source, at);
    }
    if info.contains("anchor") {
        return reference(source, info, at);
    }
    if info.contains("parsing a quoted scalar") {
        return escape(source, info, at);
    }
    if let Some(start) = open
        && (at >= end || info.contains("expected ','"))
    {
        let bracket = character(source, start);
        if at >= end {
            let message = format!("this `{}` is never closed", source.slice(bracket));
            return Problem::error(source, bracket, message);
        }
        let close = if source.slice(bracket) == "{" { '}' } else { ']' };
        let message = format!("expected `,` or `{close}` here");
        return problem(character(source, at), &message, "is a comma missing before this?").with_related(
            source,
            bracket,
            "opened here",
        );
    }
    let span = character(source, at);
    if let Some(c) = info.strip_prefix("unexpected character: `").and_then(|c| c.chars().next()) {
        let shown = if c == '`' { "a backtick".to_owned() } else { format!("`{c}`") };
        let message = format!("a value cannot start with {shown}");
        return problem(span, &message, "put the value in quotes");
    }
    match WORDINGS.iter().find(|(part, ..)| info.contains(part)) {
        Some((_, message, help)) => problem(span, message, help),
        None => Problem::error(source, span, format!("this is not valid YAML: {info}")),
    }
}

/// The character at an offset. An offset after the last content is moved back to the end of the content,
/// where there is something to show.
fn character(source: &Source, at: usize) -> Span {
    let start = at.min(source.text.trim_end().len());
    let rest = source.text.get(start..).unwrap_or_default();
    let length = rest.chars().next().filter(|c| !c.is_whitespace()).map_or(0, char::len_utf8);
    Span::new(start, start + length)
}

/// The tab that an error is about: in the indentation of this line or of a later one, else the nearest one
/// before.
fn culprit_tab(text: &str, at: usize) -> Span {
    let mut line = at;
    loop {
        if let Some(tab) = indenting_tab(text, line) {
            return tab;
        }
        match text.get(line..).and_then(|rest| rest.find(['\n', '\r'])) {
            Some(next) => line += next + 1,
            None => break,
        }
    }
    let before = text.get(..at).and_then(|before| before.rfind('\t'));
    before.map_or(Span::at(at), |tab| Span::new(tab, tab + 1))
}

/// The last line before an offset that has content: a missing `:` is noticed a line later.
fn content_before(source: &Source, at: usize) -> Span {
    let mut at = at;
    loop {
        let line = source.line_at(at);
        let before = source.slice(Span::new(line.start, at.min(line.end)));
        let content = before.trim();
        if !content.is_empty() && !content.starts_with('#') {
            let start = line.start + (before.len() - before.trim_start().len());
            return Span::new(start, start + content.len());
        }
        match line.start.checked_sub(1) {
            Some(earlier) => at = earlier,
            None => return Span::at(at),
        }
    }
}

/// A `: ` where no key can be: inside a value, or on a line with the wrong indentation.
fn misplaced_key(source: &Arc<Source>, at: usize) -> Problem {
    let line = source.line_at(at);
    let before = source.slice(Span::new(line.start, at));
    if before.contains(": ") {
        let message = "a second `: ` in one line";
        return Problem::error(source, character(source, at), message)
            .with_help("put the value in quotes if the `: ` belongs to it");
    }
    let start = line.start + (before.len() - before.trim_start().len());
    Problem::error(source, Span::new(start, at), "this key does not fit the line above it").with_help(
        "keys of one mapping start in the same column, and a key above others has nothing after its `:`",
    )
}

/// A `*` or `&` that was probably meant as text.
fn reference(source: &Arc<Source>, info: &str, at: usize) -> Problem {
    let rest = source.text.get(at..).unwrap_or_default();
    let end = rest.find([' ', '\t', '\n', '\r', ',', '[', ']', '{', '}']).unwrap_or(rest.len());
    let word = shorten(rest.get(..end).unwrap_or_default());
    let message = if info.contains("unknown anchor") {
        let name = word.trim_start_matches('*');
        format!("`{word}` is an alias, but there is no anchor `&{name}` above it")
    } else if word.starts_with(['*', '&']) {
        format!("the name is missing after `{word}`")
    } else {
        "an anchor is not allowed here".to_owned()
    };
    Problem::error(source, Span::new(at, at + end), message)
        .with_help(format!("write `\"{word}\"` if it is meant as text"))
}

/// An invalid escape in double quotes. The parser only reports where the quoted text starts.
fn escape(source: &Arc<Source>, info: &str, start: usize) -> Problem {
    let text = source.text.as_str();
    let mut at = start + 1;
    let mut found = None;
    while let Some(next) = text.get(at..).and_then(|rest| rest.find('\\')) {
        at += next;
        match escape_length(text.get(at..).unwrap_or_default()) {
            Ok(length) => at += length,
            Err(length) => {
                found = Some(Span::new(at, at + length));
                break;
            }
        }
    }
    let span = found.unwrap_or_else(|| character(source, start));
    let shown = shorten(source.slice(span));
    let (message, help) = if info.contains("invalid Unicode") {
        (format!("`{shown}` is not a character"), "write the character itself")
    } else if info.contains("hexadecimal") {
        let help = "`\\x` needs two digits, `\\u` four and `\\U` eight";
        (format!("hexadecimal digits are missing in `{shown}`"), help)
    } else {
        let help = "write `\\\\` for a backslash, or use single quotes, which leave it alone";
        (format!("`{shown}` is not a valid escape in double quotes"), help)
    };
    Problem::error(source, span, message).with_help(help)
}

/// The length of an escape; as an error if it is invalid.
fn escape_length(text: &str) -> Result<usize, usize> {
    if surrogate_pair(text).is_some() {
        return Ok(PAIR_BYTES);
    }
    let mut chars = text.chars().skip(1);
    let digits = match chars.next() {
        Some('x') => 2,
        Some('u') => 4,
        Some('U') => 8,
        Some(c) if !"0abt\tnvfre \"/\\N_LP\n\r".contains(c) => return Err(1 + c.len_utf8()),
        _ => return Ok(2),
    };
    let found = chars.take(digits).take_while(char::is_ascii_hexdigit).count();
    let code = text.get(2..2 + found).and_then(|hex| u32::from_str_radix(hex, 16).ok());
    let whole = found == digits && code.and_then(char::from_u32).is_some();
    if whole { Ok(2 + found) } else { Err(2 + found) }
}

#[cfg(test)]
#[path = "syntax_tests.rs"]
mod tests;
