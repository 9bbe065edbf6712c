//! Parses the text of a configuration file into a tree with positions.
//!
//! Simple text is read by the `quick` reader, everything else by a full YAML (and so JSON) parser, whose
//! types stay in this module. The parser emits events; the builder here turns them into nodes, resolves
//! aliases within a budget, and collects problems as long as it can continue. Whatever the text is, reading
//! it never panics, and time, memory and depth stay within the limits below.

use std::borrow::Cow;
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;

use saphyr_parser::{Event, Parser, ScalarStyle, Span as Mark};

use super::alias::{Budget, CopyError};
use super::node::{MapEntry, Node, Value};
use super::problem::{Problem, Problems, shorten};
use super::quick;
use super::scalar;
use super::scan::{Chars, Offsets, indenting_tab, quoted_end, skip_properties};
use super::source::{Source, Span};
use super::stack::{Body, Frame, NotAKey, Stack};
use super::syntax;

/// The maximum size of a text.
const MAX_BYTES: usize = 4 * 1024 * 1024;
/// The deepest nesting of lists and mappings.
const MAX_DEPTH: usize = 128;
/// The maximum number of characters with a special meaning: the parser holds a whole `[ ]` or `{ }` in memory
/// before it emits its first event, and needs some hundred bytes for each of them.
const MAX_INDICATORS: usize = 400_000;
/// The maximum number of problems that are reported for one text.
const MAX_PROBLEMS: usize = 100;
/// Up to this many keys are compared pairwise.
const FEW_KEYS: usize = 8;

/// Reads a YAML or JSON text into a tree.
///
/// # Errors
/// All problems that were found. A syntax error ends the search, and so does reaching a limit.
pub fn parse_document(source: &Arc<Source>) -> Result<Node, Problems> {
    if let Some(problem) = refusal(source) {
        return Err(problem.into());
    }
    match quick::read(&source.text) {
        Some(node) => Ok(node),
        None => parse_fully(source),
    }
}

/// Reads any text with the full parser.
pub(super) fn parse_fully(source: &Arc<Source>) -> Result<Node, Problems> {
    let text = source.text.as_str();
    let start = text.strip_prefix('\u{feff}').map_or(0, |rest| text.len() - rest.len());
    let chars = Chars::new(text, start);
    let mut builder = Builder::new(source, chars.offsets());
    let mut parser = Parser::new(chars);
    while let Some(next) = parser.next_event() {
        let flow = match next {
            Ok((event, mark)) => builder.take(event, mark),
            Err(error) => builder.syntax_error(error.info(), error.marker().index()),
        };
        if flow.is_break() {
            break;
        }
    }
    builder.finish()
}

/// Why a text is refused before parsing it, if it is.
fn refusal(source: &Arc<Source>) -> Option<Problem> {
    let text = source.text.as_str();
    let about_all = |message| Some(Problem::error(source, Span::at(0), message));
    if text.len() > MAX_BYTES {
        return about_all("the file is larger than 4 MiB, too large for a configuration file");
    }
    let indicators = || text.bytes().filter(|byte| b",[]{}:&*!?".contains(byte)).count();
    if text.len() > MAX_INDICATORS && indicators() > MAX_INDICATORS {
        return about_all("the file holds too many values for a configuration file");
    }
    if let Some(at) = text.find('\0') {
        let message = "the file contains a NUL character";
        let help = "is it a binary file, or text in UTF-16? it must be text in UTF-8";
        return Some(Problem::error(source, Span::new(at, at + 1), message).with_help(help));
    }
    let at = tag_directive(text)?;
    let message = "`%TAG` directives are not supported";
    Some(Problem::error(source, Span::new(at, at + 4), message))
}

