//! Shapes that are more than words: code from elsewhere, and those that have a name.

use super::entry::{Entry, Special};
use super::fit::Scene;
use crate::shell::{Command, Input, Origin, Script, Word};

impl Scene<'_> {
    /// The programs whose output this command runs as code.
    pub(super) fn sources(&self) -> impl Iterator<Item = &str> {
        let words = self.command.arguments();
        let is_option = |word: &&Word| word.head().len() > 1 && word.head().starts_with('-');
        let operand = words.iter().find(|word| !is_option(word));
        let gives_code = |word: &Word| word.head().len() > 1 && word.head()[1..].contains(['c', 'e', 'm']);
        let has_code = words.iter().take_while(is_option).any(gives_code);
        let from_stdin = match operand.and_then(Word::known) {
            Some(file) => matches!(file, "-" | "/dev/stdin" | "/dev/fd/0"),
            None => operand.is_none() && !has_code,
        };
        let mut ranges = Vec::new();
        let mut input = &self.command.input;
        // Through `tee`, `cat`, `head` and the like the code still comes from where it came.
        for _ in 0..8 {
            let Input::Pipe(range) = input else { break };
            if from_stdin || self.command.name() == Some("at") {
                ranges.push(range.clone());
            }
            let last = self.script.commands.get(range.clone()).and_then(<[Command]>::last);
            let Some(command) = last else { break };
            input = &command.input;
        }
        let code: &[Word] = match operand {
            Some(_) if self.command.name() == Some("eval") => words,
            Some(first) => std::slice::from_ref(first),
            None => &[],
        };
        for unknown in code.iter().flat_map(Word::unknowns) {
            if let Origin::Output(range) | Origin::Process(range) = &unknown.from {
                ranges.push(range.clone());
            }
        }
        let commands =
            ranges.into_iter().flat_map(|range| self.script.commands.get(range).unwrap_or_default());
        commands.filter_map(Command::name)
    }

    pub(super) fn special(&self, entry: &Entry, words: &[Word]) -> bool {
        let known = |word: &Word| word.known().map(str::to_lowercase).unwrap_or_default();
        match entry.special {
            None | Some(Special::ForkBomb) => true,
            Some(Special::KillAll) => {
                // `kill -1 PID` is a signal; `kill -9 -1` and `kill -- -1` are everybody.
                let place = words.iter().rposition(|word| known(word) == "-1");
                place.is_some_and(|at| at > 0)
            }
            Some(Special::Power) => match self.command.name() {
                Some("systemctl") => {
                    let verbs = [
                        "poweroff",
                        "reboot",
                        "halt",
                        "kexec",
                        "suspend",
                        "hibernate",
                        "isolate",
                        "rescue",
                        "emergency",
                    ];
                    words.iter().any(|word| verbs.contains(&known(word).as_str()))
                }
                Some("init" | "telinit") => {
                    words.iter().any(|word| matches!(known(word).as_str(), "0" | "6" | "1"))
                }
                Some("shutdown") => {
                    !words.iter().any(|word| matches!(known(word).as_str(), "-c" | "--help" | "--show"))
                }
                _ => !words.iter().any(|word| known(word) == "--help"),
            },
        }
    }
}

/// `:(){ :|:& };:`: a command that feeds itself.
pub(super) fn is_fork_bomb(script: &Script, command: &Command) -> bool {
    let Some(name) = command.program().filter(|_| command.words.len() == 1) else { return false };
    let Input::Pipe(range) = &command.input else { return false };
    let producers = script.commands.get(range.clone()).unwrap_or_default();
    producers.iter().any(|producer| producer.words.len() == 1 && producer.program() == Some(name))
        && script.commands.iter().filter(|other| other.program() == Some(name)).count() > 2
}
