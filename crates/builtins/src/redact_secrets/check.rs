//! Whether something that has the form of a secret is one: placeholders and code are not.

use super::rule::Check;

/// Words that stand where a secret will be one day.
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
    "password",
    "passwd",
    "token",
    "pass",
    "user",
    "username",
    "admin",
    "root",
    "test",
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
];

/// Whether this is a secret. `quoted`: it stands in quotes. `next`: the character behind it.
pub(super) fn is_secret(check: Check, text: &str, quoted: bool, next: Option<char>) -> bool {
    match check {
        Check::None => true,
        Check::Value => !is_placeholder(text) && is_value(text, quoted, next),
        Check::Random => !is_placeholder(text) && is_random(text),
    }
}

fn is_placeholder(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let shell = text.contains("${")
        || text.contains("$(")
        || text.contains("{{")
        || text.starts_with('$')
        || text.starts_with('%');
    let brackets = text.starts_with('<') || text.starts_with('[') && text.ends_with(']');
    let code = [
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
    ];
    shell
        || brackets
        || WORDS.contains(&lower.as_str())
        || PLACEHOLDERS.iter().any(|word| lower.contains(word))
        || code.iter().any(|start| lower.starts_with(start))
        || is_monotonous(text)
}

/// Whether a text is made of very few characters: `000000`, `abababab`.
fn is_monotonous(text: &str) -> bool {
    let mut seen: Vec<char> = Vec::new();
    for c in text.chars() {
        if !seen.contains(&c) {
            seen.push(c);
        }
        if seen.len() > 3 {
            return false;
        }
    }
    text.chars().count() >= 6
}

fn is_value(text: &str, quoted: bool, next: Option<char>) -> bool {
    let digits = text.bytes().any(|byte| byte.is_ascii_digit());
    let letters = text.bytes().any(|byte| byte.is_ascii_alphabetic());
    if quoted {
        // Sentences and names of things are no secrets.
        let sentence = text.contains(' ') && !digits;
        let path =
            text.starts_with('/') || text.starts_with("./") || text.starts_with("~/") || text.contains("://");
        return !sentence && !path && text.len() >= 6 && (digits || !is_identifier(text));
    }
    if matches!(next, Some('(' | '[' | '.'))
        || text.starts_with(['/', '~', '-', '.', '*', '&', '!', '='])
        || text.contains("://")
    {
        return false;
    }
    let marks = text.bytes().any(|byte| b"!@#%^*?+/=~".contains(&byte));
    let only_digits = text.bytes().all(|byte| byte.is_ascii_digit() || b".,:_-".contains(&byte));
    text.len() >= 6 && letters && (digits || marks) && !only_digits && !is_code(text)
}

/// `user_password`, `auth.token`, `SecretKey`: names in a program.
fn is_identifier(text: &str) -> bool {
    text.len() < 40
        && text.chars().all(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '-' | '.' | ':' | ' '))
}

/// `request.headers1`, `var2`, `sha256`, `v1.2.3`: names and versions.
fn is_code(text: &str) -> bool {
    let names = text.split(['.', ':', '-', '_']).all(|part| {
        let letters = part.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (name, rest) = part.split_at(letters);
        rest.len() <= 3
            && rest.bytes().all(|byte| byte.is_ascii_digit())
            && (!name.is_empty() || part.len() <= 2)
    });
    names && text.len() < 40
}

/// Whether letters and digits look drawn by lot: of several kinds, and none of them often.
fn is_random(text: &str) -> bool {
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
    let upper = text.bytes().any(|byte| byte.is_ascii_uppercase());
    let lower = text.bytes().any(|byte| byte.is_ascii_lowercase());
    // Words with dashes between them have no digits.
    digits && (upper || lower) && entropy >= 3.0
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
}
