//! What a command gets from the commands before it: through a pipe, `xargs` or a substitution.

use super::fit::CommandContext;
use crate::shell::{Command, Direction, Input, Origin, Word};

/// The maximum number of steps back.
const MAX_STEPS: usize = 6;

/// The maximum number of commands.
const MOST: usize = 16;

/// How many commands after one are searched for those that read its output.
const MAX_AFTER: usize = 128;

impl<'a> CommandContext<'a> {
    /// `git diff | git apply -R`: the input is what differs between the last commit and the files.
    pub(super) fn reads_own_diff(&self) -> bool {
        let is_own = |command: &&Command| {
            let mut words = command.arguments().iter().filter(|word| !word.head().starts_with('-'));
            let is_diff = words.next().is_some_and(|word| word.known() == Some("diff"));
            let of_files = |word: &Word| word.known() == Some("HEAD");
            let is_stored = || {
                let stored = |word: &Word| matches!(word.known(), Some("--cached" | "--staged" | "--"));
                command.arguments().iter().any(stored)
            };
            let is_listed = || {
                let has =
                    |wanted: &[&str]| command.arguments().iter().any(|word| wanted.contains(&word.head()));
                has(&["ls-files"]) && has(&["-m", "--modified", "-mz", "-zm"])
            };
            command.name() == Some("git") && (is_listed() || (is_diff && words.all(of_files) && !is_stored()))
        };
        self.feeding().iter().any(is_own)
    }

    /// `git ls-files --others | xargs rm`, `git status -s | grep '^??' | … | xargs rm`. Files that git ignores are
    /// mostly made again by a build.
    pub(super) fn gets_untracked(&self) -> bool {
        let found = self.feeding();
        let has = |command: &Command, words: &[&str]| {
            command.arguments().iter().any(|word| words.contains(&word.head()))
        };
        let marks = |command: &Command| {
            matches!(command.name(), Some("grep" | "egrep" | "awk" | "sed"))
                && command
                    .arguments()
                    .iter()
                    .any(|word| word.show().contains("??") || word.show().contains("\\?"))
        };
        let is_marked = found.iter().any(|command| marks(command));
        found.iter().any(|command| {
            command.name() == Some("git")
                && ((has(command, &["ls-files"])
                    && has(command, &["--others", "-o", "-oz", "-zo"])
                    && !has(command, &["--ignored", "-i", "-oi", "-io"]))
                    || (has(command, &["status"]) && is_marked))
        })
    }

    /// `ps aux | grep node | … | xargs kill -9`
    pub(super) fn gets_broad_search(&self) -> bool {
        // What a person's other programs, servers and agents are called, too.
        const BROAD: [&str; 24] = [
            "node", "python", "python3", "java", "ruby", "php", "bash", "zsh", "sh", "ssh", "sshd", "code",
            "chrome", "firefox", "docker", "postgres", "mysql", "mysqld", "claude", "electron", "cursor",
            "go", "deno", "bun",
        ];
        let found = self.feeding();
        let lists = found.iter().any(|command| command.name() == Some("ps"));
        let selects = found.iter().filter(|command| {
            let inverts = |word: &Word| word.head().starts_with('-') && word.head().contains('v');
            matches!(command.name(), Some("grep" | "egrep" | "rg"))
                && !command.arguments().iter().any(inverts)
        });
        let patterns: Vec<String> = selects
            .filter_map(|command| command.arguments().iter().find(|word| !word.head().starts_with('-')))
            .map(|word| word.show().to_lowercase().replace(['[', ']', '^', '$', '\\', '"', '\''], ""))
            .collect();
        lists && !patterns.is_empty() && patterns.iter().all(|pattern| BROAD.contains(&pattern.trim()))
    }

    /// Whether a filter (`jq`, `sed`) prints its result, and neither changes a file nor gives the result to another
    /// command.
    pub(super) fn only_prints(&self) -> bool {
        let command = self.command;
        let changes = |word: &Word| {
            let head = word.head();
            head.starts_with("--in")
                || (head.starts_with('-') && !head.starts_with("--") && head.contains('i'))
        };
        let writes = || {
            command.redirections.iter().any(|one| {
                matches!(one.direction, Direction::Write | Direction::Both)
                    && one.target.known() != Some("/dev/null")
            })
        };
        let reads = |next: &Command| matches!(&next.input, Input::Pipe(range) if range.contains(&self.at));
        let is_read = || self.script.commands.iter().skip(self.at + 1).take(MAX_AFTER).any(reads);
        matches!(command.name(), Some("jq" | "yq" | "dasel" | "sed" | "gsed"))
            && !command.arguments().iter().any(changes)
            && !writes()
            && !is_read()
            && !self.is_captured(self.at)
    }

    /// The commands whose output reaches this one.
    fn feeding(&self) -> Vec<&'a Command> {
        let mut found = Vec::new();
        self.feed(&self.command.input, &mut found, 0);
        let mut wrapper = self.command.wrapper;
        for _ in 0..MAX_STEPS {
            let Some(command) = wrapper.and_then(|at| self.script.commands.get(at)) else { break };
            self.feed(&command.input, &mut found, 0);
            wrapper = command.wrapper;
        }
        for unknown in self.command.arguments().iter().flat_map(Word::unknowns) {
            if let Origin::Output(range) | Origin::Process(range) = &unknown.from {
                self.feed(&Input::Pipe(range.clone()), &mut found, 0);
            }
        }
        found
    }

    fn feed(&self, input: &Input, found: &mut Vec<&'a Command>, depth: usize) {
        let Input::Pipe(range) = input else { return };
        for command in self.script.commands.get(range.clone()).unwrap_or_default().iter().take(4) {
            if found.len() < MOST && depth < MAX_STEPS {
                found.push(command);
                self.feed(&command.input, found, depth + 1);
            }
        }
    }
}
