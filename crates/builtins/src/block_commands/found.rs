//! Commands that change or send the results of a search: `find ~ | xargs rm`, `for f in $(find /etc); do rm "$f"; done`.

use super::fit::CommandContext;
use super::target::{is_home_folder, is_system};
use crate::shell::{Command, Direction, Input, Origin, Redirection, Unknown, Word, normal};

/// The maximum number of steps back from a command to the search.
const MAX_STEPS: usize = 6;

impl<'a> CommandContext<'a> {
    /// Whether the command gets files that were searched for all over a system or home folder.
    pub(super) fn works_on_found(&self) -> bool {
        self.searches().iter().any(|search| {
            let roots = search.arguments().iter().filter(|word| !word.head().starts_with(['-', '(', '!']));
            roots.into_iter().take(8).any(|root| self.is_precious_root(root))
        })
    }

    /// Whether the command gets files that any search found, but not logs.
    pub(super) fn works_on_any_found(&self) -> bool {
        let is_log = |word: &Word| word.show().contains("log") || word.show().contains("/tmp");
        let is_many = |word: &Word| word.has_wildcard() && !is_log(word);
        self.command.arguments().iter().any(is_many)
            || self.searches().iter().any(|search| !search.arguments().iter().any(is_log))
    }

    /// Whether the command truncates the files that a loop or a search goes through: `for f in *.c; do : > $f`.
    pub(super) fn empties_many(&self) -> bool {
        let command = self.command;
        let words = command.arguments();
        let prints_nothing = match command.name() {
            None => command.words.is_empty() && !command.execution.has_body,
            Some(":" | "true") => true,
            Some("echo") => words.is_empty() || words.iter().all(|word| word.known() == Some("-n")),
            Some("printf") => words.len() == 1 && words[0].known() == Some(""),
            Some("cat") => words.iter().any(|word| word.known() == Some("/dev/null")),
            _ => false,
        };
        let is_many = |word: &Word| {
            let is_found = |from: &Origin| match from {
                Origin::Variable(name) => &**name == "_",
                Origin::Choice(_) => false,
                Origin::Output(_) | Origin::Process(_) | Origin::Other => true,
            };
            let shown = word.show();
            let is_log = shown.contains("log") || shown.starts_with("/tmp") || shown.contains("tmp");
            let is_many = |unknown: &Unknown| is_found(&unknown.from) && !self.is_temporary(unknown);
            !is_log && (word.has_wildcard() || word.unknowns().any(is_many))
        };
        let writes = |redirection: &Redirection| redirection.direction == Direction::Write;
        let mut targets = command.redirections.iter().filter(|redirection| writes(redirection));
        prints_nothing && targets.any(|redirection| is_many(&redirection.target))
    }

    /// `rm *.py`, `rm src/*.go`, `find . -name '*.py' -delete`
    pub(super) fn names_all_sources(&self) -> bool {
        // Not what a compiler or a program writes, too: `*.js`, `*.sql`.
        const ENDS: [&str; 20] = [
            "py", "ts", "tsx", "jsx", "go", "rs", "rb", "java", "c", "cpp", "h", "cs", "php", "kt", "swift",
            "vue", "yaml", "yml", "toml", "tf",
        ];
        const FOLDERS: [&str; 10] =
            ["", "src", "app", "lib", "pkg", "cmd", "internal", "tests", "test", "migrations"];
        let is_all = |word: &Word| {
            let shown = word.show();
            let (folder, name) = shown.rsplit_once('/').unwrap_or(("", &shown));
            let folder = folder.trim_start_matches('.').trim_start_matches('/');
            let first = folder.split('/').next().unwrap_or_default();
            let is_here = FOLDERS.contains(&first) && !shown.starts_with('/');
            is_here && name.strip_prefix("*.").is_some_and(|end| ENDS.contains(&end))
        };
        self.command.arguments().iter().any(is_all)
    }

    fn is_precious_root(&self, root: &Word) -> bool {
        let shown = root.show();
        let is_path = shown.starts_with(['/', '~']) || shown.starts_with("${HOME}");
        let path = normal(&shown, self.places.cwd);
        is_path
            && (self.is_top(&path) || (is_system(&path) && !self.is_own_work(&path)) || is_home_folder(&path))
    }

    /// The searches whose results the command gets.
    fn searches(&self) -> Vec<&'a Command> {
        let mut found = Vec::new();
        let mut wrapper = self.command.wrapper;
        for _ in 0..MAX_STEPS {
            let Some(command) = wrapper.and_then(|at| self.script.commands.get(at)) else { break };
            if is_search(command) {
                found.push(command);
            }
            if matches!(command.name(), Some("xargs" | "gxargs" | "parallel")) {
                self.follow_search(&command.input, &mut found, 0);
            }
            wrapper = command.wrapper;
        }
        for unknown in self.command.arguments().iter().flat_map(Word::unknowns) {
            if let Origin::Output(range) | Origin::Process(range) = &unknown.from {
                self.follow_search(&Input::Pipe(range.clone()), &mut found, 0);
            }
        }
        found
    }

    fn follow_search(&self, input: &Input, found: &mut Vec<&'a Command>, depth: usize) {
        let Input::Pipe(range) = input else { return };
        for command in self.script.commands.get(range.clone()).unwrap_or_default().iter().take(4) {
            if is_search(command) {
                found.push(command);
            } else if depth < MAX_STEPS {
                self.follow_search(&command.input, found, depth + 1);
            }
        }
    }
}

fn is_search(command: &Command) -> bool {
    let lists_tracked = || {
        let verb = command.arguments().iter().map(Word::head).find(|head| !head.starts_with('-'));
        command.name() == Some("git") && verb == Some("ls-files")
    };
    matches!(
        command.name(),
        Some("find" | "gfind" | "fd" | "fdfind" | "locate" | "mlocate" | "plocate" | "mdfind" | "ls" | "bfs")
    ) || lists_tracked()
}
