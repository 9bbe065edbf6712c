//! The files that a line of shell names.

use std::collections::HashSet;
use std::path::Path;

use super::Protected;
use crate::guard::Ruling;
use crate::path::{Places, expand_glob};
use crate::shell::{Command, Direction, DoubtKind, Script, Word};
use crate::tool::Access;

/// More words than this are not looked up.
const MOST_WORDS: usize = 5_000;

/// Programs that look at files and do not change them.
const READERS: &[&str] = &[
    "cat",
    "less",
    "more",
    "head",
    "tail",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "ag",
    "ack",
    "wc",
    "diff",
    "cmp",
    "comm",
    "od",
    "hexdump",
    "strings",
    "sort",
    "cut",
    "tr",
    "awk",
    "gawk",
    "jq",
    "yq",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "shasum",
    "cksum",
    "base64",
    "nl",
    "tac",
    "rev",
    "fold",
    "column",
    "paste",
    "join",
    "bat",
    "zcat",
    "zless",
    "zgrep",
    "cd",
    "pushd",
    "du",
    "tree",
    "file",
    "stat",
    "ls",
    "eza",
    "exa",
    "lsattr",
    "getfacl",
    "source",
    ".",
    "readlink",
    "realpath",
];
/// Programs that only handle names.
const NAMERS: &[&str] = &[
    "echo",
    "printf",
    "test",
    "[",
    "[[",
    "true",
    "false",
    ":",
    "basename",
    "dirname",
    "which",
    "type",
    "command",
    "ls",
    "stat",
    "export",
    "declare",
    "local",
    "set",
    "unset",
    "alias",
    "man",
    "help",
    "git-check-ignore",
];

impl Protected {
    /// What a line of shell may not do.
    pub(super) fn judge_script(&self, script: &Script, places: Places<'_>) -> Ruling {
        let folders = script.folders(places);
        let mut seen = HashSet::new();
        for (at, command) in script.commands.iter().enumerate() {
            let here = folders.of(script, at);
            let known: Vec<&Path> = here.iter().flatten().map(|folder| folder.as_path()).collect();
            let lost = here.contains(&None);
            for (word, access) in words(command) {
                if !seen.insert((word.show().into_owned(), access == Access::Write, here.len())) {
                    continue;
                }
                if seen.len() > MOST_WORDS {
                    return Ruling::Ask("it names too many files to look at".to_owned());
                }
                match self.judge_word(&word, access, &known, lost, places.home) {
                    Ruling::Nothing => {}
                    ruling => return ruling,
                }
            }
        }
        match script.doubts.iter().find(|doubt| doubt.kind == DoubtKind::Form) {
            Some(doubt) => Ruling::Ask(format!("protect-paths cannot read the command line: {doubt}")),
            None => Ruling::Nothing,
        }
    }

    fn judge_word(
        &self,
        word: &Word,
        access: Access,
        folders: &[&Path],
        lost: bool,
        home: Option<&Path>,
    ) -> Ruling {
        let shown = word.show();
        for text in spellings(&shown) {
            // What cannot be known still has parts that can: `$DIR/.env`.
            if lost || word.unknowns().next().is_some() {
                let names =
                    text.split('/').filter(|name| !name.is_empty() && !name.contains(['$', '*', '?']));
                for name in names {
                    if let Some(pattern) = self.objects_to_name(name, access) {
                        let reason = format!(
                            "`{text}` is protected ({pattern}), wherever it leads; ask the person for it"
                        );
                        return Ruling::Deny(reason);
                    }
                }
            }
            if word.unknowns().any(
                |unknown| !matches!(&unknown.from, crate::shell::Origin::Variable(name) if &**name == "HOME"),
            ) {
                continue;
            }
            for folder in folders {
                let places = Places { cwd: folder, home };
                let file = places.resolve(text);
                if let Some(reason) = self.objection(text, access, &file) {
                    return Ruling::Deny(reason);
                }
                if !word.has_wildcard() {
                    continue;
                }
                let Some(found) = expand_glob(&file.lexical) else {
                    return Ruling::Ask(format!("`{text}` stands for too many files to look at"));
                };
                for path in found {
                    let path = path.to_string_lossy();
                    if let Some(reason) = self.objection(&path, access, &places.resolve(&path)) {
                        return Ruling::Deny(reason);
                    }
                }
            }
        }
        Ruling::Nothing
    }
}

/// The words of a command that can be paths, and what happens to them.
fn words(command: &Command) -> Vec<(Word, Access)> {
    let mut found = Vec::new();
    for redirection in &command.redirections {
        let access = match redirection.direction {
            Direction::Read => Access::Read,
            Direction::Write | Direction::Both => Access::Write,
            _ => continue,
        };
        found.push((redirection.target.clone(), access));
    }
    let name = command.name().unwrap_or_default();
    if !NAMERS.contains(&name) {
        let arguments = command.arguments();
        let reads = match name {
            "find" | "fd" => !arguments.iter().any(acts),
            // `-Ei`, `-ni.bak`: the letter may stand among others.
            "sed" => {
                !arguments.iter().any(|word| is_short(word, 'i') || word.head().starts_with("--in-place"))
            }
            _ => READERS.contains(&name) && !arguments.iter().any(|word| writes(name, word)),
        };
        let access = if reads { Access::Read } else { Access::Write };
        // The program itself may be a protected file too.
        found.extend(command.words.iter().map(|word| (word.clone(), access)));
    }
    // `GIT_DIR=.git`, `--file=.env` in a variable.
    found.extend(command.assignments.iter().map(|assignment| (assignment.value.clone(), Access::Read)));
    found
}

/// Whether this is an option with which a program that reads writes.
fn writes(program: &str, word: &Word) -> bool {
    let options: &[&str] = match program {
        "sort" | "tree" | "less" | "base64" => &["-o", "-O", "--output", "--log-file", "--LOG-FILE"],
        "awk" | "gawk" | "yq" => &["-i", "--in-place", "--inplace", "--include"],
        _ => &[],
    };
    options.iter().any(|option| word.head().starts_with(option))
}

/// Options with which a program that finds files does something to them.
fn acts(word: &Word) -> bool {
    let starts = ["-delete", "-exec", "-ok", "-fprint", "-fls", "-x", "-X", "--exec"];
    word.known().is_none() || starts.iter().any(|option| word.head().starts_with(option))
}

/// Whether it is a group of short options with this letter in it.
fn is_short(word: &Word, letter: char) -> bool {
    word.head().strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains(letter))
}

/// A word as a path, and its parts that can be one: `--file=.env`, `of=.env`, `@.env`, `host:.env`, `-f.env`.
fn spellings(word: &str) -> Vec<&str> {
    let mut all = vec![word];
    if let Some((_, value)) = word.split_once('=') {
        all.push(value);
    }
    if let Some(value) = word.strip_prefix('@') {
        all.push(value);
    }
    if let Some((_, value)) = word.split_once("=@") {
        all.push(value);
    }
    if let Some((_, value)) = word.rsplit_once(':') {
        all.push(value);
    }
    if word.starts_with('-') && !word.starts_with("--") && word.len() > 2 && word.is_char_boundary(2) {
        all.push(&word[2..]);
    }
    all.retain(|text| !text.is_empty());
    all
}
