//! Shell code that a command runs: in a word, in a here-document, through a pipe.

use std::borrow::Cow;

use super::MAX_LEVELS;
use super::option::{takes_next, values};
use super::table::{SHELLS, Wrapper};
use crate::shell::model::{Command, Direction, Input, Redirection, base_name};
use crate::shell::parser::Parser;
use crate::shell::printed::KnownText;
use crate::shell::simple::input_from;
use crate::shell::variables::{ARGUMENTS, Value};
use crate::shell::word::{Origin, Word};

/// The budget that reading a byte of code again costs.
const CODE: usize = 4;

/// How many commands before one are searched for an `exec` that opened a descriptor.
const MAX_BEFORE: usize = 32;

impl Parser {
    /// Parses the joined words as code that the command at `at` runs.
    pub(super) fn code(&mut self, at: usize, words: &[Word]) {
        if words.is_empty() {
            return;
        }
        let mut text = String::new();
        for word in words {
            if !text.is_empty() {
                text.push(' ');
            }
            match word.known().map(Cow::Borrowed).or_else(|| self.spelled(word).map(Cow::Owned)) {
                Some(known) => text.push_str(&known),
                None => {
                    text.push_str(&word.show());
                    self.unknown("code that is made when the line runs cannot be known");
                }
            }
        }
        self.code_text(at, text);
    }

    /// Code that a command may run: used to forbid, but not a reason for doubts.
    pub(super) fn perhaps_code(&mut self, at: usize, word: &Word) {
        let certain = std::mem::replace(&mut self.script.commands[at].certain, false);
        let doubts = self.script.doubts.len();
        self.code(at, std::slice::from_ref(word));
        self.script.doubts.truncate(doubts);
        self.script.commands[at].certain = certain;
    }

    /// A file of commands that a shell reads: the content of `<(…)` may be known.
    pub(super) fn file_code(&mut self, at: usize, file: &Word) {
        let process = file.unknowns().find_map(|unknown| match &unknown.from {
            Origin::Process(range) => Some(Input::Pipe(range.clone())),
            _ => None,
        });
        match process.map(|input| self.text_of(&input, 0)) {
            Some(KnownText::Text(text)) => self.code_text(at, text),
            Some(KnownText::Perhaps(text)) => self.partial_code(at, text),
            Some(KnownText::None | KnownText::Unknown) => {
                self.unknown("code that comes through a pipe cannot be known");
            }
            None => match file.known().map(str::to_owned) {
                Some(file) => self.run_written(at, &file, &[]),
                None => self.unknown("the file of commands cannot be known"),
            },
        }
    }

    /// Code of which parts are known only when the line runs.
    fn partial_code(&mut self, at: usize, text: String) {
        self.perhaps_code(at, &Word::literal(text));
        self.unknown("code that comes through a pipe cannot be known");
    }

    pub(super) fn code_text(&mut self, at: usize, text: String) {
        let wrapper = &self.script.commands[at];
        let (certain, level, input) = (wrapper.certain, wrapper.level + 1, wrapper.input.clone());
        let (inside, is_endless) = (wrapper.variables.clone(), wrapper.execution.is_endless);
        if level > MAX_LEVELS {
            return self.doubt("commands run other commands too many levels deep");
        }
        if !self.spend(text.len() * CODE) {
            return;
        }
        let start = self.script.commands.len();
        let outer = std::mem::replace(&mut self.certain, certain);
        let variables = std::mem::replace(&mut self.variables, inside);
        let stdin = std::mem::replace(&mut self.input, input.clone());
        self.nested(text, Self::program);
        self.input = stdin;
        self.variables = variables;
        self.certain = outer;
        for command in self.script.commands.iter_mut().skip(start) {
            command.wrapper.get_or_insert(at);
            command.level = command.level.max(level);
            command.execution.is_endless |= is_endless;
            if command.input == Input::Inherited {
                command.input = input.clone();
            }
        }
    }

    /// Parses the values of options that are code. Returns whether there was one.
    pub(super) fn option_code(&mut self, at: usize, row: &Wrapper, words: &[Word]) -> bool {
        let found = values(words, row.code, row.short);
        for word in &found {
            // `-o ProxyCommand=…` is code, `-o Port=22` is not; `--checkpoint-action=exec=…` likewise.
            let head = word.head().to_ascii_lowercase();
            let settings = ["proxycommand", "localcommand", "knownhostscommand", "exec="];
            let setting = settings.into_iter().find(|setting| head.starts_with(setting));
            let is_ssh = row.code == ["-o"];
            match setting {
                Some(setting) => {
                    let value = word.after(setting.len());
                    let skip = usize::from(value.head().starts_with(['=', ' ']));
                    self.code(at, &[value.after(skip)]);
                }
                None if is_ssh => {}
                None => self.code(at, std::slice::from_ref(word)),
            }
        }
        !found.is_empty()
    }

