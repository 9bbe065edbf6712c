//! Shell-style patterns on whole values: `*`, `?`, `[seq]`, `[!seq]`, and nothing else.
//!
//! Patterns mean the same as in Python's `fnmatch.fnmatchcase`, except that an unclosed `[` and a reversed
//! range are errors here. Matching never backtracks over more than the last `*`, so its time is bounded by
//! pattern length × value length.

/// The characters that make a text a pattern.
pub(super) const SPECIAL: [char; 3] = ['*', '?', '['];

/// One compiled pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Glob {
    tokens: Box<[Token]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Literal(char),
    /// `?`: any one character.
    One,
    /// `*`: any number of characters, including none.
    Many,
    /// `[seq]` or `[!seq]`: one character in (or not in) these ranges.
    Class {
        negated: bool,
        ranges: Box<[(char, char)]>,
    },
}

impl Glob {
    /// Compiles a pattern; the error says what is wrong with it.
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        let chars: Vec<char> = pattern.chars().collect();
        let mut tokens = Vec::with_capacity(chars.len());
        let mut at = 0;
        while let Some(&c) = chars.get(at) {
            at += 1;
            match c {
                '*' if tokens.last() == Some(&Token::Many) => {}
                '*' => tokens.push(Token::Many),
                '?' => tokens.push(Token::One),
                '[' => {
                    let (token, after) = class(&chars, at, pattern)?;
                    tokens.push(token);
                    at = after;
                }
                literal => tokens.push(Token::Literal(literal)),
            }
        }
        Ok(Self { tokens: tokens.into() })
    }

    pub(crate) fn matches(&self, value: &str) -> bool {
        let (mut token, mut rest) = (0, value.chars());
        // Where to resume after a mismatch: after the last `*`, one character further in the value.
        let mut retry: Option<(usize, std::str::Chars<'_>)> = None;
        loop {
            let next = rest.clone().next();
            let fits = match (self.tokens.get(token), next) {
                (Some(Token::Many), _) => {
                    token += 1;
                    retry = Some((token, rest.clone()));
                    continue;
                }
                (None, None) => return true,
                (Some(Token::One), Some(_)) => true,
                (Some(Token::Literal(wanted)), Some(c)) => *wanted == c,
                (Some(Token::Class { negated, ranges }), Some(c)) => {
                    ranges.iter().any(|&(low, high)| (low..=high).contains(&c)) != *negated
                }
                (_, None) | (None, Some(_)) => false,
            };
            if fits {
                token += 1;
                rest.next();
                continue;
            }
            let Some((after_star, from)) = &mut retry else { return false };
            if from.next().is_none() {
                return false;
            }
            token = *after_star;
            rest = from.clone();
        }
    }
}

/// Reads a class, from the character after its `[`. A `]` that comes first is a member, as in `fnmatch`.
fn class(chars: &[char], start: usize, pattern: &str) -> Result<(Token, usize), String> {
    let negated = chars.get(start) == Some(&'!');
    let first = start + usize::from(negated);
    let Some(length) = chars.get(first + 1..).and_then(|rest| rest.iter().position(|&c| c == ']')) else {
        return Err(format!("`[` is never closed in `{pattern}`; write `[[]` for the character itself"));
    };
    let end = first + 1 + length;
    let mut ranges = Vec::new();
    let mut at = first;
    while at < end {
        let low = chars[at];
        if at + 2 < end && chars[at + 1] == '-' {
            let high = chars[at + 2];
            if low > high {
                return Err(format!("the range `{low}-{high}` in `{pattern}` is reversed"));
            }
            ranges.push((low, high));
            at += 3;
        } else {
            ranges.push((low, low));
            at += 1;
        }
    }
    Ok((Token::Class { negated, ranges: ranges.into() }, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, value: &str) -> bool {
        Glob::new(pattern).unwrap().matches(value)
    }

    #[test]
    fn stars_cross_everything_and_backtrack_only_once() {
        assert!(matches("mcp__*", "mcp__memory__create"));
        assert!(matches("*a*b", "xaxxab"));
        assert!(!matches("*a*b", "xaxxa"));
        assert!(matches("**", ""));
        assert!(matches("src/*.rs", "src/deep/down.rs"));
        let value = "a".repeat(5_000);
        assert!(!matches(&format!("{}b", "a*".repeat(200)), &value));
    }

    #[test]
    fn nothing_else_is_special() {
        assert!(matches("{a,b}", "{a,b}") && !matches("{a,b}", "a"));
        assert!(matches(r"a\*", r"a\b") && !matches(r"a\*", "a*"));
        assert!(matches("[]x]", "]") && matches("[!]]", "x") && matches("[^a]", "^"));
        assert!(!matches("bash", "Bash"));
    }

    #[test]
    fn mistakes_are_errors() {
        assert!(Glob::new("[abc").unwrap_err().contains("never closed"));
        assert!(Glob::new("[]").is_err());
        assert!(Glob::new("[z-a]").unwrap_err().contains("reversed"));
    }
}
