//! The form of a line: `{"seq":N,…,"prev":"H","hash":"H"}`.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// The text between the body of a line and its hash.
pub(super) const MARK: &str = ",\"hash\":\"";
/// The end of a line after its hash, with the line break.
pub(super) const END: &str = "\"}\n";
/// The hash before the first record.
pub(super) const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// The length of a hash in hexadecimal digits.
pub(super) const LENGTH: usize = 64;

/// How the hash of a record is made.
#[derive(Clone)]
pub(super) enum RecordHasher {
    /// SHA-256: whoever can write to the file can also write a chain that verifies.
    Plain,
    /// HMAC-SHA256: only whoever has the key can.
    Keyed(Box<Hmac<Sha256>>),
}

impl RecordHasher {
    pub(super) fn keyed(key: &[u8; 32]) -> Self {
        // A key that is shorter than a block of the hash is padded with zeros.
        let mut block = [0; 64];
        block[..key.len()].copy_from_slice(key);
        Self::Keyed(Box::new(Hmac::new(&block.into())))
    }

    /// The hash of bytes, in hexadecimal.
    pub(super) fn hash(&self, bytes: &[u8]) -> String {
        match self {
            Self::Plain => hex(&Sha256::digest(bytes)),
            Self::Keyed(key) => hex(&key.as_ref().clone().chain_update(bytes).finalize().into_bytes()),
        }
    }
}

impl fmt::Debug for RecordHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "Plain",
            Self::Keyed(_) => "Keyed",
        })
    }
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// Splits a line without its line break into its body and its hash.
pub(super) fn split(line: &[u8]) -> Option<(&[u8], &str)> {
    let body = line.len().checked_sub(MARK.len() + LENGTH + 2)?;
    let (body, rest) = line.split_at(body);
    let rest = rest.strip_prefix(MARK.as_bytes())?.strip_suffix(b"\"}")?;
    let hash = std::str::from_utf8(rest).ok()?;
    hash.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase()).then_some((body, hash))
}

/// The number of a record and the hash of the record before it, both as written in the record.
pub(super) fn links(body: &[u8]) -> Option<(u64, &str)> {
    let body = std::str::from_utf8(body).ok()?;
    let rest = body.strip_prefix("{\"seq\":")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let seq = rest[..digits].parse().ok()?;
    let prev = body.get(body.len().checked_sub(LENGTH + 1)?..)?.strip_suffix('"')?;
    let before = &body[..body.len() - LENGTH - 1];
    before.ends_with(",\"prev\":\"").then_some((seq, prev))
}
