//! Brace expansion: `{rm,-rf,/}` is three words.

use super::word::{Fragment, Piece, Word, merged};

/// The maximum number of words that one word is expanded to.
const MAX_WORDS: usize = 512;
const MAX_MARKS: usize = 256;
const MAX_DEPTH: usize = 16;

/// The words that one word expands to; none when there are too many.
pub(super) fn expand(parts: Vec<Fragment>) -> Option<Vec<Word>> {
    if parts.iter().filter(|part| matches!(part, Fragment::Mark(_))).count() > MAX_MARKS {
        return None;
    }
    let all = product(&parts, 0)?;
    // An empty alternative is not a word: `{,rm} x` runs rm.
    let words = all.into_iter().filter(|parts| !parts.is_empty());
    Some(words.map(|parts| Word { pieces: merged(parts), plain: 0 }).collect())
}

/// Every expansion of these parts.
fn product(parts: &[Fragment], depth: usize) -> Option<Vec<Vec<Fragment>>> {
    if depth > MAX_DEPTH {
        return None;
    }
    let mut all: Vec<Vec<Fragment>> = vec![Vec::new()];
    let mut at = 0;
    while let Some(part) = parts.get(at) {
        let group = if *part == Fragment::Mark('{') { group(parts, at) } else { None };
        let Some((choices, end)) = group else {
            all.iter_mut().for_each(|one| one.push(part.clone()));
            at += 1;
            continue;
        };
        let mut ways: Vec<Vec<Fragment>> = Vec::new();
        for choice in choices {
            match choice {
                Choice::Parts(range) => ways.extend(product(&parts[range], depth + 1)?),
                Choice::Text(text) => ways.push(vec![Fragment::Piece(Piece::Text(text))]),
            }
        }
        if all.len() * ways.len() > MAX_WORDS {
            return None;
        }
        all = all
            .iter()
            .flat_map(|before| ways.iter().map(move |way| before.iter().chain(way).cloned().collect()))
            .collect();
        at = end + 1;
    }
    Some(all)
}

enum Choice {
    Parts(std::ops::Range<usize>),
    Text(String),
}

/// The choices between the `{` at `start` and its `}`, and where that is. None when the braces mean nothing.
fn group(parts: &[Fragment], start: usize) -> Option<(Vec<Choice>, usize)> {
    let (mut depth, mut from) = (0, start + 1);
    let mut choices = Vec::new();
    for (at, part) in parts.iter().enumerate().skip(start + 1) {
        match part {
            Fragment::Mark('{') => depth += 1,
            Fragment::Mark(',') if depth == 0 => {
                choices.push(Choice::Parts(from..at));
                from = at + 1;
            }
            Fragment::Mark('}') if depth > 0 => depth -= 1,
            Fragment::Mark('}') if !choices.is_empty() => {
                choices.push(Choice::Parts(from..at));
                return Some((choices, at));
            }
            Fragment::Mark('}') => {
                let [Fragment::Piece(Piece::Text(text))] = &parts[start + 1..at] else { return None };
                return sequence(text).map(|choices| (choices, at));
            }
            _ => {}
        }
    }
    None
}

/// `1..5`, `a..e`, with an optional step.
fn sequence(text: &str) -> Option<Vec<Choice>> {
    let mut ends = text.split("..");
    let (from, to, step) = (ends.next()?, ends.next()?, ends.next());
    if ends.next().is_some() {
        return None;
    }
    let one = |text: &str| text.chars().next().filter(|c| c.is_ascii_alphabetic() && text.len() == 1);
    let letters = one(from).zip(one(to));
    let (low, high): (i64, i64) = match letters {
        Some((low, high)) => (i64::from(u32::from(low)), i64::from(u32::from(high))),
        None => (from.parse().ok()?, to.parse().ok()?),
    };
    let step = step.map_or(Some(1), |step| step.parse::<i64>().ok())?.checked_abs()?.max(1);
    let count = usize::try_from(low.abs_diff(high) / step.unsigned_abs()).ok()?;
    if count > MAX_WORDS {
        return None;
    }
    let sign = if low <= high { step } else { -step };
    let value = |index: usize| low + sign * i64::try_from(index).unwrap_or(0);
    let shown = |value: i64| match letters {
        Some(_) => u8::try_from(value).map_or_else(|_| String::new(), |byte| char::from(byte).to_string()),
        None => value.to_string(),
    };
    Some((0..=count).map(|index| Choice::Text(shown(value(index)))).collect())
}
