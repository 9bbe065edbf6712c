//! Code for a shell: in a word, in a here-document, through a pipe.

use super::MOST_LEVELS;
use super::option::{takes_next, values};
use super::table::{Carrier, SHELLS};
use crate::shell::model::{Command, Input, base_name};
use crate::shell::parser::Parser;
use crate::shell::word::{Origin, Piece, Unknown, Word};

/// What is known of code that comes through a pipe or a file.
enum KnownText {
    None,
    Text(String),
    Unknown,
}

impl Parser {
    /// Reads words, joined, as code that the command at `at` runs.
    pub(super) fn code(&mut self, at: usize, words: &[Word]) {
        if words.is_empty() {
            return;
        }
        let mut text = String::new();
        for word in words {
            if !text.is_empty() {
                text.push(' ');
            }
            match self.spelled(word) {
                Some(known) => text.push_str(&known),
                None => {
                    text.push_str(&word.show());
                    self.unknown("code that is made when the line runs cannot be known");
                }
            }
        }
        self.code_text(at, text);
    }

    /// The word, when it is known or made of what is plainly printed: `"$(echo ls)"`.
    fn spelled(&self, word: &Word) -> Option<String> {
        let mut text = String::new();
        for piece in word.pieces() {
            match piece {
                Piece::Text(known) => text.push_str(known),
                Piece::Unknown(Unknown { from: Origin::Output(range), .. }) => {
                    match self.origin(&Input::Pipe(range.clone()), 0) {
                        KnownText::Text(printed) => text.push_str(printed.trim_end_matches('\n')),
                        KnownText::None | KnownText::Unknown => return None,
                    }
                }
                Piece::Unknown(_) | Piece::Many | Piece::One => return None,
            }
        }
        Some(text)
    }

    /// Code that a command runs perhaps: enough to forbid it, not enough to ask for more.
    pub(super) fn perhaps_code(&mut self, at: usize, word: &Word) {
        let certain = std::mem::replace(&mut self.script.commands[at].certain, false);
        let doubts = self.script.doubts.len();
        self.code(at, std::slice::from_ref(word));
        self.script.doubts.truncate(doubts);
        self.script.commands[at].certain = certain;
    }

    /// A file of commands that a shell reads: `<(…)` is one whose text may be plain to see.
    pub(super) fn file_code(&mut self, at: usize, file: &Word) {
        let process = file.unknowns().find_map(|unknown| match &unknown.from {
            Origin::Process(range) => Some(Input::Pipe(range.clone())),
            _ => None,
        });
        match process.map(|input| self.origin(&input, 0)) {
            Some(KnownText::Text(text)) => self.code_text(at, text),
            Some(KnownText::None | KnownText::Unknown) => {
                self.unknown("code that comes through a pipe cannot be known");
            }
            None if file.known().is_none() => self.unknown("the file of commands cannot be known"),
            None => {}
        }
    }

    pub(super) fn code_text(&mut self, at: usize, text: String) {
        let carrier = &self.script.commands[at];
        let (certain, level, input) = (carrier.certain, carrier.level + 1, carrier.input.clone());
        if level > MOST_LEVELS {
            return self.doubt("too many commands run each other");
        }
        if !self.spend(text.len()) {
            return;
        }
        let start = self.script.commands.len();
        let outer = std::mem::replace(&mut self.certain, certain);
        self.nested(text, Self::program);
        self.certain = outer;
        for command in self.script.commands.iter_mut().skip(start) {
            command.carrier.get_or_insert(at);
            command.level = command.level.max(level);
            if command.input == Input::Inherited {
                command.input = input.clone();
            }
        }
    }

