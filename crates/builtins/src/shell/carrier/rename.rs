//! Names that a line gives to commands: `alias ls=rm`, `ls() { rm "$@"; }`, `hash -p /bin/rm ls`.
//!
//! A call under such a name is also looked at as what it stands for. That is enough to forbid it, and never what
//! allows it: whether a shell follows the new name depends on its options.

use std::ops::Range;

use super::WORD;
use crate::shell::model::Command;
use crate::shell::parser::Parser;
use crate::shell::word::{Piece, Word};

/// What a new name stands for.
#[derive(Debug, Clone)]
pub(in crate::shell) enum Meaning {
    /// These words, with the arguments behind them.
    Words(Vec<Word>),
    /// These commands, with the arguments where they take them.
    Body(Range<usize>),
}

impl Parser {
    /// Looks at a call as what its name stands for.
    pub(super) fn renamed(&mut self, at: usize) {
        let command = &self.script.commands[at];
        let (Some(name), true) = (command.name(), command.certain) else { return };
        let Some(meaning) = self.names.get(name) else { return };
        let (level, arguments) = (command.level + 1, command.arguments().to_vec());
        let lines: Vec<Vec<Word>> = match meaning {
            Meaning::Words(words) => vec![words.iter().chain(&arguments).cloned().collect()],
            Meaning::Body(range) => {
                let body = self.script.commands.get(range.clone()).unwrap_or_default();
                body.iter().map(|command| filled(&command.words, &arguments)).collect()
            }
        };
        for words in lines.into_iter().filter(|words| !words.is_empty()) {
            if self.spend(words.len() * WORD) {
                self.script.commands.push(Command { words, carrier: Some(at), level, ..Command::default() });
            }
        }
    }
}

/// The words of a function's command, with its arguments in place of what is known only then: `"$@"`, `$1`.
fn filled(words: &[Word], arguments: &[Word]) -> Vec<Word> {
    let mut all = Vec::with_capacity(words.len() + arguments.len());
    for word in words {
        match word.pieces() {
            [Piece::Unknown(_)] => all.extend_from_slice(arguments),
            _ => all.push(word.clone()),
        }
    }
    all
}
