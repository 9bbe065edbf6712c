//! Whether a text must be searched for secrets with the rules, which take milliseconds to load and to compile.
//!
//! A program that is started for every event has microseconds for its log. [`may_hold_secret`] is false for most texts,
//! but true for every URL (`://`), for `pwd`, for `git push -u`, for the word `token`. This module knows what must
//! follow such a text in every rule; if it does not follow, the text is harmless. A test compares this with the rules.

use crosier_builtins::redact_secrets::may_hold_secret;

/// Names that are followed by a value, after `=` or `:`, or between tags.
const NAMES: [&str; 7] = ["passwords", "password", "passwd", "secrets", "secret", "token", "pwd"];
/// Prefixes of tokens that are also parts of usual words: `disk-usage`, `task.rs`, `monkey-patch`.
const BEGINNINGS: [&str; 14] =
    ["asia", "eaa", "cio", "sk-", "ska", "skb", "skc", "skd", "ske", "skf", "key-", "fc-", "sl.", "sg."];
/// What precedes credentials; `Authorization: Bearer $TOKEN` has none.
const HEADERS: [&str; 2] = ["authorization", "bearer "];
const SHORTEST_CREDENTIALS: usize = 12;
/// The shortest token with one of these prefixes.
const SHORTEST_TOKEN: usize = 20;

/// Whether the rules must be run. There are no false negatives, but perhaps false positives.
pub(crate) fn needs_rules(text: &str) -> bool {
    may_hold_secret(text) && may_hold_secret(&without_harmless(text))
}

/// The text with harmless matches replaced by spaces; all positions stay the same.
fn without_harmless(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut blot = |from: usize, length: usize| bytes[from..from + length].fill(b' ');
    for (at, _) in text.match_indices("://") {
        // Only the colon, because what follows it may be base64.
        if !has_password(&text[at + 3..]) {
            blot(at, 1);
        }
    }
    for (at, _) in text.match_indices("-u ") {
        if !names_user_and_password(&text[at + 3..]) {
            blot(at, 2);
        }
    }
    // The lower-case text has the same byte positions.
    let lower = text.to_ascii_lowercase();
    for name in NAMES {
        for (at, _) in lower.match_indices(name) {
            let is_part =
                |c: Option<char>| c.is_some_and(|c| matches!(c, '_' | '-' | '.') || c.is_alphanumeric());
            let (before, after) = (&lower[..at], &lower[at + name.len()..]);
            if !is_part(before.chars().next_back()) && !is_part(after.chars().next()) && !is_given(after) {
                blot(at, name.len());
            }
        }
    }
    // A token that is cut by a line break or an escape is left to the rules.
    if !text.contains(['\n', '\r', '\\', '%']) {
        for header in HEADERS {
            for (at, _) in lower.match_indices(header) {
                if !has_credentials(&lower[at + header.len()..]) {
                    blot(at, header.len());
                }
            }
        }
        for beginning in BEGINNINGS {
            for (at, _) in lower.match_indices(beginning) {
                let word = lower[at..].bytes().take_while(|byte| is_of_token(*byte)).count();
                if word < SHORTEST_TOKEN {
                    blot(at, beginning.len());
                }
            }
        }
    }
    // Only ASCII was replaced by ASCII.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// `user:password@` before the host.
fn has_password(address: &str) -> bool {
    let end = address.find(|c: char| c.is_whitespace() || matches!(c, '/' | '\'' | '"' | '<' | '>'));
    address[..end.unwrap_or(address.len())].contains('@')
}

/// `user:password` as the next word.
fn names_user_and_password(rest: &str) -> bool {
    let word = rest.trim_start().trim_start_matches(['\'', '"']);
    let end = word.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '@' | '-')));
    end.is_some_and(|end| word[end..].starts_with(':'))
}