/// Finds a `%TAG` directive, which could make the parser copy a prefix of any length for each tag. Directives
/// can only come before the document.
fn tag_directive(text: &str) -> Option<usize> {
    let mut start = 0;
    for line in text.split_inclusive(['\n', '\r']) {
        let content = line.trim_start_matches('\u{feff}');
        if content.starts_with("%TAG") {
            return Some(start + line.len() - content.len());
        }
        let blank = matches!(content.trim_start().chars().next(), None | Some('#'));
        if !blank && !content.starts_with(['%', '.']) {
            break;
        }
        start += line.len();
    }
    None
}

/// What an alias can refer to. Scalars are stored here, because they can also be keys, which are not nodes of
/// the tree.
enum Anchored {
    Scalar(Node),
    Collection(usize),
}

/// Turns events into a tree.
struct Builder<'a> {
    source: &'a Arc<Source>,
    text: &'a str,
    offsets: Offsets<'a>,
    stack: Stack,
    /// The values of the anchors, by the parser's number.
    anchors: Vec<Option<Anchored>>,
    budget: Budget,
    root: Option<Node>,
    documents: usize,
    /// Whether to look for a tab in the indentation.
    checks_tab_indent: bool,
    problems: Vec<Problem>,
}

impl<'a> Builder<'a> {
    fn new(source: &'a Arc<Source>, offsets: Offsets<'a>) -> Self {
        Self {
            source,
            text: &source.text,
            offsets,
            stack: Stack::default(),
            anchors: Vec::new(),
            budget: Budget::new(),
            root: None,
            documents: 0,
            checks_tab_indent: source.text.contains('\t'),
            problems: Vec::new(),
        }
    }

    fn take(&mut self, event: Event<'_>, mark: Mark) -> ControlFlow<()> {
        match event {
            Event::Nothing | Event::StreamStart | Event::DocumentEnd => {}
            Event::StreamEnd => return Break(()),
            Event::DocumentStart(_) => return self.document(mark),
            Event::Scalar(text, style, anchor, tag) => self.scalar(text, style, anchor, tag.is_some(), mark),
            Event::SequenceStart(anchor, _) => return self.open(Body::List(Vec::new()), anchor, mark),
            Event::MappingStart(anchor, _) => return self.open(Body::map(), anchor, mark),
            Event::SequenceEnd => self.close(mark, b']'),
            Event::MappingEnd => self.close(mark, b'}'),
            Event::Alias(id) => return self.alias(id, mark),
        }
        Continue(())
    }

    fn document(&mut self, mark: Mark) -> ControlFlow<()> {
        self.documents += 1;
        if self.documents == 1 {
            return Continue(());
        }
        let at = self.offsets.byte(mark.start.index());
        let marker = self.text.get(at..).is_some_and(|rest| rest.starts_with("---"));
        let span = Span::new(at, if marker { at + 3 } else { at });
        let message = "a second document starts here, but a configuration file holds only one";
        self.stop(Problem::error(self.source, span, message).with_help("put the rest into a file of its own"))
    }

    fn scalar(&mut self, text: Cow<'_, str>, style: ScalarStyle, anchor: usize, tagged: bool, mark: Mark) {
        let span = self.scalar_span(&text, style, mark);
        // If the whole text is one scalar, it has no indentation.
        if self.stack.depth() > 0 && !self.stack.in_flow() {
            self.report_tab_indent(span.start);
        }
        if anchor > 0 {
            let node = scalar::node(Cow::Borrowed(&text), style, tagged, span);
            self.remember(anchor, Anchored::Scalar(node));
        }
        if self.stack.awaits_key() {
            self.stack.add_key(scalar::into_shrunk_string(text), span);
        } else {
            self.add(scalar::node(text, style, tagged, span));
        }
    }

