//! Determines the kind of a scalar from its written form.
//!
//! The rules are those of YAML 1.2, except that only JSON numbers are numbers, so that their digits can be
//! passed on unchanged. Everything else is text, including `yes` and `0x1F`.

use std::borrow::Cow;

use saphyr_parser::ScalarStyle;

use super::node::{Node, Style, Value};
use super::source::Span;

/// A string with more unused capacity than this is shrunk.
const MAX_UNUSED: usize = 64;

/// Makes the node of a scalar. Only a scalar without quotes and without a tag can be anything but text.
pub(super) fn node(text: Cow<'_, str>, style: ScalarStyle, tagged: bool, span: Span) -> Node {
    let written = match style {
        ScalarStyle::Plain => Style::Plain,
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Style::Quoted,
        ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
    };
    let value = match &*text {
        _ if tagged || written != Style::Plain => Value::Text(into_shrunk_string(text)),
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        digits if is_json_number(digits) => Value::Number(digits.into()),
        _ => Value::Text(into_shrunk_string(text)),
    };
    Node { value, span, style: written }
}

/// The text as a `String`, shrunk if the parser left much unused capacity.
pub(super) fn into_shrunk_string(text: Cow<'_, str>) -> String {
    let mut text = text.into_owned();
    if text.capacity() - text.len() > MAX_UNUSED {
        text.shrink_to_fit();
    }
    text
}

/// Whether a text is a number by the grammar of JSON.
fn is_json_number(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let Some(mut rest) = skip_digits(unsigned) else { return false };
    if unsigned.starts_with('0') && unsigned.len() - rest.len() > 1 {
        return false;
    }
    if let Some(fraction) = rest.strip_prefix('.') {
        let Some(after) = skip_digits(fraction) else { return false };
        rest = after;
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let Some(after) = skip_digits(unsigned) else { return false };
        rest = after;
    }
    rest.is_empty()
}

/// Skips at least one digit.
fn skip_digits(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < text.len()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Value {
        node(text.into(), ScalarStyle::Plain, false, Span::default()).value
    }

    #[test]
    fn plain_scalar_is_a_number_when_json_calls_it_one() {
        for text in ["0", "-0", "10", "-1.5", "1e5", "1E+5", "0.0e-0", "123456789012345678901234567890"] {
            assert_eq!(plain(text), Value::Number(text.into()), "{text}");
        }
    }

    #[test]
    fn plain_scalar_is_text_when_json_has_no_such_value() {
        let texts = [
            "0x1F",
            "0o7",
            "1_000",
            ".5",
            "5.",
            "012",
            "-01",
            "+1",
            ".inf",
            ".nan",
            "-",
            "-.5",
            "1e",
            "1e+",
            "1.2.3",
            "1 2",
            "yes",
            "no",
            "on",
            "off",
            "y",
            "tRUE",
            "nULL",
            "nil",
            "=",
            "<<",
            "2026-11-05",
            "٣",
        ];
        for text in texts {
            assert_eq!(plain(text), Value::Text(text.into()), "{text}");
        }
    }

    #[test]
    fn plain_scalar_is_null_or_truth_in_each_of_its_spellings() {
        for text in ["", "~", "null", "Null", "NULL"] {
            assert_eq!(plain(text), Value::Null, "{text}");
        }
        for (text, truth) in
            [("true", true), ("True", true), ("TRUE", true), ("false", false), ("FALSE", false)]
        {
            assert_eq!(plain(text), Value::Bool(truth), "{text}");
        }
    }

    #[test]
    fn scalar_is_text_when_quoted_or_tagged() {
        for style in [ScalarStyle::SingleQuoted, ScalarStyle::DoubleQuoted, ScalarStyle::Literal] {
            let value = node("5".into(), style, false, Span::default()).value;
            assert_eq!(value, Value::Text("5".into()));
        }
        let tagged = node("true".into(), ScalarStyle::Plain, true, Span::default());
        assert_eq!(tagged.value, Value::Text("true".into()));
    }
}
