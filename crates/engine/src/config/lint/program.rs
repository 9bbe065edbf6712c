//! Warns about programs that cannot run: missing, not executable, or with Windows line ends.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::super::loader::LoadContext;
use super::super::tree::{Span, shorten};
use super::super::value::Reader;
use crate::registry::Program;

/// Shell built-ins and keywords, which are not programs to look for.
const SHELL_WORDS: [&str; 46] = [
    "!", ".", ":", "[", "[[", "alias", "bg", "break", "case", "cd", "command", "continue", "echo", "eval",
    "exec", "exit", "export", "false", "fg", "for", "function", "getopts", "hash", "if", "jobs", "kill",
    "local", "printf", "pwd", "read", "readonly", "return", "set", "shift", "source", "test", "time",
    "times", "trap", "true", "type", "ulimit", "umask", "unset", "until", "while",
];
/// Programs whose first argument is the file that they run.
const INTERPRETERS: [&str; 8] = ["python", "python3", "sh", "bash", "node", "ruby", "perl", "zsh"];

/// Warns about a program that cannot run. Nothing is started.
pub(in super::super) fn program(
    reader: &mut Reader<'_>,
    context: &LoadContext<'_>,
    program: &Program,
    span: Span,
) {
    if !reader.lints {
        return;
    }
    match program {
        Program::Argv(words) => {
            let Some(first) = words.first() else { return };
            let rest = words.iter().skip(1).map(String::as_str);
            command(reader, context, first, rest, span);
        }
        Program::Shell(line) => {
            let mut words =
                line.split_ascii_whitespace().skip_while(|word| word.contains('=') || *word == "exec");
            let Some(first) = words.next() else { return };
            if is_plain(first) && !SHELL_WORDS.contains(&first) && !first.starts_with(['{', '#']) {
                command(reader, context, first, words, span);
            }
        }
    }
}

fn is_plain(word: &str) -> bool {
    !word.contains(['$', '`', '"', '\'', '*', ';', '&', '|', '(', '<', '>', '~', '\\'])
}

fn command<'w>(
    reader: &mut Reader<'_>,
    context: &LoadContext<'_>,
    first: &str,
    mut rest: impl Iterator<Item = &'w str>,
    span: Span,
) {
    let relative = "relative paths begin at the configuration's folder";
    if first.contains('/') {
        let path = context.folder.join(first);
        let Ok(meta) = fs::metadata(&path) else {
            let message = format!(
                "the command runs `{}`, which does not exist in {}",
                shorten(first),
                context.folder.display()
            );
            return reader.warn(span, message, relative);
        };
        if meta.is_file() && meta.permissions().mode() & 0o111 == 0 {
            let message = format!("the command runs `{}`, which is not executable", shorten(first));
            return reader.warn(span, message, format!("run `chmod +x {}`", shorten(first)));
        }
        let start = start_of(&path);
        if !line_ends(reader, &start, first, span) {
            interpreter(reader, context, &start, first, span);
        }
        return;
    }
    if is_missing(context, first) {
        let message = format!("the command runs `{}`, which is in no folder of PATH", shorten(first));
        reader.warn(span, message, "install it, or name it by its path");
    }
    if INTERPRETERS.contains(&first) {
        // `python -m module` and `sh -c '…'` do not name a file.
        let script = rest
            .by_ref()
            .take_while(|word| !["-m", "-c", "-e"].contains(word))
            .find(|word| !word.starts_with('-'));
        if let Some(script) = script.filter(|script| is_plain(script)) {
            let path = context.folder.join(script);
            if path.exists() {
                line_ends(reader, &start_of(&path), script, span);
            } else {
                let message = format!(
                    "the command runs `{}`, which does not exist in {}",
                    shorten(script),
                    context.folder.display()
                );
                reader.warn(span, message, relative);
            }
        }
    }
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Whether no folder of PATH has this program. False when PATH is not known.
fn is_missing(context: &LoadContext<'_>, name: &str) -> bool {
    context
        .search_path
        .is_some_and(|search| !std::env::split_paths(search).any(|folder| is_executable(&folder.join(name))))
}

/// The start of a regular file; empty if it cannot be read.
fn start_of(path: &Path) -> Vec<u8> {
    let mut start = Vec::new();
    let is_read = fs::metadata(path).is_ok_and(|meta| meta.is_file())
        && File::open(path).and_then(|file| file.take(4096).read_to_end(&mut start)).is_ok();
    if is_read { start } else { Vec::new() }
}

/// Warns about a script whose lines end with a carriage return: the kernel looks for `/bin/sh\r`, and shells
/// treat it as part of the command. Returns whether it did.
fn line_ends(reader: &mut Reader<'_>, start: &[u8], shown: &str, span: Span) -> bool {
    let is_wrong = start.starts_with(b"#!") && start.windows(2).any(|pair| pair == b"\r\n");
    if is_wrong {
        let message =
            format!("the lines of `{}` end with a carriage return, with which it cannot run", shorten(shown));
        reader.warn(span, message, format!("convert it: `sed -i 's/\\r$//' {}`", shorten(shown)));
    }
    is_wrong
}

/// Warns about a script whose first line names a program that is not there.
fn interpreter(reader: &mut Reader<'_>, context: &LoadContext<'_>, start: &[u8], shown: &str, span: Span) {
    let Some(line) = start.strip_prefix(b"#!").and_then(|rest| rest.split(|byte| *byte == b'\n').next())
    else {
        return;
    };
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_ascii_whitespace();
    let Some(program) = words.next().filter(|program| program.starts_with('/')) else { return };
    let missing = if !Path::new(program).exists() {
        program
    } else if program.ends_with("/env") {
        // `env -S NAME=value program …`
        let name = words.find(|word| !word.starts_with('-') && !word.contains('='));
        let Some(name) = name.filter(|name| !name.contains('/') && is_missing(context, name)) else { return };
        name
    } else {
        return;
    };
    let message =
        format!("the first line of `{}` names `{}`, which does not exist", shorten(shown), shorten(missing));
    reader.warn(span, message, "install it, or name another one");
}
