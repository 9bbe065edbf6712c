//! Programs that build or run a project: what they run is in files that the line may have written or downloaded.
//! `printf … > justfile && just`, `curl -O …/x.go && go run x.go`, `curl … -o x.c && gcc x.c && ./a.out`.

use super::file::{WrittenFile, file_key};
use crate::shell::model::{Input, base_name};
use crate::shell::parser::Parser;
use crate::shell::printed::KnownText;
use crate::shell::word::Word;

/// The budget that looking through a byte of code costs.
const CODE: usize = 32;

/// The most commands that are taken out of one file.
const MAX_COMMANDS: usize = 32;

/// What in such a file is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It is code of another language.
    Code,
    /// It is code of a shell.
    Shell,
    /// Lines that are indented.
    Indented,
    /// Lines after `//go:generate`.
    Generate,
    /// Items and values: `- rm x`, `cmd: rm x`.
    Yaml,
    /// The texts under `scripts`.
    Scripts,
    /// What follows a name: `web: rm x`.
    Named,
    /// Values of settings: `x = "rm x"`.
    Settings,
}

/// Whether a downloaded file runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Runs,
    /// It only translates it; the result runs later.
    Compiles,
    /// Too many files of a project have such names for it to be asked about.
    Tests,
}

struct Runner {
    programs: &'static [&'static str],
    /// Its first operand is one of these, if there are any.
    verbs: &'static [&'static str],
    /// Names of files, or endings that begin with a star.
    files: &'static [&'static str],
    kind: Kind,
    used: Use,
}

const fn runner(
    programs: &'static [&'static str],
    verbs: &'static [&'static str],
    files: &'static [&'static str],
    kind: Kind,
    used: Use,
) -> Runner {
    Runner { programs, verbs, files, kind, used }
}

const SCRIPTS: &[&str] = &["*.js", "*.ts", "*.mjs", "*.cjs", "*.jsx", "*.tsx"];

static RUNNERS: &[Runner] = &[
    runner(&["go"], &["generate"], &["*.go"], Kind::Generate, Use::Runs),
    runner(&["go"], &["run", "test"], &["*.go"], Kind::Code, Use::Runs),
    runner(&["go"], &["build", "install"], &["*.go"], Kind::Code, Use::Compiles),
    runner(&["just"], &[], &["justfile", ".justfile", "*.just"], Kind::Indented, Use::Runs),
    runner(&["make", "gmake", "bmake"], &[], &["makefile", "gnumakefile", "*.mk"], Kind::Indented, Use::Runs),
    runner(
        &["task", "go-task"],
        &[],
        &["taskfile.yml", "taskfile.yaml", "taskfile.dist.yml"],
        Kind::Yaml,
        Use::Runs,
    ),
    runner(&["npm", "pnpm", "yarn", "bun"], &[], &["package.json"], Kind::Scripts, Use::Runs),
    runner(
        &["foreman", "honcho", "overmind", "hivemind", "goreman"],
        &[],
        &["procfile", "procfile.dev"],
        Kind::Named,
        Use::Runs,
    ),
    runner(&["rake"], &[], &["rakefile", "*.rake"], Kind::Code, Use::Runs),
    runner(
        &["cargo"],
        &["build", "run", "test", "bench", "check", "install", "b", "r", "t", "c"],
        &["*.rs"],
        Kind::Code,
        Use::Runs,
    ),
    runner(
        &["gcc", "g++", "cc", "c++", "clang", "clang++", "gfortran"],
        &[],
        &["*.c", "*.cc", "*.cpp", "*.h", "*.m", "*.f90"],
        Kind::Code,
        Use::Compiles,
    ),
    runner(
        &["rustc", "javac", "ghc", "swiftc", "ocamlopt", "scalac", "dmd", "fpc", "mcs", "csc"],
        &[],
        &["*.rs", "*.java", "*.hs", "*.swift", "*.ml", "*.scala", "*.d", "*.pas", "*.cs"],
        Kind::Code,
        Use::Compiles,
    ),
    runner(
        &[
            "tcc",
            "zig",
            "nim",
            "runghc",
            "runhaskell",
            "dart",
            "kotlin",
            "kotlinc",
            "ocaml",
            "v",
            "rdmd",
            "dotnet",
            "rust-script",
            "cargo-script",
            "java",
            "pwsh",
            "powershell",
            "csi",
            "scala-cli",
            "jbang",
            "lean",
        ],
        &[],
        &[],
        Kind::Code,
        Use::Runs,
    ),
    runner(&["cmake"], &[], &["cmakelists.txt", "*.cmake"], Kind::Code, Use::Runs),
    runner(&["meson"], &[], &["meson.build"], Kind::Code, Use::Runs),
    runner(&["pip", "pip3", "uv", "poetry"], &[], &["setup.py"], Kind::Code, Use::Runs),
    runner(
        &["pytest", "py.test", "tox", "nox"],
        &[],
        &["*.py", "conftest.py", "noxfile.py"],
        Kind::Code,
        Use::Tests,
    ),
    runner(&["jest", "vitest", "mocha", "ava"], &[], SCRIPTS, Kind::Code, Use::Tests),
    runner(&["npm", "pnpm", "yarn", "bun"], &["test", "t"], SCRIPTS, Kind::Code, Use::Tests),
    runner(
        &["poe", "pdm", "hatch", "rye", "mise", "pixi"],
        &[],
        &["pyproject.toml", "mise.toml", ".mise.toml", "pixi.toml"],
        Kind::Settings,
        Use::Runs,
    ),
    runner(&["invoke", "inv", "fab"], &[], &["tasks.py", "fabfile.py"], Kind::Code, Use::Runs),
    runner(&["vagrant"], &[], &["vagrantfile"], Kind::Code, Use::Runs),
    runner(
        &["gradle", "gradlew", "mvn", "mvnw", "ant", "sbt"],
        &[],
        &["build.gradle", "build.gradle.kts", "settings.gradle", "pom.xml", "build.xml", "build.sbt"],
        Kind::Code,
        Use::Runs,
    ),
    runner(&["terraform", "tofu"], &["apply"], &["*.tf"], Kind::Code, Use::Runs),
    runner(&["pre-commit"], &[], &[".pre-commit-config.yaml"], Kind::Yaml, Use::Runs),
    runner(&["lefthook"], &[], &["lefthook.yml", "lefthook.yaml"], Kind::Yaml, Use::Runs),
    runner(&["ansible-playbook"], &[], &["*.yml", "*.yaml"], Kind::Yaml, Use::Runs),
    runner(&["direnv"], &[], &[".envrc"], Kind::Shell, Use::Runs),
    runner(&["bats"], &[], &["*.bats"], Kind::Shell, Use::Runs),
];

