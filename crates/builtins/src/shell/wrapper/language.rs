//! Programs that run code in a language of their own, or commands after a mark: `python -c`, `psql -c '\\! …'`.

use std::borrow::Cow;

use crate::names::{self, Slot};
use crate::shell::model::Input;
use crate::shell::parser::Parser;
use crate::shell::word::{Origin, Word};

/// Interpreters: their code is stored for hooks that inspect it.
const INTERPRETERS: [&str; 55] = [
    "awk",
    "bun",
    "deno",
    "elixir",
    "emacs",
    "expect",
    "gawk",
    "groovy",
    "irb",
    "ipython",
    "julia",
    "lua",
    "luajit",
    "mawk",
    "nawk",
    "node",
    "nodejs",
    "osascript",
    "perl",
    "perl5",
    "php",
    "pypy",
    "pypy3",
    "python",
    "python2",
    "python3",
    "py",
    "r",
    "rscript",
    "ruby",
    "scala",
    "swift",
    "tclsh",
    "ts-node",
    "tsx",
    "wish",
    "gimp",
    "blender",
    "jshell",
    "rails",
    "mix",
    "iex",
    "erl",
    "sbcl",
    "guile",
    "racket",
    "clojure",
    "clj",
    "bb",
    "crystal",
    "jrunscript",
    "octave",
    "gnuplot",
    "sage",
    "flask",
];

/// Programs that take statements or commands on their standard input.
const READERS: [&str; 62] = [
    "sqlplus",
    "sqlcl",
    "snowsql",
    "isql",
    "osql",
    "tsql",
    "beeline",
    "hive",
    "trino",
    "presto",
    "spark-sql",
    "cypher-shell",
    "db2",
    "bq",
    "impala-shell",
    "vsql",
    "ysqlsh",
    "sqlite",
    "clickhouse-local",
    "litecli",
    "psql",
    "mysql",
    "mariadb",
    "sqlite3",
    "mongo",
    "mongosh",
    "redis-cli",
    "valkey-cli",
    "cqlsh",
    "influx",
    "sqlcmd",
    "clickhouse-client",
    "clickhouse",
    "duckdb",
    "cockroach",
    "crontab",
    "chpasswd",
    "ed",
    "ex",
    "vi",
    "vim",
    "nvim",
    "gdb",
    "lldb",
    "make",
    "gmake",
    "docker",
    "podman",
    "kubectl",
    "tee",
    "usql",
    "pgcli",
    "mycli",
    "bc",
    "fdisk",
    "expect",
    "vegeta",
    "nc",
    "ncat",
    "netcat",
    "telnet",
    "socat",
];

/// Programs whose input can contain shell commands after a marker.
const ESCAPES: [&str; 22] = [
    "psql", "mysql", "mariadb", "sqlite3", "vi", "vim", "nvim", "view", "ex", "ed", "gdb", "lldb", "less",
    "more", "man", "expect", "ftp", "sftp", "mail", "tclsh", "wish", "lftp",
];

/// Longer texts are not stored.
const LONGEST: usize = 64 << 10;

/// What a program does with code or commands of its own.
#[derive(Debug, Clone, Copy, Default)]
struct Traits {
    interprets: bool,
    reads: bool,
    escapes: bool,
}

/// The names of all lists; a row is an index into the lists, one after the other.
static BY_NAME: [Slot; INTERPRETERS.len() + READERS.len() + ESCAPES.len()] = names::sorted({
    let mut slots = [(0, 0); INTERPRETERS.len() + READERS.len() + ESCAPES.len()];
    let mut at = 0;
    while at < slots.len() {
        slots[at] = (names::hash(listed(at)), at as u16);
        at += 1;
    }
    slots
});

/// The name at an index into the lists, one after the other.
const fn listed(at: usize) -> &'static str {
    const READS: usize = INTERPRETERS.len();
    const ESCAPE: usize = READS + READERS.len();
    match at {
        0..READS => INTERPRETERS[at],
        READS..ESCAPE => READERS[at - READS],
        _ => ESCAPES[at - ESCAPE],
    }
}

fn traits(name: &str) -> Traits {
    let mut traits = Traits::default();
    for at in names::rows(&BY_NAME, name).filter(|at| listed(*at) == name) {
        match at.checked_sub(INTERPRETERS.len()) {
            None => traits.interprets = true,
            Some(at) if at < READERS.len() => traits.reads = true,
            Some(_) => traits.escapes = true,
        }
    }
    traits
}

/// Whether a program runs code in a language of its own.
pub(crate) fn is_interpreter(name: &str) -> bool {
    traits(name).interprets || is_other_spelling(name)
}

