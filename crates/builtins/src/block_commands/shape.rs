//! Checks that go beyond comparing words: code from elsewhere, and the named special checks.

use std::ops::Range;

use super::entry::Special;
use super::fit::CommandContext;
use super::runs_input::{in_ranges, names_of};
use super::sql;
use crate::shell::{Command, Input, Origin, Word, is_interpreter, only_checks};

/// Shells, by name.
pub(super) const SHELLS: [&str; 12] =
    ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "csh", "tcsh", "rbash", "mksh", "busybox"];

impl CommandContext<'_> {
    /// The programs whose output this command runs as code.
    pub(super) fn sources(&self) -> impl Iterator<Item = &str> {
        let commands = self.source_commands();
        let words = self.command.arguments();
        let shell = self.command.name().is_some_and(|name| SHELLS.contains(&name));
        let in_body = match &self.command.input {
            Input::Here(body) if self.runs_code() && code_place(words, shell).1 => {
                self.script.here_documents.get(*body)
            }
            _ => None,
        };
        let in_body = in_body.filter(|body| !body.literal).map(|body| substituted(&body.text));
        let is_filtered = commands.iter().any(|command| selects(command));
        let is_harmless =
            move |command: &Command| prints_completion(command) || (is_filtered && lists_things(command));
        let counts = move |command: &&Command| !is_harmless(command);
        let names = commands.into_iter().filter(counts).flat_map(names_of);
        names.chain(in_body.into_iter().flatten())
    }

    /// A program that is not an interpreter treats its input and words as data.
    fn runs_code(&self) -> bool {
        self.command.name().is_some_and(|name| {
            SHELLS.contains(&name) || is_interpreter(name) || matches!(name, "source" | "." | "eval")
        })
    }

    /// The commands whose output this command runs as code.
    pub(super) fn source_commands(&self) -> Vec<&Command> {
        let words = self.command.arguments();
        let shell = self.command.name().is_some_and(|name| SHELLS.contains(&name));
        if shell && only_checks(words) {
            return Vec::new();
        }
        let (place, from_stdin) = code_place(words, shell);
        let mut ranges = Vec::new();
        let name = self.command.name();
        let runs_code = self.runs_code();
        if !runs_code || (from_stdin && name != Some("eval")) || self.runs_its_input() {
            self.follow(&self.command.input, &mut ranges, 0);
        }
        let code: &[Word] = match name {
            _ if !runs_code => words,
            Some("eval") => words,
            _ => words.get(place..words.len().min(place + 1)).unwrap_or_default(),
        };
        for word in code.iter().chain(self.command.words.first()) {
            self.follow_word(word, &mut ranges, 0);
        }
        if runs_code && !ranges.is_empty() {
            let names = self.names_for(code);
            ranges.retain(|range| !names.contains(range));
        }
        if let Input::Text(word) = &self.command.input {
            self.follow_word(word, &mut ranges, 0);
        }
        if runs_code {
            for word in self.descriptor_sources(code) {
                self.follow_word(word, &mut ranges, 0);
            }
        }
        if let Some(writer) = self.command.runs_file_of {
            ranges.push(writer..writer + 1);
            let input = self.script.commands.get(writer).map(|command| &command.input);
            input.into_iter().for_each(|input| self.follow(input, &mut ranges, 0));
        }
        in_ranges(&self.script.commands, ranges)
    }

    /// The commands whose output is only put into code that is written out: `ls | xargs -I{} sh -c 'wc -l {}'`.
    fn names_for(&self, code: &[Word]) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        let wrapper = self.command.wrapper.and_then(|at| self.script.commands.get(at));
        if let Some(wrapper) = wrapper
            && matches!(wrapper.name(), Some("xargs" | "gxargs" | "parallel"))
            && code.iter().all(|word| !word.head().is_empty())
        {
            self.follow(&wrapper.input, &mut ranges, 0);
        }
        ranges
    }

    /// Follows a text back through the commands of a pipeline: `curl | tee | cat`.
    fn follow(&self, input: &Input, ranges: &mut Vec<Range<usize>>, depth: usize) {
        let Input::Pipe(range) = input else { return };
        ranges.push(range.clone());
        let commands = self.script.commands.get(range.clone()).unwrap_or_default();
        for command in commands.iter().take(4) {
            if depth < 8 {
                self.follow(&command.input, ranges, depth + 1);
                // `echo "$X" | sh` where X is the output of curl.
                if matches!(command.name(), Some("echo" | "printf" | "cat")) {
                    command.arguments().iter().for_each(|word| self.follow_word(word, ranges, depth + 1));
                }
            }
        }
    }

    fn follow_word(&self, word: &Word, ranges: &mut Vec<Range<usize>>, depth: usize) {
        for unknown in word.unknowns() {
            if let Origin::Output(range) | Origin::Process(range) = &unknown.from {
                self.follow(&Input::Pipe(range.clone()), ranges, depth);
            }
        }
    }

    pub(super) fn special(&self, special: Special) -> bool {
        let words = self.command.arguments();
        let known = |word: &Word| word.known().map(str::to_lowercase).unwrap_or_default();
        match special {
            Special::ForkBomb => self.script.is_fork_bomb(self.at),
            Special::Sql => {
                words.iter().any(|word| sql::destroys(&word.show()))
                    || self.command.stdin_text.as_deref().is_some_and(sql::destroys)
                    || self.gets_flush()
            }
            Special::ShownKey => self.shows_key(),
            Special::Exfiltration => self.sends_secrets(),
            Special::Code => self.code_is_dangerous(),
            Special::MadeCode => self.is_computed_program(),
            Special::Fetched => self.command.runs_file_of.is_some(),
            Special::RunsInput => self.runs_its_input(),
            Special::SharedBranch => self.is_on_shared_branch(),
            Special::Cloned => self.runs_cloned(),
            Special::RemoteInput => self.is_fed_from_here(),
            Special::RemoteEnvironment => self.shows_environment_elsewhere(),
            Special::Environment => self.shows_environment(),
            Special::WrittenCode => self.writes_attack(),
            Special::Found => self.works_on_found(),
            Special::AnyFound => self.works_on_any_found(),
            Special::EmptiesMany => self.empties_many(),
            Special::Verb => super::verb::is_destructive(self.command),
            Special::RemoteCall => words.iter().any(is_remote_address) || self.gets_remote_targets(),
            Special::Endless => self.is_in_endless_loop(),
            Special::EndlessInput => self.reads_without_end(),
            Special::Huge => self.makes_huge(),
            Special::AsRoot => self.is_root(),
            Special::RootShell => self.is_root_shell(),
            Special::Unchecked => self.trusts_unchecked(),
            Special::PackageAddress => self.gets_foreign_package(),
            Special::NetFile => self.talks_through_file(),
            Special::ForgeChange => self.changes_forge(),
            Special::SentFile => self.sends_file(),
            Special::AllSources => self.names_all_sources(),
            Special::OwnDiff => self.reads_own_diff(),
            Special::Untracked => self.gets_untracked(),
            Special::BroadSearch => self.gets_broad_search(),
            Special::Desktop => self.controls_desktop(),
            Special::KillAll => {
                // In `kill -1 PID` it is a signal; in `kill -9 -1` and `kill -- -1` it means all processes.
                let place = words.iter().rposition(|word| known(word) == "-1");
                place.is_some_and(|at| at > 0)
            }
            Special::Power => match self.command.name() {
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

impl CommandContext<'_> {
    /// `echo 'GET https://…' | vegeta attack`
    fn gets_remote_targets(&self) -> bool {
        let text = self.command.stdin_text.as_deref().filter(|_| self.command.name() == Some("vegeta"));
        let mut words = text.into_iter().flat_map(|text| text.split_whitespace().take(64));
        words.any(|word| is_remote_address(&Word::literal(word)))
    }

    /// `manage.py sqlflush | psql`, `cat drop_all.sql | psql`
    fn gets_flush(&self) -> bool {
        const PARTS: [&str; 5] = ["drop", "wipe", "truncate", "destroy", "nuke"];
        let Input::Pipe(range) = &self.command.input else { return false };
        let commands = self.script.commands.get(range.clone()).unwrap_or_default();
        let flushes = |word: &Word| {
            word.known().is_some_and(|text| {
                text == "sqlflush" || (text.ends_with(".sql") && PARTS.iter().any(|part| text.contains(part)))
            })
        };
        commands.iter().take(8).any(|command| command.arguments().iter().any(flushes))
    }

    /// Whether the name of the program is the output of another command: `$(cat x) a`.
    fn is_computed_program(&self) -> bool {
        let Some(program) = self.command.words.first() else { return false };
        let is_output = |unknown: &crate::shell::Unknown| matches!(unknown.from, Origin::Output(_));
        let own = self.command.certain && self.command.wrapper.is_none();
        own && program.pieces().len() == 1 && program.unknowns().any(is_output)
    }
}

/// `https://host/…` or `host.name/…`, but not this machine.
pub(super) fn is_remote_address(word: &Word) -> bool {
    let shown = word.show();
    if shown.contains(char::is_whitespace) || shown.starts_with(['-', '@', '{', '.', '/', '$']) {
        return false;
    }
    let (has_scheme, rest) = match shown.split_once("://") {
        Some((_, rest)) => (true, rest),
        None => (false, &*shown),
    };
    let host = rest.split(['/', ':', '?']).next().unwrap_or_default();
    let is_name = host.contains('.') && host.ends_with(|c: char| c.is_ascii_alphanumeric());
    let is_here = host.is_empty()
        || host.starts_with("127.")
        || host.starts_with('[')
        || host.ends_with("localhost")
        || host.ends_with(".local")
        || host.ends_with(".test")
        || host == "0.0.0.0"
        || host == "host.docker.internal"
        || host.contains('$');
    // A service of the same composition has a name without a dot; `a.Service/Call` is not a host.
    let is_name = is_name && (has_scheme || !host.bytes().any(|byte| byte.is_ascii_uppercase()));
    is_name && !is_here && (has_scheme || rest.contains('/'))
}

/// The programs in the substitutions of a here-document.
fn substituted(text: &str) -> impl Iterator<Item = &str> {
    const MAX: usize = 16;
    let starts = text.match_indices("$(").map(|(at, mark)| at + mark.len());
    let starts = starts.chain(text.match_indices('`').map(|(at, mark)| at + mark.len()));
    let ends = |c: char| c.is_whitespace() || matches!(c, ')' | '`' | ';' | '|');
    starts.take(MAX).filter_map(move |at| text.get(at..)?.trim_start().split(ends).next())
}

/// `kubectl completion bash`: what the program itself brings for a shell.
fn prints_completion(command: &Command) -> bool {
    const PRINT: [&str; 7] = ["kubectl", "oc", "k", "docker", "podman", "helm", "gcloud"];
    let first = command.arguments().iter().map(Word::head).find(|head| !head.starts_with('-'));
    matches!(first, Some("completion" | "completions"))
        && command.name().is_some_and(|name| PRINT.contains(&name))
}

/// Programs that list processes or containers: with a filter, only those that are meant.
fn lists_things(command: &Command) -> bool {
    matches!(command.name(), Some("ps" | "pgrep" | "docker" | "podman" | "nerdctl"))
}

/// Whether a command selects by a specific name: `grep vite`, `pgrep -f vite`, `--filter name=x`.
fn selects(command: &Command) -> bool {
    let words = command.arguments();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.head()));
    let says_enough = |word: &Word| {
        let letters = word.show().chars().filter(|c| c.is_alphanumeric()).count();
        !word.head().starts_with('-') && letters >= 3
    };
    match command.name() {
        Some("grep" | "egrep" | "fgrep" | "rg") => {
            let inverts = |word: &Word| word.head().starts_with('-') && word.head().contains('v');
            !words.iter().any(inverts) && words.iter().any(says_enough)
        }
        Some("pgrep") => !has(&["-u", "-U", "-v"]) && words.iter().any(says_enough),
        Some("docker" | "podman" | "nerdctl") => {
            // `-aqf name=x`
            let is_filter = |head: &str| {
                head.starts_with("--filter=")
                    || (head.starts_with('-') && !head.starts_with("--") && head.ends_with('f'))
            };
            has(&["--filter"]) || words.iter().any(|word| is_filter(word.head()))
        }
        _ => false,
    }
}

/// The index of an interpreter's code or file among its words, and whether it reads its standard input.
pub(super) fn code_place(words: &[Word], shell: bool) -> (usize, bool) {
    let mut at = 0;
    let (mut has_code, mut reads) = (false, false);
    while let Some(word) = words.get(at) {
        let head = word.head();
        if head.len() < 2 || !head.starts_with(['-', '+']) {
            break;
        }
        at += 1;
        if head == "--" {
            break;
        }
        let letters = if head.starts_with("--") { "" } else { &head[1..] };
        if shell {
            has_code |= head.starts_with('-') && letters.contains('c');
            reads |= head.starts_with('-') && letters.contains('s') && !letters.contains('c');
            at += usize::from(letters.ends_with(['o', 'O']));
        } else {
            has_code |= letters.contains(['c', 'e', 'm', 'r', 'p']) || matches!(head, "--eval" | "--print");
        }
    }
    let is_stdin =
        |word: &Word| matches!(word.known(), Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"));
    let from_stdin = match words.get(at) {
        Some(word) => reads || is_stdin(word),
        None => !has_code,
    };
    (at, from_stdin)
}
