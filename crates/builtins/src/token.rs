//! Texts of which not everything is known, and patterns for them.
//!
//! Both are rows of [`Token`]s. A pattern *covers* a text when it matches whatever the unknown parts turn out to
//! be; it *meets* it when there is at least one way to match. An allow needs the first, a denial is afraid of
//! the second.

use crate::shell::{Piece, Word};

/// One character, or a place for some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    Char(char),
    One,
    Many,
}

/// How well something fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    No,
    /// It could, by what is known only later.
    Perhaps,
    Yes,
}

/// The tokens of a word: what is unknown can be anything.
pub(crate) fn of_word(word: &Word) -> Vec<Token> {
    let mut tokens = Vec::new();
    for piece in word.pieces() {
        match piece {
            Piece::Text(text) => tokens.extend(text.chars().map(Token::Char)),
            Piece::One => tokens.push(Token::One),
            Piece::Many | Piece::Unknown(_) => tokens.push(Token::Many),
        }
    }
    tokens
}

pub(crate) fn of_text(text: &str) -> Vec<Token> {
    text.chars().map(Token::Char).collect()
}

/// The tokens behind the last `/`: the name of a program without its folder.
pub(crate) fn base_name(tokens: &[Token]) -> &[Token] {
    let slash = tokens.iter().rposition(|token| *token == Token::Char('/'));
    &tokens[slash.map_or(0, |slash| slash + 1)..]
}

/// The tokens of a text in which `*` and `?` are wildcards.
pub(crate) fn of_wildcards(text: &str) -> Vec<Token> {
    let token = |c| match c {
        '*' => Token::Many,
        '?' => Token::One,
        c => Token::Char(c),
    };
    text.chars().map(token).collect()
}

/// Whether the pattern matches every text that these tokens can stand for.
pub(crate) fn covers(pattern: &[Token], text: &[Token]) -> bool {
    let mut states = vec![false; pattern.len() + 1];
    states[0] = true;
    pass_many(pattern, &mut states);
    let mut next = states.clone();
    for token in text {
        next.fill(false);
        for (at, wanted) in pattern.iter().enumerate().filter(|(at, _)| states[*at]) {
            match (wanted, token) {
                (Token::Many, _) => next[at] = true,
                (Token::One, Token::Char(_) | Token::One) => next[at + 1] = true,
                (Token::Char(wanted), Token::Char(c)) if wanted == c => next[at + 1] = true,
                _ => {}
            }
        }
        pass_many(pattern, &mut next);
        std::mem::swap(&mut states, &mut next);
    }
    states[pattern.len()]
}

/// Whether there is a text that both stand for.
pub(crate) fn meets(pattern: &[Token], text: &[Token]) -> bool {
    let mut states = vec![false; pattern.len() + 1];
    states[0] = true;
    pass_many(pattern, &mut states);
    let mut next = states.clone();
    for token in text {
        next.fill(false);
        for at in 0..states.len() {
            if *token == Token::Many {
                // It can be nothing, or whatever the pattern wants next.
                next[at] |= states[at] || (at > 0 && next[at - 1]);
                continue;
            }
            match pattern.get(at).filter(|_| states[at]) {
                Some(Token::Many) => next[at] = true,
                Some(Token::One) => next[at + 1] = true,
                Some(Token::Char(wanted)) if matches!(token, Token::Char(c) if c != wanted) => {}
                Some(Token::Char(_)) => next[at + 1] = true,
                None => {}
            }
        }
        pass_many(pattern, &mut next);
        std::mem::swap(&mut states, &mut next);
    }
    states[pattern.len()]
}

/// A `Many` of the pattern can be nothing.
fn pass_many(pattern: &[Token], states: &mut [bool]) {
    for (at, token) in pattern.iter().enumerate() {
        if states[at] && *token == Token::Many {
            states[at + 1] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use super::of_wildcards as tokens;

    #[test]
    fn covering_needs_every_way_and_meeting_one() {
        for (pattern, text, covered, met) in [
            ("rm", "rm", true, true),
            ("rm", "r?", false, true),
            ("r*", "r?", true, true),
            ("r*", "rm*", true, true),
            ("rm*", "r*", false, true),
            ("*", "*", true, true),
            ("a*b", "a*", false, true),
            ("a*b", "*b", false, true),
            ("a*b", "c*", false, false),
            ("?", "", false, false),
            ("", "*", false, true),
            ("*x*", "a?b", false, true),
            ("a?c", "a*c", false, true),
        ] {
            assert_eq!(covers(&tokens(pattern), &tokens(text)), covered, "{pattern} covers {text}");
            assert_eq!(meets(&tokens(pattern), &tokens(text)), met, "{pattern} meets {text}");
        }
    }
}