/// Compilers, and the file that they write when no option names one: nothing is the name of the source.
const COMPILERS: [(&str, &str); 20] = [
    ("gcc", "a.out"),
    ("g++", "a.out"),
    ("cc", "a.out"),
    ("c++", "a.out"),
    ("clang", "a.out"),
    ("clang++", "a.out"),
    ("tcc", "a.out"),
    ("gfortran", "a.out"),
    ("rustc", ""),
    ("javac", ""),
    ("ghc", ""),
    ("go", ""),
    ("nim", ""),
    ("swiftc", ""),
    ("ocamlopt", "a.out"),
    ("crystal", ""),
    ("dmd", ""),
    ("fpc", ""),
    ("zig", ""),
    ("v", ""),
];

impl Parser {
    /// Inspects the files that the line wrote and that this program of projects runs.
    pub(super) fn runs_project(&mut self, at: usize) {
        let command = &self.script.commands[at];
        let Some(name) = command.name() else { return };
        let words = command.arguments();
        // `curl … | go run /dev/stdin`
        let piped = match &command.input {
            Input::Pipe(range) if reads_input(words) => Some(range.end.saturating_sub(1)),
            _ => None,
        };
        let reads = command.input != Input::Inherited && reads_input(words);
        // Most lines write no files.
        if self.files.is_empty() && !reads {
            return;
        }
        let rows = RUNNERS.iter().filter(|row| row.programs.contains(&name) && is_verb(row, words));
        let rows: Vec<&'static Runner> = rows.collect();
        if rows.iter().any(|row| row.used == Use::Runs) {
            let command = &mut self.script.commands[at];
            command.runs_file_of = command.runs_file_of.or(piped);
        }
        if reads && rows.iter().any(|row| row.kind == Kind::Code) {
            let text = self.text_of(&self.script.commands[at].input, 0).perhaps();
            if let Some(text) = text.filter(|text| self.has_budget(text.len() * CODE)) {
                self.script.commands[at].code.push(text);
            }
        }
        for row in rows {
            let words = self.script.commands[at].arguments();
            let named =
                |file: &str| words.iter().any(|word| word.known().is_some_and(|word| file_key(word) == file));
            let files = self.files.iter();
            let found: Vec<WrittenFile> = files
                .filter(|(file, _)| is_one_of(base_name(file), row.files) || named(file))
                .map(|(_, written)| written.clone())
                .collect();
            for WrittenFile { writer, text } in found {
                if row.used == Use::Runs {
                    let command = &mut self.script.commands[at];
                    command.runs_file_of = command.runs_file_of.or(Some(writer));
                }
                if let Some(text) = text.perhaps()
                    && self.has_budget(text.len() * CODE)
                    && self.may_open()
                {
                    self.run_text(at, row.kind, text);
                }
            }
        }
    }

    fn run_text(&mut self, at: usize, kind: Kind, text: String) {
        match kind {
            Kind::Code => self.script.commands[at].code.push(text),
            Kind::Shell => self.perhaps_code(at, &Word::literal(text)),
            _ => {
                for code in commands_in(kind, &text) {
                    self.perhaps_code(at, &Word::literal(code));
                }
            }
        }
    }

    /// Whether the command gets its input through a pipe.
    pub(super) fn reads_pipe(&self, at: usize) -> bool {
        matches!(self.script.commands[at].input, Input::Pipe(_))
    }

