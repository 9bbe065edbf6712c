//! Names that a line gives to commands: `alias ls=rm`, `ls() { rm "$@"; }`, `hash -p /bin/rm ls`.
//!
//! A call under such a name is also inspected as what it stands for. That is used to forbid it, never to
//! allow it: whether a shell follows the new name depends on its options.

use super::WORD;
use crate::shell::model::Command;
use crate::shell::parser::Parser;
use crate::shell::variables::{ARGUMENTS, Value, Variables};
use crate::shell::word::Word;

/// What a new name stands for.
#[derive(Debug, Clone)]
pub(in crate::shell) enum Meaning {
    /// These words, with the arguments after them.
    Words(Vec<Word>),
    /// This code, which gets the arguments.
    Function {
        body: String,
        /// The variables after it has run.
        after: Variables,
    },
}

impl Parser {
    /// Inspects a call as what its name stands for.
    pub(super) fn renamed(&mut self, at: usize) {
        let command = &self.script.commands[at];
        let Some(name) = command.name() else { return };
        let Some(meaning) = self.names.get(name).cloned() else { return };
        if !self.may_open() {
            return;
        }
        let command = &self.script.commands[at];
        let (level, arguments) = (command.level + 1, command.arguments().to_vec());
        match meaning {
            Meaning::Words(words) => {
                let words: Vec<Word> = words.into_iter().chain(arguments).collect();
                if self.spend(words.len() * WORD) {
                    let variables = self.script.commands[at].variables.clone();
                    let command =
                        Command { words, wrapper: Some(at), level, variables, ..Command::default() };
                    self.script.commands.push(command);
                }
            }
            Meaning::Function { body, .. } => {
                let command = &mut self.script.commands[at];
                let certain = std::mem::replace(&mut command.certain, false);
                let outer = command.variables.clone();
                command.variables.set(ARGUMENTS, Value::List(arguments));
                let doubts = self.script.doubts.len();
                self.code_text(at, body);
                self.script.doubts.truncate(doubts);
                let command = &mut self.script.commands[at];
                command.certain = certain;
                command.variables = outer;
            }
        }
    }
}