    /// `env -S 'rm -r' a`: a text that is split into words, followed by the remaining words.
    pub(super) fn split_code(&mut self, at: usize, code: &Word, words: &[Word]) {
        let place = words.iter().position(|word| word == code || word.head().ends_with(code.head()));
        let after = place.and_then(|place| words.get(place + 1..)).unwrap_or_default();
        let is_plain =
            |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./~=".contains(&byte));
        let quoted = |word: &Word| match word.known() {
            Some(text) if !is_plain(text) => Word::literal(format!("'{}'", text.replace('\'', "'\\''"))),
            _ => word.clone(),
        };
        let all: Vec<Word> = std::iter::once(code.clone()).chain(after.iter().map(quoted)).collect();
        self.code(at, &all);
    }

    /// `bash -lc CODE`, `bash FILE`, `bash` with code on its standard input.
    pub(super) fn shell(&mut self, at: usize, row: &Wrapper, words: &[Word]) {
        let from = after_options(words, row);
        let options = &words[..from];
        if only_checks(options) {
            return;
        }
        let has_code = options.iter().any(|word| {
            let text = word.head();
            text == "--command" || (text.len() > 1 && !text.starts_with("--") && text[1..].contains('c'))
        });
        let unknown = options.iter().any(|word| word.known().is_none());
        for file in values(options, row.long, "") {
            self.file_code(at, &file);
        }
        let rest = words.get(from..).unwrap_or_default();
        let name = self.script.commands[at].name();
        let is_foreign = matches!(name, Some("fish" | "nu" | "elvish" | "xonsh" | "ion"));
        match rest.first() {
            // Another language: what cannot be read in it says nothing.
            Some(code) if is_foreign && has_code => {
                let text = super::fish::as_shell(&code.show());
                self.perhaps_code(at, &Word::literal(text));
            }
            Some(code) if has_code || unknown => self.code_with(at, code, rest.get(1..).unwrap_or_default()),
            Some(file) if is_stdin(file) || has_flag(options, 's') => self.stdin_code(at),
            Some(file) if descriptor(file).is_some() => {
                self.descriptor_code(at, descriptor(file).unwrap_or_default());
            }
            Some(file) if file.known().is_none() => {
                self.file_code(at, file);
                if file.may_split() {
                    // The unknown word may be an option, followed by the code.
                    let uncertain = rest.get(1).cloned();
                    uncertain.iter().for_each(|code| self.code(at, std::slice::from_ref(code)));
                }
            }
            Some(file) => {
                let file = file.known().unwrap_or_default().to_owned();
                self.run_written(at, &file, &rest[1..]);
            }
            None => self.stdin_code(at),
        }
    }

    /// `sh -c CODE name a b`: the code sees `a b` as its arguments.
    pub(super) fn code_with(&mut self, at: usize, code: &Word, words: &[Word]) {
        let outer = self.script.commands[at].variables.clone();
        let variables = &mut self.script.commands[at].variables;
        let (name, arguments) = words.split_at(usize::from(!words.is_empty()));
        match name {
            [name] => variables.set("0", Value::One(name.clone())),
            _ => variables.forget("0"),
        }
        match arguments.iter().any(Word::may_split) {
            true => variables.forget(ARGUMENTS),
            false => variables.set(ARGUMENTS, Value::List(arguments.to_vec())),
        }
        self.code(at, std::slice::from_ref(code));
        self.script.commands[at].variables = outer;
    }

    /// A file of commands.
    pub(super) fn source(&mut self, at: usize, words: &[Word]) {
        match words.first() {
            Some(file) if is_stdin(file) => self.stdin_code(at),
            Some(file) => match descriptor(file) {
                Some(number) => self.descriptor_code(at, number),
                None => self.file_code(at, file),
            },
            None => {}
        }
    }

