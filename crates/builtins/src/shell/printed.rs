//! The output of commands, where it is known: `echo rm`, `printf '%s' rm`, `cat <<E`, `echo cm0K | base64 -d`.

use std::ops::Range;

use super::decode;
use super::escape::ansi_c;
use super::model::{Command, Input};
use super::parser::Parser;
use super::word::{Origin, Piece, Unknown, Word};
use super::wrapper::file_key;

/// The maximum number of steps of a pipeline that are followed.
const MAX_STEPS: usize = 8;

/// What is known of a text that a command reads or prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KnownText {
    /// It is not in the line: it comes from a file or from outside.
    None,
    Text(String),
    /// Parts of it are made when the line runs: these are shown as variables. Used to forbid, never to allow.
    Perhaps(String),
    /// It is made when the line runs.
    Unknown,
}

impl KnownText {
    pub(super) fn text(self) -> Option<String> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The text even when parts of it are unknown.
    pub(super) fn perhaps(self) -> Option<String> {
        if let Self::Text(text) | Self::Perhaps(text) = self { Some(text) } else { None }
    }

    pub(super) fn len(&self) -> usize {
        if let Self::Text(text) | Self::Perhaps(text) = self { text.len() } else { 0 }
    }

    /// This text followed by another one; `None` if that one is unknown.
    pub(super) fn followed_by(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Text(mut text), Self::Text(more)) => {
                text.push_str(&more);
                Some(Self::Text(text))
            }
            (Self::Text(mut text) | Self::Perhaps(mut text), Self::Text(more) | Self::Perhaps(more)) => {
                text.push_str(&more);
                Some(Self::Perhaps(text))
            }
            (Self::Text(text) | Self::Perhaps(text), _) => Some(Self::Perhaps(text)),
            _ => None,
        }
    }
}

impl Parser {
    /// What these commands print together. A text with variables of the environment in it is only perhaps known.
    pub(super) fn printed_by(&self, commands: &Range<usize>) -> KnownText {
        match self.text_of(&Input::Pipe(commands.clone()), 0) {
            // Shells treat a backslash differently.
            KnownText::Text(text) if !text.contains('\\') => KnownText::Text(text),
            // What other commands print has to stay known as that.
            KnownText::Perhaps(text) if is_of_variables(&text) => KnownText::Perhaps(text),
            _ => KnownText::Unknown,
        }
    }

    /// What the command reads from its standard input, when it is known.
    pub(super) fn stdin_text(&self, at: usize) -> Option<String> {
        self.text_of(&self.script.commands[at].input, 0).text()
    }

    /// The text that comes from there.
    pub(super) fn text_of(&self, input: &Input, depth: usize) -> KnownText {
        match input {
            Input::Inherited | Input::File => KnownText::None,
            Input::Text(word) => match self.spelled(word) {
                Some(text) => KnownText::Text(text),
                None => KnownText::Perhaps(self.shown(word)),
            },
            Input::Here(body) => match self.script.here_documents.get(*body) {
                Some(body) if body.literal || !body.text.contains(['$', '`']) => {
                    KnownText::Text(body.text.clone())
                }
                Some(body) => match &body.expanded {
                    Some(text) => KnownText::Text(text.clone()),
                    None => KnownText::Perhaps(body.text.clone()),
                },
                None => KnownText::Unknown,
            },
            Input::Pipe(range) if depth < MAX_STEPS => match self.last_of(range) {
                Some(command) => self.printed(command, depth),
                None => self.printed_together(range, depth),
            },
            Input::Pipe(_) => KnownText::Unknown,
        }
    }

    /// What several commands print one after the other, as far as it is known.
    fn printed_together(&self, range: &Range<usize>, depth: usize) -> KnownText {
        const MAX: usize = 8;
        let commands = self.script.commands.get(range.clone()).unwrap_or_default();
        if commands.len() > MAX {
            return KnownText::Unknown;
        }
        let mut all = String::new();
        let outside = outermost(commands);
        let counts =
            |command: &&Command| command.certain && !command.words.is_empty() && command.inside == outside;
        for command in commands.iter().filter(counts) {
            match self.printed(command, depth + 1) {
                KnownText::Text(text) | KnownText::Perhaps(text) => all.push_str(&text),
                KnownText::None | KnownText::Unknown => {}
            }
        }
        if all.is_empty() { KnownText::Unknown } else { KnownText::Perhaps(all) }
    }

    /// The word with known output in place, and what is unknown as variables.
    fn shown(&self, word: &Word) -> String {
        let mut text = String::new();
        for piece in word.pieces() {
            let known = match piece {
                Piece::Unknown(Unknown { from: Origin::Output(range), .. }) => {
                    self.text_of(&Input::Pipe(range.clone()), MAX_STEPS / 2).text()
                }
                _ => None,
            };
            match known {
                Some(known) => text.push_str(known.trim_end_matches('\n')),
                None => text.push_str(&Word::of_pieces(vec![piece.clone()]).show()),
            }
        }
        text
    }

