//! The state of the parser, and what all its parts share.

use std::borrow::Cow;
use std::collections::HashMap;

use super::model::{DoubtKind, HereDocument, Input, Script};
use super::variables::Variables;
use super::word::{Draft, Word};
use super::wrapper::{Meaning, WrittenFile};

/// Deeper nesting than this is not followed, to protect the stack; real lines do not nest that deep.
const MAX_DEPTH: usize = 40;

/// How much may be copied for commands that run others, roughly in bytes.
const BUDGET: usize = 4 << 20;

/// How often functions, aliases and files that the line defines are inspected: they can call each other.
const OPENINGS: usize = 200;

/// Reads text into a [`Script`]. One pass, no backing up: the time grows with the text, and only with it.
#[derive(Debug, Default)]
pub(super) struct Parser {
    pub(super) text: String,
    pub(super) at: usize,
    pub(super) script: Script,
    /// Here-documents whose text begins after the next line break.
    pub(super) pending: Vec<Pending>,
    /// False while something is read that only some shells would run.
    pub(super) certain: bool,
    /// Names that the line itself gives to commands.
    pub(super) names: HashMap<String, Meaning>,
    /// What the line says about its variables, up to here.
    pub(super) variables: Variables,
    /// Where the standard input of what is read comes from.
    pub(super) input: Input,
    /// Files that the line writes.
    pub(super) files: HashMap<String, WrittenFile>,
    /// Links that the line makes, and what they lead to.
    pub(super) links: Vec<(String, Word)>,
    /// Whether the line changes where programs are looked for.
    pub(super) changes_path: bool,
    depth: usize,
    /// How often functions, aliases and files of the line may still be inspected.
    openings: usize,
    /// How much may still be copied for commands that run others.
    budget: usize,
}

#[derive(Debug)]
pub(super) struct Pending {
    pub(super) body: usize,
    pub(super) mark: String,
    pub(super) strip_tabs: bool,
}

impl Parser {
    pub(super) fn new(script: Script) -> Self {
        Self { script, certain: true, budget: BUDGET, openings: OPENINGS, ..Self::default() }
    }

    /// Whether this much more may be copied: a line can repeat `sudo sudo sudo …` a million times.
    pub(super) fn spend(&mut self, cost: usize) -> bool {
        let affordable = self.has_budget(cost);
        if !affordable {
            self.doubt("commands run other commands too many levels deep");
        }
        affordable
    }

    /// Whether one more function, alias or file may be inspected.
    pub(super) fn may_open(&mut self) -> bool {
        let may = self.openings > 0;
        self.openings -= usize::from(may);
        if !may {
            self.unknown("functions call each other too many levels deep");
        }
        may
    }

    /// Whether this much may be copied for the value of a variable.
    pub(super) fn has_budget(&mut self, cost: usize) -> bool {
        let affordable = cost <= self.budget;
        self.budget -= cost.min(self.budget);
        affordable
    }

    /// Reads all of a text, in the middle of another one or not.
    pub(super) fn nested(&mut self, text: String, read: impl FnOnce(&mut Self)) {
        let text = std::mem::replace(&mut self.text, text);
        let at = std::mem::replace(&mut self.at, 0);
        let pending = std::mem::take(&mut self.pending);
        self.deeper(read);
        self.unfinished();
        self.text = text;
        self.at = at;
        self.pending = pending;
    }

    /// Reads something one level deeper; parsing stops when that is too deep.
    pub(super) fn deeper(&mut self, read: impl FnOnce(&mut Self)) {
        if self.depth >= MAX_DEPTH {
            self.doubt("it is nested too deeply");
            self.at = self.text.len();
            return;
        }
        self.depth += 1;
        read(self);
        self.depth -= 1;
    }

    /// Adds a doubt about the form of the line.
    pub(super) fn doubt(&mut self, why: impl Into<Cow<'static, str>>) {
        self.script.doubt(DoubtKind::Form, why);
    }

    /// Adds a doubt about something that is known only at run time.
    pub(super) fn unknown(&mut self, why: impl Into<Cow<'static, str>>) {
        self.script.doubt(DoubtKind::Value, why);
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn ahead(&self, distance: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + distance).copied()
    }

    pub(super) fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn starts(&self, with: &str) -> bool {
        self.text.as_bytes()[self.at.min(self.text.len())..].starts_with(with.as_bytes())
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.starts(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// The next whole character, without consuming it.
    pub(super) fn next_char(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Skips what separates words: spaces, tabs, continued lines and comments. Stops before a word, a line
    /// break or an operator.
    pub(super) fn blanks(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' => self.at += 1,
                b'\\' if self.ahead(1) == Some(b'\n') => self.at += 2,
                b'\r' | 0x0b | 0x0c | 0 => {
                    self.at += 1;
                    // A carriage return ends a line that was written on Windows; anywhere else it hides something.
                    self.doubt("a control character separates its words");
                }
                b'#' => {
                    let bytes = &self.text.as_bytes()[self.at..];
                    self.at += bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
                }
                _ => break,
            }
        }
    }

    /// Skips blanks and line breaks.
    pub(super) fn breaks(&mut self) {
        self.blanks();
        while self.peek() == Some(b'\n') {
            self.newline();
            self.blanks();
        }
    }

    /// Consumes a line break, and the here-documents after it.
    pub(super) fn newline(&mut self) {
        self.at += 1;
        for pending in std::mem::take(&mut self.pending) {
            self.body(&pending);
        }
    }

    /// At the end of the text: adds a doubt when something is unfinished.
    pub(super) fn unfinished(&mut self) {
        if !std::mem::take(&mut self.pending).is_empty() {
            // Shells end it with the line.
            self.unknown("a here-document never ends");
        }
    }

    /// Reads the text of a here-document up to its delimiter.
    fn body(&mut self, pending: &Pending) {
        let literal = self.script.here_documents.get(pending.body).is_some_and(|body| body.literal);
        let (mut text, mut joined) = (String::new(), String::new());
        loop {
            if self.at >= self.text.len() {
                // Shells end it with the line.
                self.unknown("a here-document never ends");
                break;
            }
            let rest = &self.text[self.at..];
            let length = rest.find('\n').unwrap_or(rest.len());
            let line = &rest[..length];
            let shown = if pending.strip_tabs { line.trim_start_matches('\t') } else { line };
            let ends = shown == pending.mark && joined.is_empty();
            joined.push_str(shown);
            self.at += (length + 1).min(rest.len());
            if ends {
                break;
            }
            // In a text that is expanded, a backslash joins lines, including those that spell the delimiter.
            let slashes = joined.len() - joined.trim_end_matches('\\').len();
            if !literal && slashes % 2 == 1 {
                joined.pop();
                continue;
            }
            if joined == pending.mark {
                self.doubt("the mark of a here-document is spread over lines");
                break;
            }
            text.push_str(&joined);
            text.push('\n');
            joined.clear();
        }
        let mut expanded = None;
        if !literal {
            let mut draft = Draft::new();
            self.nested(text.clone(), |parser| parser.expansions(&mut draft));
            expanded = draft.finish().known().map(str::to_owned);
        }
        if let Some(body) = self.script.here_documents.get_mut(pending.body) {
            body.text = text;
            body.expanded = expanded;
        }
    }

    /// Reserves a place for the text of a here-document that comes later.
    pub(super) fn expect_body(&mut self, mark: String, literal: bool, strip_tabs: bool) -> usize {
        let body = self.script.here_documents.len();
        self.script.here_documents.push(HereDocument { literal, ..HereDocument::default() });
        self.pending.push(Pending { body, mark, strip_tabs });
        body
    }
}
