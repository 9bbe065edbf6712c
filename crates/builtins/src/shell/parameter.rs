//! `${…}`: parameter expansion.

use super::dollar::name_length;
use super::list::End;
use super::parser::Parser;
use super::variables::{ARGUMENTS, Value};
use super::word::{Draft, Origin, Word};

/// The operator after the name in `${…}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    None,
    /// `-` or `:-`: another value when it is unset.
    Default,
    /// `=` or `:=`: the same, and the variable gets it.
    Assign,
    /// `+` or `:+`: another value when it is set.
    Instead,
    /// `?` or `:?`: an error when it is unset.
    Require,
    /// `#`, `##`, `%`, `%%`: without a prefix or suffix.
    Trim {
        front: bool,
        longest: bool,
    },
    /// `/`, `//`: with a part replaced.
    Replace {
        all: bool,
    },
    /// `^`, `^^`, `,`, `,,`
    Upper(bool),
    Lower(bool),
    /// `:offset:length`
    Slice,
    Other,
}

/// The forms of the operator, the longer ones first.
const OPERATORS: [(&str, Operator); 18] = [
    (":-", Operator::Default),
    (":=", Operator::Assign),
    (":+", Operator::Instead),
    (":?", Operator::Require),
    ("-", Operator::Default),
    ("=", Operator::Assign),
    ("+", Operator::Instead),
    ("?", Operator::Require),
    ("##", Operator::Trim { front: true, longest: true }),
    ("#", Operator::Trim { front: true, longest: false }),
    ("%%", Operator::Trim { front: false, longest: true }),
    ("%", Operator::Trim { front: false, longest: false }),
    ("//", Operator::Replace { all: true }),
    ("/", Operator::Replace { all: false }),
    ("^^", Operator::Upper(true)),
    ("^", Operator::Upper(false)),
    (",,", Operator::Lower(true)),
    (",", Operator::Lower(false)),
];

