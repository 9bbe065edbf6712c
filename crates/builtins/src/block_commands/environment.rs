//! The whole environment, shown or written to a file.

use super::fit::CommandContext;
use crate::shell::{Command, Direction, Input, Origin, Word};

/// Programs that write all of what they read to their output, in some form.
pub(super) const PASSES_ON: [&str; 27] = [
    "sort", "cat", "less", "more", "head", "tail", "tee", "nl", "column", "base64", "base32", "xxd", "od",
    "hexdump", "gzip", "openssl", "uniq", "bat", "xclip", "pbcopy", "xsel", "rev", "tac", "xz", "zstd",
    "bzip2", "wl-copy",
];

/// How many commands after one are searched for those that read its output.
const MAX_AFTER: usize = 128;

impl CommandContext<'_> {
    /// Whether the command shows all variables of the environment, or writes them to a file.
    pub(super) fn shows_environment(&self) -> bool {
        let is_own = self.command.certain && self.wrapper_elsewhere().is_none();
        is_own && prints_all(self.command) && !self.is_captured(self.at) && self.is_passed_on(self.at, 0)
    }

    /// Whether what a command prints reaches the screen or a file.
    fn is_passed_on(&self, at: usize, depth: usize) -> bool {
        const MAX_STEPS: usize = 6;
        let is_nothing = |command: &Command| {
            let writes = command.redirections.iter().filter(|redirection| {
                redirection.direction == Direction::Write && redirection.descriptor != 2
            });
            writes.into_iter().any(|redirection| redirection.target.known() == Some("/dev/null"))
        };
        if is_nothing(&self.script.commands[at]) || self.is_captured(at) {
            return false;
        }
        let reads = |command: &Command| matches!(&command.input, Input::Pipe(range) if range.contains(&at));
        let commands = self.script.commands.iter().enumerate().skip(at + 1).take(MAX_AFTER);
        let mut readers = commands.filter(|(_, command)| reads(command)).peekable();
        if readers.peek().is_none() {
            return true;
        }
        depth < MAX_STEPS
            && readers.any(|(place, reader)| {
                reader.name().is_some_and(|name| PASSES_ON.contains(&name))
                    && self.is_passed_on(place, depth + 1)
            })
    }

    /// Whether the output is a part of a word, or the value of a variable.
    pub(super) fn is_captured(&self, at: usize) -> bool {
        let holds = |word: &Word| {
            word.unknowns().any(|unknown| {
                matches!(&unknown.from, Origin::Output(range) | Origin::Process(range) if range.contains(&at))
            })
        };
        self.script.commands.iter().skip(at + 1).take(MAX_AFTER).any(|command| {
            command.words.iter().any(holds)
                || command.assignments.iter().any(|assignment| holds(&assignment.value))
                || command.redirections.iter().any(|redirection| holds(&redirection.target))
        })
    }
}

/// `env`, `printenv`, `export -p`, `declare -x` and similar, without a name.
pub(super) fn prints_all(command: &Command) -> bool {
    let words = command.arguments();
    let all = |letters: &[&str]| words.iter().all(|word| letters.contains(&word.known().unwrap_or_default()));
    match command.name() {
        Some("env" | "printenv" | "genv") => all(&["-0", "--null"]),
        Some("set") => words.is_empty(),
        Some("export" | "declare" | "typeset") => !words.is_empty() && all(&["-p", "-x", "-px", "-xp"]),
        _ => false,
    }
}
