//! Whether something that looks like a secret is one: placeholders, test values and code are not.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::rule::Check;

/// Values that vendors print in their documentation.
const TEST_VALUES: &str = include_str!("test_values.txt");
/// Parts of a value that mark it as a placeholder.
const PLACEHOLDERS: &[&str] = &[
    "example",
    "placeholder",
    "changeme",
    "change_me",
    "change-me",
    "your",
    "xxxx",
    "****",
    "dummy",
    "redacted",
    "insert",
    "todo",
    "...",
    "sample",
    "template",
    "replace",
    "not-a-",
    "notreal",
    "hidden",
    "removed",
    "masked",
];
/// Parts that mark a vendor's token as a placeholder: long enough not to occur in random characters.
const TOKEN_PLACEHOLDERS: &[&str] = &[
    "example",
    "placeholder",
    "xxxxxxxx",
    "your-",
    "your_",
    "yourtoken",
    "yourkey",
    "redacted",
    "****",
    "not-a-real",
    "notareal",
    "dummy-",
    "dummy_",
];
/// Whole values that are types, words or names and no secrets.
const WORDS: &[&str] = &[
    "string",
    "str",
    "number",
    "bool",
    "boolean",
    "none",
    "null",
    "nil",
    "undefined",
    "true",
    "false",
    "required",
    "optional",
    "object",
    "text",
    "varchar",
    "bytes",
    "secret",
    "secrets",
    "password",
    "passwd",
    "token",
    "pass",
    "user",
    "username",
    "admin",
    "root",
    "test",
    "testing",
    "default",
    "empty",
    "unknown",
    "value",
    "self",
    "this",
    "bearer",
    "basic",
    "file",
    "env",
    "prompt",
    "stdin",
    "foobar",
    "hunter",
    "any",
    "yes",
    "key",
    "apikey",
    "api_key",
    "credentials",
    "postgres",
    "mysql",
    "redis",
    "guest",
    "enabled",
    "disabled",
    "inherit",
    "include",
    "minioadmin",
    "rabbitmq",
];
/// Prefixes of values that are looked up elsewhere.
const LOOKUPS: &[&str] = &[
    "process.env",
    "os.environ",
    "getenv",
    "env[",
    "env.",
    "secrets.",
    "config.",
    "vault:",
    "op://",
    "settings.",
    "file://",
    "arn:aws:",
    "projects/",
];

/// Whether this is a secret. `quoted`: it is in quotes. `next`: the character after it.
pub(super) fn is_secret(check: Check, text: &str, quoted: bool, next: Option<char>) -> bool {
    if is_test_value(text) {
        return false;
    }
    match check {
        Check::Token => !is_token_placeholder(text),
        Check::Value => !is_placeholder(text) && is_value(text, quoted, next),
        Check::Named => !is_placeholder(text) && !is_expression(text, next),
        Check::Random => !is_placeholder(text) && is_random(text),
        Check::UserPassword => is_user_and_password(text),
    }
}

fn is_test_value(text: &str) -> bool {
    TEST_VALUES.lines().any(|value| !value.starts_with('#') && text.ends_with(value))
}

fn is_token_placeholder(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    TOKEN_PLACEHOLDERS.iter().any(|word| lower.contains(word)) || is_monotonous::<2>(text)
}

fn is_placeholder(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let shell = text.contains("${")
        || text.contains("$(")
        || text.contains("{{")
        || text.starts_with('$')
        || text.starts_with('%');
    let brackets = text.starts_with(['<', '{']) || text.starts_with('[') && text.ends_with(']');
    shell
        || brackets
        || WORDS.contains(&lower.as_str())
        || PLACEHOLDERS.iter().any(|word| lower.contains(word))
        || LOOKUPS.iter().any(|start| lower.starts_with(start))
        || is_monotonous::<3>(text)
}

/// Whether a text consists of at most `FEW` different characters: `000000`, `abababab`.
fn is_monotonous<const FEW: usize>(text: &str) -> bool {
    let mut seen = ['\0'; FEW];
    let mut kinds = 0;
    for c in text.chars() {
        if seen[..kinds].contains(&c) {
            continue;
        }
        if kinds == seen.len() {
            return false;
        }
        seen[kinds] = c;
        kinds += 1;
    }
    text.chars().count() >= 6
}