    /// Reads the values of options that are code. Whether there was one.
    pub(super) fn option_code(&mut self, at: usize, row: &Carrier, words: &[Word]) -> bool {
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

    /// `bash -lc CODE`, `bash FILE`, `bash` with code on its standard input.
    pub(super) fn shell(&mut self, at: usize, row: &Carrier, words: &[Word]) {
        let from = behind_options(words, row);
        let options = &words[..from];
        let has_code = options.iter().any(|word| {
            let text = word.head();
            text == "--command" || (text.len() > 1 && !text.starts_with("--") && text[1..].contains('c'))
        });
        let unknown = options.iter().any(|word| word.known().is_none());
        for file in values(options, row.long, "") {
            self.file_code(at, &file);
        }
        let rest = words.get(from..).unwrap_or_default();
        match rest.first() {
            Some(code) if has_code || unknown => self.code(at, std::slice::from_ref(code)),
            Some(file) if is_stdin(file) || has_flag(options, 's') => self.stdin_code(at),
            Some(file) if file.known().is_none() => {
                self.file_code(at, file);
                if file.may_split() {
                    // Perhaps it is an option, and the code comes behind it.
                    let uncertain = rest.get(1).cloned();
                    uncertain.iter().for_each(|code| self.code(at, std::slice::from_ref(code)));
                }
            }
            Some(_) => {}
            None => self.stdin_code(at),
        }
    }

    /// A file of commands.
    pub(super) fn source(&mut self, at: usize, words: &[Word]) {
        match words.first() {
            Some(file) if is_stdin(file) => self.stdin_code(at),
            Some(file) => self.file_code(at, file),
            None => {}
        }
    }

    /// The standard input of the command is code.
    pub(super) fn stdin_code(&mut self, at: usize) {
        let input = self.script.commands[at].input.clone();
        match self.origin(&input, 0) {
            KnownText::None => {}
            KnownText::Text(text) => self.code_text(at, text),
            KnownText::Unknown => self.unknown("code that comes through a pipe cannot be known"),
        }
    }

    /// What the command reads from its standard input, when that is plain to see.
    pub(super) fn stdin_text(&self, at: usize) -> Option<String> {
        match self.origin(&self.script.commands[at].input, 0) {
            KnownText::Text(text) => Some(text),
            KnownText::None | KnownText::Unknown => None,
        }
    }

    fn origin(&self, input: &Input, depth: usize) -> KnownText {
        match input {
            Input::Inherited | Input::File => KnownText::None,
            Input::Text(word) => {
                word.known().map_or(KnownText::Unknown, |text| KnownText::Text(text.to_owned()))
            }
            Input::Here(body) => match self.script.bodies.get(*body) {
                Some(body) if body.literal || !body.text.contains(['$', '`']) => {
                    KnownText::Text(body.text.clone())
                }
                _ => KnownText::Unknown,
            },
            Input::Pipe(range) => match self.script.commands.get(range.clone()) {
                Some([command]) if depth < 8 => self.printed(command, depth),
                _ => KnownText::Unknown,
            },
        }
    }

    /// What a command prints, when that is plain to see.
    fn printed(&self, command: &Command, depth: usize) -> KnownText {
        let words: Option<Vec<&str>> = command.arguments().iter().map(Word::known).collect();
        let Some(words) = words else { return KnownText::Unknown };
        match command.name() {
            Some("echo") => {
                let is_flag = |word: &&&str| {
                    word.len() > 1
                        && word.starts_with('-')
                        && word[1..].bytes().all(|byte| b"neE".contains(&byte))
                };
                let flags = words.iter().take_while(is_flag).count();
                KnownText::Text(unescaped(&words[flags..].join(" ")))
            }
            Some("printf") => match words.split_first() {
                Some((format, values)) => KnownText::Text(unescaped(&formatted(format, values))),
                None => KnownText::None,
            },
            Some("cat" | "tee") if words.is_empty() || words == ["-"] => {
                self.origin(&command.input, depth + 1)
            }
            _ => KnownText::Unknown,
        }
    }
}

/// Where the first word stands behind the options of a shell, which begin with `-` or `+`.
fn behind_options(words: &[Word], row: &Carrier) -> usize {
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

/// What `printf` makes of its words: the format is used again while there are values.
fn formatted(format: &str, values: &[&str]) -> String {
    let mut out = String::new();
    let mut values = values.iter();
    loop {
        let left = values.len();
        let mut rest = format;
        while let Some(at) = rest.find('%') {
            out.push_str(&rest[..at]);
            let form = &rest[at + 1..];
            let flags = form.len()
                - form.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #.".contains(c)).len();
            let letter = form[flags..].chars().next();
            match letter {
                Some('%') => out.push('%'),
                Some(_) => out.push_str(values.next().unwrap_or(&"")),
                None => {}
            }
            rest = &form[flags + letter.map_or(0, char::len_utf8)..];
        }
        out.push_str(rest);
        if values.len() == 0 || values.len() == left {
            return out;
        }
    }
}

/// `\n` and its like as `echo -e` and `printf` write them.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        // `\0162` is the octal form of echo.
        let zero = usize::from(behind.starts_with('0') && behind.len() > 1);
        let (meant, taken) = crate::shell::escape::ansi_c(&behind[zero..]);
        out.push_str(&meant);
        rest = &behind[zero + taken..];
    }
    out.push_str(rest);
    out
}

/// Whether a word names a shell, with or without its folder.
pub(super) fn names_shell(word: &Word) -> bool {
    word.known().is_some_and(|text| SHELLS.contains(&base_name(text)))
}
