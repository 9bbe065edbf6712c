//! Harmless uses of a file with secrets: creating one, loading it, or copying it to another name that is protected too.
//! Using a key, and printing only the names of variables, are in [`key`](super::key) and [`variable`](super::variable).

use super::variable::{self, Shown};
use crate::guard::Ruling;
use crate::shell::{Command, Effect, FileUse, Input, Origin, Script, Word, base_name};

/// A command with its files, and the line that it is in.
pub(super) struct Intent<'a> {
    script: &'a Script,
    at: usize,
    command: &'a Command,
    files: &'a [FileUse<'a>],
}

impl<'a> Intent<'a> {
    pub(super) fn new(script: &'a Script, at: usize, files: &'a [FileUse<'a>]) -> Self {
        Self { script, at, command: &script.commands[at], files }
    }

    /// The ruling about a file, less strict where the command does nothing bad with it.
    pub(super) fn soften(&self, file: &FileUse<'_>, effect: Effect, ruling: Ruling) -> Ruling {
        let shown = file.path.show();
        let ask =
            |question: &str| Ruling::Ask(format!("`{shown}` is a file for secrets; should {question}?"));
        let is_read = effect == Effect::Read;
        match ruling {
            Ruling::Ask(_) if effect == Effect::Write && makes_secrets(self.command, self.files) => {
                Ruling::Nothing
            }
            Ruling::Deny(_) if effect != Effect::Write && stays_secret(self.command, self.files) => {
                ask("there be a copy of it, or should it be moved")
            }
            // What a shell loads is not shown by that.
            Ruling::Deny(_) if (is_read || effect == Effect::Unknown) && self.loads() => {
                match has_variables(&file.path) && !uses_variables(self.script, self.at) {
                    true => Ruling::Nothing,
                    false => ask("the shell load what is in it"),
                }
            }
            // A script of the project may only use it.
            Ruling::Deny(_)
                if effect == Effect::Unknown && has_variables(&file.path) && runs_script(self.command) =>
            {
                ask("this script get it")
            }
            // What git knows of it is in the repository.
            Ruling::Deny(_) if is_read && has_variables(&file.path) && shows_versions(self.command) => {
                ask("its versions be shown")
            }
            Ruling::Deny(_) if is_read && goes_into_key(self.command, self.files) => {
                ask("it be written into another file for keys")
            }
            Ruling::Deny(reason) if is_read && has_variables(&file.path) => {
                match variable::shown(self.script, self.at) {
                    Some(Shown::Presence) => Ruling::Nothing,
                    Some(Shown::Names) => ask("the names in it be shown, without the values"),
                    None if is_assigned(self.script, self.at) => ask("a variable get a value from it"),
                    None if self.is_far() => ask("it be read on the other machine"),
                    None => Ruling::Deny(reason),
                }
            }
            Ruling::Deny(_) if effect == Effect::Write && makes_key(self.command) => Ruling::Ask(format!(
                "`{shown}` is a key, or in a folder for keys; should one be made of it or there?"
            )),
            ruling => ruling,
        }
    }

    /// Whether the command runs on another machine: `ssh host cat .env`.
    fn is_far(&self) -> bool {
        let mut wrapper = self.command.wrapper;
        while let Some(command) = wrapper.and_then(|at| self.script.commands.get(at)) {
            if matches!(command.name(), Some("ssh" | "mosh" | "autossh")) {
                return true;
            }
            wrapper = command.wrapper;
        }
        false
    }

    fn loads(&self) -> bool {
        loads_variables(self.command) || is_exported(self.script, self.at)
    }
}

/// Whether the command creates a new key or an empty file, or copies a sample: then it does not write an existing secret.
fn makes_secrets(command: &Command, files: &[FileUse<'_>]) -> bool {
    const SAMPLES: [&str; 6] = [".example", ".sample", ".template", ".dist", ".defaults", ".tpl"];
    let is_sample = |file: &FileUse<'_>| {
        let shown = file.path.show();
        SAMPLES.iter().any(|end| shown.ends_with(end)) || shown.ends_with("example.env")
    };
    match command.name() {
        Some(
            "openssl" | "ssh-keygen" | "mkcert" | "keytool" | "age-keygen" | "step" | "certtool" | "touch",
        ) => true,
        Some(
            "cp" | "gcp" | "mv" | "cat" | "sed" | "envsubst" | "install" | "copy" | "Copy-Item" | "copy-item",
        ) => files.iter().any(is_sample),
        _ => false,
    }
}

/// Whether a command makes a new key of ssh, or a public one: `ssh-keygen -t ed25519 -f ~/.ssh/deploy`, `-y -f key`.
fn makes_key(command: &Command) -> bool {
    let is_type = |word: &Word| word.head().starts_with("-t") || word.head() == "-y";
    command.name() == Some("ssh-keygen") && command.arguments().iter().any(is_type)
}

/// Whether a shell loads the variables of a file, or a program that gives them to another one.
fn loads_variables(command: &Command) -> bool {
    const SHOWS: [&str; 9] = ["printenv", "env", "sh", "bash", "zsh", "echo", "get", "-p", "-c"];
    match command.name() {
        Some("source" | ".") => true,
        Some("dotenv" | "dotenvx" | "dotenv-cli" | "env-cmd") => {
            !command.arguments().iter().any(|word| word.known().is_none_or(|word| SHOWS.contains(&word)))
        }
        _ => false,
    }
}

/// Whether a command copies or moves one file with variables to another name for such a file, in the same folder.
fn stays_secret(command: &Command, files: &[FileUse<'_>]) -> bool {
    let [from, to] = files else { return false };
    let folder = |path: &Word| {
        path.known().map(|path| path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned())
    };
    let name = |path: &Word| path.known().map(base_name).unwrap_or_default().to_owned();
    let is_env = |path: &Word| name(path) == ".env" || name(path).starts_with(".env.");
    // A sample is committed.
    let is_shared = |path: &Word| {
        ["example", "sample", "template", "dist", "test", "defaults", "ci"]
            .iter()
            .any(|part| name(path).contains(part))
    };
    matches!(command.name(), Some("cp" | "mv"))
        && to.effect == Effect::Write
        && is_env(&from.path)
        && is_env(&to.path)
        && !is_shared(&to.path)
        && folder(&from.path).is_some()
        && folder(&from.path) == folder(&to.path)
}

/// Whether a command runs a script, and nothing that it gets is code: `./sync.sh .env`, `node sync.js .env`.
fn runs_script(command: &Command) -> bool {
    let has_code =
        || command.arguments().iter().any(|word| word.head().starts_with('-') && word.head().len() <= 4);
    match command.program() {
        Some(program) if program.contains('/') => {
            !program.starts_with("/usr/") && !program.starts_with("/bin/")
        }
        Some("node" | "python" | "python3" | "bun" | "deno" | "tsx" | "ts-node" | "ruby" | "php") => {
            !has_code()
        }
        _ => false,
    }
}

/// `git diff .env`
fn shows_versions(command: &Command) -> bool {
    let has = |wanted: &[&str]| command.arguments().iter().any(|word| wanted.contains(&word.head()));
    command.name() == Some("git")
        && has(&["diff", "show", "log", "blame"])
        && !has(&["--no-index", "add", "archive"])
}

/// `X=$(grep ^X= .env | cut -d= -f2)`: the value is not shown by that.
fn is_assigned(script: &Script, at: usize) -> bool {
    let holds = |word: &Word| {
        word.unknowns().any(|unknown| matches!(&unknown.from, Origin::Output(range) if range.contains(&at)))
    };
    let prints =
        |command: &&Command| matches!(command.name(), Some("echo" | "printf" | "cat" | "tee" | "nc"));
    script.commands.iter().flat_map(|command| &command.assignments).any(|assignment| holds(&assignment.value))
        && !script.commands.iter().filter(prints).any(|command| command.arguments().iter().any(holds))
}

/// Whether a command puts a key into another file for keys: `cat a.key a.crt > a.pem`.
fn goes_into_key(command: &Command, files: &[FileUse<'_>]) -> bool {
    const ENDS: [&str; 5] = [".pem", ".key", ".p12", ".pfx", ".jks"];
    let is_key = |file: &FileUse<'_>| {
        let shown = file.path.show();
        file.effect == Effect::Write && ENDS.iter().any(|end| shown.ends_with(end))
    };
    matches!(command.name(), Some("cat" | "openssl" | "cp" | "install")) && files.iter().any(is_key)
}

/// `export $(grep -v '^#' .env | xargs)`
fn is_exported(script: &Script, at: usize) -> bool {
    let holds = |word: &Word| {
        word.unknowns().any(|unknown| matches!(&unknown.from, Origin::Output(range) if range.contains(&at)))
    };
    let exports = |command: &Command| {
        matches!(command.name(), Some("export" | "env")) && command.arguments().iter().any(holds)
    };
    let reads = matches!(script.commands[at].name(), Some("cat" | "grep" | "egrep" | "sed"));
    reads && script.commands.iter().skip(at + 1).take(16).any(exports)
}

/// Whether a file is one of variables for a shell: `.env`, `.env.local`, `prod.env`, `.envrc`.
fn has_variables(path: &Word) -> bool {
    let shown = path.show();
    let name = base_name(&shown);
    name.starts_with(".env") || name.ends_with(".env")
}

/// Whether the line prints or sends variables after this command: what it loaded may be among them.
fn uses_variables(script: &Script, at: usize) -> bool {
    let is_variable = |word: &Word| {
        let mut unknowns = word.unknowns();
        unknowns.any(|unknown| matches!(unknown.from, Origin::Variable(_) | Origin::Output(_)))
    };
    script.commands.iter().skip(at + 1).any(|command| match command.name() {
        Some("env" | "printenv" | "set" | "export" | "declare" | "typeset" | "compgen") => {
            command.arguments().iter().all(|word| word.head().starts_with('-'))
                || command.name() == Some("printenv")
        }
        Some(
            "echo" | "printf" | "cat" | "tee" | "curl" | "wget" | "http" | "https" | "xh" | "nc" | "ncat"
            | "ssh" | "dig" | "host" | "nslookup" | "eval" | "sh" | "bash" | "zsh" | "python" | "python3"
            | "node" | "ruby" | "perl" | "php",
        ) => {
            let runs_text =
                command.arguments().iter().any(|word| matches!(word.head(), "-c" | "-e" | "-p" | "-r"));
            runs_text
                || command.arguments().iter().any(is_variable)
                || !matches!(command.input, Input::Inherited)
        }
        Some(_) => false,
        None => true,
    })
}