fn is_value(text: &str, quoted: bool, next: Option<char>) -> bool {
    // `a?.b ?? c`, `` token: `+t); ``, `0x0017`
    let hex = text.strip_prefix("0x").is_some_and(|digits| digits.len() <= 8);
    if hex || text.contains("?.") || text.contains("??") || text.contains(");") {
        return false;
    }
    let digits = text.bytes().any(|byte| byte.is_ascii_digit());
    let letters = text.bytes().any(|byte| byte.is_ascii_alphabetic());
    if quoted {
        // Sentences and names are not secrets.
        let sentence = text.contains(' ') && !digits;
        let path =
            text.starts_with('/') || text.starts_with("./") || text.starts_with("~/") || text.contains("://");
        return !sentence && !path && text.len() >= 6 && (digits || !is_identifier(text));
    }
    if is_expression(text, next) {
        return false;
    }
    let marks = text.bytes().any(|byte| b"!@#%^*?+/=~".contains(&byte));
    let only_digits = text.bytes().all(|byte| byte.is_ascii_digit() || b".,:_-".contains(&byte));
    text.len() >= 6 && letters && (digits || marks) && !only_digits && !is_code(text)
}

/// `load(…)`, `/run/secrets/db`, `--flag`, `https://…`: what a program or a shell works with, not the secret itself.
fn is_expression(text: &str, next: Option<char>) -> bool {
    matches!(next, Some('(' | '[' | '.'))
        || text.starts_with(['/', '~', '-', '.', '*', '&', '!', '='])
        || text.contains("://")
}

/// `user_password`, `auth.token`, `SecretKey`: names in a program.
fn is_identifier(text: &str) -> bool {
    text.len() < 40
        && text.chars().all(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '-' | '.' | ':' | ' '))
}

/// `request.headers1`, `var2`, `sha256`, `v1.2.3`: names and versions.
pub(super) fn is_code(text: &str) -> bool {
    let names = text.split(['.', ':', '-', '_']).all(|part| {
        let letters = part.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (name, rest) = part.split_at(letters);
        rest.len() <= 3
            && rest.bytes().all(|byte| byte.is_ascii_digit())
            && (!name.is_empty() || part.len() <= 2)
    });
    names && text.len() < 40
}

/// Whether letters and digits look random: of several kinds, with high entropy.
pub(super) fn is_random(text: &str) -> bool {
    let mut counts = [0_u32; 256];
    let mut total = 0_u32;
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
        total += 1;
    }
    if total < 16 {
        return false;
    }
    let entropy: f64 = counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / f64::from(total);
            -share * share.log2()
        })
        .sum();
    let digits = text.bytes().any(|byte| byte.is_ascii_digit());
    let letters = text.bytes().any(|byte| byte.is_ascii_alphabetic());
    // Words joined by dashes have no digits.
    digits && letters && entropy >= 3.0
}

/// Base64 of `user:password`, as in HTTP Basic and in the configuration of Docker.
fn is_user_and_password(text: &str) -> bool {
    let bare = text.trim_end_matches('=');
    let decoded = STANDARD_NO_PAD.decode(bare).or_else(|_| URL_SAFE_NO_PAD.decode(bare));
    let Ok(decoded) = decoded.map_err(|_| ()).and_then(|bytes| String::from_utf8(bytes).map_err(|_| ()))
    else {
        return false;
    };
    let printable = !decoded.chars().any(char::is_control);
    let password = decoded.split_once(':').map(|(_, password)| password);
    printable && password.is_some_and(|password| !password.is_empty() && !is_placeholder(password))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_and_names_are_no_secrets() {
        for text in
            ["changeme", "<your-token>", "${TOKEN}", "xxxxxxxx", "process.env.KEY1", "password", "00000000"]
        {
            assert!(!is_secret(Check::Value, text, true, None), "{text}");
        }
        for text in ["request.token1", "sha256", "user_id2", "12345678", "/run/secrets/db1", "getToken1"] {
            assert!(!is_secret(Check::Value, text, false, None), "{text}");
        }
        assert!(!is_secret(Check::Value, "load1x!", false, Some('(')));
    }

    #[test]
    fn secrets_are() {
        for text in ["hunter2!", "correct-horse-9", "S3cr3tP4ss"] {
            assert!(is_secret(Check::Value, text, true, None), "{text}");
        }
        assert!(is_secret(Check::Value, "p4ssw0rdZ9q!", false, Some('\n')));
        assert!(is_secret(Check::Random, "aB3dE5fG7hJ9kL1mN", false, None));
        assert!(!is_secret(Check::Random, "this-is-just-a-long-name", false, None));
    }

    #[test]
    fn user_and_password_in_base64() {
        assert!(is_secret(Check::UserPassword, "YWRtaW46aHVudGVyMg==", true, None));
        for text in ["YWRtaW4=", "admin", "YWRtaW46", "YWRtaW46Y2hhbmdlbWU="] {
            assert!(!is_secret(Check::UserPassword, text, true, None), "{text}");
        }
    }
}
