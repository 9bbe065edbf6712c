//! Files that are a part of a word: of an address, of code of `sed` and `awk`, or of a command of `sqlite3`. And the file of
//! `git config -f`, which is read or written.

use std::borrow::Cow;

use super::{Effect, FileUse};
use crate::shell::word::{Piece, Word};

/// The file of an address such as `file:///etc/hosts`, `FILE:/a` or `file://localhost/a`.
pub(super) fn file_of_address(word: &Word) -> Option<Word> {
    let is_file = word.head().get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
    let path = is_file.then(|| word.after(5))?;
    let path = match path.head().strip_prefix("//") {
        // A host may follow.
        Some(rest) => path.after(2 + rest.find('/').unwrap_or(0)),
        None => path,
    };
    let Some(text) = path.known().filter(|text| text.contains(['%', '{', '['])) else { return Some(path) };
    // curl has braces and ranges of its own, in which anything can stand.
    let mut plain = String::with_capacity(text.len());
    let mut rest = unescaped(text);
    while let Some((front, after)) = rest.split_once(['{', '[']) {
        plain.push_str(front);
        plain.push('*');
        rest = after.split_once(['}', ']']).map_or("", |(_, rest)| rest).to_owned();
    }
    plain.push_str(&rest);
    let mut pieces = Vec::new();
    for (at, part) in plain.split('*').enumerate() {
        pieces.extend((at > 0).then_some(Piece::Many));
        pieces.extend((!part.is_empty()).then(|| Piece::Text(part.to_owned())));
    }
    Some(Word::of_pieces(pieces))
}

/// A text without the `%2e` of addresses.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        let code = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        let is_code = *first == b'%' && code.is_some();
        bytes.push(if is_code { code.unwrap_or(*first) } else { *first });
        rest = if is_code { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The files that a script of `sed` reads and writes: `r file`, `w file`, `s/a/b/w file`.
pub(super) fn sed_files<'a>(words: &'a [Word], uses: &mut Vec<FileUse<'a>>) {
    for part in words.iter().filter_map(Word::known).flat_map(|script| script.split(['\n', ';', '{'])) {
        let is_address = |c: char| c.is_ascii_digit() || matches!(c, '$' | ',' | '!' | ' ' | '~');
        let mut command = part.trim_start_matches(is_address);
        // `/pattern/r file`
        while let Some((_, after)) = command.strip_prefix('/').and_then(|rest| rest.split_once('/')) {
            command = after.trim_start_matches(is_address);
        }
        let own = command.strip_prefix(['r', 'R', 'w', 'W']).filter(|rest| rest.starts_with([' ', '/', '~']));
        let of_flag = || command.strip_prefix('s').and_then(|rest| Some(rest.rsplit_once("/w ")?.1));
        let effect = if command.starts_with(['r', 'R']) { Effect::Read } else { Effect::Write };
        let file =
            own.or_else(of_flag).map(str::trim).filter(|file| !file.is_empty() && *file != "/dev/stdout");
        uses.extend(file.map(|file| FileUse { path: Cow::Owned(Word::literal(file)), effect }));
    }
}

/// The files that code of awk prints into: `print > "file"`.
pub(super) fn awk_files<'a>(words: &'a [Word], uses: &mut Vec<FileUse<'a>>) {
    const HOME: &str = "ENVIRON[\"HOME\"]";
    for code in words.iter().filter_map(Word::known).filter(|code| code.contains("print")) {
        for rest in code.split('>').skip(1) {
            let rest = rest.trim_start();
            let (home, rest) = match rest.strip_prefix(HOME) {
                Some(rest) => ("~", rest.trim_start()),
                None => ("", rest),
            };
            let Some((file, _)) = rest.strip_prefix('"').and_then(|rest| rest.split_once('"')) else {
                continue;
            };
            // A text that something is compared with has neither.
            if file.contains(['/', '.']) && !file.starts_with("/dev/") {
                let path = Cow::Owned(Word::literal(format!("{home}{file}")));
                uses.push(FileUse { path, effect: Effect::Write });
            }
        }
    }
}