    /// The command that produces the output of several: the only one, or the last one of a pipeline.
    fn last_of(&self, range: &Range<usize>) -> Option<&Command> {
        let commands = self.script.commands.get(range.clone())?;
        let outside = outermost(commands);
        let counts = |command: &Command| command.certain && command.inside == outside;
        let mut certain = commands.iter().enumerate().filter(|(_, command)| counts(command));
        let (at, last) = certain.next_back()?;
        match &last.input {
            _ if certain.next_back().is_none() => Some(last),
            Input::Pipe(before) if before.start <= range.start && before.end == range.start + at => {
                Some(last)
            }
            _ => None,
        }
    }

    /// The word, when it is known or consists of known output: `"$(echo ls)"`.
    pub(super) fn spelled(&self, word: &Word) -> Option<String> {
        let mut text = String::new();
        for piece in word.pieces() {
            match piece {
                Piece::Text(known) => text.push_str(known),
                Piece::Unknown(Unknown { from: Origin::Output(range), .. }) => {
                    let printed = self.text_of(&Input::Pipe(range.clone()), 0).text()?;
                    text.push_str(printed.trim_end_matches('\n'));
                }
                Piece::Unknown(_) | Piece::Many | Piece::One => return None,
            }
        }
        Some(text)
    }

    /// What a command prints.
    pub(super) fn printed(&self, command: &Command, depth: usize) -> KnownText {
        let Some(name) = command.name() else { return KnownText::Unknown };
        if matches!(name, "cat" | "tee") {
            return self.copied(command, depth);
        }
        let words: Vec<std::borrow::Cow<'_, str>> = command.arguments().iter().map(Word::show).collect();
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        let mut is_sure = command.arguments().iter().all(|word| word.known().is_some());
        let text = match name {
            "echo" => {
                let flags = words.iter().take_while(|word| is_echo_flag(word)).count();
                Some(unescaped(&words[flags..].join(" ")) + "\n")
            }
            "printf" => match words.split_first() {
                Some((format, values)) if *format != "-v" => Some(unescaped(&formatted(format, values))),
                _ => return KnownText::None,
            },
            "pwd" => Some(".".to_owned()),
            "git" if words == ["rev-parse", "--show-toplevel"] => Some(".".to_owned()),
            "which" | "type" | "command" => match words.as_slice() {
                [program] if name == "which" => Some(found_program(program)),
                ["-v" | "-p" | "-P" | "-a", program] => Some(found_program(program)),
                _ => None,
            },
            "whereis" => words.last().map(|program| format!("{program}: {}", found_program(program))),
            "readlink" | "realpath" => {
                words.last().filter(|path| is_sure && is_path(path)).map(|path| (*path).to_owned())
            }
            "dirname" => words.last().filter(|_| is_sure).map(|path| parent(path)),
            "basename" => words.first().map(|path| {
                let name = super::base_name(path.trim_end_matches('/'));
                words.get(1).and_then(|suffix| name.strip_suffix(suffix)).unwrap_or(name).to_owned()
            }),
            _ => {
                let input = match self.text_of(&command.input, depth + 1) {
                    KnownText::Text(text) => Some(text),
                    KnownText::Perhaps(text) => {
                        is_sure = false;
                        Some(text)
                    }
                    KnownText::None | KnownText::Unknown => None,
                };
                input.and_then(|text| filtered(name, &words, &text))
            }
        };
        match text {
            Some(text) if is_sure => KnownText::Text(text),
            Some(text) => KnownText::Perhaps(text),
            None => KnownText::Unknown,
        }
    }

    /// What `cat` and `tee` print: their input, or files that the line wrote.
    fn copied(&self, command: &Command, depth: usize) -> KnownText {
        let is_option = |word: &&Word| word.head().len() > 1 && word.head().starts_with('-');
        let mut files = command.arguments().iter().filter(|word| !is_option(word));
        match (command.name(), files.next()) {
            (Some("tee"), _) | (_, None) => self.text_of(&command.input, depth + 1),
            (_, Some(file)) if file.known() == Some("-") => self.text_of(&command.input, depth + 1),
            (_, Some(file)) => {
                let process = file.unknowns().find_map(|unknown| match &unknown.from {
                    Origin::Process(range) => Some(Input::Pipe(range.clone())),
                    _ => None,
                });
                if let Some(input) = process {
                    return self.text_of(&input, depth + 1);
                }
                let written = file.known().and_then(|file| self.files.get(file_key(file)));
                match written {
                    Some(written) if files.next().is_none() => written.text.clone(),
                    _ => KnownText::Unknown,
                }
            }
        }
    }
}

/// In how many substitutions those commands are that print by themselves, and not into the words of others.
fn outermost(commands: &[Command]) -> u8 {
    commands.iter().map(|command| command.inside).min().unwrap_or(0)
}