    /// Remembers what a compiler makes of a file that the line has written or downloaded.
    pub(super) fn note_compiled(&mut self, at: usize) {
        let command = &self.script.commands[at];
        let Some(name) = command.name() else { return };
        let Some((_, made)) = COMPILERS.iter().find(|(compiler, _)| *compiler == name) else { return };
        let words: Vec<&str> = command.arguments().iter().filter_map(Word::known).collect();
        let source = words.iter().find_map(|word| {
            let written = self.files.get(file_key(word))?;
            Some(((*word).to_owned(), written.writer))
        });
        let (source, writer) = match (source, &command.input) {
            (Some(source), _) => source,
            // `curl … | gcc -xc -`
            (None, Input::Pipe(range)) if words.contains(&"-") => {
                (String::new(), range.end.saturating_sub(1))
            }
            _ => return,
        };
        let place = words.iter().position(|word| matches!(*word, "-o" | "--output"));
        let glued = words.iter().find_map(|word| word.strip_prefix("-o").filter(|rest| !rest.is_empty()));
        let named = place.and_then(|place| words.get(place + 1).copied()).or(glued);
        let stem = base_name(&source).rsplit_once('.').map_or(base_name(&source), |(stem, _)| stem);
        let result = named.unwrap_or(if made.is_empty() { stem } else { made });
        if !result.is_empty() {
            let file = WrittenFile { writer, text: KnownText::Unknown };
            self.files.insert(file_key(result).to_owned(), file);
        }
    }
}

fn is_verb(row: &Runner, words: &[Word]) -> bool {
    let operands = words.iter().filter_map(Word::known).filter(|word| !word.starts_with('-'));
    row.verbs.is_empty() || operands.take(2).any(|word| row.verbs.contains(&word))
}

fn reads_input(words: &[Word]) -> bool {
    words.iter().any(|word| matches!(word.known(), Some("-" | "/dev/stdin" | "/dev/fd/0")))
}

fn is_one_of(file: &str, names: &[&str]) -> bool {
    let lower = file.to_ascii_lowercase();
    names.iter().any(|name| match name.strip_prefix('*') {
        Some(ending) => lower.ends_with(ending),
        None => lower == *name,
    })
}

/// The commands in a file that a program reads.
fn commands_in(kind: Kind, text: &str) -> Vec<String> {
    if kind == Kind::Scripts {
        return scripts_in(text);
    }
    text.lines().filter_map(|line| command_in(kind, line)).take(MAX_COMMANDS).collect()
}

fn command_in(kind: Kind, line: &str) -> Option<String> {
    let inner = line.trim();
    let code = match kind {
        Kind::Generate => inner.strip_prefix("//go:generate ")?,
        Kind::Indented => {
            let is_indented = line.starts_with([' ', '\t']);
            is_indented.then(|| inner.trim_start_matches(['@', '-', '+', ' ']))?
        }
        Kind::Named => inner.split_once(':')?.1,
        Kind::Settings => inner.split_once('=')?.1,
        _ => {
            let item = inner.strip_prefix("- ").unwrap_or(inner);
            let value = item.split_once(": ").filter(|(key, _)| {
                let key = key.trim_matches('"');
                key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
            });
            match value {
                Some((_, value)) => value,
                None if inner.starts_with("- ") => item,
                None => return None,
            }
        }
    };
    let code = code.trim();
    let quoted = ['"', '\''].into_iter().find_map(|quote| code.strip_prefix(quote)?.strip_suffix(quote));
    let code = quoted.unwrap_or(code);
    (!code.is_empty()).then(|| code.to_owned())
}

/// The scripts of a `package.json`.
fn scripts_in(text: &str) -> Vec<String> {
    let Ok(value) = serde_json::from_str::<serde_json::Value>(text) else { return Vec::new() };
    let scripts = value.get("scripts").and_then(serde_json::Value::as_object);
    let texts = scripts.into_iter().flat_map(|scripts| scripts.values().filter_map(|text| text.as_str()));
    texts.take(MAX_COMMANDS).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{Kind, commands_in};

    #[test]
    fn commands_of_files_are_found() {
        for (kind, text, wanted) in [
            (Kind::Indented, "x:\n  @rm a\n", vec!["rm a"]),
            (Kind::Generate, "package x\n//go:generate rm a\n", vec!["rm a"]),
            (Kind::Yaml, "tasks:\n  x:\n    cmds:\n      - rm a\n      - cmd: rm b\n", vec!["rm a", "rm b"]),
            (Kind::Scripts, "{\"scripts\":{\"x\":\"rm a\"}}", vec!["rm a"]),
            (Kind::Scripts, "{\"scripts\":", vec![]),
            (Kind::Named, "web: rm a\n", vec!["rm a"]),
            (Kind::Settings, "[x]\ny = \"rm a\"\n", vec!["rm a"]),
        ] {
            assert_eq!(commands_in(kind, text), wanted, "{text}");
        }
    }
}
