//! Texts within a text that are written in base64, as hexadecimal digits, or with `%41`, `\x41` and `\u0041`.

use std::ops::Range;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Shorter runs of characters cannot contain a real secret.
const SHORTEST: usize = 16;
/// Shorter texts are searched byte by byte: before its first search `memchr` detects the CPU's features, which takes
/// longer in a virtual machine.
const QUICK_SEARCH: usize = 4096;
/// Lines of this length or more may continue in the next one.
const WRAPPED: usize = 60;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// A part of a text, and what it says when it is decoded.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

const fn letters() -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let letter = byte as u8;
        table[byte] = letter.is_ascii_alphanumeric() || matches!(letter, b'+' | b'/' | b'-' | b'_');
        byte += 1;
    }
    table
}

static LETTERS: [bool; 256] = letters();

fn is_letter(byte: u8) -> bool {
    LETTERS[usize::from(byte)]
}

/// The next part after `from` that is base64 of readable text.
pub(super) fn next_base64(text: &str, from: usize) -> Option<Decoded> {
    let bytes = text.as_bytes();
    let (mut floor, mut probe) = (from, from + SHORTEST - 1);
    // A run that is long enough covers at least one of every sixteen bytes.
    while probe < bytes.len() {
        if !is_letter(bytes[probe]) {
            floor = probe + 1;
            probe += SHORTEST;
            continue;
        }
        let back = bytes[floor..probe].iter().rev().take_while(|byte| is_letter(**byte)).count();
        let start = probe - back;
        let end = end_of_run(bytes, probe);
        if end - start >= SHORTEST && begins_readable(&bytes[start..end]) {
            let end = end_of_block(bytes, start, end);
            if let Some(text) = decode(&bytes[start..end]) {
                return Some(Decoded { range: start..end, text });
            }
        }
        floor = end;
        probe = end + SHORTEST - 1;
    }
    None
}

fn end_of_run(bytes: &[u8], from: usize) -> usize {
    from + bytes[from..].iter().take_while(|byte| is_letter(**byte)).count()
}

/// Whether the first characters decode to readable text: this rules out most runs.
fn begins_readable(letters: &[u8]) -> bool {
    let mut first = [0_u8; 12];
    let count = STANDARD.decode_slice(&letters[..SHORTEST], &mut first);
    let count = count.or_else(|_| URL_SAFE.decode_slice(&letters[..SHORTEST], &mut first));
    count.is_ok_and(|count| first[..count].iter().all(|byte| is_readable(*byte)))
}

fn is_readable(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t') || byte >= 0xc2
}

/// Where the whole block ends: full lines continue in the next one; padding with `=` comes last.
fn end_of_block(bytes: &[u8], start: usize, first_end: usize) -> usize {
    let (mut line, mut end) = (start, first_end);
    loop {
        let full = end - line >= WRAPPED && (end - line) % 4 == 0;
        let gap = bytes[end..].iter().take_while(|byte| matches!(byte, b'\n' | b'\r' | b' ' | b'\t')).count();
        let breaks = bytes[end..end + gap].iter().filter(|byte| **byte == b'\n').count();
        let next = end + gap;
        if !full || breaks != 1 || !bytes.get(next).is_some_and(|byte| is_letter(*byte)) {
            break;
        }
        (line, end) = (next, end_of_run(bytes, next));
    }
    end + bytes[end..].iter().take(2).take_while(|byte| **byte == b'=').count()
}

fn decode(block: &[u8]) -> Option<String> {
    let letters: Vec<u8> = block.iter().copied().filter(|byte| is_letter(*byte)).collect();
    // A single leftover character encodes nothing.
    let letters = &letters[..letters.len() - usize::from(letters.len() % 4 == 1)];
    let decoded = STANDARD.decode(letters).or_else(|_| URL_SAFE.decode(letters)).ok()?;
    match String::from_utf8(decoded) {
        Ok(text) => Some(text),
        // Readable text followed by other bytes was cut off, or is part of something larger.
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let bytes = error.into_bytes();
            let text = std::str::from_utf8(&bytes[..valid]).ok()?;
            (valid >= SHORTEST).then(|| text.to_owned())
        }
    }
}

/// Shorter runs of hexadecimal digits cannot contain a real secret.
const SHORTEST_HEX: usize = 32;

/// The next part after `from` that is readable text in hexadecimal digits.
pub(super) fn next_hex(text: &str, from: usize) -> Option<Decoded> {
    let bytes = text.as_bytes();
    let is_digit = |byte: &u8| byte.is_ascii_hexdigit();
    let (mut floor, mut probe) = (from, from + SHORTEST_HEX - 1);
    while probe < bytes.len() {
        if !is_digit(&bytes[probe]) {
            floor = probe + 1;
            probe += SHORTEST_HEX;
            continue;
        }
        let start = probe - bytes[floor..probe].iter().rev().take_while(|byte| is_digit(byte)).count();
        let mut end = probe + bytes[probe..].iter().take_while(|byte| is_digit(byte)).count();
        if end - start >= SHORTEST_HEX {
            // Full lines continue in the next one.
            let mut line = start;
            while end - line >= WRAPPED && bytes.get(end) == Some(&b'\n') {
                let more = bytes[end + 1..].iter().take_while(|byte| is_digit(byte)).count();
                if more == 0 {
                    break;
                }
                (line, end) = (end + 1, end + 1 + more);
            }
            if let Some(text) = of_hex(&bytes[start..end]) {
                return Some(Decoded { range: start..end, text });
            }
        }
        floor = end;
        probe = end + SHORTEST_HEX - 1;
    }
    None
}

