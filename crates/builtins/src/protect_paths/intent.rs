//! Harmless uses of a file with secrets: creating one, logging in with it, loading it, copying it to another name that
//! is protected too, or printing only the names in it.

use crate::shell::{Command, Effect, FileUse, Input, Origin, Script, Word, base_name};

/// Whether the command creates a new key, or copies a sample: then it does not write an existing secret.
pub(super) fn makes_secrets(command: &Command, files: &[FileUse<'_>]) -> bool {
    const SAMPLES: [&str; 6] = [".example", ".sample", ".template", ".dist", ".defaults", ".tpl"];
    let is_sample = |file: &FileUse<'_>| {
        let shown = file.path.show();
        SAMPLES.iter().any(|end| shown.ends_with(end)) || shown.ends_with("example.env")
    };
    match command.name() {
        Some("openssl" | "ssh-keygen" | "mkcert" | "keytool" | "age-keygen" | "step" | "certtool") => true,
        Some(
            "cp" | "gcp" | "mv" | "cat" | "sed" | "envsubst" | "install" | "copy" | "Copy-Item" | "copy-item",
        ) => files.iter().any(is_sample),
        _ => false,
    }
}

/// Whether a program logs in with a key, and does nothing else with the file: `ssh -i key host`, `ssh-add key`.
pub(super) fn is_login_key(command: &Command, files: &[FileUse<'_>], file: &FileUse<'_>) -> bool {
    let shown = file.path.show();
    let words = command.arguments();
    let follows = |pair: &[Word]| pair[0].known() == Some("-i") && pair[1].show() == shown;
    let is_key = match command.name() {
        Some("ssh" | "scp" | "sftp" | "autossh" | "mosh") => words.windows(2).any(follows),
        Some("ssh-add") => words.iter().any(|word| word.show() == shown),
        _ => false,
    };
    is_key
        && file.effect == Effect::Read
        && files.iter().filter(|other| other.path.show() == shown).count() == 1
}

/// Whether a command copies or moves one file with variables to another name for such a file, in the same folder.
pub(super) fn stays_secret(command: &Command, files: &[FileUse<'_>]) -> bool {
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

/// Whether a command prints the names of variables in its files, and none of the values: `cut -d= -f1 .env`.
pub(super) fn names_only(command: &Command) -> bool {
    let words: Vec<&str> = command.arguments().iter().filter_map(Word::known).collect();
    if words.len() != command.arguments().len() {
        return false;
    }
    matches!(
        (command.name(), words.as_slice()),
        (
            Some("cut"),
            ["-d=", "-f1", _] | ["-d", "=", "-f", "1", _] | ["-d", "=", "-f1", _] | ["-f1", "-d=", _]
        ) | (Some("grep"), ["-c", _, _])
            | (Some("awk"), ["-F=", "{print $1}" | "{ print $1 }", _])
            | (Some("sed"), ["s/=.*//" | "s/=.*/=/" | "s/=.*/=***/", _])
    )
}

/// `export $(grep -v '^#' .env | xargs)`
pub(super) fn is_exported(script: &Script, at: usize) -> bool {
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
pub(super) fn has_variables(path: &Word) -> bool {
    let shown = path.show();
    let name = base_name(&shown);
    name.starts_with(".env") || name.ends_with(".env")
}

/// Whether the line prints or sends variables after this command: what it loaded may be among them.
pub(super) fn uses_variables(script: &Script, at: usize) -> bool {
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