    /// Where the command at `at` reads this descriptor from: its own redirections, or those of `exec` before it.
    fn descriptor_input(&self, at: usize, descriptor: u32) -> Input {
        let own = input_from(&self.script.commands[at].redirections, descriptor);
        if own != Input::Inherited {
            return own;
        }
        let is_exec = |command: &&Command| command.name() == Some("exec") && command.words.len() == 1;
        let earlier = self.script.commands[..at].iter().rev().take(MAX_BEFORE).filter(is_exec);
        let inputs = earlier.map(|command| input_from(&command.redirections, descriptor));
        inputs.into_iter().find(|input| *input != Input::Inherited).unwrap_or(Input::File)
    }

    /// The input of a command whose standard input is another descriptor: `sh <&3`.
    fn duplicated_input(&self, at: usize) -> Option<Input> {
        let command = &self.script.commands[at];
        let is_copy = |redirection: &&Redirection| {
            redirection.direction == Direction::Duplicate && redirection.descriptor == 0
        };
        let target = command.redirections.iter().rev().find(is_copy)?.target.known()?;
        let number = target.trim_end_matches('-').parse().ok()?;
        (number > 2).then(|| self.descriptor_input(at, number))
    }

    /// The file that the command reads.
    fn input_file(&self, at: usize) -> Option<String> {
        let redirections = &self.script.commands[at].redirections;
        let reads = |redirection: &&Redirection| {
            redirection.direction == Direction::Read && redirection.descriptor == 0
        };
        redirections.iter().rev().find(reads)?.target.known().map(str::to_owned)
    }

    /// Code that is read from a descriptor.
    fn descriptor_code(&mut self, at: usize, descriptor: u32) {
        let input = self.descriptor_input(at, descriptor);
        self.input_code(at, &input);
    }

    /// The standard input of the command is code.
    pub(super) fn stdin_code(&mut self, at: usize) {
        let input = match self.script.commands[at].input.clone() {
            Input::File => self.duplicated_input(at).unwrap_or(Input::File),
            input => input,
        };
        // `echo 'rm x' > a; sh < a`
        if input == Input::File
            && let Some(file) = self.input_file(at).filter(|_| !self.files.is_empty())
        {
            return self.run_written(at, &file, &[]);
        }
        self.input_code(at, &input);
    }

    fn input_code(&mut self, at: usize, input: &Input) {
        match self.text_of(input, 0) {
            KnownText::None => {}
            KnownText::Text(text) => self.code_text(at, text),
            KnownText::Perhaps(text) => self.partial_code(at, text),
            KnownText::Unknown => self.unknown("code that comes through a pipe cannot be known"),
        }
    }
}

/// Whether a shell reads code without running it: `bash -n`. An interactive shell ignores this option and runs the code.
pub(crate) fn only_checks(words: &[Word]) -> bool {
    let options = words.iter().map(Word::head).take_while(|head| head.len() > 1 && head.starts_with('-'));
    let letters: Vec<&str> = options.filter(|head| !head.starts_with("--")).collect();
    let has = |letter: char| letters.iter().any(|head| head.contains(letter));
    has('n') && !has('i') && !has('c') && letters.iter().all(|head| !head.contains(['o', 'O']))
}

/// The index of the first word after the options of a shell, which begin with `-` or `+`.
fn after_options(words: &[Word], row: &Wrapper) -> usize {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let head = word.head();
        if head.len() < 2 || !head.starts_with(['-', '+']) {
            break;
        }
        at += 1;
        if word.known() == Some("--") {
            break;
        }
        let takes = match head.strip_prefix('+') {
            Some(letters) => letters.ends_with(['o', 'O']),
            None => takes_next(word, row.short, row.long),
        };
        at += usize::from(takes);
    }
    at.min(words.len())
}

fn has_flag(options: &[Word], flag: char) -> bool {
    let is = |text: &str| text.len() > 1 && !text.starts_with("--") && text[1..].contains(flag);
    options.iter().any(|word| is(word.head()))
}

/// Whether the name of a file means the standard input.
fn is_stdin(word: &Word) -> bool {
    matches!(word.known(), Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
}

/// The descriptor that the name of a file means: `/dev/fd/3`.
fn descriptor(word: &Word) -> Option<u32> {
    let name = word.known()?;
    let number = name.strip_prefix("/dev/fd/").or_else(|| name.strip_prefix("/proc/self/fd/"))?;
    number.parse().ok()
}

/// Whether a word names a shell, with or without its folder.
pub(super) fn names_shell(word: &Word) -> bool {
    word.known().is_some_and(|text| SHELLS.contains(&base_name(text)))
}
