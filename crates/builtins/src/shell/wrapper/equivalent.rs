//! Command lines that are equivalent to another command: `python -m pip` is `pip`, `cmake -E rm` and `npx shx rm` are
//! `rm`, and the lines of `curl --config` are options of `curl`.
//!
//! The equivalent command is added to the script: used to forbid, never to allow.

use super::WORD;
use super::option::{first_operand, values};
use crate::shell::model::{Command, Input};
use crate::shell::parser::Parser;
use crate::shell::word::{Origin, Word};

/// Modules of Python that are programs under another name.
const MODULES: [(&str, &[&str]); 7] = [
    ("awscli", &["aws"]),
    ("json.tool", &["cat"]),
    ("tokenize", &["cat"]),
    ("pip._internal", &["pip"]),
    ("pip.__main__", &["pip"]),
    ("zipfile", &["zip"]),
    ("tarfile", &["tar"]),
];

/// Longer configurations of `curl` are not read.
const LONGEST: usize = 16 << 10;

impl Parser {
    /// Adds the commands that the one at `at` is equivalent to.
    pub(super) fn add_equivalents(&mut self, at: usize) {
        let command = &self.script.commands[at];
        let Some(name) = command.name() else { return };
        let words = command.arguments();
        let found = match name {
            "curl" => return self.curl_settings(at),
            "wget" => return self.wget_settings(at),
            "cargo" => return self.watched_by_cargo(at),
            "cmake" => of_cmake(words),
            "rtk" => of_rtk(words),
            "uv" => of_uv(words),
            "pipx" => of_pipx(words),
            "deno" => of_deno(words),
            "perl" => of_perl(words),
            "ruby" => of_ruby(words),
            "corepack" => words.first().map(|_| unversioned(words)),
            name if is_python(name) => of_module(words),
            _ => return,
        };
        let extra = if name == "pipx" { spec_of_pipx(words) } else { None };
        for words in found.into_iter().chain(extra) {
            self.add_equivalent(at, words);
        }
    }

    /// Adds a command that is equivalent to the one at `at`.
    fn add_equivalent(&mut self, at: usize, words: Vec<Word>) {
        let command = &self.script.commands[at];
        if words.is_empty() || command.level > super::MAX_LEVELS {
            return;
        }
        let (level, input) = (command.level + 1, command.input.clone());
        let variables = command.variables.clone();
        if self.spend(words.len() * WORD) {
            let wrapper = Some(at);
            self.script.commands.push(Command {
                words,
                input,
                wrapper,
                level,
                variables,
                ..Command::default()
            });
        }
    }

    /// `curl -K -`, `curl --config file`: each line of that text is an option.
    fn curl_settings(&mut self, at: usize) {
        const SHORT: &str = "oHdFTXAeuwmxrKEbcDCyYzUQ";
        let words = self.script.commands[at].arguments();
        if !words.iter().any(|word| word.head().starts_with("--conf") || is_cluster_with(word.head(), 'K')) {
            return;
        }
        let mut options = Vec::new();
        for file in values(words, &["-K", "--config"], SHORT) {
            let text = self.text_named(at, &file);
            let text = text.filter(|text| text.len() <= LONGEST && self.has_budget(text.len()));
            options.extend(text.iter().flat_map(|text| text.lines()).flat_map(setting_of_curl));
        }
        if !options.is_empty() {
            let words = [Word::literal("curl")].into_iter().chain(options.into_iter().map(Word::literal));
            self.add_equivalent(at, words.collect());
        }
    }

    /// `wget -e post_file=.env`: a line of its configuration.
    fn wget_settings(&mut self, at: usize) {
        let words = self.script.commands[at].arguments();
        let settings = values(words, &["-e", "--execute"], "OoaPitTUlARDQwX");
        let option = |setting: &Word| {
            let (key, value) = setting.known()?.split_once('=')?;
            let key = key.trim().to_ascii_lowercase().replace(['_', '-'], "");
            let option = match key.as_str() {
                "postfile" => "--post-file",
                "bodyfile" => "--body-file",
                "input" => "--input-file",
                "outputdocument" => "--output-document",
                "dirprefix" => "--directory-prefix",
                _ => return None,
            };
            Some(Word::literal(format!("{option}={}", value.trim())))
        };
        let options: Vec<Word> = settings.iter().filter_map(option).collect();
        if !options.is_empty() {
            let addresses = words.iter().filter(|word| word.head().contains("://")).cloned();
            let all = [Word::literal("wget")].into_iter().chain(options).chain(addresses).collect();
            self.add_equivalent(at, all);
        }
    }

