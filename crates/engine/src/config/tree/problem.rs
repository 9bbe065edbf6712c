//! Problems in a configuration, with their positions.
//!
//! A [`Problem`] is shown like a compiler's message, with the line in question and carets under the position.
//! [`Problems`] keeps many of them, ordered by file and position. Whatever a file contains, the text shown
//! never contains control characters or characters that reorder text, so a hostile file cannot control the
//! reader's terminal.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use super::snippet::{safe, write_snippet};
use super::source::{Source, Span};

/// How many characters [`shorten`] keeps.
const LONGEST_QUOTE: usize = 60;

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The configuration cannot be used.
    Error,
    /// It can be used, but probably does not mean what was intended.
    Warning,
}

/// A second position that belongs to a problem, such as where a key was first written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// The text that the position is in.
    pub source: Arc<Source>,
    /// The position.
    pub span: Span,
    /// What is there, such as `first written here`.
    pub label: String,
}

/// One problem, its position, and optionally how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    severity: Severity,
    message: String,
    source: Arc<Source>,
    span: Span,
    help: Option<String>,
    related: Option<Related>,
}

/// All problems found, ordered by file and then by position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Severity {
    /// Its name in messages and in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// Constructors.
impl Problem {
    /// A problem that makes the configuration unusable.
    pub fn error(source: &Arc<Source>, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, source, span, message.into())
    }

    /// A problem that is allowed but probably not intended.
    pub fn warning(source: &Arc<Source>, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, source, span, message.into())
    }

    fn new(severity: Severity, source: &Arc<Source>, span: Span, message: String) -> Self {
        Self { severity, message, source: Arc::clone(source), span, help: None, related: None }
    }

    /// Adds a hint on how to fix it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a second position that belongs to it.
    #[must_use]
    pub fn with_related(mut self, source: &Arc<Source>, span: Span, label: impl Into<String>) -> Self {
        self.related = Some(Related { source: Arc::clone(source), span, label: label.into() });
        self
    }
}

/// The parts, for callers that format them differently.
impl Problem {
    /// How bad it is.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// The message exactly as given, which may not be safe to print to a terminal.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The text that it is in.
    #[must_use]
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// The position, in bytes of that text.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }

    /// How to fix it.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// A second position that belongs to it.
    #[must_use]
    pub fn related(&self) -> Option<&Related> {
        self.related.as_ref()
    }

    /// The name of the file, as shown to people.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.source.name
    }

    /// The line it starts in, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.source.position(self.span.start).line
    }

    /// The column it starts at, from 1, in characters.
    #[must_use]
    pub fn column(&self) -> usize {
        self.source.position(self.span.start).column
    }

    /// The line it ends in, from 1.
    #[must_use]
    pub fn end_line(&self) -> usize {
        self.source.position(self.end()).line
    }

    /// The column after its last character, from 1, in characters.
    #[must_use]
    pub fn end_column(&self) -> usize {
        self.source.position(self.end()).column
    }

    fn end(&self) -> usize {
        self.span.end.max(self.span.start)
    }

    /// The same problem at another position.
    #[must_use]
    pub(in super::super) fn moved_to(mut self, source: &Arc<Source>, span: Span) -> Self {
        self.source = Arc::clone(source);
        self.span = span;
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let position = self.source.position(self.span.start);
        let other =
            self.related.as_ref().map(|related| (related, related.source.position(related.span.start)));
        let widest = position.line.max(other.map_or(0, |(_, at)| at.line));
        let gutter = widest.to_string().len();

        let (name, message) = (safe(self.path()), safe(&self.message));
        let word = self.severity.word();
        write!(f, "{name}:{}:{}: {word}: {message}", position.line, position.column)?;
        write_snippet(f, &self.source, self.span, position.line, gutter)?;
        if let Some(help) = &self.help {
            write!(f, "\n  help: {}", safe(help))?;
        }
        if let Some((related, at)) = other {
            let (label, name) = (safe(&related.label), safe(&related.source.name));
            write!(f, "\n  {label}: {name}:{}:{}", at.line, at.column)?;
            write_snippet(f, &related.source, related.span, at.line, gutter)?;
        }
        Ok(())
    }
}

impl Problems {
    /// No problems.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Inserts one in order, after others at the same position.
    pub fn push(&mut self, problem: Problem) {
        let at = self.0.partition_point(|known| by_position(known, &problem) != Ordering::Greater);
        self.0.insert(at, problem);
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// How many of them are errors.
    #[must_use]
    pub fn errors(&self) -> usize {
        self.count(Severity::Error)
    }

    /// How many of them are warnings.
    #[must_use]
    pub fn warnings(&self) -> usize {
        self.count(Severity::Warning)
    }

    fn count(&self, severity: Severity) -> usize {
        self.iter().filter(|p| p.severity == severity).count()
    }

    /// Iterates over them in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.0.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n\n" };
            write!(f, "{gap}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

impl Extend<Problem> for Problems {
    fn extend<I: IntoIterator<Item = Problem>>(&mut self, more: I) {
        self.0.extend(more);
        self.0.sort_by(by_position);
    }
}

impl FromIterator<Problem> for Problems {
    fn from_iter<I: IntoIterator<Item = Problem>>(all: I) -> Self {
        let mut problems = Self::new();
        problems.extend(all);
        problems
    }
}

impl IntoIterator for Problems {
    type Item = Problem;
    type IntoIter = std::vec::IntoIter<Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Problems {
    type Item = &'a Problem;
    type IntoIter = std::slice::Iter<'a, Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

fn by_position(a: &Problem, b: &Problem) -> Ordering {
    let position = |p: &Problem| (p.span.start, p.span.end);
    (a.path().cmp(b.path())).then_with(|| position(a).cmp(&position(b)))
}

/// Shortens a text that is quoted in a message, so that a long value does not dominate it.
#[must_use]
pub(in super::super) fn shorten(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST_QUOTE) {
        Some((at, _)) => Cow::Owned(format!("{}…", text.get(..at).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
#[path = "problem_tests.rs"]
mod tests;
