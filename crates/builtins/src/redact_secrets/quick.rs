//! A quick test, without the rules: can there be a secret in this text?
//!
//! A program that is started for every event and writes one log line has no time to load the rules: that takes
//! longer than everything else it does. Most texts contain none of the literals that secrets begin with, which is found
//! out here cheaply.

use super::rule::LITERALS;
use super::{encoded, terminal};

/// One bit for the first three characters of every literal.
static BEGINNINGS: [u64; 512] = beginnings(LITERALS);

const fn beginnings(literals: &[&str]) -> [u64; 512] {
    let mut bits = [0; 512];
    let mut at = 0;
    while at < literals.len() {
        let literal = literals[at].as_bytes();
        let (word, bit) = place([literal[0], literal[1], literal[2]]);
        bits[word] |= 1 << bit;
        at += 1;
    }
    bits
}

/// The position of the bit for three characters; several combinations may share one.
const fn place(letters: [u8; 3]) -> (usize, usize) {
    let [a, b, c] = letters;
    let number = (a as usize & 31) << 10 | (b as usize & 31) << 5 | (c as usize & 31);
    (number / 64, number % 64)
}

/// Whether the rules have to be run: cheap, and without false negatives.
#[must_use]
pub fn may_hold_secret(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Escapes and terminal colours are left to the rules.
    // Not `memchr`: it detects the CPU's features before its first search. In a virtual machine that takes longer than
    // to look through a log line.
    bytes.contains(&terminal::ESCAPE)
        || (0..bytes.len()).any(|at| begins_literal(&bytes[at..]))
        || encoded::next_escaped(text, 0).is_some()
        || encoded::next_base64(text, 0).is_some()
}

fn begins_literal(bytes: &[u8]) -> bool {
    let &[a, b, c, ..] = bytes else { return false };
    let start = [a, b, c].map(|letter| letter.to_ascii_lowercase());
    let (word, bit) = place(start);
    if BEGINNINGS[word] >> bit & 1 == 0 {
        return false;
    }
    let first = LITERALS.partition_point(|literal| literal.as_bytes()[..3] < start[..]);
    let alike = LITERALS[first..].iter().take_while(|literal| literal.as_bytes().starts_with(&start));
    alike.into_iter().any(|literal| {
        bytes.get(..literal.len()).is_some_and(|start| start.eq_ignore_ascii_case(literal.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::redactor::Redactor;
    use super::*;

    #[test]
    fn usual_commands_need_no_rules() {
        for line in ["git push --force", "cargo test -p x", "ls -la /home/ann/work", "rm -rf build"] {
            assert!(!may_hold_secret(line), "{line}");
        }
        for line in ["curl -H 'Authorization: x'", "X=ghp_123", "a\u{1b}[0m", "%67hp_", "\\u0067hp_1"] {
            assert!(may_hold_secret(line), "{line}");
        }
    }

    proptest! {
        #[test]
        fn never_wrongly_no(before in "[ -~]{0,20}", literal in 0..1000_usize, after in "[ -~]{0,60}") {
            let text = format!("{before}{}{after}", LITERALS[literal % LITERALS.len()].to_ascii_uppercase());
            prop_assert!(may_hold_secret(&text));
        }

        #[test]
        fn what_the_rules_find_is_worth_a_look(text in "[ -~]{0,200}") {
            prop_assert!(may_hold_secret(&text) || Redactor::standard().unwrap().find(&text).is_empty());
        }
    }
}