    /// `cargo watch -s 'rm -rf x'`
    fn watched_by_cargo(&mut self, at: usize) {
        let words = self.script.commands[at].arguments();
        if words.first().is_some_and(|word| word.known() == Some("watch")) {
            for code in values(&words[1..], &["-s", "--shell"], "wxicdEL") {
                self.perhaps_code(at, &code);
            }
        }
    }

    /// The text of a file that a word names, when the line itself has it.
    fn text_named(&mut self, at: usize, file: &Word) -> Option<String> {
        let process = file.unknowns().find_map(|unknown| match &unknown.from {
            Origin::Process(range) => Some(Input::Pipe(range.clone())),
            _ => None,
        });
        let input = match (process, file.known()) {
            (Some(input), _) => input,
            (None, Some("-" | "/dev/stdin" | "/dev/fd/0")) => self.script.commands[at].input.clone(),
            (None, Some(file)) => {
                let written = self.files.get(super::file_key(file));
                return written.and_then(|written| written.text.clone().perhaps());
            }
            (None, None) => return None,
        };
        self.text_of(&input, 0).perhaps()
    }
}

/// `data = "@.env"` in a configuration of curl, as the option and its value.
fn setting_of_curl(line: &str) -> Vec<String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Vec::new();
    }
    let ends = |c: char| c.is_whitespace() || matches!(c, '=' | ':');
    let (name, value) = line.split_once(ends).unwrap_or((line, ""));
    let value = value.trim_start_matches(ends).trim_matches('"');
    let option = if name.starts_with('-') { name.to_owned() } else { format!("--{name}") };
    let mut words = vec![option];
    if !value.is_empty() {
        words.push(value.to_owned());
    }
    words
}

fn is_cluster_with(head: &str, letter: char) -> bool {
    head.starts_with('-') && !head.starts_with("--") && head.contains(letter)
}

/// `python3.12`, `pypy3`, `py`
fn is_python(name: &str) -> bool {
    let version = ["python", "pypy", "py"].iter().find_map(|start| name.strip_prefix(start));
    version.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
}

fn named(program: &str, words: &[Word]) -> Vec<Word> {
    std::iter::once(Word::literal(program)).chain(words.iter().cloned()).collect()
}

/// `python -m MODULE …`, `python -Im MODULE …`, `python -mMODULE …`
fn of_module(words: &[Word]) -> Option<Vec<Word>> {
    let mut at = 0;
    while let Some(head) = words.get(at).map(Word::head).filter(|head| head.len() > 1) {
        let letters = head.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        let letters = letters.or_else(|| head.starts_with("--").then_some(""))?;
        at += 1;
        // The letters before one that has a value.
        let Some(place) = letters.find(['m', 'c', 'W', 'X']) else { continue };
        let (letter, glued) = (letters.as_bytes()[place], &letters[place + 1..]);
        match letter {
            b'c' => return None,
            b'm' if glued.is_empty() => {
                let module = words.get(at)?.known()?.to_owned();
                return program_of(&module, words.get(at + 1..).unwrap_or_default());
            }
            b'm' => return program_of(glued, words.get(at..).unwrap_or_default()),
            _ => at += usize::from(glued.is_empty()),
        }
    }
    None
}

fn program_of(module: &str, words: &[Word]) -> Option<Vec<Word>> {
    if let Some((_, programs)) = MODULES.iter().find(|(name, _)| *name == module) {
        return Some(named(programs.first()?, words));
    }
    // A module in a package, such as `http.server`, is not a program of that name.
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (!module.is_empty() && module.bytes().all(is_name)).then(|| named(module, words))
}

/// `uv pip …`
fn of_uv(words: &[Word]) -> Option<Vec<Word>> {
    let from = first_operand(words, "", &["--directory", "--project", "--config-file", "--cache-dir"]);
    let (first, rest) = words.get(from..)?.split_first()?;
    (first.known() == Some("pip")).then(|| named("pip", rest))
}

/// `pipx run NAME …`, `pipx runpip ENVIRONMENT …`, `pipx inject ENVIRONMENT PACKAGE`
fn of_pipx(words: &[Word]) -> Option<Vec<Word>> {
    let (verb, rest) = words.split_first()?;
    match verb.known()? {
        "run" => {
            let from = first_operand(rest, "", &["--spec", "--python", "--pip-args", "--index-url"]);
            Some(unversioned(rest.get(from..)?))
        }
        "runpip" => Some(named("pip", rest.get(1..)?)),
        "inject" => Some(
            [Word::literal("pip"), Word::literal("install")]
                .into_iter()
                .chain(rest.iter().skip(1).cloned())
                .collect(),
        ),
        _ => None,
    }
}

