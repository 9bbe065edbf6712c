//! Files that a line writes and then runs: `echo 'rm -rf x' > a.sh; sh a.sh`.

use crate::shell::model::Direction;
use crate::shell::parser::Parser;
use crate::shell::printed::KnownText;
use crate::shell::word::Word;

/// A file that the line writes.
#[derive(Debug, Clone)]
pub(in crate::shell) struct WrittenFile {
    /// The command that writes it.
    pub(in crate::shell) writer: usize,
    /// Its text, when that is known.
    pub(in crate::shell) text: KnownText,
}

/// More files than this are not followed.
const MAX_FILES: usize = 32;

/// Options of programs that download: their value is the file.
const DOWNLOADS: [(&str, &[&str]); 6] = [
    ("curl", &["-o", "--output"]),
    ("wget", &["-O", "--output-document"]),
    ("aria2c", &["-o", "--out"]),
    ("http", &["-o", "--output"]),
    ("invoke-webrequest", &["-OutFile", "-outfile"]),
    ("iwr", &["-OutFile", "-outfile"]),
];

/// The key under which a file is stored.
pub(in crate::shell) fn file_key(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

/// `wget -P folder address`, `curl --output-dir folder -O address`
fn downloaded_into(words: &[&str]) -> Option<String> {
    let place =
        words.iter().position(|word| matches!(*word, "-P" | "--directory-prefix" | "--output-dir"))?;
    let folder = words.get(place + 1)?;
    let address = words.iter().find(|word| word.contains("://"))?;
    let name = address.rsplit('/').next().unwrap_or_default();
    Some(format!("{}/{}", folder.trim_end_matches('/'), name.split('?').next().unwrap_or_default()))
}

impl Parser {
    /// Remembers the files that the command at `at` writes.
    pub(super) fn note_files(&mut self, at: usize) {
        let command = &self.script.commands[at];
        let writes = |direction: Direction| direction == Direction::Write;
        let redirected = command.redirections.iter().filter(|redirection| writes(redirection.direction));
        let mut files: Vec<String> =
            redirected.filter_map(|redirection| redirection.target.known()).map(str::to_owned).collect();
        let redirects = command.redirections.iter().any(|redirection| writes(redirection.direction));
        if !redirects && !command.name().is_some_and(copies) {
            return;
        }
        files.retain(|file| !file.starts_with("/dev/"));
        let is_kept =
            !files.is_empty() || command.redirections.iter().any(|other| other.target.known().is_none());
        let mut text = if is_kept { self.printed(command, 0) } else { KnownText::Unknown };
        let (command, mut writer) = (&self.script.commands[at], at);
        let words: Vec<&str> = command.arguments().iter().filter_map(Word::known).collect();
        match (command.name(), words.as_slice()) {
            (Some("tee"), words) => {
                files.extend(
                    words.iter().filter(|word| !word.starts_with('-')).map(|word| (*word).to_owned()),
                );
                text = self.text_of(&self.script.commands[at].input, 0);
            }
            (Some("cp" | "mv" | "install" | "ln"), [.., from, to]) => {
                let Some(known) = self.files.get(file_key(from)).cloned() else { return };
                files.push((*to).to_owned());
                (text, writer) = (known.text, known.writer);
            }
            (Some("base64" | "xxd" | "openssl" | "gunzip"), words) => {
                let place = words.iter().position(|word| matches!(*word, "-out" | "-o"));
                files.extend(place.and_then(|place| words.get(place + 1)).map(|word| (*word).to_owned()));
            }
            (Some(name), words) => {
                let options =
                    DOWNLOADS.iter().find(|(program, _)| *program == name).map(|(_, options)| *options);
                if let Some(options) = options {
                    files.extend(downloaded(words, options));
                    files.extend(downloaded_into(words));
                }
            }
            _ => {}
        }
        if let KnownText::Text(text) | KnownText::Perhaps(text) = &text
            && self.has_budget(text.len())
        {
            self.script.commands[at].written = Some(text.clone());
        }
        let certain = self.script.commands[at].certain;
        for file in files {
            if self.files.len() >= MAX_FILES {
                return;
            }
            let key = file_key(&file).to_owned();
            let old = self.files.get(&key).map(|file| file.text.clone());
            let text = match (old, text.clone()) {
                // `>>` adds to it.
                (Some(old @ (KnownText::Text(_) | KnownText::Perhaps(_))), new) if certain => {
                    let Some(both) = old.followed_by(new) else { return };
                    if !self.has_budget(both.len()) {
                        return;
                    }
                    both
                }
                (_, text) => text,
            };
            self.files.insert(key, WrittenFile { writer, text });
        }
    }

    /// Parses the code of a file that the line wrote and a command runs.
    pub(super) fn run_written(&mut self, at: usize, file: &str, arguments: &[Word]) {
        let Some(written) = self.files.get(file_key(file)).cloned() else { return };
        self.script.commands[at].runs_file_of = Some(written.writer);
        let words: Vec<Word> = [Word::literal(file)].into_iter().chain(arguments.iter().cloned()).collect();
        match written.text {
            KnownText::Text(text) => {
                if self.may_open() {
                    self.code_with(at, &Word::literal(text), &words);
                }
            }
            KnownText::Perhaps(text) => {
                if self.may_open() {
                    let certain = std::mem::replace(&mut self.script.commands[at].certain, false);
                    self.code_with(at, &Word::literal(text), &words);
                    self.script.commands[at].certain = certain;
                }
                self.unknown("a part of a file that it runs cannot be known");
            }
            _ => self.unknown("the text of a file that it runs cannot be known"),
        }
    }
}

fn copies(program: &str) -> bool {
    matches!(program, "tee" | "cp" | "mv" | "install" | "ln" | "base64" | "xxd" | "openssl" | "gunzip")
        || DOWNLOADS.iter().any(|(name, _)| *name == program)
}

/// The file that a program downloads to: named by an option, or by the end of the address.
fn downloaded(words: &[&str], options: &[&str]) -> Option<String> {
    for (at, word) in words.iter().enumerate() {
        for option in options {
            if word == option || (!option.starts_with("--") && is_cluster(word, option)) {
                return words.get(at + 1).map(|word| (*word).to_owned());
            }
            if let Some(value) = word.strip_prefix(option).filter(|value| !value.is_empty()) {
                return Some(value.trim_start_matches('=').to_owned());
            }
        }
    }
    let bare = |word: &&&str| {
        word.contains('/') && word.contains('.') && !word.starts_with(['-', '.', '/', '~', '@'])
    };
    let address = words.iter().find(|word| word.contains("://")).or_else(|| words.iter().rfind(bare))?;
    let name = address.split(['?', '#']).next()?.rsplit('/').next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

/// `-fsSLo` ends with the letter of `-o`.
fn is_cluster(word: &str, option: &str) -> bool {
    let letter = option.trim_start_matches('-');
    word.starts_with('-') && !word.starts_with("--") && word.len() > 2 && word.ends_with(letter)
}
