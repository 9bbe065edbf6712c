//! Lists, pipelines and compound commands. Lenient: what a shell would refuse becomes a doubt, and parsing
//! continues after it, so that nothing that follows is missed.

use std::ops::Range;

use super::model::{Command, Input};
use super::parser::Parser;
use super::variables::{Value, Variables};
use super::word::{Draft, Fragment, Origin, Piece, Unknown, Word};

/// What ended a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Text,
    Paren,
    /// `;;`, `;&` or `;;&`
    Break,
    Word(&'static str),
}

const RESERVED: [&str; 21] = [
    "if", "then", "elif", "else", "fi", "for", "select", "while", "until", "do", "done", "case", "esac",
    "function", "time", "coproc", "!", "[[", "{", "}", "((",
];

impl Parser {
    /// Reads the whole text.
    pub(super) fn program(&mut self) {
        while self.list(&[]) != End::Text {}
    }

    /// Reads commands up to and including one of these ends.
    ///
    /// A command after `&&` or `||` may not run: its assignments apply in the rest of the chain, and are a choice
    /// after it.
    pub(super) fn list(&mut self, ends: &[End]) -> End {
        let mut chain = None;
        let end = self.list_in(ends, &mut chain);
        self.end_chain(&mut chain);
        end
    }

    /// Merges the variables before a chain with those at its end.
    fn end_chain(&mut self, chain: &mut Option<Variables>) {
        if let Some(before) = chain.take() {
            self.variables = before.merged(&self.variables);
        }
    }

    fn list_in(&mut self, ends: &[End], chain: &mut Option<Variables>) -> End {
        let mut joined = false;
        let mut last = self.script.commands.len();
        loop {
            let needs_success = std::mem::take(&mut joined);
            if matches!(self.peek(), Some(b'\n')) {
                self.end_chain(chain);
            }
            self.breaks();
            let before = self.at;
            let end = match self.peek() {
                None => return End::Text,
                Some(b')') => {
                    self.at += 1;
                    End::Paren
                }
                Some(b';') if self.eat(";;&") || self.eat(";;") || self.eat(";&") => End::Break,
                Some(b';') => {
                    self.at += 1;
                    self.end_chain(chain);
                    continue;
                }
                Some(b'&') if !self.starts("&>") => {
                    match self.eat("&&") {
                        true => {
                            chain.get_or_insert_with(|| self.variables.clone());
                            self.needs_command("a && lacks a command");
                            joined = true;
                            continue;
                        }
                        false => {
                            self.at += 1;
                            self.end_chain(chain);
                            self.mark_background(last);
                        }
                    }
                    continue;
                }
                Some(b'|') => {
                    match self.eat("||") {
                        true => {
                            self.end_chain(chain);
                            *chain = Some(self.variables.clone());
                            self.needs_command("a || lacks a command");
                        }
                        false => {
                            self.at += 1;
                            self.doubt("a | has no command in front of it");
                        }
                    }
                    continue;
                }
                Some(_) => match self.noted_pipeline(needs_success, &mut last) {
                    Some(word) => End::Word(word),
                    None if self.at == before => {
                        self.doubt("it is not a command");
                        self.at += self.next_char().map_or(1, char::len_utf8);
                        continue;
                    }
                    None => continue,
                },
            };
            if ends.contains(&end) {
                return end;
            }
            self.doubt(match end {
                End::Paren => "a ) closes nothing".to_owned(),
                End::Word(word) => format!("`{word}` is not allowed there"),
                _ => "a ;; is outside a case".to_owned(),
            });
        }
    }

    /// A command has to follow an operator that joins commands.
    fn needs_command(&mut self, why: &'static str) {
        self.breaks();
        if matches!(self.peek(), None | Some(b'|' | b';' | b'&' | b')')) && !self.starts("&>") {
            self.doubt(why);
        }
    }

