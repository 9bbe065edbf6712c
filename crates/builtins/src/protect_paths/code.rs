//! Code in other languages that a shell line passes to an interpreter: its string literals can be file names.

use super::embedded;
use crate::shell::{Command, Input, Script};

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
];

/// The string literals in the code that a command runs, and the files that programs with a language of their own name
/// in it.
pub(super) fn quoted_texts(script: &Script, command: &Command) -> Vec<String> {
    let Some(name) = command.name() else { return Vec::new() };
    if matches!(name, "awk" | "gawk" | "mawk" | "nawk") {
        // `awk 'BEGIN { while ((getline l < ".env") > 0) print l }'`
        let mut texts = embedded::texts(script, command, name).unwrap_or_default();
        let uses_files = |code: &&String| code.contains(['<', '>', '|']) || code.contains("ARGV");
        command.code.iter().filter(uses_files).for_each(|code| collect(code, &mut texts));
        let file = |text: &str| text.rsplit(' ').next().unwrap_or_default().to_owned();
        // `"cat .env" | getline`
        let ends: Vec<String> =
            texts.iter().filter(|text| text.contains(' ')).map(|text| file(text)).collect();
        texts.extend(ends);
        return texts;
    }
    if let Some(texts) = embedded::texts(script, command, name) {
        return texts;
    }
    let version = |rest: &str| rest.chars().all(|c| c.is_ascii_digit() || c == '.');
    let found = INTERPRETERS.iter().find(|(program, _)| name.strip_prefix(program).is_some_and(version));
    let Some((_, options)) = found else { return Vec::new() };
    let mut texts = Vec::new();
    let arguments = command.arguments();
    for (at, word) in arguments.iter().enumerate() {
        if word.known().is_some_and(|word| options.contains(&word))
            && let Some(code) = arguments.get(at + 1)
        {
            collect(&code.show(), &mut texts);
        }
    }
    match &command.input {
        Input::Here(body) => {
            if let Some(body) = script.here_documents.get(*body) {
                collect(&body.text, &mut texts);
            }
        }
        Input::Text(word) => collect(&word.show(), &mut texts),
        _ => {}
    }
    texts
}

/// Every short text without a line break between any two quotes: it could be a file name.
pub(super) fn collect(code: &str, texts: &mut Vec<String>) {
    const LONGEST: usize = 200;
    const MAX: usize = 500;
    for quote in ['"', '\'', '`'] {
        let parts: Vec<&str> = code.split(quote).collect();
        for part in parts.iter().skip(1).take(parts.len().saturating_sub(2)) {
            // Perl's `open F, ">file"`
            let part = part.trim_start_matches(['<', '>', '+', '|']).trim();
            if texts.len() < MAX && !part.is_empty() && part.len() <= LONGEST && !part.contains('\n') {
                texts.push(part.to_owned());
            }
        }
    }
}
