//! Options of programs: where they end, and what their values are.

use crate::shell::word::Word;

/// The index of the first word that is neither an option nor the value of one. `words` does not include the program.
pub(in crate::shell) fn first_operand(words: &[Word], short: &str, long: &[&str]) -> usize {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let head = word.head();
        if head.len() < 2 || !head.starts_with('-') {
            break;
        }
        if word.known() == Some("--") {
            return at + 1;
        }
        at += 1 + usize::from(takes_next(word, short, long));
    }
    at.min(words.len())
}

/// Whether the value of this option is the next word.
pub(super) fn takes_next(word: &Word, short: &str, long: &[&str]) -> bool {
    let Some(text) = word.known() else { return false };
    if text.starts_with("--") {
        // GNU programs accept any unambiguous prefix of a long option.
        return !text.contains('=') && text.len() > 3 && long.iter().any(|option| option.starts_with(text));
    }
    let letters = text.trim_start_matches('-');
    letters
        .char_indices()
        .find(|(_, letter)| short.contains(*letter))
        .is_some_and(|(at, letter)| at + letter.len_utf8() == letters.len())
}

/// The values of these options in any form: `-c X`, `-cX`, `-lc X`, `--command X`, `--command=X`.
/// `short` are the letters of all options that take a value.
pub(super) fn values(words: &[Word], options: &[&str], short: &str) -> Vec<Word> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let head = word.head();
        for option in options {
            if word.known() == Some(option) {
                found.extend(words.get(at + 1).cloned());
            } else if option.starts_with("--") {
                let name = head.split('=').next().unwrap_or_default();
                if name.len() > 3 && head.contains('=') && option.starts_with(name) {
                    found.push(word.after(name.len() + 1));
                }
            } else if let Some(value_start) = in_cluster(head, option, short) {
                let value = word.after(value_start);
                let next = if value.pieces().is_empty() { words.get(at + 1).cloned() } else { Some(value) };
                found.extend(next);
            }
        }
    }
    found
}

/// Where the value of a one-letter option in a cluster begins: `-lcX`.
fn in_cluster(head: &str, option: &str, short: &str) -> Option<usize> {
    let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1)?;
    let letters = head.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
    let at = letters.find(letter)?;
    let before = &letters[..at];
    let flags = before.chars().all(|c| c.is_ascii_alphanumeric() && !short.contains(c));
    flags.then_some(1 + at + 1)
}