    /// Reads a pipeline, and notes in `last` where it begins.
    fn noted_pipeline(&mut self, needs_success: bool, last: &mut usize) -> Option<&'static str> {
        let start = self.script.commands.len();
        *last = start;
        let end = self.pipeline();
        if needs_success {
            self.script.commands.iter_mut().skip(start).for_each(|command| command.needs_success = true);
        }
        end
    }

    /// Reads commands with pipes between them. A reserved word that closes something ends it and is returned.
    fn pipeline(&mut self) -> Option<&'static str> {
        let mut before: Option<Range<usize>> = None;
        let outer = self.input.clone();
        loop {
            let start = self.script.commands.len();
            let variables = self.variables.clone();
            if let Some(before) = &before {
                self.input = Input::Pipe(before.clone());
            }
            let closer = self.command();
            self.input = outer.clone();
            let range = start..self.script.commands.len();
            let is_piped = before.is_some();
            if let Some(before) = before {
                self.feed(start, &Input::Pipe(before));
            }
            if closer.is_some() {
                return closer;
            }
            self.blanks();
            let pipes = self.peek() == Some(b'|') && !self.starts("||");
            // Commands of a pipeline run in subshells.
            if pipes || is_piped {
                self.variables = variables;
            }
            if !pipes {
                return None;
            }
            self.at += 1;
            self.eat("&");
            self.breaks();
            if range.is_empty() || matches!(self.peek(), None | Some(b'|' | b';' | b'&' | b')')) {
                self.doubt("a | lacks a command");
            }
            before = Some(range);
        }
    }

    /// Sets this input for commands that have no input of their own.
    fn feed(&mut self, start: usize, input: &Input) {
        for command in self.script.commands.iter_mut().skip(start) {
            if command.input == Input::Inherited {
                command.input = input.clone();
            }
        }
    }

    /// Reads one command, simple or compound.
    pub(super) fn command(&mut self) -> Option<&'static str> {
        loop {
            self.blanks();
            let start = self.script.commands.len();
            if self.peek() == Some(b'(') {
                self.subshell();
                self.trailing(start);
                return None;
            }
            if let Some(redirection) = self.redirection() {
                let mut command = Command { certain: self.certain, ..Command::default() };
                command.redirections.push(redirection);
                self.simple(command, None);
                return None;
            }
            if matches!(self.peek(), None | Some(b'\n' | b';' | b'&' | b'|' | b')')) {
                return None;
            }
            let draft = self.draft();
            match reserved(&draft) {
                Some("!") => {}
                Some("time") => {
                    self.blanks();
                    while self.starts("-p ") || self.starts("-- ") {
                        self.at += 3;
                        self.blanks();
                    }
                }
                Some(word @ ("then" | "elif" | "else" | "fi" | "do" | "done" | "esac" | "}")) => {
                    return Some(word);
                }
                Some("coproc") => return self.coprocess(),
                Some(word) => {
                    self.deeper(|parser| parser.compound(word));
                    self.trailing(start);
                    return None;
                }
                None => {
                    let command = Command { certain: self.certain, ..Command::default() };
                    self.simple(command, Some(draft));
                    return None;
                }
            }
        }
    }

    fn coprocess(&mut self) -> Option<&'static str> {
        let start = self.script.commands.len();
        let (name, word) = self.coprocess_named();
        // What is read from its descriptor is what it prints.
        let from = Origin::Process(start..self.script.commands.len());
        let read = Word::of_pieces(vec![Piece::Unknown(Unknown { from, splits: false })]);
        self.variables.set(&name, Value::List(vec![read, Word::unknown()]));
        word
    }

    /// The name of a coprocess, after its commands.
    fn coprocess_named(&mut self) -> (String, Option<&'static str>) {
        let standard = "COPROC".to_owned();
        self.blanks();
        if self.peek() == Some(b'(') {
            return (standard, self.command());
        }
        let draft = self.draft();
        self.blanks();
        // `coproc NAME { … }`
        if reserved(&draft).is_none() && matches!(self.peek(), Some(b'{' | b'(')) {
            let name = draft.plain_text().map_or(standard, str::to_owned);
            return (name, self.command());
        }
        match reserved(&draft) {
            Some(word) => self.deeper(|parser| parser.compound(word)),
            None => {
                let command = Command { certain: self.certain, ..Command::default() };
                self.simple(command, Some(draft));
            }
        }
        (standard, None)
    }

    fn compound(&mut self, word: &'static str) {
        match word {
            "{" => self.closed_by("}", "a { is never closed"),
            "if" => self.branches(),
            "while" | "until" => {
                let before = self.variables.clone();
                let start = self.script.commands.len();
                self.closed_by("do", "a loop has no `do`");
                let body = self.script.commands.len();
                self.closed_by("done", "a loop has no `done`");
                self.note_loop(word, start, body);
                self.end_loop(&before);
            }
            "for" | "select" => self.for_loop(),
            "case" => self.cases(),
            "function" => self.function(),
            "[[" => self.condition(),
            _ => self.doubt(format!("`{word}` is not allowed there")),
        }
    }

    fn closed_by(&mut self, word: &'static str, otherwise: &'static str) {
        if self.list(&[End::Word(word)]) != End::Word(word) {
            self.doubt(otherwise);
        }
    }

    /// A loop may run zero or more times: what it changes is a choice, both after it and inside it.
    pub(super) fn end_loop(&mut self, before: &Variables) {
        if self.variables.changes(before) {
            self.unknown("a loop changes its own variables");
        }
        self.variables = before.merged(&self.variables);
    }

    fn branches(&mut self) {
        let mut after: Option<Variables> = None;
        loop {
            self.closed_by("then", "an `if` has no `then`");
            let before = self.variables.clone();
            let end = self.list(&[End::Word("elif"), End::Word("else"), End::Word("fi")]);
            let mut all = std::mem::replace(&mut self.variables, before);
            if let Some(after) = after.take() {
                all = after.merged(&all);
            }
            match end {
                End::Word("elif") => after = Some(all),
                End::Word("else") => {
                    self.closed_by("fi", "an `if` has no `fi`");
                    self.variables = all.merged(&self.variables);
                    return;
                }
                other => {
                    if !matches!(other, End::Word(_)) {
                        self.doubt("an `if` has no `fi`");
                    }
                    self.variables = all.merged(&self.variables);
                    return;
                }
            }
        }
    }

    /// `( … )`, and `(( … ))`, which is arithmetic in some shells and two subshells in others.
    fn subshell(&mut self) {
        let arithmetic = self.is_arithmetic();
        let (start, doubts, text) = (self.script.commands.len(), self.script.doubts.len(), self.at);
        let variables = self.variables.clone();
        self.at += 1;
        self.deeper(|parser| {
            if parser.list(&[End::Paren]) != End::Paren {
                parser.doubt("a ( is never closed");
            }
        });
        self.variables = variables;
        if arithmetic {
            self.forget_counted(text);
            self.script.doubts.truncate(doubts);
            for command in self.script.commands.iter_mut().skip(start) {
                command.certain &= !is_calculation(&command.words);
            }
        }
    }

    /// Redirections after a compound command apply to all of it.
    fn trailing(&mut self, start: usize) {
        let mut command = Command { certain: self.certain, ..Command::default() };
        loop {
            self.blanks();
            let Some(redirection) = self.redirection() else { break };
            command.redirections.push(redirection);
        }
        if !command.redirections.is_empty() {
            let input = super::simple::input_of(&command.redirections);
            self.feed(start, &input);
            let does_something = |command: &Command| !matches!(command.name(), Some(":" | "true") | None);
            command.execution.has_body = self.script.commands[start..].iter().any(does_something);
            self.script.commands.push(command);
        }
    }
}

/// The reserved word that this is, when it was written without quotes.
pub(super) fn reserved(draft: &Draft) -> Option<&'static str> {
    let text = match draft.parts.as_slice() {
        [Fragment::Mark('{')] => "{",
        [Fragment::Mark('}')] => "}",
        [Fragment::Piece(Piece::Text(_))] => draft.plain_text()?,
        _ => return None,
    };
    RESERVED.into_iter().find(|word| *word == text)
}

/// Whether words in `(( … ))` are a calculation rather than a program and its arguments.
fn is_calculation(words: &[Word]) -> bool {
    const OPERATORS: &[char] =
        &['=', '+', '-', '*', '/', '%', '<', '>', '!', '&', '|', '^', '~', '?', ':', ','];
    let shown = |index: usize| words.get(index).map(Word::show).unwrap_or_default();
    match words.len() {
        0 | 1 => true,
        _ => shown(1).chars().all(|c| OPERATORS.contains(&c)) || shown(0).contains(OPERATORS),
    }
}
