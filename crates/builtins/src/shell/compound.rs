//! Loops, cases, functions and conditions.

use super::list::{End, reserved};
use super::model::Command;
use super::parser::Parser;
use super::variables::{ARGUMENTS, Value};
use super::word::Word;
use super::wrapper::Meaning;

impl Parser {
    /// Reads what follows `for` or `select`.
    pub(super) fn for_loop(&mut self) {
        self.blanks();
        let (mut name, head) = (String::new(), self.at);
        if self.eat("((") {
            let start = self.at;
            self.skip_parens();
            self.forget_counted(start);
        } else {
            let draft = self.draft();
            if draft.is_untouched() {
                self.doubt("a `for` has no name");
            }
            name = draft.finish().show().into_owned();
            let arguments = self.variables.get(ARGUMENTS).map(Value::all);
            self.loop_variable(&name, arguments);
        }
        let before = self.variables.clone();
        loop {
            self.breaks();
            if self.eat(";") {
                continue;
            }
            let draft = self.draft();
            match reserved(&draft) {
                Some(word @ ("do" | "{")) => {
                    let entry = self.variables.clone();
                    let (goes_on, body) = (self.counts_far(head), self.script.commands.len());
                    self.done(if word == "do" { "done" } else { "}" });
                    if goes_on {
                        self.note_endless(body);
                    }
                    if self.variables.changes(&entry) {
                        self.unknown("a loop changes its own variables");
                    }
                    self.variables = before.merged(&self.variables);
                    return;
                }
                _ if draft.plain_text() == Some("in") => {
                    let words = self.words_of_list();
                    self.loop_variable(&name, Some(words));
                }
                _ => return self.doubt("a `for` has no `do`"),
            }
        }
    }

    /// The variable of a loop over these words.
    fn loop_variable(&mut self, name: &str, words: Option<Vec<Word>>) {
        const MAX: usize = 32;
        match words {
            Some(words) if words.len() == 1 && !words[0].may_split() && !words[0].has_wildcard() => {
                self.variables.set(name, Value::One(words[0].clone()));
            }
            Some(words) if !words.is_empty() && !words.iter().any(|word| word.choices() > 0) => {
                self.variables.set(name, Value::choice(words.into_iter().take(MAX).collect()));
            }
            _ => self.variables.forget(name),
        }
    }

    fn done(&mut self, word: &'static str) {
        if self.list(&[End::Word(word)]) != End::Word(word) {
            self.doubt("a loop has no end");
        }
    }

    fn words_of_list(&mut self) -> Vec<Word> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            let draft = self.draft();
            if draft.is_untouched() {
                return words;
            }
            self.words_of(draft, &mut words);
        }
    }

    /// Skips `…))` of an arithmetic `for`.
    fn skip_parens(&mut self) {
        let mut depth = 2_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'$' => self.dollar(&mut super::word::Draft::new(), false),
                b'`' => self.backquote(&mut super::word::Draft::new(), false),
                b'(' => {
                    depth += 1;
                    self.at += 1;
                }
                b')' => {
                    depth -= 1;
                    self.at += 1;
                    if depth == 0 {
                        return;
                    }
                }
                _ => self.at += 1,
            }
        }
        self.doubt("a `for ((` is never closed");
    }

    /// Reads what follows `case`.
    pub(super) fn cases(&mut self) {
        self.blanks();
        self.draft();
        self.breaks();
        if self.draft().plain_text() != Some("in") {
            return self.doubt("a `case` has no `in`");
        }
        let before = self.variables.clone();
        let mut after = before.clone();
        loop {
            self.variables = before.clone();
            self.breaks();
            let opened = self.eat("(");
            self.blanks();
            let draft = self.draft();
            if !opened && reserved(&draft) == Some("esac") {
                self.variables = after;
                return;
            }
            loop {
                self.blanks();
                if self.starts("||") || !self.eat("|") {
                    break;
                }
                self.blanks();
                self.draft();
            }
            if !self.eat(")") {
                return self.doubt("a `case` has a syntax error");
            }
            let end = self.list(&[End::Break, End::Word("esac")]);
            after = after.merged(&self.variables);
            if end == End::Break {
                continue;
            }
            self.variables = after;
            if !matches!(end, End::Word(_)) {
                self.doubt("a `case` has no `esac`");
            }
            return;
        }
    }

    /// Reads what follows `function`.
    pub(super) fn function(&mut self) {
        self.blanks();
        let draft = self.draft();
        if draft.is_untouched() {
            self.doubt("a function has no name");
        }
        let name = draft.finish().show().into_owned();
        self.blanks();
        if self.eat("(") {
            self.blanks();
            if !self.eat(")") {
                self.doubt("a function has a syntax error");
            }
        }
        self.function_body(name);
    }

    /// Reads the body of a function. The line can call it, so its commands count.
    pub(super) fn function_body(&mut self, name: String) {
        self.breaks();
        let (end, start) = (self.at, self.script.commands.len());
        let before = self.variables.clone();
        self.variables.forget(ARGUMENTS);
        self.deeper(|parser| {
            let word = parser.command();
            if word.is_some() || parser.at == end {
                parser.doubt("a function has no body");
            }
        });
        self.mark_recursive(&name, start);
        let after = std::mem::replace(&mut self.variables, before);
        let body = self.text.get(end..self.at).unwrap_or_default().to_owned();
        if self.has_budget(body.len()) {
            self.names.insert(name, Meaning::Function { body, after });
        }
    }

    /// Reads `[[ … ]]`. In a shell that does not know it, `&&` in it begins a command.
    pub(super) fn condition(&mut self) {
        let mut words: Option<Vec<Word>> = None;
        loop {
            self.breaks();
            match self.peek() {
                None => return self.doubt("a [[ is never closed"),
                Some(byte @ (b'&' | b'|' | b';' | b'(' | b')' | b'<' | b'>'))
                    if !(matches!(byte, b'<' | b'>') && self.ahead(1) == Some(b'(')) =>
                {
                    self.at += 1;
                    if matches!(byte, b'&' | b'|' | b';') {
                        self.perhaps(words.replace(Vec::new()));
                    }
                }
                Some(_) => {
                    let word = self.draft().finish();
                    if word.is_plain() && word.known() == Some("]]") {
                        return self.perhaps(words);
                    }
                    if let Some(words) = &mut words {
                        words.push(word);
                    }
                }
            }
        }
    }

    fn perhaps(&mut self, words: Option<Vec<Word>>) {
        if let Some(words) = words.filter(|words| !words.is_empty()) {
            self.script.commands.push(Command { words, ..Command::default() });
        }
    }
}