    fn scalar_span(&mut self, text: &str, style: ScalarStyle, mark: Mark) -> Span {
        let start = self.offsets.byte(mark.start.index());
        let end = match style {
            ScalarStyle::Plain if text.is_empty() && self.is_missing_value(start, mark) => {
                // The parser's position is that of the `:` before the missing value.
                let colon = self.text.as_bytes().get(start) == Some(&b':');
                return Span::at(start + usize::from(colon));
            }
            ScalarStyle::Plain => self.offsets.byte(mark.end.index()),
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => {
                quoted_end(self.text, skip_properties(self.text, start))
            }
            ScalarStyle::Literal | ScalarStyle::Folded => {
                let end = self.offsets.byte(mark.end.index());
                let block = self.text.get(start..end).unwrap_or_default();
                start + block.trim_end().len()
            }
        };
        Span::new(start, end.max(start))
    }

    /// Whether an empty value has neither an anchor nor a tag. Its mark is then that of a neighbour.
    fn is_missing_value(&self, start: usize, mark: Mark) -> bool {
        mark.is_empty() || !matches!(self.text.as_bytes().get(start), Some(b'&' | b'!'))
    }

    fn open(&mut self, body: Body, anchor: usize, mark: Mark) -> ControlFlow<()> {
        let start = self.offsets.byte(mark.start.index());
        if self.stack.depth() >= MAX_DEPTH {
            return self.stop(syntax::too_deep(self.source, start));
        }
        let content = skip_properties(self.text, start);
        // The mark of a block is empty, while that of `[ ]` or `{ }` includes the bracket.
        let flow = self.stack.in_flow() || self.offsets.byte(mark.end.index()) > content;
        if !flow {
            self.report_tab_indent(content);
        }
        self.stack.open(Frame { body, start, content, end: start, anchor, flow, number: 0 });
        Continue(())
    }

    fn close(&mut self, mark: Mark, bracket: u8) {
        let Some(frame) = self.stack.close() else { return };
        let mut span = Span::new(frame.start, frame.end);
        if frame.flow {
            // In `[a: b]` there is a mapping without a bracket of its own.
            let at = self.offsets.byte(mark.start.index());
            if at >= span.end && self.text.as_bytes().get(at) == Some(&bracket) {
                span.end = at + 1;
            }
        }
        if frame.anchor > 0 {
            self.remember(frame.anchor, Anchored::Collection(frame.number));
        }
        let value = match frame.body {
            Body::List(mut items) => {
                items.shrink_to_fit();
                Value::List(items)
            }
            Body::Map(mut entries, _) => {
                self.check_keys(&entries);
                entries.shrink_to_fit();
                Value::Map(entries)
            }
        };
        self.add(Node::new(value, span));
    }

    fn alias(&mut self, id: usize, mark: Mark) -> ControlFlow<()> {
        let start = self.offsets.byte(mark.start.index());
        let span = Span::new(start, self.offsets.byte(mark.end.index()));
        let target = match self.anchors.get(id) {
            Some(Some(Anchored::Scalar(node))) => Some(node),
            Some(Some(Anchored::Collection(number))) => self.stack.find(*number),
            _ => None,
        };
        let mut budget = self.budget;
        let copy = target.map(|node| budget.copy(node, MAX_DEPTH.saturating_sub(self.stack.depth())));
        self.budget = budget;

        let name = shorten(self.source.slice(span));
        match copy {
            Some(Ok(node)) => self.add_alias(Node { span, ..node }),
            Some(Err(CopyError::Depth)) => return self.stop(syntax::too_deep(self.source, start)),
            Some(Err(CopyError::Budget)) => {
                let message = format!("`{name}` repeats too much: aliases may add 10,000 values and 4 MiB");
                return self.stop(Problem::error(self.source, span, message));
            }
            None if self.stack.frames().iter().any(|frame| frame.anchor == id) => {
                let message = format!("`{name}` is inside the value that it refers to");
                return self.stop(Problem::error(self.source, span, message));
            }
            // It refers to a part of an invalid key, which was already reported.
            None => self.add_alias(Node::new(Value::Null, span)),
        }
        Continue(())
    }