/// Where a program is that `which` looks for: those that a guard knows by their path are in this folder.
fn found_program(program: &str) -> String {
    match program.contains('/') || program.starts_with('-') {
        true => program.to_owned(),
        false => format!("/usr/local/bin/{program}"),
    }
}

/// Whether a path can stand for its real path: an absolute one, or one of `.` and `..` only. Any other name may be a
/// link to anywhere.
fn is_path(path: &str) -> bool {
    path.starts_with('/') || path.split('/').all(|name| matches!(name, "." | ".."))
}

/// The folder that a path is in. The folder where the line runs is `.` here, and its parent is `..`.
pub(super) fn parent(path: &str) -> String {
    let path = path.trim_end_matches('/');
    match path.rsplit_once('/') {
        _ if path.is_empty() => "/".to_owned(),
        _ if path == "." => "..".to_owned(),
        _ if path.split('/').all(|name| name == "..") => format!("../{path}"),
        Some(("", _)) => "/".to_owned(),
        Some((folder, _)) => folder.to_owned(),
        None => ".".to_owned(),
    }
}

/// Whether the home folder is all that is unknown in a text, and it is a path.
fn is_of_variables(text: &str) -> bool {
    !text.contains("$_")
        && !text.contains(['\\', '`', '*'])
        && text.replace("${HOME}", "").find('$').is_none()
}

/// A word of a text in which unknown parts are shown as variables.
pub(super) fn of_shown(text: &str) -> Word {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let after = &rest[at + 1..];
        let name = after.strip_prefix('{').and_then(|inside| inside.split_once('}')).map(|(name, _)| name);
        let is_name = |name: &&str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let (from, length) = match name.filter(is_name) {
            Some(name) => (Origin::Variable(name.into()), name.len() + 3),
            None if after.starts_with('_') => (Origin::Other, 2),
            None => {
                pieces.push(Piece::Text(rest[..=at].to_owned()));
                rest = after;
                continue;
            }
        };
        if at > 0 {
            pieces.push(Piece::Text(rest[..at].to_owned()));
        }
        pieces.push(Piece::Unknown(Unknown { from, splits: false }));
        rest = &rest[at + length..];
    }
    if !rest.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    Word::of_pieces(super::word::joined(pieces))
}

fn is_echo_flag(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && word[1..].bytes().all(|byte| b"neE".contains(&byte))
}

/// What a program that changes text makes of it.
fn filtered(name: &str, words: &[&str], text: &str) -> Option<String> {
    match (name, words) {
        ("base64" | "gbase64", [.., flag]) if is_decode(flag) => decode::base64(text),
        ("base64" | "gbase64", [flag, ..]) if is_decode(flag) => decode::base64(text),
        ("openssl", words) if words.contains(&"-d") && words.iter().any(|word| word.ends_with("base64")) => {
            decode::base64(text)
        }
        ("base32", [flag, ..]) if is_decode(flag) => decode::base32(text),
        ("xxd", words) if words.iter().any(|word| word.contains('r')) => decode::hex(text),
        ("rev", []) => Some(text.lines().map(|line| line.chars().rev().collect::<String>() + "\n").collect()),
        ("tr", ["-d", set]) => {
            let gone = decode::set(set)?;
            Some(text.chars().filter(|c| !gone.contains(c)).collect())
        }
        ("tr", [from, to]) if !from.starts_with('-') => {
            let (from, to) = (decode::set(from)?, decode::set(to)?);
            let last = *to.last()?;
            let change = |c: char| match from.iter().rposition(|other| *other == c) {
                Some(at) => to.get(at).copied().unwrap_or(last),
                None => c,
            };
            Some(text.chars().map(change).collect())
        }
        ("sed", [script] | ["-e", script]) => decode::substituted(script, text),
        ("head" | "tail", _) if text.trim_end().lines().count() <= 1 => Some(text.to_owned()),
        ("sort" | "uniq" | "nl" | "xargs", []) if text.trim_end().lines().count() <= 1 => {
            Some(text.to_owned())
        }
        _ => None,
    }
}

fn is_decode(flag: &str) -> bool {
    matches!(flag, "-d" | "-D" | "--decode" | "-di" | "-id")
}

/// What `printf` makes of its words: the format is used again while there are values.
pub(super) fn formatted(format: &str, values: &[&str]) -> String {
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
        if values.len() == 0 || values.len() == left || out.len() > 1 << 16 {
            return out;
        }
    }
}

/// Decodes escapes such as `\n`, as `echo -e` and `printf` do.
pub(super) fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        // `\0162` is the octal form of echo.
        let zero = usize::from(after.starts_with('0') && after.len() > 1);
        let (meant, taken) = ansi_c(&after[zero..]);
        out.push_str(&meant);
        rest = &after[zero + taken..];
    }
    out.push_str(rest);
    out
}