/// Options of interpreters whose value is code.
fn is_code_option(word: &str) -> bool {
    matches!(
        word,
        "-c" | "-e"
            | "-p"
            | "-r"
            | "-E"
            | "-pe"
            | "-ne"
            | "--eval"
            | "--print"
            | "--execute"
            | "eval"
            | "runner"
    )
}

/// `Python3.12`
fn is_other_spelling(name: &str) -> bool {
    let lower = match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Cow::Owned(name.to_ascii_lowercase()),
        false => Cow::Borrowed(name),
    };
    let bare = lower.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    (*lower != *name && traits(&lower).interprets) || (*bare != *lower && traits(bare).interprets)
}

impl Parser {
    /// Stores the code that the command at `at` runs, and adds the commands after markers in it.
    pub(super) fn languages(&mut self, at: usize) {
        let Some(name) = self.script.commands[at].name() else { return };
        let Traits { interprets, reads, escapes } = traits(name);
        let interprets = interprets || is_other_spelling(name);
        if !interprets && !escapes && !reads {
            return;
        }
        let name = name.to_owned();
        if !matches!(self.script.commands[at].input, Input::Inherited | Input::File) {
            let text = self.text_of(&self.script.commands[at].input, 0).perhaps();
            let text = text.filter(|text| text.len() <= LONGEST && self.has_budget(text.len()));
            self.script.commands[at].stdin_text = text;
        }
        // Editors run code of other languages after a command name: `vim -c ':py3 …'`.
        if interprets
            || matches!(name.as_str(), "vim" | "nvim" | "vi" | "ex" | "gdb" | "lldb" | "psql" | "sqlite3")
        {
            self.interpreted(at);
        }
        if escapes {
            self.escaped(at);
        }
        if name == "crontab" {
            self.scheduled(at);
        }
        if matches!(name.as_str(), "make" | "gmake") {
            self.recipes(at);
        }
    }

    fn interpreted(&mut self, at: usize) {
        let command = &self.script.commands[at];
        let mut code: Vec<String> = Vec::new();
        let mut is_value = false;
        for word in command.arguments() {
            let shown = word.show();
            let is_code = std::mem::replace(&mut is_value, is_code_option(&shown));
            if shown.len() <= LONGEST && (is_code || shown.contains([' ', '(', '"', '\'', '`', ';'])) {
                code.push(shown.into_owned());
            } else if let Some(text) =
                word.known().and_then(|file| self.files.get(super::file::file_key(file)))
            {
                code.extend(text.text.clone().perhaps());
            }
        }
        code.extend(command.stdin_text.clone());
        // `python3 - <<E` with unknown values still has its unexpanded text.
        if let (None, Input::Here(body)) = (&command.stdin_text, &command.input) {
            code.extend(self.script.here_documents.get(*body).map(|body| body.text.clone()));
        }
        let writer = command.arguments().iter().find_map(|word| {
            let file = word.known().filter(|text| !text.starts_with('-'))?;
            self.files.get(super::file::file_key(file)).map(|written| written.writer)
        });
        if !code.iter().all(|text| self.has_budget(text.len())) {
            return;
        }
        let command = &mut self.script.commands[at];
        command.code = code;
        command.runs_file_of = command.runs_file_of.or(writer);
    }

    /// Programs that install a file, and may run what is in it: `dpkg -i`, `pip install ./a.whl`.
    pub(super) fn installs_written(&mut self, at: usize) {
        if self.files.is_empty() {
            return;
        }
        let command = &self.script.commands[at];
        let installs = matches!(
            command.name(),
            Some(
                "dpkg"
                    | "rpm"
                    | "apt"
                    | "apt-get"
                    | "dnf"
                    | "yum"
                    | "installer"
                    | "msiexec"
                    | "pip"
                    | "pip3"
                    | "npm"
                    | "gem"
                    | "code"
                    | "cursor"
                    | "snap"
                    | "pacman"
                    | "apk"
                    | "kubectl"
                    | "java"
                    | "wine"
                    | "insmod"
                    | "docker"
                    | "gdebi"
                    | "zypper"
                    | "ansible-playbook"
                    | "crontab"
                    | "psql"
                    | "mysql"
                    | "codium"
                    | "sudoedit"
                    | "open"
                    | "flatpak"
                    | "helm"
                    | "terraform"
            )
        );
        if !installs {
            return;
        }
        let writer = command.arguments().iter().find_map(|word| {
            let file = word.known().filter(|text| !text.starts_with('-'))?;
            self.files.get(super::file::file_key(file)).map(|written| written.writer)
        });
        let command = &mut self.script.commands[at];
        command.runs_file_of = command.runs_file_of.or(writer);
    }

