//! Whether two JSON texts are the same value.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::json::members;

/// Deeper values are compared as text, because an event may be nested deeper than the stack is.
const MAX_DEPTH: usize = 128;

/// Whether two texts are the same value: white space, the order of members and escapes do not count. Numbers are compared
/// by their digits. Programs read an object with duplicate names and half a surrogate pair in different ways: such
/// texts are the same only if they are equal.
pub(crate) fn is_same(a: &str, b: &str) -> bool {
    is_same_at(0, a, b)
}

fn is_same_at(depth: usize, a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let first = |text: &str| text.as_bytes().first().copied();
    if depth >= MAX_DEPTH || first(a) != first(b) {
        return false;
    }
    match first(a) {
        Some(b'"') => {
            let text = |json: &str| serde_json::from_str::<String>(json).ok();
            text(a).is_some_and(|text_of_a| Some(text_of_a) == text(b))
        }
        Some(b'[') => {
            let elements = |json| serde_json::from_str::<Vec<&RawValue>>(json).ok();
            let (Some(a), Some(b)) = (elements(a), elements(b)) else { return false };
            a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| is_same_at(depth + 1, a.get(), b.get()))
        }
        Some(b'{') => {
            let (Some(a), Some(b)) = (by_name(a), by_name(b)) else { return false };
            let is_in_b = |(name, a): (&String, &&RawValue)| {
                b.get(name).is_some_and(|b| is_same_at(depth + 1, a.get(), b.get()))
            };
            a.len() == b.len() && a.iter().all(is_in_b)
        }
        _ => false,
    }
}

/// The members of an object; `None` when a name occurs twice.
fn by_name(object: &str) -> Option<BTreeMap<String, &RawValue>> {
    let members = members::<String, &RawValue>(object).ok()?;
    let count = members.len();
    Some(members.into_iter().collect::<BTreeMap<_, _>>()).filter(|named| named.len() == count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_a_value_does_not_count() {
        for (a, b) in [
            (r#"{"a":1}"#, r#"{ "a" : 1 }"#),
            (r#"{"a":1,"b":[2,{"c":"é"}]}"#, r#"{"b":[2, {"c":"\u00e9"}],"a":1}"#),
            (r#""\ud83d\ude00""#, "\"😀\""),
            (r#"{"a":1,"a":2}"#, r#"{"a":1,"a":2}"#),
        ] {
            assert!(is_same(a, b) && is_same(b, a), "{a} {b}");
        }
    }

    #[test]
    fn another_value_is_not_the_same() {
        for (a, b) in [
            ("1", "1.0"),
            ("12345678901234567890123", "12345678901234567890124"),
            ("1", "\"1\""),
            ("[1,2]", "[2,1]"),
            ("[1]", "[1,1]"),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
            (r#"{"a":1,"a":2}"#, r#"{ "a":1,"a":2}"#),
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#"{"a":null}"#, "{}"),
        ] {
            assert!(!is_same(a, b) && !is_same(b, a), "{a} {b}");
        }
        let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(!is_same(&deep("1"), &deep(" 1")));
    }
}
