//! What searches look for, as names: the commands that get the files they find are judged with them.

use std::ops::Range;

use crate::shell::model::{Command, Input};
use crate::shell::word::{Piece, Word};

/// More names than this are not followed.
const MAX: usize = 4;

/// Filters in a pipeline that pass names on.
const FILTERS: [&str; 10] = ["grep", "egrep", "head", "tail", "sort", "uniq", "sed", "awk", "tr", "tee"];

/// The patterns of `find -name`.
pub(super) fn names_of_find(words: &[Word]) -> Vec<Word> {
    let is_name = |word: &Word| matches!(word.known(), Some("-name" | "-iname" | "-path" | "-wholename"));
    let is_not = |word: Option<&Word>| matches!(word.and_then(Word::known), Some("-not" | "!"));
    let mut names = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let negated = is_not(at.checked_sub(1).and_then(|before| words.get(before)));
        if is_name(word)
            && !negated
            && let Some(pattern) = words.get(at + 1).and_then(Word::known)
        {
            let name = pattern.rsplit('/').next().unwrap_or(pattern);
            // A pattern such as `*.rs` says too little about what is found.
            if !name.chars().take(2).any(|c| matches!(c, '*' | '?' | '[')) || is_secret_ending(name) {
                names.push(pattern_word(name));
            }
        }
    }
    names.truncate(MAX);
    names
}

/// The pattern of `fd`, when it is a plain name.
pub(super) fn names_of_fd(words: &[Word]) -> Vec<Word> {
    let name = words.iter().find_map(|word| word.known().filter(|text| !text.starts_with('-')));
    let is_plain = |name: &&str| {
        name.len() > 2 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    let place = words.iter().position(|word| matches!(word.known(), Some("-e" | "--extension")));
    let ending = place.and_then(|place| words.get(place + 1)).and_then(Word::known);
    let ending = ending.map(|ending| format!("*.{}", ending.trim_start_matches('.')));
    let ending = ending.filter(|pattern| is_secret_ending(pattern)).map(|pattern| pattern_word(&pattern));
    name.filter(is_plain).map(Word::literal).into_iter().chain(ending).collect()
}

/// Whether the files that a pattern such as `*.pem` finds are keys.
fn is_secret_ending(name: &str) -> bool {
    const ENDINGS: [&str; 9] =
        ["*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.kdbx", "*.ppk", "*.env", "*.keystore"];
    ENDINGS.contains(&name)
}

/// The names that come out of a pipeline which ends with these commands: of `find`, `fd`, `ls`, `locate`
/// and `git ls-files`.
pub(crate) fn names_of_output(commands: &[Command], range: Range<usize>) -> Vec<Word> {
    let mut range = range;
    let mut picked: Option<Word> = None;
    for _ in 0..MAX {
        let Some(last) = commands.get(range).and_then(<[Command]>::last) else { return Vec::new() };
        let words = last.arguments();
        let operands = |words: &[Word]| -> Vec<Word> {
            words.iter().filter(|word| !word.head().starts_with('-')).take(MAX).cloned().collect()
        };
        match last.name() {
            Some("find") => return names_of_find(words),
            Some("fd" | "fdfind") => return names_of_fd(words),
            Some("ls" | "locate" | "plocate" | "mdfind") => {
                return operands(words).into_iter().chain(picked).collect();
            }
            Some("git") if words.first().is_some_and(|word| word.known() == Some("ls-files")) => {
                return operands(&words[1..]);
            }
            Some(name) if FILTERS.contains(&name) => match &last.input {
                Input::Pipe(before) => {
                    range = before.clone();
                    // `ls -a | grep env` is there for `.env`.
                    let is_env = |word: &&Word| {
                        let plain = |c: char| matches!(c, '^' | '$' | '\\' | '.' | '*');
                        word.known().is_some_and(|text| text.trim_matches(plain) == "env")
                    };
                    let inverts =
                        words.iter().any(|word| word.head().starts_with('-') && word.head().contains('v'));
                    if !inverts && words.iter().any(|word| is_env(&word)) {
                        picked = Some(Word::literal(".env"));
                    }
                }
                _ => return Vec::new(),
            },
            _ => return Vec::new(),
        }
    }
    Vec::new()
}

/// A text with wildcards as a word that the shell would expand.
fn pattern_word(text: &str) -> Word {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    for c in text.chars() {
        let piece = match c {
            '*' => Piece::Many,
            '?' => Piece::One,
            c => {
                plain.push(c);
                continue;
            }
        };
        if !plain.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
        }
        pieces.push(piece);
    }
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
    Word::of_pieces(pieces)
}
