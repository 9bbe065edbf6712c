//! The program of Crosier as a file: copying it gives it a name that nobody knows, and without it no event is judged.

use super::{is_crosier, mentions_crosier};
use crate::path::Places;
use crate::shell::{Command, Effect, Script, Word, base_name};

/// Programs whose output or target has what they read.
const COPIERS: [&str; 32] = [
    "cp", "gcp", "ln", "gln", "link", "install", "ginstall", "rsync", "scp", "dd", "gdd", "cat", "tac",
    "tee", "mv", "gmv", "head", "tail", "gzip", "xz", "zstd", "bzip2", "zip", "tar", "base64", "base32",
    "xxd", "openssl", "objcopy", "strip", "upx", "ditto",
];
/// Programs that print where another one is.
const SEARCHES: [&str; 7] = ["which", "command", "type", "whereis", "where", "hash", "whence"];
/// Programs that install others.
const INSTALLERS: [&str; 24] = [
    "pip", "pipx", "uv", "cargo", "npm", "pnpm", "yarn", "bun", "brew", "apt", "apt-get", "dnf", "yum",
    "pacman", "zypper", "apk", "snap", "nix", "nix-env", "mise", "conda", "poetry", "pdm", "port",
];
/// Their subcommands and options that take one away.
const REMOVES: [&str; 12] = [
    "uninstall",
    "remove",
    "rm",
    "un",
    "unlink",
    "purge",
    "autoremove",
    "erase",
    "del",
    "-R",
    "-Rs",
    "--uninstall",
];

/// Why a command must not do this to the program.
pub(super) fn objection(script: &Script, command: &Command, places: Places<'_>) -> Option<String> {
    if uninstalls(command) {
        return Some(format!(
            "`{}` would take Crosier off this machine; that is for the person to do",
            command.show()
        ));
    }
    let name = command.name()?;
    // Most lines have no word that could be the program.
    let words = || command.words.iter().chain(command.redirections.iter().map(|one| &one.target));
    if !words().any(is_named_like_it) {
        return None;
    }
    let is_looked_up = script.commands.iter().any(looks_up);
    let is_program = |word: &Word| {
        let text = word.show();
        let path = text.strip_prefix("if=").unwrap_or(&text);
        // A folder of this name is a checkout.
        is_crosier(&Word::literal(base_name(path))) && (is_looked_up || places.resolve(path).real.is_file())
    };
    let files = command.files();
    let is_read = |word: &Word| is_named_like_it(word) && is_program(word);
    if COPIERS.contains(&name)
        && (command.arguments().iter().any(is_read) || files.iter().any(|file| is_read(&file.path)))
    {
        return Some(format!(
            "`{}` would copy or link Crosier's program under another name, which the self-guard would not recognise, or \
             replace it",
            command.show()
        ));
    }
    let changes = |effect| matches!(effect, Effect::Write | Effect::Delete);
    let is_changed = files.iter().any(|file| changes(file.effect) && is_read(&file.path));
    let is_closed =
        matches!(name, "chmod" | "gchmod" | "chattr" | "setfacl" | "chown" | "patchelf" | "setcap")
            && command.arguments().iter().any(is_read)
            && !command
                .arguments()
                .iter()
                .any(|word| matches!(word.known(), Some("+x" | "755" | "a+x" | "u+x")));
    (is_changed && !matches!(name, "chmod" | "gchmod") || is_closed).then(|| {
        format!("`{}` would change or remove Crosier's program; that is for the person to do", command.show())
    })
}

/// Whether the name at the end of a path is that of the program.
fn is_named_like_it(word: &Word) -> bool {
    let text = word.show();
    text.contains("crosier") && is_crosier(&Word::literal(base_name(&text)))
}

/// `which crosier`, `command -v crosier`: then the word `crosier` can be the path of the program.
fn looks_up(command: &Command) -> bool {
    command.program().is_some_and(|name| SEARCHES.contains(&base_name(name)))
        && command.arguments().iter().any(is_crosier)
}

/// `pip uninstall crosier`, `python3 -m pip uninstall -y crosier`
fn uninstalls(command: &Command) -> bool {
    let Some(name) = command.name() else { return false };
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let has = |of: &[&str]| {
        command.arguments().iter().any(|word| word.known().is_some_and(|word| of.contains(&word)))
    };
    let installs = INSTALLERS.contains(&plain)
        || (matches!(plain, "python" | "pypy" | "py") && has(&["pip", "pipx", "uv"]));
    installs && mentions_crosier(command) && has(&REMOVES) && command.arguments().iter().any(is_crosier)
}