    fn add_alias(&mut self, node: Node) {
        let span = node.span;
        match node.value {
            _ if !self.stack.awaits_key() => self.add(node),
            Value::Text(text) => self.stack.add_key(text, span),
            Value::Number(digits) => self.stack.add_key(digits.into(), span),
            Value::Bool(truth) => self.stack.add_key(truth.to_string(), span),
            Value::Null => self.stack.add_key("null".to_owned(), span),
            Value::List(_) | Value::Map(_) => self.add(node),
        }
    }

    fn add(&mut self, node: Node) {
        if let Err(NotAKey(node)) = self.stack.add(node, &mut self.root) {
            let message = format!("a key must be text, but this is {}", node.kind_word());
            self.report(Problem::error(self.source, node.span, message));
        }
    }

    fn remember(&mut self, id: usize, what: Anchored) {
        if self.anchors.len() <= id {
            self.anchors.resize_with(id + 1, || None);
        }
        if let Some(slot) = self.anchors.get_mut(id) {
            *slot = Some(what);
        }
    }

    /// Reports duplicate keys of a mapping.
    fn check_keys(&mut self, entries: &[MapEntry]) {
        let mut doubles = Vec::new();
        if entries.len() <= FEW_KEYS {
            for (index, second) in entries.iter().enumerate() {
                let mut before = entries.iter().take(index);
                if let Some(first) = before.find(|first| first.key == second.key) {
                    doubles.push((first, second));
                }
            }
        } else {
            let mut sorted: Vec<&MapEntry> = entries.iter().collect();
            // The sort is stable: equal keys stay in the order of the text.
            sorted.sort_by(|a, b| a.key.cmp(&b.key));
            for same in sorted.chunk_by(|a, b| a.key == b.key) {
                if let [first, rest @ ..] = same {
                    doubles.extend(rest.iter().map(|second| (*first, *second)));
                }
            }
        }
        doubles.sort_by_key(|(_, second)| second.key_span.start);
        for (first, second) in doubles.into_iter().take(MAX_PROBLEMS) {
            let message = format!("the key `{}` is written twice", shorten(&second.key));
            let problem = Problem::error(self.source, second.key_span, message);
            self.report(problem.with_related(self.source, first.key_span, "first written here"));
        }
    }

    fn report_tab_indent(&mut self, offset: usize) {
        if !self.checks_tab_indent {
            return;
        }
        if let Some(tab) = indenting_tab(self.text, offset) {
            // Only the first one is reported: there are usually many.
            self.checks_tab_indent = false;
            self.report(syntax::tab(self.source, tab));
        }
    }

    fn syntax_error(&mut self, info: &str, index: usize) -> ControlFlow<()> {
        let at = self.offsets.byte(index);
        let bracket = |at: usize| matches!(self.text.as_bytes().get(at), Some(b'[' | b'{'));
        let open = self.stack.frames().iter().rev().map(|frame| (frame.flow, frame.content));
        let open = open.filter(|(flow, at)| *flow && bracket(*at)).map(|(_, at)| at).next();
        self.stop(syntax::explain(self.source, info, at, open))
    }

    fn report(&mut self, problem: Problem) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }

    /// Reports the problem that ends the parsing, even if there are too many others. The parser and this
    /// builder may both notice a tab, so duplicates are dropped.
    fn stop(&mut self, problem: Problem) -> ControlFlow<()> {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
        Break(())
    }

    fn finish(mut self) -> Result<Node, Problems> {
        // After an early stop, the keys of open mappings have not been checked yet.
        while let Some(frame) = self.stack.close() {
            if let Body::Map(entries, _) = frame.body {
                self.check_keys(&entries);
            }
        }
        if self.problems.is_empty() {
            Ok(self.root.unwrap_or_else(|| Node::new(Value::Null, Span::at(0))))
        } else {
            Err(self.problems.into_iter().collect())
        }
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "parse_property_tests.rs"]
mod property_tests;
