//! Tokens that a terminal or an editor cut into lines.

use super::check::{is_code, is_random};
use super::rule::Rule;

/// The maximum number of lines that are joined into one token.
const LINES: usize = 6;

/// The token that begins here, without its line breaks.
#[derive(Debug)]
struct Joined {
    text: String,
    /// Where each line begins, in the joined text and in the original.
    lines: Vec<(usize, usize)>,
}

impl Joined {
    /// The place in the original of the byte in front of `at`, plus one.
    fn end_in_original(&self, at: usize) -> usize {
        let line = self.lines.partition_point(|(here, _)| *here < at).saturating_sub(1);
        let (here, there) = self.lines[line];
        there + (at - here)
    }

    fn start_in_original(&self, at: usize) -> usize {
        let line = self.lines.partition_point(|(here, _)| *here <= at).saturating_sub(1);
        let (here, there) = self.lines[line];
        there + (at - here)
    }
}

/// A secret of this rule that continues in the next line, as a range of bytes.
pub(super) fn find(rule: &Rule, text: &str, start: usize) -> Option<(usize, usize)> {
    let joined = join(text, start)?;
    let captures = rule.pattern.regex()?.captures(&joined.text)?;
    let secret = captures.name("secret").or_else(|| captures.get(0))?;
    let (from, to) = (joined.start_in_original(secret.start()), joined.end_in_original(secret.end()));
    if to <= joined.lines[1].1 || !is_random(secret.as_str()) {
        return None;
    }
    Some((from, to))
}

/// Whether these characters look like the rest of a token, not like the next word.
fn continues_token(letters: &str) -> bool {
    letters.len() >= 4
        && letters.bytes().any(|byte| byte.is_ascii_digit())
        && letters.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !is_code(letters)
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+' | b'/' | b'=')
}

/// The run of characters that begins here, across line breaks; `None` when it does not reach one.
fn join(text: &str, start: usize) -> Option<Joined> {
    let bytes = text.as_bytes();
    let mut joined = Joined { text: String::new(), lines: Vec::new() };
    let mut at = start;
    while joined.lines.len() < LINES {
        let end = at + bytes[at..].iter().take_while(|byte| is_part(**byte)).count();
        if at > start && !continues_token(text.get(at..end)?) {
            break;
        }
        joined.lines.push((joined.text.len(), at));
        joined.text.push_str(text.get(at..end)?);
        let Some(next) = after_break(bytes, end) else { break };
        at = next;
    }
    (joined.lines.len() > 1).then_some(joined)
}

/// Where the next line begins when this one ends here.
fn after_break(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let rest = rest.strip_prefix(b"\\").unwrap_or(rest);
    let rest = rest.strip_prefix(b"\r").unwrap_or(rest).strip_prefix(b"\n")?;
    let indent = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    rest.get(indent).filter(|byte| is_part(**byte))?;
    Some(bytes.len() - rest.len() + indent)
}
