//! What is behind a `$`, and backquotes: the commands in them are commands of the line.

use std::ops::Range;

use super::list::End;
use super::parser::Parser;
use super::word::{Draft, Origin};

impl Parser {
    /// Reads a `$` and what belongs to it. `bare`: outside double quotes.
    pub(super) fn dollar(&mut self, draft: &mut Draft, bare: bool) {
        self.at += 1;
        match self.peek() {
            Some(b'\'') if bare => {
                self.at += 1;
                self.ansi_c(draft);
            }
            Some(b'"') if bare => {
                self.at += 1;
                draft.quoted("");
                self.double(draft);
            }
            Some(b'(') if self.is_arithmetic() => {
                self.at += 2;
                self.deeper(|parser| parser.arithmetic(b')'));
                draft.unknown(Origin::Other, bare);
            }
            Some(b'(') => {
                self.at += 1;
                let commands = self.until_paren();
                draft.unknown(Origin::Output(commands), bare);
            }
            Some(b'[') => {
                self.at += 1;
                self.deeper(|parser| parser.arithmetic(b']'));
                draft.unknown(Origin::Other, bare);
            }
            Some(b'{') => {
                self.at += 1;
                let mut from = Origin::Other;
                self.deeper(|parser| from = parser.parameter(bare));
                self.value(draft, from, bare);
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                let length = name_length(self.rest());
                let name = self.text[self.at..self.at + length].into();
                self.at += length;
                self.value(draft, Origin::Variable(name), bare);
            }
            Some(b'@' | b'*') => {
                self.at += 1;
                draft.unknown(Origin::Other, true);
            }
            Some(b'0'..=b'9' | b'#' | b'?' | b'-' | b'$' | b'!') => {
                self.at += 1;
                draft.unknown(Origin::Other, bare);
            }
            _ if bare => draft.plain("$"),
            _ => draft.quoted("$"),
        }
    }

    /// `$IFS` outside quotes is how blanks are written by those who may not write any.
    fn value(&mut self, draft: &mut Draft, from: Origin, bare: bool) {
        if bare && matches!(&from, Origin::Variable(name) if &**name == "IFS") {
            self.doubt("$IFS stands between its words");
        }
        draft.unknown(from, bare);
    }

    /// The commands up to the `)` that closes them.
    pub(super) fn until_paren(&mut self) -> Range<usize> {
        let start = self.script.commands.len();
        self.deeper(|parser| {
            if parser.list(&[End::Paren]) != End::Paren {
                parser.doubt("a ( is never closed");
            }
        });
        start..self.script.commands.len()
    }

    /// Reads `` `…` ``.
    pub(super) fn backquote(&mut self, draft: &mut Draft, bare: bool) {
        self.at += 1;
        let mut code = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(length) = rest.bytes().position(|byte| byte == b'`' || byte == b'\\') else {
                code.push_str(rest);
                self.at = self.text.len();
                self.doubt("a ` is never closed");
                break;
            };
            code.push_str(&rest[..length]);
            let closes = rest.as_bytes()[length] == b'`';
            self.at += length + 1;
            if closes {
                break;
            }
            match self.peek() {
                Some(byte @ (b'`' | b'\\' | b'$')) => {
                    code.push(char::from(byte));
                    self.at += 1;
                }
                Some(b'"') if !bare => {
                    code.push('"');
                    self.at += 1;
                }
                _ => code.push('\\'),
            }
        }
        let start = self.script.commands.len();
        self.nested(code, Self::program);
        draft.unknown(Origin::Output(start..self.script.commands.len()), bare);
    }

    /// Whether a `(` begins `((…))`: it is closed by two at once. Looks no further than the first `)` that
    /// closes the inner one.
    pub(super) fn is_arithmetic(&self) -> bool {
        let bytes = &self.text.as_bytes()[self.at..];
        if !bytes.starts_with(b"((") {
            return false;
        }
        let mut depth = 0_usize;
        for (at, byte) in bytes.iter().enumerate().skip(2) {
            match byte {
                b'(' => depth += 1,
                b')' if depth == 0 => return bytes.get(at + 1) == Some(&b')'),
                b')' => depth -= 1,
                _ => {}
            }
        }
        false
    }

    /// Reads arithmetic up to its end. What does not look like arithmetic is told.
    fn arithmetic(&mut self, close: u8) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                _ if byte == close && depth == 0 => {
                    self.at += 1;
                    if close == b')' && !self.eat(")") {
                        self.doubt("a $(( is not closed by ))");
                    }
                    return;
                }
                b'(' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b')' | b']' => {
                    depth = depth.saturating_sub(1);
                    self.at += 1;
                }
                b'$' => self.dollar(&mut Draft::new(), false),
                b'`' => self.backquote(&mut Draft::new(), false),
                _ => {
                    let usual = byte.is_ascii_alphanumeric() || b"_ \t+-*/%<>=!&|^~?:,{}#".contains(&byte);
                    if !usual {
                        self.doubt("arithmetic with something else in it");
                    }
                    self.at += self.next_char().map_or(1, char::len_utf8);
                }
            }
        }
        self.doubt("a $(( is never closed");
    }

    /// Reads `${…}` behind its brace, and says what it is.
    fn parameter(&mut self, bare: bool) -> Origin {
        // `${ commands; }` and `${| commands; }` run commands, in new shells.
        if matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'|')) {
            self.eat("|");
            let start = self.script.commands.len();
            if self.list(&[End::Word("}")]) != End::Word("}") {
                self.doubt("a ${ is never closed");
            }
            return Origin::Output(start..self.script.commands.len());
        }
        let length = name_length(self.rest());
        let name: Box<str> = self.text[self.at..self.at + length].into();
        self.at += length;
        let is_plain = length > 0 && (self.peek() == Some(b'}') || &*name == "IFS");
        while let Some(byte) = self.peek() {
            match byte {
                b'@' if self.starts("@P}") => {
                    self.at += 1;
                    self.doubt("${…@P} runs what the variable holds");
                }
                b'}' => {
                    self.at += 1;
                    return if is_plain { Origin::Variable(name) } else { Origin::Other };
                }
                b'\\' => {
                    self.at += 1;
                    self.at += self.next_char().map_or(0, char::len_utf8);
                }
                b'\'' if bare => {
                    self.at += 1;
                    let length = self.rest().find('\'');
                    if length.is_none() {
                        self.doubt("a ' is never closed");
                    }
                    self.at = length.map_or(self.text.len(), |length| self.at + length + 1);
                }
                b'"' => {
                    self.at += 1;
                    self.double(&mut Draft::new());
                }
                b'`' => self.backquote(&mut Draft::new(), bare),
                b'$' => self.dollar(&mut Draft::new(), bare),
                b'<' | b'>' if bare && self.ahead(1) == Some(b'(') => {
                    self.at += 2;
                    self.until_paren();
                }
                _ => self.at += 1,
            }
        }
        self.doubt("a ${ is never closed");
        Origin::Other
    }
}

/// The length of a variable's name at the start of a text.
fn name_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    if !bytes.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_') {
        return 0;
    }
    bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
}