/// The text of hexadecimal digits, when all of it is readable.
fn of_hex(block: &[u8]) -> Option<String> {
    let value = |digit: &u8| char::from(*digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let mut digits = block.iter().filter(|byte| **byte != b'\n').filter_map(value);
    let mut decoded = Vec::with_capacity(block.len() / 2);
    while let (Some(high), Some(low)) = (digits.next(), digits.next()) {
        let byte = high << 4 | low;
        if !is_readable(byte) {
            return None;
        }
        decoded.push(byte);
    }
    String::from_utf8(decoded).ok()
}

/// A part with escapes in it, decoded, and where each byte of it comes from.
#[derive(Debug)]
pub(super) struct Unescaped {
    pub(super) range: Range<usize>,
    pub(super) text: String,
    /// For each byte of the text, its place in the original, and one more for the end.
    places: Vec<usize>,
}

impl Unescaped {
    pub(super) fn in_original(&self, part: &Range<usize>) -> Range<usize> {
        let place = |at: usize| self.places.get(at).copied().unwrap_or(self.range.end);
        place(part.start)..place(part.end)
    }
}

/// The next part after `from` in which characters are written as escapes.
pub(super) fn next_escaped(text: &str, from: usize) -> Option<Unescaped> {
    let bytes = text.as_bytes();
    let rest = bytes.get(from..)?;
    let is_escape = |at: &usize| escape(&rest[*at..]).is_some();
    let first = from
        + match rest.len() < QUICK_SEARCH {
            true => (0..rest.len()).find(is_escape),
            false => memchr::memchr2_iter(b'%', b'\\', rest).find(is_escape),
        }?;
    let is_part =
        |byte: &&u8| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>');
    let start = first - bytes[from..first].iter().rev().take_while(is_part).count();
    let end = first + bytes[first..].iter().take_while(is_part).count();
    let mut decoded = String::with_capacity(end - start);
    let mut places = Vec::with_capacity(end - start + 1);
    let mut at = start;
    while let Some(c) = text.get(at..end).and_then(|rest| rest.chars().next()) {
        let (letter, len) = match escape(&bytes[at..end]) {
            Some((letter, len)) => (char::from(letter), len),
            None => (c, c.len_utf8()),
        };
        decoded.push(letter);
        places.resize(decoded.len(), at);
        at += len;
    }
    places.push(end);
    Some(Unescaped { range: start..end, text: decoded, places })
}

/// The character that an escape at the beginning of these bytes stands for, and the length of the escape. Characters
/// outside ASCII are not decoded: no rule looks for them.
fn escape(bytes: &[u8]) -> Option<(u8, usize)> {
    let (digits, len) = match bytes {
        [b'%', digits @ ..] => (digits, 3),
        [b'\\', b'x', digits @ ..] => (digits, 4),
        [b'\\', b'u', b'0', b'0', digits @ ..] => (digits, 6),
        _ => return None,
    };
    let value = |digit: u8| char::from(digit).to_digit(16);
    let letter = value(*digits.first()?)? * 16 + value(*digits.get(1)?)?;
    u8::try_from(letter).ok().filter(u8::is_ascii).map(|letter| (letter, len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_text_is_found_and_nothing_else() {
        let found = |text: &str| next_base64(text, 0).map(|found| (text[found.range].to_owned(), found.text));
        let hello = "aGVsbG8gd29ybGQsIGhvdyBhcmUgeW91Pw==";
        assert_eq!(found(&format!("x: {hello}\n")), Some((hello.into(), "hello world, how are you?".into())));
        assert_eq!(found("commit 3f786850e387550fdab836ed7e6dc881de23001b"), None);
        assert_eq!(found("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"), None);
        assert_eq!(found("crates/builtins/src/redact_secrets/encoded.rs"), None);
        // Lines of one block are one text.
        let (first, second) = ("YWJj".repeat(19), "ZGVm".repeat(4));
        let text = format!("data: |\n  {first}\n  {second}\n  next: 1\n");
        let decoded = format!("{}{}", "abc".repeat(19), "def".repeat(4));
        assert_eq!(found(&text), Some((format!("{first}\n  {second}"), decoded)));
    }

    #[test]
    fn hexadecimal_text_is_found_and_nothing_else() {
        let found = |text: &str| next_hex(text, 0).map(|found| (text[found.range].to_owned(), found.text));
        let hello = "68656c6c6f20776f726c642c20686f772061726520796f753f";
        assert_eq!(found(&format!("x: {hello}\n")), Some((hello.into(), "hello world, how are you?".into())));
        assert_eq!(found("commit 3f786850e387550fdab836ed7e6dc881de23001b"), None);
        assert_eq!(found("68656c6c6f"), None);
        let (first, second) = ("61".repeat(30), "62".repeat(4));
        let decoded = format!("{}{}", "a".repeat(30), "b".repeat(4));
        assert_eq!(found(&format!("{first}\n{second} x")), Some((format!("{first}\n{second}"), decoded)));
    }

    #[test]
    fn escapes_are_decoded_with_their_places() {
        let text = r#"say "a%3Ab\x41\u0042ü%C3" now"#;
        let found = next_escaped(text, 0).unwrap();
        assert_eq!((found.text.as_str(), &text[found.range.clone()]), ("a:bABü%C3", r"a%3Ab\x41\u0042ü%C3"));
        assert_eq!(&text[found.in_original(&(1..4))], r"%3Ab\x41");
        assert!(next_escaped("100% of \\n and 5%x", 0).is_none());
    }
}
