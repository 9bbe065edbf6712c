//! Endless loops, background commands, and functions that call themselves.

use super::model::{Command, Input};
use super::parser::Parser;
use super::word::Word;

/// A loop with this many iterations counts as endless.
const MANY: u64 = 100_000;

/// Longer heads of loops are not searched for numbers.
const LONGEST: usize = 256;

impl Parser {
    /// Marks the commands from here on as background commands: `a &`.
    pub(super) fn mark_background(&mut self, from: usize) {
        self.script.commands.iter_mut().skip(from).for_each(|command| command.execution.in_background = true);
    }

    /// Whether a `while` or `until` never ends; its condition begins at `start`, its body at `body`.
    pub(super) fn note_loop(&mut self, word: &str, start: usize, body: usize) {
        let [condition] = self.script.commands.get(start..body).unwrap_or_default() else { return };
        let words = || condition.arguments().iter().map(|word| word.known().unwrap_or("$"));
        let is_number = |word: &str| word == "]" || word.bytes().all(|byte| byte.is_ascii_digit());
        let holds = match condition.name() {
            Some("true" | ":" | "1") => true,
            Some("test" | "[") => condition.words.len() > 1 && words().all(is_number),
            _ => false,
        };
        let fails = condition.name() == Some("false");
        if (word == "while" && holds) || (word == "until" && fails) {
            self.note_endless(body);
        }
    }

    /// Marks the commands of a loop that begin here, unless one of them ends the loop or makes it wait.
    pub(super) fn note_endless(&mut self, body: usize) {
        let stops = |command: &Command| {
            let waits = matches!(
                command.name(),
                Some(
                    "break"
                        | "exit"
                        | "return"
                        | "sleep"
                        | "usleep"
                        | "wait"
                        | "read"
                        | "kill"
                        | "inotifywait"
                        | "fswatch"
                        | "select"
                )
            );
            waits && !command.execution.in_background
        };
        let commands = self.script.commands.get_mut(body..).unwrap_or_default();
        if !commands.iter().any(stops) {
            commands.iter_mut().for_each(|command| command.execution.is_endless = true);
        }
    }

    /// Whether the head of a `for`, which begins here, has no end or a far one: `((;;))`, `i in {1..9999999}`.
    pub(super) fn counts_far(&self, head: usize) -> bool {
        let head = self.text.get(head..self.at).unwrap_or_default();
        if head.len() > LONGEST {
            return false;
        }
        let is_counted = head.starts_with("((");
        if is_counted && head.split(';').nth(1).is_some_and(|condition| condition.trim().is_empty()) {
            return true;
        }
        let counts = is_counted || head.contains("..") || head.contains("seq ") || head.contains("jot ");
        let numbers = head.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty());
        counts && numbers.into_iter().any(|number| number.parse().unwrap_or(u64::MAX) >= MANY)
    }

    /// Marks the calls of a function in its own body, which begins at `start`.
    pub(super) fn mark_recursive(&mut self, name: &str, start: usize) {
        let commands = self.script.commands.iter_mut().skip(start);
        commands.filter(|command| command.program() == Some(name)).for_each(|command| {
            command.execution.is_recursive = true;
        });
    }
}

impl super::Script {
    /// Whether the command at `at` starts what it is a part of, again and again: `:(){ :|:& };:`, `$0 & $0 &`.
    pub(crate) fn is_fork_bomb(&self, at: usize) -> bool {
        let Some(command) = self.commands.get(at) else { return false };
        if !self.runs_beside(command, at) || command.words.len() != 1 {
            return false;
        }
        command.execution.is_recursive || names_itself(&command.words[0]) || self.runs_own_file(command)
    }

    /// Whether a command runs concurrently: in the background, or in a pipeline with a similar one.
    fn runs_beside(&self, command: &Command, at: usize) -> bool {
        if command.execution.in_background {
            return true;
        }
        let Input::Pipe(range) = &command.input else { return false };
        let before = self.commands.get(range.start..range.end.min(at)).unwrap_or_default();
        before.iter().any(|other| other.words == command.words)
    }

    /// Whether a file that the line wrote runs itself.
    fn runs_own_file(&self, command: &Command) -> bool {
        const MAX_STEPS: usize = 8;
        let Some(program) = command.program().filter(|program| program.contains(['/', '.'])) else {
            return false;
        };
        let mut wrapper = command.wrapper;
        for _ in 0..MAX_STEPS {
            let Some(other) = wrapper.and_then(|at| self.commands.get(at)) else { return false };
            if other.runs_file_of.is_some() && other.words.iter().any(|word| word.known() == Some(program)) {
                return true;
            }
            wrapper = other.wrapper;
        }
        false
    }
}

/// `$0`, and `%0` of Windows.
fn names_itself(word: &Word) -> bool {
    let shown = word.show();
    matches!(shown.trim_start_matches("./"), "$0" | "${0}" | "%0")
}