impl Parser {
    /// Reads `${…}` after its brace into the word.
    pub(super) fn parameter(&mut self, draft: &mut Draft, bare: bool) {
        // `${ commands; }` and `${| commands; }` run commands, in new shells.
        if matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'|')) {
            self.eat("|");
            let start = self.script.commands.len();
            if self.list(&[End::Word("}")]) != End::Word("}") {
                self.doubt("a ${ is never closed");
            }
            return draft.unknown(Origin::Output(start..self.script.commands.len()), bare);
        }
        let counts = self.starts("#") && !matches!(self.ahead(1), Some(b'}' | b'#' | b'%'));
        let indirect = !counts && self.starts("!") && self.ahead(1) != Some(b'}');
        self.at += usize::from(counts || indirect);
        let name = self.parameter_name();
        let index = self.index();
        let operator = self.operator();
        let Some(operand) = self.operand(bare) else {
            self.doubt("a ${ is never closed");
            return draft.unknown(Origin::Other, bare);
        };
        if operator == Operator::Assign && !indirect {
            self.variables.forget(&name);
        }
        if counts || indirect {
            let target = match self.variables.get(&name) {
                Some(Value::One(word)) if indirect => word.known().map(str::to_owned),
                _ => None,
            };
            return match target {
                Some(target) => self.value(draft, &target, bare),
                None => draft.unknown(Origin::Other, bare),
            };
        }
        if name == "IFS" && bare {
            return self.value(draft, "IFS", bare);
        }
        match (operator, &index) {
            (Operator::None, None) => self.value(draft, &name, bare),
            (_, Some(index)) => self.element(draft, &name, index, operator, &operand, bare),
            _ => self.operated(draft, &name, operator, &operand, bare),
        }
    }

    /// A name, a number or one of the special parameters.
    fn parameter_name(&mut self) -> String {
        let rest = self.rest();
        let mut length = name_length(rest);
        if length == 0 {
            length = rest.bytes().take_while(u8::is_ascii_digit).count();
        }
        if length == 0 && matches!(self.peek(), Some(b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')) {
            length = 1;
        }
        let name = self.text[self.at..self.at + length].to_owned();
        self.at += length;
        name
    }

    /// `[…]` after a name.
    fn index(&mut self) -> Option<String> {
        if self.peek() != Some(b'[') {
            return None;
        }
        let rest = self.rest();
        let end = rest.bytes().take(64).position(|byte| matches!(byte, b']' | b'`' | b'('))?;
        let inside = rest.get(1..end).filter(|_| rest.as_bytes()[end] == b']')?;
        let bare = inside.trim_matches('"');
        let index = match bare.strip_prefix('$') {
            // `${map[$key]}`
            Some(name) => {
                let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
                if name_length(name) != name.len() {
                    return None;
                }
                self.known_value(name)?.known()?.to_owned()
            }
            None if bare.contains(['$', '}']) => return None,
            None => bare.trim_matches('\'').to_owned(),
        };
        self.at += end + 1;
        Some(index)
    }

    fn operator(&mut self) -> Operator {
        if matches!(self.peek(), Some(b'}') | None) {
            return Operator::None;
        }
        for (text, operator) in OPERATORS {
            if self.eat(text) {
                return operator;
            }
        }
        if self.eat(":") { Operator::Slice } else { Operator::Other }
    }

    /// The rest up to the `}`, which is consumed; none when there is no `}`.
    fn operand(&mut self, bare: bool) -> Option<Word> {
        let mut inner = Draft::new();
        while let Some(byte) = self.peek() {
            match byte {
                b'@' if self.starts("@P}") => {
                    self.at += 1;
                    self.doubt("${…@P} runs what the variable holds");
                }
                b'}' => {
                    self.at += 1;
                    return Some(inner.finish());
                }
                b'\\' => {
                    self.at += 1;
                    let c = self.next_char();
                    if let Some(c) = c {
                        inner.quoted(c.encode_utf8(&mut [0; 4]));
                        self.at += c.len_utf8();
                    }
                }
                b'\'' if bare => {
                    self.at += 1;
                    let rest = self.rest();
                    let length = rest.find('\'');
                    inner.quoted(&rest[..length.unwrap_or(rest.len())]);
                    if length.is_none() {
                        self.doubt("a ' is never closed");
                    }
                    self.at = length.map_or(self.text.len(), |length| self.at + length + 1);
                }
                b'"' => {
                    self.at += 1;
                    self.double(&mut inner);
                }
                b'`' => self.backquote(&mut inner, false),
                b'$' => self.dollar(&mut inner, false),
                b'<' | b'>' if bare && self.ahead(1) == Some(b'(') => {
                    self.at += 2;
                    let commands = self.until_paren();
                    inner.unknown(Origin::Process(commands), false);
                }
                _ => {
                    let rest = self.rest();
                    let stops = |byte: u8| {
                        matches!(byte, b'@' | b'}' | b'\\' | b'\'' | b'"' | b'`' | b'$' | b'<' | b'>')
                    };
                    let length = rest.bytes().skip(1).position(stops).map_or(rest.len(), |length| length + 1);
                    inner.quoted(&rest[..length]);
                    self.at += length;
                }
            }
        }
        None
    }

    /// `${name[…]}`
    fn element(
        &mut self,
        draft: &mut Draft,
        name: &str,
        index: &str,
        operator: Operator,
        operand: &Word,
        bare: bool,
    ) {
        let affordable = self.has_budget(1 << 10);
        let Some(value) = self.variables.get(name).filter(|_| affordable).cloned() else {
            return draft.unknown(Origin::Other, bare || matches!(index, "@" | "*"));
        };
        let words = value.all();
        match index {
            "@" | "*" => match operator {
                Operator::None => {
                    if matches!(value, Value::Map(_)) {
                        self.unknown("the order of the elements of an array cannot be known");
                    }
                    self.insert_all(draft, &words, bare);
                }
                Operator::Slice => match sliced(&words, operand) {
                    Some(words) => self.insert_all(draft, &words, bare),
                    None => draft.unknown(Origin::Other, true),
                },
                _ => draft.unknown(Origin::Other, true),
            },
            _ if operator == Operator::None => match value.element(index) {
                Some(word) => self.insert(draft, &word, bare),
                None => draft.unknown(Origin::Other, bare),
            },
            _ => draft.unknown(Origin::Other, bare),
        }
    }

    fn operated(&mut self, draft: &mut Draft, name: &str, operator: Operator, operand: &Word, bare: bool) {
        if matches!(name, "@" | "*") {
            let words = self.variables.get(ARGUMENTS).map(Value::all);
            // `${@:2}` counts from 1.
            return match (words, operator) {
                (Some(words), Operator::Slice) => {
                    let words: Vec<Word> = std::iter::once(Word::default()).chain(words).collect();
                    match sliced(&words, operand) {
                        Some(words) => self.insert_all(draft, &words, bare),
                        None => draft.unknown(Origin::Other, true),
                    }
                }
                _ => draft.unknown(Origin::Other, true),
            };
        }
        // The folder where the line runs is known as `.`, which has no parts to take away.
        if name == "PWD" && self.variables.get(name).is_none() {
            return match (operator, above(operand)) {
                (Operator::Trim { front: false, longest: false }, Some(path)) => {
                    self.insert(draft, &Word::literal(path), bare);
                }
                (Operator::Default | Operator::Assign | Operator::Require, _) => {
                    self.value(draft, name, bare)
                }
                _ => draft.unknown(Origin::Other, bare),
            };
        }
        let known = self.known_value(name);
        let is_empty = known.as_ref().and_then(Word::known) == Some("");
        let result = match (operator, known) {
            (Operator::Default, Some(_)) if is_empty => Some(operand.clone()),
            (Operator::Default | Operator::Assign | Operator::Require, Some(value)) => Some(value),
            (Operator::Instead, Some(_)) => Some(if is_empty { Word::default() } else { operand.clone() }),
            (Operator::Require, None) => return self.value(draft, name, bare),
            // The environment may have a value.
            (Operator::Default | Operator::Assign | Operator::Instead, None) => {
                let choice = Value::choice(vec![operand.clone()]);
                if operator == Operator::Assign {
                    self.variables.set(name, choice.clone());
                }
                Some(choice.first())
            }
            (_, Some(value)) => {
                let text = value.known().map(str::to_owned);
                text.and_then(|text| changed(&text, operator, operand)).map(Word::literal)
            }
            (_, None) => None,
        };
        match result {
            Some(word) => self.insert(draft, &word, bare),
            // A part of a value is still a part of this variable.
            None if !matches!(name, "HOME" | "USER" | "PWD") && name_length(name) == name.len() => {
                draft.unknown(Origin::Variable(name.into()), bare);
            }
            None => draft.unknown(Origin::Other, bare),
        }
    }
}