/// The files that commands of `sqlite3` name: `.output file`, `.read file`.
pub(super) fn sqlite_files<'a>(words: &'a [Word], uses: &mut Vec<FileUse<'a>>) {
    for line in words.iter().filter_map(Word::known).flat_map(str::lines) {
        let Some((name, rest)) = line.trim_start().split_once(' ') else { continue };
        let effect = match name {
            ".output" | ".once" | ".backup" | ".save" | ".log" | ".clone" | ".excel" => Effect::Write,
            ".read" | ".import" | ".open" | ".restore" => Effect::Read,
            _ => continue,
        };
        let file = rest.split_whitespace().find(|word| !word.starts_with('-') && !word.starts_with('|'));
        let file = file.map(|file| file.trim_matches(['"', '\'']));
        let file = file.filter(|file| !matches!(*file, "" | "stdout" | "off" | "main"));
        uses.extend(file.map(|file| FileUse { path: Cow::Owned(Word::literal(file)), effect }));
    }
}

/// The file of `git config -f file name value`; without a value it is only read.
pub(super) fn git_config_file<'a>(words: &'a [Word], uses: &mut Vec<FileUse<'a>>) {
    const WRITES: [&str; 11] = [
        "--add",
        "--unset",
        "--unset-all",
        "--replace-all",
        "--rename-section",
        "--remove-section",
        "-e",
        "--edit",
        "set",
        "unset",
        "edit",
    ];
    let Some(place) = words.iter().take(4).position(|word| word.known() == Some("config")) else { return };
    let words = &words[place + 1..];
    let has =
        |names: &[&str]| words.iter().any(|word| word.known().is_some_and(|word| names.contains(&word)));
    let (mut file, mut operands, mut at) = (None, 0, 0);
    while let Some(word) = words.get(at) {
        at += 1;
        match word.head() {
            "-f" | "--file" => {
                file = words.get(at).map(Cow::Borrowed);
                at += 1;
            }
            head if head.starts_with("--file=") => file = Some(Cow::Owned(word.after("--file=".len()))),
            "--type" | "--default" | "--comment" => at += 1,
            head if head.starts_with('-') => {}
            _ => operands += 1,
        }
    }
    let only_reads =
        has(&["-l", "--list", "list", "get"]) || words.iter().any(|word| word.head().starts_with("--get"));
    let writes = has(&WRITES) || (operands > 1 && !only_reads);
    let effect = if writes { Effect::Write } else { Effect::Read };
    // That is what `git config` changes without the option.
    let file = file.filter(|file| file.known() != Some(".git/config"));
    uses.extend(file.map(|path| FileUse { path, effect }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_addresses_are_found() {
        for (address, wanted) in [
            ("file:///etc/hosts", Some("/etc/hosts")),
            ("FILE:/etc/hosts", Some("/etc/hosts")),
            ("file://localhost/a", Some("/a")),
            ("file:///a/%2eenv", Some("/a/.env")),
            ("file:///a/.s{s}h/x", Some("/a/.s*h/x")),
            ("file:///a/%é", Some("/a/%é")),
            ("https://a.test/file:///b", None),
            ("filé:", None),
        ] {
            let file = file_of_address(&Word::literal(address));
            assert_eq!(file.as_ref().map(Word::show).as_deref(), wanted, "{address}");
        }
    }

    #[test]
    fn files_in_scripts_of_sed_are_found() {
        for (script, wanted) in [
            ("r .env", Some((Effect::Read, ".env"))),
            ("1r a", Some((Effect::Read, "a"))),
            ("/x/,/y/w b", Some((Effect::Write, "b"))),
            ("s/a/b/w c", Some((Effect::Write, "c"))),
            ("s/read /x/", None),
            ("/r a/d", None),
        ] {
            let words = [Word::literal(script)];
            let mut uses = Vec::new();
            sed_files(&words, &mut uses);
            let found = uses.first().map(|file| (file.effect, file.path.show().into_owned()));
            let found = found.as_ref().map(|(effect, path)| (*effect, path.as_str()));
            assert_eq!(found, wanted, "{script}");
        }
    }
}
