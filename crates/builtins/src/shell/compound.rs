//! Loops, cases, functions and conditions.

use super::carrier::Meaning;
use super::list::{End, reserved};
use super::model::Command;
use super::parser::Parser;
use super::word::Word;

impl Parser {
    /// Reads behind `for` or `select`.
    pub(super) fn for_loop(&mut self) {
        self.blanks();
        if self.eat("((") {
            self.skip_parens();
        } else if self.draft().is_untouched() {
            self.doubt("a `for` has no name");
        }
        loop {
            self.breaks();
            if self.eat(";") {
                continue;
            }
            let draft = self.draft();
            match reserved(&draft) {
                Some("do") => return self.done("done"),
                Some("{") => return self.done("}"),
                _ if draft.plain_text() == Some("in") => self.words_of_list(),
                _ => return self.doubt("a `for` has no `do`"),
            }
        }
    }

    fn done(&mut self, word: &'static str) {
        if self.list(&[End::Word(word)]) != End::Word(word) {
            self.doubt("a loop has no end");
        }
    }

    fn words_of_list(&mut self) {
        loop {
            self.blanks();
            if self.draft().is_untouched() {
                return;
            }
        }
    }

    /// Passes `…))` of a calculating `for`.
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

    /// Reads behind `case`.
    pub(super) fn cases(&mut self) {
        self.blanks();
        self.draft();
        self.breaks();
        if self.draft().plain_text() != Some("in") {
            return self.doubt("a `case` has no `in`");
        }
        loop {
            self.breaks();
            let opened = self.eat("(");
            self.blanks();
            let draft = self.draft();
            if !opened && reserved(&draft) == Some("esac") {
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
                return self.doubt("a `case` is not written as one");
            }
            match self.list(&[End::Break, End::Word("esac")]) {
                End::Break => {}
                End::Word(_) => return,
                _ => return self.doubt("a `case` has no `esac`"),
            }
        }
    }

    /// Reads behind `function`.
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
                self.doubt("a function is not written as one");
            }
        }
        self.function_body(name);
    }

    /// Reads what a function does. Whoever defines it can call it, so its commands count.
    pub(super) fn function_body(&mut self, name: String) {
        self.breaks();
        let (end, start) = (self.at, self.script.commands.len());
        self.deeper(|parser| {
            let word = parser.command();
            if word.is_some() || parser.at == end {
                parser.doubt("a function does nothing");
            }
        });
        self.names.insert(name, Meaning::Body(start..self.script.commands.len()));
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
