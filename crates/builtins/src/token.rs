//! Texts that are only partly known, and patterns for them.
//!
//! Both are sequences of [`Token`]s. A pattern *covers* a text when it matches whatever the unknown parts turn out to
//! be; it *meets* it when there is at least one way to match. An allow rule needs the first, a deny rule
//! the second.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::shell::{Piece, Word};

/// One character, or a wildcard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    Char(char),
    One,
    Many,
}

/// How well something matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    No,
    /// It could match, depending on unknown parts.
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

/// The tokens after the last `/`: the name of a program without its folder.
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
    covers_all(pattern, text.iter().copied())
}

/// A `Many` of the pattern matches as little as possible, and only the last one is extended: the matches of earlier
/// ones can stay, whatever follows.
fn covers_all(pattern: &[Token], text: impl Iterator<Item = Token> + Clone) -> bool {
    let (mut at, mut rest) = (0, text);
    let mut retry = None;
    loop {
        let wanted = pattern.get(at).copied();
        if wanted == Some(Token::Many) {
            at += 1;
            if at == pattern.len() {
                return true;
            }
            retry = Some((at, rest.clone()));
            continue;
        }
        let good = match (wanted, rest.next()) {
            (None, None) => return true,
            // No text is left that a `Many` could match.
            (Some(_), None) => return false,
            (Some(Token::One), Some(token)) => token != Token::Many,
            (Some(wanted), Some(token)) => wanted == token,
            (None, Some(_)) => false,
        };
        if good {
            at += 1;
            continue;
        }
        let Some((after_star, from)) = &mut retry else { return false };
        if from.next().is_none() {
            return false;
        }
        at = *after_star;
        rest = from.clone();
    }
}

/// A pattern for texts that are known, ready to be compared with many of them.
#[derive(Debug, Clone)]
pub(crate) struct Wildcards {
    pattern: Box<str>,
    /// The length of what every text that it matches begins with: most texts do not.
    start: usize,
    /// Made when they are first needed: most patterns are compared by their start alone.
    tokens: OnceLock<Box<[Token]>>,
}

impl PartialEq for Wildcards {
    fn eq(&self, other: &Self) -> bool {
        self.pattern == other.pattern
    }
}

impl Eq for Wildcards {}

impl Wildcards {
    pub(crate) fn new(pattern: &str) -> Self {
        let start = pattern.find(['*', '?']).unwrap_or(pattern.len());
        Self { pattern: pattern.into(), start, tokens: OnceLock::new() }
    }

    pub(crate) fn tokens(&self) -> &[Token] {
        self.tokens.get_or_init(|| of_wildcards(&self.pattern).into())
    }

    /// The only text that it matches, if there is only one.
    pub(crate) fn plain(&self) -> Option<&str> {
        (self.start == self.pattern.len()).then_some(&*self.pattern)
    }

    /// What every text that it matches begins with.
    fn start(&self) -> &str {
        &self.pattern[..self.start]
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        let Some(after) = text.strip_prefix(self.start()) else { return false };
        match &self.pattern[self.start..] {
            "" => return after.is_empty(),
            "*" => return true,
            _ => {}
        }
        match self.tokens().last() {
            Some(Token::Char(last)) if !text.ends_with(*last) => false,
            _ => {
                let start = self.start();
                let from = if start.is_ascii() { start.len() } else { start.chars().count() };
                covers_all(&self.tokens()[from..], after.chars().map(Token::Char))
            }
        }
    }
}

/// A set of patterns; a text matches the set if it matches one of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct WildcardSet {
    /// Patterns by the first two bytes of the texts that they match.
    headed: Vec<([u8; 2], Vec<Wildcards>)>,
    /// Patterns with a shorter literal prefix.
    open: Vec<Wildcards>,
}

impl WildcardSet {
    pub(crate) fn is_empty(&self) -> bool {
        self.headed.is_empty() && self.open.is_empty()
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        let of_head = text.as_bytes().first_chunk::<2>().and_then(|head| self.of_head(head));
        of_head.into_iter().flatten().chain(&self.open).any(|pattern| pattern.matches(text))
    }

    /// Whether one of them may match a text that begins so, by its first bytes.
    pub(crate) fn can_begin(&self, text: &str) -> bool {
        let head = text.as_bytes().first_chunk::<2>();
        !self.open.is_empty() || head.is_some_and(|head| self.of_head(head).is_some())
    }

    fn of_head(&self, head: &[u8; 2]) -> Option<&[Wildcards]> {
        let place = self.headed.binary_search_by_key(head, |(other, _)| *other).ok()?;
        self.headed.get(place).map(|(_, patterns)| patterns.as_slice())
    }
}

impl From<Vec<Wildcards>> for WildcardSet {
    fn from(all: Vec<Wildcards>) -> Self {
        let mut set = Self::default();
        for pattern in all {
            match pattern.start().as_bytes().first_chunk::<2>() {
                Some(head) => match set.headed.binary_search_by_key(head, |(other, _)| *other) {
                    Ok(place) => set.headed[place].1.push(pattern),
                    Err(place) => {
                        let head = *head;
                        set.headed.insert(place, (head, vec![pattern]));
                    }
                },
                None => set.open.push(pattern),
            }
        }
        set
    }
}

/// The text in lowercase.
pub(crate) fn lowered(text: Cow<'_, str>) -> Cow<'_, str> {
    let is_small = text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
    if is_small { text } else { Cow::Owned(text.to_lowercase()) }
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
                // The unknown part can be empty, or whatever the pattern needs next.
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

/// A `Many` of the pattern can match nothing.
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
    fn known_texts_are_compared_as_they_are() {
        for (pattern, text, good) in [
            ("", "", true),
            ("", "a", false),
            ("rm", "rm", true),
            ("rm", "rmdir", false),
            ("é*", "éa", true),
            ("é?b", "éab", true),
            ("é?b", "éb", false),
            ("*.pem", "a.pem.pem", true),
            ("*a*b", "xaxbxb", true),
            ("*a*b", "xaxbx", false),
            ("a*b?c", "ab1cb2c", true),
            ("/etc/cron.*/*", "/etc/cron.d/x", true),
            ("/etc/cron.*/*", "/etc/cron.d", false),
        ] {
            assert_eq!(Wildcards::new(pattern).matches(text), good, "{pattern} {text}");
            assert_eq!(covers(&tokens(pattern), &of_text(text)), good, "{pattern} {text}");
        }
        let set = |patterns: &[&str]| -> WildcardSet {
            patterns.iter().map(|pattern| Wildcards::new(pattern)).collect::<Vec<_>>().into()
        };
        assert!(set(&["/etc/*", "~/.ssh"]).matches("~/.ssh") && !set(&["/etc/*"]).matches("/tmp/x"));
        assert!(set(&["/etc/*", "*.pem"]).matches("/tmp/x.pem") && set(&["a"]).matches("a"));
        assert!(!set(&[]).matches("") && !set(&["/etc"]).matches("/"));
        assert_eq!(Wildcards::new("rm").plain(), Some("rm"));
        assert_eq!(Wildcards::new("r?").plain(), None);
    }

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
