//! What follows a `$`, and backquotes: the commands in them are commands of the line.

use std::ops::Range;

use super::list::End;
use super::parser::Parser;
use super::printed::{KnownText, of_shown};
use super::variables::{ARGUMENTS, Value};
use super::word::{Draft, Origin, Word};

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
                let start = self.at;
                self.deeper(|parser| parser.arithmetic(b')'));
                self.forget_counted(start);
                draft.unknown(Origin::Other, bare);
            }
            Some(b'(') => {
                self.at += 1;
                let commands = self.until_paren();
                self.output(draft, commands, bare);
            }
            Some(b'[') => {
                self.at += 1;
                self.deeper(|parser| parser.arithmetic(b']'));
                draft.unknown(Origin::Other, bare);
            }
            Some(b'{') => {
                self.at += 1;
                self.deeper(|parser| parser.parameter(draft, bare));
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                let length = name_length(self.rest());
                let name = self.text[self.at..self.at + length].to_owned();
                self.at += length;
                self.value(draft, &name, bare);
            }
            Some(byte @ (b'@' | b'*' | b'0'..=b'9')) => {
                self.at += 1;
                self.value(draft, char::from(byte).encode_utf8(&mut [0; 4]), bare);
            }
            Some(b'#' | b'?' | b'-' | b'$' | b'!') => {
                self.at += 1;
                draft.unknown(Origin::Other, bare);
            }
            _ if bare => draft.plain("$"),
            _ => draft.quoted("$"),
        }
    }

    /// Puts the value of a variable into the word, as far as it is known.
    pub(super) fn value(&mut self, draft: &mut Draft, name: &str, bare: bool) {
        match name {
            "@" | "*" => match self.variables.get(ARGUMENTS).map(Value::all) {
                Some(words) => self.insert_all(draft, &words, bare || name == "*"),
                None => draft.unknown(Origin::Other, true),
            },
            // An unquoted `$IFS` is a known trick to write a space.
            "IFS" if bare && self.variables.get(name).is_none() => {
                self.doubt("$IFS separates its words");
                draft.split(" ");
            }
            _ => match self.known_value(name) {
                Some(word) => self.insert(draft, &word, bare),
                // `$0` is the shell itself.
                None if name != "0" && name.starts_with(|c: char| c.is_ascii_digit()) => {
                    draft.unknown(Origin::Other, bare);
                }
                None => draft.unknown(Origin::Variable(name.into()), bare),
            },
        }
    }

    /// What is known of a variable, or of an argument by its number.
    pub(super) fn known_value(&self, name: &str) -> Option<Word> {
        if let Some(value) = self.variables.get(name) {
            return Some(value.first());
        }
        if name == "PWD" {
            return Some(Word::literal("."));
        }
        let number: usize = name.parse().ok().filter(|number| *number > 0)?;
        let arguments = self.variables.get(ARGUMENTS)?;
        Some(arguments.all().get(number - 1).cloned().unwrap_or_default())
    }

    /// The commands up to the `)` that closes them.
    pub(super) fn until_paren(&mut self) -> Range<usize> {
        let start = self.script.commands.len();
        let variables = self.variables.clone();
        let input = std::mem::take(&mut self.input);
        self.deeper(|parser| {
            if parser.list(&[End::Paren]) != End::Paren {
                parser.doubt("a ( is never closed");
            }
        });
        self.input = input;
        self.variables = variables;
        self.count_inside(start);
        start..self.script.commands.len()
    }

    /// The commands from this one on are in a substitution.
    fn count_inside(&mut self, start: usize) {
        for command in self.script.commands.get_mut(start..).unwrap_or_default() {
            command.inside = command.inside.saturating_add(1);
        }
    }

    /// Puts the output of commands into the word, when it is known.
    fn output(&mut self, draft: &mut Draft, commands: Range<usize>, bare: bool) {
        match self.printed_by(&commands) {
            KnownText::Text(text) => {
                self.insert(draft, &Word::literal(text.trim_end_matches('\n')), bare);
            }
            KnownText::Perhaps(text) => {
                self.unknown("a part of what a command prints cannot be known");
                self.insert(draft, &of_shown(text.trim_end_matches('\n')), bare);
            }
            KnownText::None | KnownText::Unknown => draft.unknown(Origin::Output(commands), bare),
        }
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
        let variables = self.variables.clone();
        self.nested(code, Self::program);
        self.variables = variables;
        self.count_inside(start);
        self.output(draft, start..self.script.commands.len(), bare);
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

    /// Arithmetic can assign: the variables in it are unknown afterwards.
    pub(super) fn forget_counted(&mut self, start: usize) {
        if self.variables.is_empty() {
            return;
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        if text.contains('=') || text.contains("++") || text.contains("--") {
            self.variables.forget_named(text);
        }
    }

    /// Reads arithmetic up to its end. Anything that does not look like arithmetic is a doubt.
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
}

/// The length of a variable's name at the start of a text.
pub(super) fn name_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    if !bytes.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_') {
        return 0;
    }
    bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
}
