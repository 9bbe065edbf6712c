//! Simple commands: assignments, words, redirections.

use super::brace;
use super::model::{Assignment, Command, Direction, Input, Redirection};
use super::parser::Parser;
use super::word::{Draft, Fragment, Origin, Piece, Unknown, Word, assignment};

impl Parser {
    /// Reads the rest of a simple command, and adds it to the script.
    pub(super) fn simple(&mut self, mut command: Command, first: Option<Draft>) {
        let mut next = first;
        // `X=1 cmd $X`: the words of a command do not see what is assigned in front of it.
        let before = self.variables.clone();
        let mut inside = None;
        loop {
            let draft = match next.take() {
                Some(draft) => draft,
                None => {
                    self.blanks();
                    if let Some(redirection) = self.redirection() {
                        command.redirections.push(redirection);
                        continue;
                    }
                    match self.peek() {
                        None | Some(b'\n' | b';' | b'&' | b'|' | b')') => break,
                        Some(b'(') => {
                            if command.words.len() == 1 && self.begins_function() {
                                let name = command.words[0].show().into_owned();
                                return self.function_body(name);
                            }
                            self.doubt("a ( is not allowed there");
                            self.at += 1;
                            self.until_paren();
                            continue;
                        }
                        Some(_) => self.draft(),
                    }
                }
            };
            if draft.is_untouched() {
                // This character cannot begin a word; skip it.
                self.doubt("it is not a command");
                self.at += self.next_char().map_or(1, char::len_utf8);
                continue;
            }
            self.add(&mut command, draft);
            if inside.is_none() && !command.words.is_empty() && !command.assignments.is_empty() {
                inside = Some(std::mem::replace(&mut self.variables, before.clone()));
            }
        }
        command.input = input_of(&command.redirections);
        command.variables = inside.unwrap_or_else(|| self.variables.clone());
        self.keep(command);
    }

    /// Adds a command to the script, and applies what it does to variables.
    fn keep(&mut self, command: Command) {
        let at = self.script.commands.len();
        self.script.commands.push(command);
        self.add_choices(at);
        self.change_variables(at);
    }

    /// Consumes `()` after a name.
    fn begins_function(&mut self) -> bool {
        let before = self.at;
        self.at += 1;
        self.blanks();
        let found = self.eat(")");
        if !found {
            self.at = before;
        }
        found
    }

    fn add(&mut self, command: &mut Command, mut draft: Draft) {
        // `let 'a[$(rm x)]'`: some commands evaluate their words as arithmetic, where an array index can run code.
        let hidden: Vec<String> = draft.parts.iter().filter_map(counted).collect();
        hidden.into_iter().for_each(|text| self.latent(text));
        if let Some(length) = draft.assignment()
            && (command.words.is_empty() || command.name().is_some_and(assigns))
        {
            let array = draft.array.take();
            let word = draft.finish();
            let head = &word.head()[..length];
            let appends = head.ends_with("+=");
            let name = head.trim_end_matches(['=', '+']).to_owned();
            let value = word.after(length);
            let is_builtin = !command.words.is_empty();
            if !(is_builtin && command.words.iter().any(changes_values)) {
                self.assign(&name, value.clone(), array, appends);
            }
            if is_builtin {
                command.words.push(word);
            } else {
                let name = name.split('[').next().unwrap_or_default().to_owned();
                command.assignments.push(Assignment { name, value });
            }
            return;
        }
        self.words_of(draft, &mut command.words);
    }

    /// Adds the words that one word becomes: values are split, braces expanded.
    pub(super) fn words_of(&mut self, draft: Draft, words: &mut Vec<Word>) {
        if draft.breaks {
            let is_break = |part: &Fragment| matches!(part, Fragment::Break(_));
            let groups = draft.parts.split(is_break).filter(|parts| !parts.is_empty());
            let groups: Vec<Vec<Fragment>> = groups.map(<[Fragment]>::to_vec).collect();
            groups.into_iter().for_each(|parts| self.expand(words, parts));
        } else if draft.marks > 1 {
            self.expand(words, draft.parts);
        } else {
            words.push(draft.finish());
        }
    }

    /// Inspects text that becomes code when it is evaluated as arithmetic or expanded again.
    pub(super) fn latent(&mut self, text: String) {
        let doubts = self.script.doubts.len();
        let certain = std::mem::replace(&mut self.certain, false);
        self.nested(text, |parser| parser.expansions(&mut Draft::new()));
        self.certain = certain;
        self.script.doubts.truncate(doubts);
        self.unknown("a text with a substitution in it could be run");
    }

