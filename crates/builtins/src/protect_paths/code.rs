//! Code in other languages that a shell line passes to an interpreter: its string literals can be file names.

use super::{embedded, literal};
use crate::shell::{Command, Effect, Input, Script};

/// Programs that run code, and the options whose value is code.
const INTERPRETERS: &[(&str, &[&str])] = &[
    ("python", &["-c"]),
    ("pypy", &["-c"]),
    ("py", &["-c"]),
    ("node", &["-e", "-p", "--eval", "--print", "-pe"]),
    ("nodejs", &["-e", "-p", "--eval", "--print"]),
    ("deno", &["eval"]),
    ("bun", &["-e", "--eval"]),
    ("perl", &["-e", "-E", "-ne", "-pe", "-pi", "-lne", "-lane", "-0ne"]),
    ("ruby", &["-e", "-ne", "-pe"]),
    ("php", &["-r"]),
    ("lua", &["-e"]),
    ("Rscript", &["-e"]),
    ("pwsh", &["-c", "-Command", "-command"]),
    ("powershell", &["-c", "-Command", "-command"]),
];

/// A text of code that can be the name of a file, and what the code does with that file.
pub(super) struct CodeText {
    pub(super) text: String,
    pub(super) effect: Effect,
}

/// The string literals in the code that a command runs, and the files that programs with a language of their own name
/// in it.
pub(super) fn quoted_texts(script: &Script, command: &Command) -> Vec<CodeText> {
    let Some(name) = command.name() else { return Vec::new() };
    if let Some(texts) = texts_of_program(script, command, name) {
        return texts.into_iter().map(|text| CodeText { text, effect: Effect::Unknown }).collect();
    }
    let version = |rest: &str| rest.chars().all(|c| c.is_ascii_digit() || c == '.');
    let found = INTERPRETERS.iter().find(|(program, _)| name.strip_prefix(program).is_some_and(version));
    let Some((language, options)) = found else { return Vec::new() };
    let mut texts = Vec::new();
    let arguments = command.arguments();
    for (at, word) in arguments.iter().enumerate() {
        if word.known().is_some_and(|word| options.contains(&word))
            && let Some(code) = arguments.get(at + 1)
        {
            let code = code.show();
            // Commands of PowerShell are read as those of a shell; calls of .NET are not.
            let is_read = matches!(*language, "pwsh" | "powershell") && !code.contains("]::");
            if !is_read {
                names(&code, language, &mut texts);
            }
        }
    }
    match &command.input {
        Input::Here(body) => {
            if let Some(body) = script.here_documents.get(*body) {
                names(&body.text, language, &mut texts);
            }
        }
        Input::Text(word) => names(&word.show(), language, &mut texts),
        _ => {}
    }
    texts
}

/// What may be files in the code of a program with a language of its own; none when it is another program.
fn texts_of_program(script: &Script, command: &Command, name: &str) -> Option<Vec<String>> {
    let texts = embedded::texts(script, command, name);
    if !matches!(name, "awk" | "gawk" | "mawk" | "nawk") {
        return texts;
    }
    // `awk 'BEGIN { while ((getline l < ".env") > 0) print l }'`
    let mut texts = texts.unwrap_or_default();
    let uses_files = |code: &&String| code.contains(['<', '>', '|']) || code.contains("ARGV");
    command.code.iter().filter(uses_files).for_each(|code| collect(code, &mut texts));
    let file = |text: &str| text.rsplit(' ').next().unwrap_or_default().to_owned();
    // `"cat .env" | getline`
    let ends: Vec<String> = texts.iter().filter(|text| text.contains(' ')).map(|text| file(text)).collect();
    texts.extend(ends);
    Some(texts)
}

/// The texts of code that name files.
fn names(code: &str, language: &str, texts: &mut Vec<CodeText>) {
    let can_write = literal::can_write(code, language);
    // Python has no texts in back quotes.
    let quotes: &[char] = if language.starts_with("py") { &['"', '\''] } else { &['"', '\'', '`'] };
    each(code, quotes, |start, text| {
        // Perl's `open F, ">file"`
        let name = text.trim_start_matches(['<', '>', '+', '|']).trim();
        let effect = match name.len() == text.trim().len() {
            true => literal::effect(code, start, start + text.len(), can_write),
            false => Some(Effect::Unknown),
        };
        // A text of several words is no name of a file; it may be a command.
        let effect = effect.filter(|_| can_write || !name.contains(' '));
        // `repo / '.git' / 'index'`: most code that names the folder only looks into it.
        let is_looked_into = matches!(name, ".git" | ".hg" | ".svn")
            && effect == Some(Effect::Unknown)
            && !["hooks", "config"].iter().any(|part| code.contains(part));
        let effect = effect.filter(|_| !is_looked_into);
        let text = effect.map(|effect| CodeText { text: name.to_owned(), effect });
        texts.extend(text.filter(|text| !text.text.is_empty()));
    });
}

/// Every short text without a line break between any two quotes: it could be a file name.
pub(super) fn collect(code: &str, texts: &mut Vec<String>) {
    each(code, &['"', '\'', '`'], |_, text| {
        let text = text.trim_start_matches(['<', '>', '+', '|']).trim();
        texts.extend((!text.is_empty()).then(|| text.to_owned()));
    });
}

/// Calls `found` with the place of each such text, and the text.
fn each<'a>(code: &'a str, quotes: &[char], mut found: impl FnMut(usize, &'a str)) {
    const LONGEST: usize = 200;
    const MAX: usize = 500;
    let mut count = 0;
    for quote in quotes {
        let places: Vec<usize> = code.match_indices(*quote).map(|(at, _)| at).collect();
        for pair in places.windows(2) {
            let start = pair[0] + 1;
            let text = code.get(start..pair[1]).unwrap_or_default();
            if count < MAX && !text.is_empty() && text.len() <= LONGEST && !text.contains('\n') {
                count += 1;
                found(start, text);
            }
        }
    }
}
