//! Splits a line into words, each with its position.
//!
//! Input: a line without its line break. Output: words, one at a time, and a list of what is wrong with them.
//! Positions are byte offsets in the line: [`PositionMap`](super::position::PositionMap) maps them to the file. The lexer
//! continues after an error, so that one pass finds all of them.

use super::super::tree::{Severity, Span, shorten};
use super::variable::{Reference, path};

/// Something that is wrong with a line, or suspicious about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LineProblem {
    pub(super) severity: Severity,
    pub(super) span: Span,
    pub(super) message: String,
    pub(super) help: String,
}

/// One word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) pieces: Vec<Piece>,
    pub(super) span: Span,
    /// Whether it was written without quotes, so that each byte of its text has its own position.
    pub(super) bare: bool,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Variable(Reference, Span),
}

/// What a `$` means in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dollar {
    /// It begins a variable.
    Variable,
    /// It is an ordinary character.
    Plain,
}

impl Word {
    /// The text of a word, without its variables.
    pub(super) fn text(&self) -> String {
        let texts = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            Piece::Variable(..) => None,
        });
        texts.collect()
    }

    fn push(&mut self, c: char) {
        match self.pieces.last_mut() {
            Some(Piece::Text(text)) => text.push(c),
            _ => self.pieces.push(Piece::Text(c.to_string())),
        }
    }
}

/// Reads one line.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// What is wrong so far.
    pub(super) problems: Vec<LineProblem>,
    /// Where a comment begins, once one was found.
    pub(super) comment: Option<usize>,
    /// Whether a quote was not closed, so that the ends of words are unknown.
    pub(super) unclosed: bool,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, problems: Vec::new(), comment: None, unclosed: false }
    }

    /// The end of the last word.
    pub(super) fn end(&self) -> Span {
        let (before, _) = self.text.split_at_checked(self.at).unwrap_or((self.text, ""));
        Span::at(before.trim_end().len())
    }

    pub(super) fn error(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        let (message, help) = (message.into(), help.into());
        self.problems.push(LineProblem { severity: Severity::Error, span, message, help });
    }

    pub(super) fn warn(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        let (message, help) = (message.into(), help.into());
        self.problems.push(LineProblem { severity: Severity::Warning, span, message, help });
    }

    pub(super) fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }

    /// The next word; `None` at the end of the line or before a comment.
    pub(super) fn word(&mut self, dollar: Dollar) -> Option<Word> {
        while self.peek().is_some_and(char::is_whitespace) {
            self.bump();
        }
        let start = self.at;
        if self.peek()? == '#' {
            self.comment = Some(start);
            return None;
        }
        let mut word = Word { pieces: Vec::new(), span: Span::at(start), bare: true };
        while let Some(c) = self.peek() {
            match c {
                c if c.is_whitespace() => break,
                '\'' => self.single(&mut word),
                '"' => self.double(&mut word, dollar),
                '$' if dollar == Dollar::Variable => self.variable(&mut word),
                '\\' => self.bare_backslash(&mut word, dollar),
                c => {
                    word.push(c);
                    self.bump();
                }
            }
        }
        word.span.end = self.at;
        Some(word)
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    /// Reads characters as long as they fit.
    fn take_while(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    fn single(&mut self, word: &mut Word) {
        let start = self.at;
        word.bare = false;
        self.bump();
        self.take_while(|c| c != '\'').chars().for_each(|c| word.push(c));
        match self.peek() {
            Some(_) => self.bump(),
            None => self.never_closed(start),
        }
    }

    fn double(&mut self, word: &mut Word, dollar: Dollar) {
        let start = self.at;
        word.bare = false;
        self.bump();
        loop {
            match self.peek() {
                None => return self.never_closed(start),
                Some('"') => return self.bump(),
                Some('\\') => self.escape(word),
                Some('$') if dollar == Dollar::Variable => self.variable(word),
                Some(c) => {
                    word.push(c);
                    self.bump();
                }
            }
        }
    }

    fn never_closed(&mut self, quote: usize) {
        self.unclosed = true;
        let message = "this quote is not closed on its line";
        self.error(Span::new(quote, quote + 1), message, "write the same quote where the text ends");
    }

    /// A backslash in double quotes.
    fn escape(&mut self, word: &mut Word) {
        let start = self.at;
        self.bump();
        let Some(c) = self.peek() else { return };
        self.bump();
        match c {
            '"' | '\\' | '$' => word.push(c),
            'n' => word.push('\n'),
            't' => word.push('\t'),
            c => {
                word.push(c);
                let message = format!("`\\{c}` is not a valid escape in double quotes");
                let help =
                    "the escapes are \\\" \\\\ \\n \\t \\$; in single quotes a backslash is a backslash";
                self.error(Span::new(start, self.at), message, help);
            }
        }
    }

    /// A backslash outside quotes is an ordinary character, but an error where it looks like an escape.
    fn bare_backslash(&mut self, word: &mut Word, dollar: Dollar) {
        let start = self.at;
        word.push('\\');
        self.bump();
        let help = match self.peek() {
            Some('$') if dollar == Dollar::Variable => "write `$$` for a dollar sign",
            Some('"' | '\'') => "put the word in the other kind of quotes",
            Some(c) if c.is_whitespace() => "put words that belong together in quotes",
            _ => return,
        };
        self.error(Span::new(start, self.at), "a backslash outside quotes escapes nothing", help);
    }

    /// `$name`, `${path}` or `$$`.
    fn variable(&mut self, word: &mut Word) {
        let start = self.at;
        self.bump();
        match self.peek() {
            Some('$') => {
                self.bump();
                word.push('$');
            }
            Some('{') => self.braces(word, start),
            Some(c) if is_name(c) => {
                let name = self.take_while(is_name).to_owned();
                word.pieces.push(Piece::Variable(Reference::Short(name), Span::new(start, self.at)));
            }
            _ => {
                word.push('$');
                let help = "write `$$` for a dollar sign, `$prompt` or `${field}` for a value";
                self.error(Span::new(start, self.at), "this `$` names nothing", help);
            }
        }
    }

    fn braces(&mut self, word: &mut Word, start: usize) {
        self.bump();
        let inside =
            self.take_while(|c| !matches!(c, '}' | '{' | '$' | '"' | '\'' | '\\') && !c.is_whitespace());
        let reference = match self.peek() {
            Some('}') => {
                self.bump();
                path(inside)
                    .map(Reference::Path)
                    .map_err(|why| (format!("`${{{}}}` {why}", shorten(inside)), PATHS))
            }
            stopped => {
                // A `}` before the next quote was probably meant to close it.
                let tail = self.rest();
                match (tail.find('}'), tail.find(['"', '\''])) {
                    (Some(close), quote) if quote.is_none_or(|quote| close < quote) => self.at += close + 1,
                    _ => {}
                }
                match stopped {
                    Some(c) if self.text.get(..self.at).is_some_and(|read| read.ends_with('}')) => {
                        Err((format!("`{c}` is not allowed in a `${{…}}`"), PATHS))
                    }
                    _ => Err(("this `${` is not closed".to_owned(), "write `}` after the field's name")),
                }
            }
        };
        let span = Span::new(start, self.at);
        let reference = reference.unwrap_or_else(|(message, help)| {
            self.error(span, message, help);
            Reference::Broken
        });
        word.pieces.push(Piece::Variable(reference, span));
    }
}

const PATHS: &str = "a path is names and numbers with dots between, like `${tool_input.edits.0.path}`";

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
#[path = "lexer_tests.rs"]
mod tests;