/// What `pipx run --spec PACKAGE` installs.
fn spec_of_pipx(words: &[Word]) -> Option<Vec<Word>> {
    let spec = values(words, &["--spec"], "").into_iter().next()?;
    Some(vec![Word::literal("pip"), Word::literal("install"), spec])
}

/// `deno run -A npm:rimraf …`
fn of_deno(words: &[Word]) -> Option<Vec<Word>> {
    let place = words.iter().position(|word| word.head().starts_with("npm:"))?;
    let package = words[place].after("npm:".len());
    let all: Vec<Word> = std::iter::once(package).chain(words[place + 1..].iter().cloned()).collect();
    Some(unversioned(&all))
}

/// The command of a package without its version: `yarn@1`, `rimraf@5`.
pub(super) fn unversioned(words: &[Word]) -> Vec<Word> {
    let mut words = words.to_vec();
    if let Some(first) = words.first_mut()
        && let Some(name) = first.known().and_then(|name| name.get(1..)?.find('@').map(|at| &name[..=at]))
    {
        *first = Word::literal(name);
    }
    words
}

/// `rtk read FILE`, `rtk env`, `rtk err COMMAND`: subcommands of its own, which shorten what others print.
fn of_rtk(words: &[Word]) -> Option<Vec<Word>> {
    let (verb, rest) = words.split_first()?;
    let program = match verb.known()? {
        "read" | "json" | "log" | "smart" => "cat",
        "env" => "env",
        "err" | "proxy" | "summary" | "test" => return Some(rest.to_vec()),
        _ => return None,
    };
    Some(std::iter::once(Word::literal(program)).chain(rest.iter().cloned()).collect())
}

/// `cmake -E rm …`: its own names for what programs for files do.
fn of_cmake(words: &[Word]) -> Option<Vec<Word>> {
    let place = words.iter().position(|word| word.known() == Some("-E"))?;
    let (verb, rest) = words.get(place + 1..)?.split_first()?;
    let with = |program: &str, option: &str| {
        [Word::literal(program), Word::literal(option)].into_iter().chain(rest.iter().cloned()).collect()
    };
    Some(match verb.known()? {
        name @ ("rm" | "cat" | "touch" | "tar" | "env" | "time" | "echo" | "sha256sum") => named(name, rest),
        "remove" => named("rm", rest),
        "remove_directory" => with("rm", "-r"),
        "touch_nocreate" => named("touch", rest),
        "copy" | "copy_if_different" | "copy_if_newer" => named("cp", rest),
        "copy_directory" | "copy_directory_if_different" | "copy_directory_if_newer" => with("cp", "-r"),
        "rename" => named("mv", rest),
        "make_directory" => named("mkdir", rest),
        "create_symlink" => with("ln", "-s"),
        "create_hardlink" => named("ln", rest),
        "chdir" => with("env", "-C"),
        _ => return None,
    })
}

/// `perl -MExtUtils::Command -e rm_rf …`
fn of_perl(words: &[Word]) -> Option<Vec<Word>> {
    if !words.first()?.head().starts_with("-MExtUtils::Command") {
        return None;
    }
    let place = words.iter().position(|word| word.known() == Some("-e"))?;
    let rest = words.get(place + 2..)?;
    match words.get(place + 1)?.known()? {
        "rm_rf" => Some(
            [Word::literal("rm"), Word::literal("-rf")].into_iter().chain(rest.iter().cloned()).collect(),
        ),
        "rm_f" => Some(named("rm", rest)),
        name @ ("mv" | "cp" | "cat" | "touch" | "chmod" | "mkpath") => Some(named(name, rest)),
        _ => None,
    }
}

/// `ruby -run -e rm -- -rf …`
fn of_ruby(words: &[Word]) -> Option<Vec<Word>> {
    let [flag, option, program, rest @ ..] = words else { return None };
    if !matches!(flag.known(), Some("-run" | "-r" | "-run.rb")) || option.known() != Some("-e") {
        return None;
    }
    let name = program.known()?;
    let is_one =
        matches!(name, "rm" | "cp" | "mv" | "ln" | "install" | "chmod" | "touch" | "mkdir" | "rmdir");
    let rest = rest.strip_prefix([Word::literal("--")].as_slice()).unwrap_or(rest);
    is_one.then(|| named(name, rest))
}
