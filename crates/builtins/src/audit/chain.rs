//! The form of a line: `{"seq":N,…,"prev":"H","hash":"H"}`.

use sha2::{Digest, Sha256};

/// What stands between the body of a line and its hash.
pub(super) const MARK: &str = ",\"hash\":\"";
/// The end of a line behind its hash, with the line break.
pub(super) const END: &str = "\"}\n";
/// The hash before the first record.
pub(super) const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// The length of a hash in letters.
pub(super) const LENGTH: usize = 64;

/// The hash of bytes, in letters.
pub(super) fn hash(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digest = Sha256::digest(bytes);
    let mut text = String::with_capacity(LENGTH);
    for byte in digest {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// Takes a line without its line break apart into its body and its hash.
pub(super) fn split(line: &[u8]) -> Option<(&[u8], &str)> {
    let body = line.len().checked_sub(MARK.len() + LENGTH + 2)?;
    let (body, rest) = line.split_at(body);
    let rest = rest.strip_prefix(MARK.as_bytes())?.strip_suffix(b"\"}")?;
    let hash = std::str::from_utf8(rest).ok()?;
    hash.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase()).then_some((body, hash))
}

/// The number of a record and the hash it says is before it, by the form in which they are written.
pub(super) fn links(body: &[u8]) -> Option<(u64, &str)> {
    let body = std::str::from_utf8(body).ok()?;
    let rest = body.strip_prefix("{\"seq\":")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let seq = rest[..digits].parse().ok()?;
    let prev = body.get(body.len().checked_sub(LENGTH + 1)?..)?.strip_suffix('"')?;
    let before = &body[..body.len() - LENGTH - 1];
    before.ends_with(",\"prev\":\"").then_some((seq, prev))
}