    /// `:!cmd`, `\\! cmd`, `shell cmd`, `.shell cmd`, `spawn cmd`
    fn escaped(&mut self, at: usize) {
        const MARKS: [&str; 8] = ["\\!", "!", ".shell ", ".system ", "shell ", "spawn ", "system ", "exec "];
        let command = &self.script.commands[at];
        let mut texts: Vec<String> =
            command.arguments().iter().map(|word| word.show().into_owned()).collect();
        texts.extend(command.stdin_text.clone());
        let mut found = Vec::new();
        // A `|` separates the commands of an editor, and those of a shell after its marker.
        let whole = texts.iter().filter(|text| text.contains('|')).flat_map(|text| text.lines());
        let parts = texts.iter().flat_map(|text| text.split(['\n', '|']));
        for line in whole.chain(parts).take(64) {
            let line = line.trim_start_matches([':', '+', ' ', '%', '.']);
            let silenced = line.strip_prefix("silent! ").or_else(|| line.strip_prefix("silent "));
            let line = silenced.map_or(line, str::trim_start);
            let line = if line.starts_with("shell") || line.starts_with("system") {
                line
            } else {
                line.trim_start()
            };
            let code = MARKS.iter().find_map(|mark| {
                let rest = line.strip_prefix(mark.trim_start_matches('.'))?;
                (!rest.trim().is_empty() && !rest.starts_with('=')).then(|| rest.trim().to_owned())
            });
            found.extend(code);
        }
        for code in found {
            self.perhaps_code(at, &Word::literal(code));
        }
    }

    /// `* * * * * cmd`, `@reboot cmd`
    fn scheduled(&mut self, at: usize) {
        let Some(text) = self.script.commands[at].stdin_text.clone() else { return };
        for line in text.lines().filter(|line| !line.trim_start().starts_with('#')).take(32) {
            let fields = if line.trim_start().starts_with('@') { 1 } else { 5 };
            let mut rest = line.trim_start();
            for _ in 0..fields {
                rest = rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start());
            }
            if !rest.is_empty() {
                self.perhaps_code(at, &Word::literal(rest));
            }
        }
    }

    /// The lines of a makefile that a shell runs.
    fn recipes(&mut self, at: usize) {
        const MAX: usize = 32;
        // `make CC='sh -c …'`
        let values = self.script.commands[at].arguments().iter().filter_map(|word| {
            let (_, value) = word.known()?.split_once('=')?;
            value.contains(' ').then(|| Word::literal(value))
        });
        let values: Vec<Word> = values.take(MAX).collect();
        values.iter().for_each(|value| self.perhaps_code(at, value));
        // `make -f <(printf …)`, and a file that the line has just written.
        let words = self.script.commands[at].arguments().iter().take(MAX);
        let written = words.clone().filter_map(Word::known).chain(["Makefile"]);
        let written = written.filter_map(|file| self.files.get(super::file::file_key(file)));
        let mut texts: Vec<String> = written.filter_map(|file| file.text.clone().perhaps()).collect();
        for unknown in words.flat_map(Word::unknowns) {
            if let Origin::Process(range) = &unknown.from {
                texts.extend(self.printed_by(range).perhaps());
            }
        }
        texts.extend(self.script.commands[at].stdin_text.clone());
        let text = texts.join("\n");
        if !self.has_budget(text.len()) {
            return;
        }
        let of_line = |line: &'_ str| -> Option<String> {
            let is_assignment = || line.contains('=') && !line.contains(';');
            let code = match line.strip_prefix('\t') {
                Some(code) => code,
                // `all: ; command`, `x := $(shell command)`
                None if is_assignment() || line.contains("$(shell ") => {
                    line.split_once("$(shell ")?.1.rsplit_once(')')?.0
                }
                None => line.split_once(':')?.1.split_once(';')?.1,
            };
            Some(of_make(code.trim_start_matches(['@', '-', ' '])))
        };
        for code in text.lines().filter_map(of_line).take(MAX) {
            self.perhaps_code(at, &Word::literal(code));
        }
    }
}

/// A line of a makefile as a shell gets it: `$(HOME)` is a variable, and `$$` is one `$`.
fn of_make(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('$') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let name = rest.strip_prefix('(').and_then(|inner| inner.split_once(')'));
        let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        match name.filter(|(name, _)| !name.is_empty() && is_name(name)) {
            Some((name, after)) => {
                text.push_str(&format!("${{{name}}}"));
                rest = after;
            }
            None => {
                text.push('$');
                rest = rest.strip_prefix('$').unwrap_or(rest);
            }
        }
    }
    text.push_str(rest);
    text
}
