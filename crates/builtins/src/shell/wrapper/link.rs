//! Other names for files and programs that a line makes: `ln -s ~ x; rm -rf x/`, `cp /bin/rm /tmp/ls`, a program that
//! the line wrote into a folder of its `PATH`.
//!
//! A command under such a name is added once more with what the name stands for: used to forbid, never to allow.

use super::WORD;
use super::rename::Meaning;
use crate::shell::model::{Command, base_name};
use crate::shell::parser::Parser;
use crate::shell::word::{Piece, Word, joined};
use crate::shell::wrapper::file_key;

/// More links than this are not followed.
const MAX_LINKS: usize = 8;

/// Folders with the programs of a system.
const PROGRAM_FOLDERS: [&str; 6] =
    ["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/opt/homebrew/bin/"];

/// Programs that are worth a second name, when only the name is known: `cp "$(which rm)" x`.
const WORTHWHILE: [&str; 14] = [
    "rm", "dd", "sh", "bash", "zsh", "curl", "wget", "nc", "shred", "chmod", "git", "kubectl", "docker",
    "sudo",
];

impl Parser {
    /// Remembers what the command at `at` gives another name.
    pub(super) fn note_links(&mut self, at: usize) {
        let command = &self.script.commands[at];
        let Some(name @ ("ln" | "cp" | "mv" | "install" | "link" | "gln" | "gcp")) = command.name() else {
            return;
        };
        let is_link = matches!(name, "ln" | "link" | "gln");
        let operands: Vec<&Word> =
            command.arguments().iter().filter(|word| !word.head().starts_with('-')).collect();
        let [from, to] = operands.as_slice() else { return };
        let Some(to) = to.known().map(str::to_owned) else { return };
        let from = (*from).clone();
        if let Some(program) = from.known() {
            let in_folder = PROGRAM_FOLDERS.iter().find_map(|folder| program.strip_prefix(folder));
            let program = in_folder.or_else(|| WORTHWHILE.contains(&program).then_some(program));
            let other = base_name(&to);
            if let Some(program) = program.filter(|program| *program != other && !other.is_empty()) {
                let meaning = Meaning::Words(vec![Word::literal(program)]);
                self.names.insert(other.to_owned(), meaning);
            }
        }
        if is_link && self.links.len() < MAX_LINKS {
            self.links.push((file_key(&to).trim_end_matches('/').to_owned(), from));
        }
    }

    /// The command with what links lead to in place of the links.
    pub(super) fn follow_links(&mut self, at: usize) {
        let command = &self.script.commands[at];
        if self.links.is_empty() || command.level > super::MAX_LEVELS {
            return;
        }
        let words: Vec<Word> = command.words.iter().map(|word| self.linked(word)).collect();
        let mut redirections = command.redirections.clone();
        for redirection in &mut redirections {
            redirection.target = self.linked(&redirection.target);
        }
        let is_same = words == command.words && redirections == command.redirections;
        if is_same || command.name().is_some_and(|name| matches!(name, "ln" | "gln")) {
            return;
        }
        let (level, input) = (command.level + 1, command.input.clone());
        if self.spend(words.len() * WORD) {
            let wrapper = Some(at);
            self.script.commands.push(Command {
                words,
                redirections,
                input,
                wrapper,
                level,
                ..Command::default()
            });
        }
    }

    fn linked(&self, word: &Word) -> Word {
        // `x/*` begins with a link as `x/a` does.
        let (path, after) = match (word.known(), word.pieces()) {
            (Some(text), _) => (file_key(text), &[][..]),
            (None, [Piece::Text(text), after @ ..]) if text.contains('/') => {
                (text.trim_start_matches("./"), after)
            }
            _ => return word.clone(),
        };
        let found = self.links.iter().rev().find_map(|(link, target)| {
            let rest = path.strip_prefix(link.as_str())?;
            (rest.is_empty() || rest.starts_with('/')).then_some((target, rest))
        });
        match found {
            Some((target, rest)) => {
                let mut pieces = target.pieces().to_vec();
                pieces.push(Piece::Text(rest.to_owned()));
                pieces.extend_from_slice(after);
                Word::of_pieces(joined(pieces))
            }
            None => word.clone(),
        }
    }

    /// A program that the line wrote, called by its name alone after the line changed `PATH`.
    pub(super) fn run_from_path(&mut self, at: usize) {
        if !self.changes_path || self.files.is_empty() {
            return;
        }
        let command = &self.script.commands[at];
        let Some(name) = command.program().filter(|name| !name.contains('/')) else { return };
        let file = self.files.keys().find(|file| file.contains('/') && base_name(file) == name).cloned();
        let arguments = command.arguments().to_vec();
        if let Some(file) = file {
            self.run_written(at, &file, &arguments);
        }
    }
}