    fn expand(&mut self, all: &mut Vec<Word>, parts: Vec<Fragment>) {
        match brace::expand(parts) {
            Some(words) => all.extend(words),
            None => {
                self.doubt("its brace expansion makes too many words");
                all.push(Word::unknown());
            }
        }
    }

    /// Reads a redirection, if one is here.
    pub(super) fn redirection(&mut self) -> Option<Redirection> {
        let rest = self.rest().as_bytes();
        let prefix = match rest.first()? {
            b'0'..=b'9' => rest.iter().take_while(|byte| byte.is_ascii_digit()).count(),
            b'{' => {
                let name =
                    rest.iter().skip(1).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_');
                let length = name.count() + 2;
                if length > 2 && rest.get(length - 1) == Some(&b'}') { length } else { 0 }
            }
            _ => 0,
        };
        let rest = rest.get(prefix..)?;
        let process = prefix == 0 && rest.get(1) == Some(&b'(');
        let is_operator = match rest.first()? {
            b'<' | b'>' => !process,
            b'&' => prefix == 0 && rest.get(1) == Some(&b'>'),
            _ => false,
        };
        if !is_operator {
            return None;
        }
        let number = self.rest().get(..prefix).and_then(|digits| digits.parse().ok());
        self.at += prefix;
        let operator = OPERATORS.into_iter().find(|operator| self.starts(operator))?;
        self.at += operator.len();
        let usual = if operator.starts_with('<') { 0 } else { 1 };
        // `{name}>` gets a descriptor of its own.
        let descriptor = number.unwrap_or(if prefix > 0 { u32::MAX } else { usual });
        self.blanks();
        let draft = self.draft();
        if draft.is_untouched() {
            self.doubt("a redirection has no file");
        }
        let target = draft.finish();
        let direction = match operator {
            "<<" | "<<-" => {
                let literal = !target.is_plain();
                if target.known().is_none() {
                    self.doubt("the mark of a here-document cannot be known");
                }
                let mark = target.show().into_owned();
                Direction::Here(self.expect_body(mark, literal, operator == "<<-"))
            }
            "<<<" => Direction::HereString,
            "<&" | ">&" if is_descriptor(&target) => Direction::Duplicate,
            "<" | "<&" => Direction::Read,
            "<>" => Direction::Both,
            _ => Direction::Write,
        };
        Some(Redirection { direction, descriptor, target })
    }
}

/// A part of a word with a substitution in an array index.
fn counted(part: &Fragment) -> Option<String> {
    match part {
        Fragment::Piece(Piece::Text(text))
            if text.contains('[') && (text.contains("[$(") || text.contains("[`")) =>
        {
            Some(text.clone())
        }
        _ => None,
    }
}

const OPERATORS: [&str; 12] = ["<<<", "<<-", "<<", "<>", "<&", "<", "&>>", "&>", ">>", ">|", ">&", ">"];

/// `1`, `-` or `1-`.
fn is_descriptor(word: &Word) -> bool {
    word.known().is_some_and(|text| text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether `NAME=value` after this program assigns.
pub(super) fn assigns(program: &str) -> bool {
    matches!(program, "export" | "declare" | "typeset" | "readonly" | "local")
}

/// Options of `declare` that change the value that is assigned.
fn changes_values(word: &Word) -> bool {
    word.head().starts_with(['-', '+']) && word.head().contains(['n', 'i', 'l', 'u', 'c'])
}

impl Draft {
    /// The length of `NAME=` when it begins so, unquoted.
    fn assignment(&self) -> Option<usize> {
        let Some(Fragment::Piece(Piece::Text(text))) = self.parts.first() else { return None };
        assignment(text).filter(|length| *length <= self.plain)
    }
}

/// Where the standard input comes from with these redirections: the last one counts.
pub(super) fn input_of(redirections: &[Redirection]) -> Input {
    input_from(redirections, 0)
}

/// Where a descriptor reads from with these redirections.
pub(super) fn input_from(redirections: &[Redirection], descriptor: u32) -> Input {
    let input = |redirection: &Redirection| match redirection.direction {
        // Another descriptor is unknown here; descriptor 0 itself changes nothing.
        Direction::Duplicate if redirection.target.known() != Some("0") => Some(Input::File),
        Direction::Read => Some(match redirection.target.pieces() {
            [Piece::Unknown(Unknown { from: Origin::Process(range), .. })] => Input::Pipe(range.clone()),
            _ => Input::File,
        }),
        Direction::Both => Some(Input::File),
        Direction::Here(body) => Some(Input::Here(body)),
        Direction::HereString => Some(Input::Text(redirection.target.clone())),
        Direction::Write | Direction::Duplicate => None,
    };
    let of_it = redirections.iter().rev().filter(|redirection| redirection.descriptor == descriptor);
    of_it.map(input).next().flatten().unwrap_or_default()
}
