//! Flags in any order and spelling: a rule against `rm -rf *` is one against `rm --force x -r`.

use super::command::{CommandPattern, PatternWord};
use crate::shell::Word;
use crate::token::{Fit, Token};

/// Short and long names of the same flag, by program. An empty program name means any program.
const ALIASES: &[(&str, &[&str])] = &[
    ("rm", &["r", "R", "recursive"]),
    ("rm", &["f", "force"]),
    ("cp", &["r", "R", "recursive"]),
    ("chmod", &["R", "recursive"]),
    ("chown", &["R", "recursive"]),
    ("chgrp", &["R", "recursive"]),
    ("git", &["f", "force"]),
    ("mv", &["f", "force"]),
    ("ln", &["f", "force"]),
    ("docker", &["f", "force"]),
    ("podman", &["f", "force"]),
    ("sed", &["i", "in-place"]),
    ("curl", &["o", "output"]),
    ("curl", &["k", "insecure"]),
    ("wget", &["O", "output-document"]),
    ("tar", &["x", "extract", "get"]),
    ("tar", &["P", "absolute-names"]),
    ("grep", &["r", "recursive"]),
    ("kubectl", &["f", "filename"]),
    ("npm", &["g", "global"]),
];

/// Whether one of the words is this flag.
pub(crate) fn has(program: &str, words: &[Word], wanted: &str) -> bool {
    let names = ALIASES.iter().find(|(name, names)| *name == program && names.contains(&wanted));
    let names: &[&str] = names.map_or(&[], |(_, names)| names);
    let options = words.iter().take_while(|word| word.known() != Some("--"));
    options
        .map(Word::head)
        .any(|head| std::iter::once(wanted).chain(names.iter().copied()).any(|name| spells(head, name)))
}

/// Whether a word is this flag, perhaps among others or shortened: `-rf` is `r`, `--rec` is `recursive`.
pub(crate) fn spells(word: &str, name: &str) -> bool {
    if let Some(long) = word.strip_prefix("--") {
        let long = long.split('=').next().unwrap_or(long);
        return name.len() > 1 && !long.is_empty() && name.starts_with(long);
    }
    let Some(letters) = word.strip_prefix('-') else { return false };
    match name.len() {
        1 => letters.split('=').next().is_some_and(|letters| letters.contains(name)),
        _ => letters == name,
    }
}

/// How well a pattern with flags matches, ignoring their order and spelling.
pub(super) fn fits(pattern: &CommandPattern, name: &[Token], program: &Word, words: &[Word]) -> Fit {
    let text = |word: &PatternWord| match word {
        PatternWord::Any => None,
        PatternWord::Tokens(tokens) => tokens
            .iter()
            .map(|token| match token {
                Token::Char(c) => Some(*c),
                _ => None,
            })
            .collect::<Option<String>>(),
    };
    let is_flag = |word: &PatternWord| text(word).is_some_and(|text| text.len() > 1 && text.starts_with('-'));
    if !pattern.words.iter().skip(1).any(is_flag) {
        return Fit::No;
    }
    let shown: String =
        name.iter().filter_map(|token| if let Token::Char(c) = token { Some(*c) } else { None }).collect();
    let unsure = words.iter().any(Word::may_split) || program.known().is_none();
    let mut fit = Fit::Yes;
    for flag in pattern.words.iter().skip(1).filter(|word| is_flag(word)).filter_map(text) {
        let there = match flag.strip_prefix("--") {
            Some(long) => has(&shown, words, long.split('=').next().unwrap_or(long)),
            // `-rf` is two flags, `-delete` is one: both readings are tried.
            None => {
                let letters = &flag[1..];
                let each = letters.chars().all(|letter| has(&shown, words, letter.encode_utf8(&mut [0; 4])));
                each || has(&shown, words, letters)
            }
        };
        match (there, unsure) {
            (true, _) => {}
            (false, true) => fit = fit.min(Fit::Perhaps),
            (false, false) => return Fit::No,
        }
    }
    let mut others = pattern.clone();
    let mut at = 0;
    others.words.retain(|word| {
        at += 1;
        at == 1 || !is_flag(word)
    });
    let plain = words.iter().filter(|word| word.head().len() < 2 || !word.head().starts_with('-'));
    fit.min(others.fits_words(name, program.may_split(), plain))
}
