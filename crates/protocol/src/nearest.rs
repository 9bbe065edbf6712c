//! Finds the known word that a misspelled one was probably meant to be: `matcher` for `matchr`.

/// The candidate most similar to `word`, if one is similar enough.
///
/// Similar means: the same letters apart from case, `_`, `-` and spaces, or at most one edit for words of up
/// to four letters, two for up to eight, three for longer ones. The earlier candidate wins a tie.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = fold(word);
    let limit = match wanted.len() {
        0 => return None,
        1..=4 => 1,
        5..=8 => 2,
        _ => 3,
    };
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let distance = distance(&wanted, &fold(candidate), limit);
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn fold(word: &str) -> Vec<char> {
    word.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

/// Edits (insert, delete, replace, swap of neighbours) between two words; anything over `limit` may be
/// reported as `limit + 1`.
fn distance(a: &[char], b: &[char], limit: usize) -> usize {
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    // Three rows of the distance table are enough, also for swaps of neighbours.
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(last.len());
        row.push(i + 1);
        for (j, &y) in b.iter().enumerate() {
            let mut cost = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                cost = cost.min(before[j - 1] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 5] = ["matcher", "decision", "updatedInput", "name", "on_error"];

    #[test]
    fn finds_typos_swaps_and_other_spellings() {
        assert_eq!(nearest("matchr", KEYS), Some("matcher"));
        assert_eq!(nearest("descision", KEYS), Some("decision"));
        assert_eq!(nearest("updated_input", KEYS), Some("updatedInput"));
        assert_eq!(nearest("nmae", KEYS), Some("name"));
        assert_eq!(nearest("OnError", KEYS), Some("on_error"));
    }

    #[test]
    fn finds_nothing_for_words_that_are_simply_other_words() {
        assert_eq!(nearest("priority", KEYS), None);
        assert_eq!(nearest("", KEYS), None);
        assert_eq!(nearest("verdict", KEYS), None);
    }
}
