//! Values as YAML that every parser reads the same way: JSON in flow style, plain words where they are safe.

/// A text: plain if it is safe, else in double quotes.
pub(super) fn text(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

/// A JSON text as one line of YAML. Characters that YAML does not allow are escaped.
pub(super) fn json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut inside = false;
    let mut escaped = false;
    for c in json.chars() {
        match c {
            // Drop white space between values; inside strings, JSON has already escaped it.
            ' ' | '\n' | '\r' | '\t' if !inside => continue,
            // Without a space after the colon, some parsers read `{"a":1}` as one key.
            ':' | ',' if !inside => out.extend([c, ' ']),
            c if is_printable(c) => out.push(c),
            c => escape(c, &mut out),
        }
        if c == '"' && !escaped {
            inside = !inside;
        }
        escaped = inside && c == '\\' && !escaped;
    }
    out
}

fn quoted(text: &str) -> String {
    json(&serde_json::Value::from(text).to_string())
}

fn is_printable(c: char) -> bool {
    !matches!(c, '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn escape(c: char, out: &mut String) {
    out.push_str(&format!("\\u{:04x}", u32::from(c)));
}

/// Whether a word is text in every YAML version: it begins with a letter, and has no special character or meaning.
fn is_plain(text: &str) -> bool {
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"];
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| is_word(c) || c == ' ')
        && !text.ends_with(' ')
        && !words.contains(&text.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_be_something_else_is_quoted() {
        assert_eq!(text("rm is denied"), "rm is denied");
        assert_eq!(text("no"), "\"no\"");
        assert_eq!(text("a: b"), "\"a: b\"");
        assert_eq!(text("# x"), "\"# x\"");
        assert_eq!(text("12"), "\"12\"");
        assert_eq!(text("a\u{7f}\n"), "\"a\\u007f\\n\"");
    }

    #[test]
    fn json_stays_json_and_gets_its_spaces() {
        assert_eq!(json(r#"{"a":[1,2],"b":"x:y,\"z"}"#), r#"{"a": [1, 2], "b": "x:y,\"z"}"#);
    }
}
