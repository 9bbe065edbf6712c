//! Files that are named in the languages of programs: `sed 'w file'`, `awk '{print > "file"}'`, `sqlite3 '.output file'`.

use super::code::collect;
use crate::shell::{Command, Input, Script, Word};

/// Modules of Python that write a file which is one of their arguments.
const MODULES: [&str; 9] =
    ["json.tool", "zipfile", "tarfile", "gzip", "base64", "uu", "cProfile", "profile", "shutil"];

/// What may be files in the texts of such a program; none when it is another program.
pub(super) fn texts(script: &Script, command: &Command, name: &str) -> Option<Vec<String>> {
    let arguments = || command.arguments().iter().map(Word::show);
    let here = || match &command.input {
        Input::Here(body) => script.here_documents.get(*body).map(|body| body.text.clone()),
        Input::Text(word) => Some(word.show().into_owned()),
        _ => command.stdin_text.clone(),
    };
    let mut texts = Vec::new();
    match name {
        "sed" | "gsed" | "ssed" => {
            arguments()
                .filter(|word| word.contains(['w', 'W']))
                .for_each(|code| written_by_sed(&code, &mut texts));
        }
        "ed" | "ex" | "red" => {
            let inner = here();
            arguments()
                .chain(inner.as_deref().map(Into::into))
                .for_each(|code| texts_after_spaces(&code, &mut texts));
        }
        "vi" | "vim" | "nvim" | "view" | "emacs" => {
            let is_option = |word: &str| word.starts_with("-c") || word == "--cmd" || word == "--eval";
            let words: Vec<_> = arguments().collect();
            for (at, word) in words.iter().enumerate() {
                let follows = at.checked_sub(1).is_some_and(|before| is_option(&words[before]));
                if follows || word.starts_with('+') || (word.starts_with("-c") && word.len() > 2) {
                    texts_after_spaces(word, &mut texts);
                    collect(&format!(" {word} "), &mut texts);
                }
            }
        }
        "awk" | "gawk" | "mawk" | "nawk" => {
            // Only what is printed into a file or to a command matters.
            if !arguments().any(|word| word.contains(['>', '|']) || word.contains("system")) {
                return Some(texts);
            }
            for word in arguments() {
                match word.split_once('=').filter(|(name, _)| is_name(name)) {
                    Some((_, value)) => texts.push(value.to_owned()),
                    None if word.contains('"') => collect(&word, &mut texts),
                    None => {}
                }
            }
        }
        "sqlite3" | "sqlite" | "duckdb" | "psql" | "mysql" | "mariadb" => {
            let inner = here();
            for code in arguments().chain(inner.as_deref().map(Into::into)) {
                let is_command = |line: &&str| line.trim_start().starts_with(['.', '\\']);
                code.lines().filter(is_command).for_each(|line| texts_after_spaces(line, &mut texts));
                if code.contains('\'') && code.contains(' ') {
                    collect(&code, &mut texts);
                }
            }
        }
        "cmake" => {
            let words: Vec<_> = arguments().collect();
            if words.first().is_some_and(|word| word == "-E") {
                // Builds remove the repositories of what they fetched.
                let files = words.into_iter().skip(2).filter(|word| word != ".git");
                texts.extend(files.map(|word| word.into_owned()));
            }
        }
        name if name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') == "python" => {
            let words: Vec<_> = arguments().collect();
            let place = words.iter().position(|word| word == "-m")?;
            let module = words.get(place + 1)?;
            if !MODULES.contains(&&**module) {
                return None;
            }
            let operands: Vec<_> = words[place + 2..]
                .iter()
                .filter(|word| !word.starts_with('-'))
                .map(ToString::to_string)
                .collect();
            // With one file, it is only shown.
            texts.extend(operands.into_iter().skip(usize::from(module == "json.tool")));
        }
        _ => return None,
    }
    Some(texts)
}

fn is_name(text: &str) -> bool {
    let text = text.trim_start_matches("-v");
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// What follows a `w` of sed, up to the end of the line: the name of a file that it writes.
fn written_by_sed(code: &str, texts: &mut Vec<String>) {
    const MAX: usize = 50;
    for line in code.lines() {
        let mut before = None;
        for (at, c) in line.char_indices() {
            // After a command, an address, or the flags of `s`.
            let can_begin = before
                .is_none_or(|before: char| !before.is_alphanumeric() || "gpeimIM0123456789".contains(before));
            if matches!(c, 'w' | 'W') && can_begin && texts.len() < MAX {
                let file = line[at + 1..].trim();
                if file.contains(['.', '/']) {
                    texts.push(file.to_owned());
                }
            }
            before = Some(c);
        }
    }
}

/// What follows a space in the lines of a program's commands: `w file`, `.output file`.
fn texts_after_spaces(code: &str, texts: &mut Vec<String>) {
    const MAX: usize = 50;
    for line in code.lines() {
        let words = line.split_whitespace().skip(1).map(|word| word.trim_matches(['"', '\'', ';', '|']));
        texts.extend(words.filter(|word| word.contains(['.', '/'])).take(MAX).map(str::to_owned));
    }
}