/// `..` for `${PWD%/*}`, `../..` for `${PWD%/*/*}`.
fn above(pattern: &Word) -> Option<String> {
    let steps = pattern.known()?.split("/*").count() - 1;
    let is_all = pattern.known() == Some("/*".repeat(steps).as_str());
    (is_all && (1..16).contains(&steps)).then(|| vec![".."; steps].join("/"))
}

/// The words of `:offset:length`.
fn sliced(words: &[Word], operand: &Word) -> Option<Vec<Word>> {
    let (from, to) = range(operand.known()?, words.len())?;
    Some(words[from..to].to_vec())
}

fn range(text: &str, length: usize) -> Option<(usize, usize)> {
    let (offset, count) = match text.split_once(':') {
        Some((offset, count)) => (offset, Some(count)),
        None => (text, None),
    };
    let offset: i64 = offset.trim().parse().ok()?;
    let length = i64::try_from(length).ok()?;
    let from = if offset < 0 { (length + offset).max(0) } else { offset.min(length) };
    let to = match count {
        None => length,
        Some(count) => match count.trim().parse::<i64>().ok()? {
            count if count < 0 => (length + count).max(from),
            count => (from + count).min(length),
        },
    };
    Some((usize::try_from(from).ok()?, usize::try_from(to).ok()?))
}

/// The result of the operator on a text; none when it is not known.
fn changed(text: &str, operator: Operator, operand: &Word) -> Option<String> {
    let operand = operand.known()?;
    match operator {
        Operator::Slice => {
            let chars: Vec<char> = text.chars().collect();
            let (from, to) = range(operand, chars.len())?;
            Some(chars[from..to].iter().collect())
        }
        Operator::Upper(all) => cased(text, operand, all, char::to_ascii_uppercase),
        Operator::Lower(all) => cased(text, operand, all, char::to_ascii_lowercase),
        Operator::Replace { all } => {
            let (pattern, with) = operand.split_once('/').unwrap_or((operand, ""));
            let is_plain = !pattern.is_empty() && !pattern.contains(['*', '?', '[', '#', '%']);
            is_plain.then(|| if all { text.replace(pattern, with) } else { text.replacen(pattern, with, 1) })
        }
        Operator::Trim { front, longest } => trimmed(text, operand, front, longest),
        _ => None,
    }
}

fn cased(text: &str, operand: &str, all: bool, change: fn(&char) -> char) -> Option<String> {
    let change = |(at, c): (usize, char)| if all || at == 0 { change(&c) } else { c };
    operand.is_empty().then(|| text.chars().enumerate().map(change).collect())
}

/// The text without a prefix or suffix that matches a pattern.
fn trimmed(text: &str, pattern: &str, front: bool, longest: bool) -> Option<String> {
    if pattern.contains(['[', '\\']) || text.len() > 256 {
        return None;
    }
    let pattern = crate::token::of_wildcards(pattern);
    let fits = |part: &str| crate::token::covers(&pattern, &crate::token::of_text(part));
    let mut cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    if front == longest {
        cuts.reverse();
    }
    let cut = cuts.into_iter().find(|cut| fits(if front { &text[..*cut] } else { &text[*cut..] }));
    Some(match cut {
        Some(cut) if front => text[cut..].to_owned(),
        Some(cut) => text[..cut].to_owned(),
        None => text.to_owned(),
    })
}