/// Whether a word that is long enough for credentials follows, at once or after the name of a scheme.
fn has_credentials(after: &str) -> bool {
    let is_between = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ':' | '=' | ',');
    let length = |text: &str| text.bytes().take_while(|byte| is_of_token(*byte)).count();
    let first = after.trim_start_matches(is_between);
    let second = first[length(first)..].trim_start_matches(is_between);
    length(first).max(length(second)) >= SHORTEST_CREDENTIALS
}

/// Whether a value follows a name.
fn is_given(after: &str) -> bool {
    let skip = |text: &str| {
        let rest = text.trim_start_matches(|c: char| {
            c.is_whitespace() || matches!(c, '\\' | '"' | '\'' | '`' | ',' | ']')
        });
        text.len() - rest.len()
    };
    let mut rest = &after[skip(after)..];
    if let Some(more) = rest.strip_prefix("value") {
        rest = &more[skip(more)..];
    }
    rest.starts_with(['=', ':', '>'])
}

fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'+' | b'/' | b'=' | b'~' | b'-')
}

#[cfg(test)]
mod tests {
    use crosier_builtins::redact_secrets::Redactor;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn usual_lines_need_no_rules() {
        for line in [
            "curl -sSf https://example.org/install.sh | sh",
            "git clone https://github.com/a/b.git && cd b",
            "git push -u origin main",
            "pwd; ls",
            "git commit -m 'fix: the token parser'",
            "grep -rn password src",
            "cat /run/secrets",
            "df -h; cargo run --bin disk-usage",
            "curl -H 'Authorization: Bearer $TOKEN' https://x",
            r#"curl -H "Authorization: token ${GH}" https://x"#,
            "vim task-1.md monkey-patch.py asia.csv",
            r#"{"url":"https://example.org/a","command":"pwd"}"#,
        ] {
            assert!(may_hold_secret(line) || line.starts_with("cat"), "{line}");
            assert!(!needs_rules(line), "{line}");
        }
    }

    #[test]
    fn what_has_a_value_needs_them() {
        for line in [
            "curl https://ann:hunter2@example.org",
            "curl -u ann:hunter2secret https://x",
            "curl -u 'ann:hunter2secret' x",
            "export PASSWORD=hunter2secret",
            "pwd = 'hunter22'",
            "token\t:  abcdefgh1",
            r#"{"token": "abcdefgh1"}"#,
            "<password>hunter2</password>",
            "login --token abcdefgh1",
            "X=sk-a1B2c3D4e5F6g7H8i9J0k1L2",
            "ASIAA1B2C3D4E5F6G7H8",
            "curl -H 'Authorization: Bearer abcdefghijklmnop'",
        ] {
            assert!(needs_rules(line), "{line}");
        }
    }

    /// A text of pieces that rules look for and of what they look for after them.
    fn text() -> impl Strategy<Value = String> {
        let pieces = prop::sample::select(vec![
            "https://",
            "://",
            "ann",
            ":",
            "@",
            "example.org",
            "/",
            " ",
            "-u ",
            "'",
            "\"",
            "=",
            "pwd",
            "token",
            "Token",
            "secret",
            "secrets",
            "password",
            "PASSWORD",
            "value",
            "]",
            ",",
            "\\",
            "\n",
            ">",
            "</",
            "<",
            "sk-",
            "ska",
            "key-",
            "asia",
            "fc-",
            "sl.",
            "hunter2secret",
            "a1B2c3D4e5F6g7H8i9J0k1L2",
            "x",
            "_",
            "-",
            "--",
            "$",
            "0123456789abcdef0123456789abcdef",
            "Authorization",
            "Bearer",
            "basic",
            ": ",
            "abcdefghij1.",
        ]);
        prop::collection::vec(pieces, 0..14).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn never_wrongly_no(text in text()) {
            let found = Redactor::standard().unwrap().find(&text);
            prop_assert!(needs_rules(&text) || found.is_empty(), "{:?}: {:?}", text, found);
        }
    }
}
