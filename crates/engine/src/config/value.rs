//! Typed readers of single values. Each reports what is wrong, where, and what to write instead.

use std::sync::Arc;
use std::time::Duration;

use super::tree::{Node, Problem, Problems, Source, Span, Value};

/// The longest time that a hook can be given; also prevents overflow when a deadline is computed.
const MAX_DURATION: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A file that is being read, and its problems so far.
pub(super) struct Reader<'a> {
    pub(super) source: &'a Arc<Source>,
    pub(super) problems: &'a mut Problems,
    /// Whether to warn about what is allowed but probably not intended.
    pub(super) lints: bool,
}

/// The unit of a number without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeUnit {
    Seconds,
    Milliseconds,
}

impl Reader<'_> {
    pub(super) fn error(&mut self, span: Span, message: impl Into<String>) {
        self.problems.push(Problem::error(self.source, span, message));
    }

    pub(super) fn error_with_help(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.problems.push(Problem::error(self.source, span, message).with_help(help));
    }

    pub(super) fn warn(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        if !self.lints {
            return;
        }
        self.problems.push(Problem::warning(self.source, span, message).with_help(help));
    }

    pub(super) fn expected(&mut self, key: &str, wanted: &str, node: &Node) {
        self.error(node.span, format!("`{key}` must be {wanted}, but it is {}", node.kind_word()));
    }

    pub(super) fn text(&mut self, key: &str, node: &Node) -> Option<String> {
        match &node.value {
            Value::Text(text) => Some(text.clone()),
            Value::Number(number) => {
                let help = format!("write it in quotes: \"{number}\"");
                self.error_with_help(node.span, format!("`{key}` must be text, but it is a number"), help);
                None
            }
            Value::Bool(value) => {
                let help = format!("write it in quotes: \"{value}\"");
                self.error_with_help(node.span, format!("`{key}` must be text, but it is true/false"), help);
                None
            }
            _ => {
                self.expected(key, "text", node);
                None
            }
        }
    }

    /// Text that is not empty.
    pub(super) fn filled_text(&mut self, key: &str, node: &Node) -> Option<String> {
        let text = self.text(key, node)?;
        if text.trim().is_empty() {
            self.error(node.span, format!("`{key}` is empty"));
            return None;
        }
        Some(text)
    }

    pub(super) fn boolean(&mut self, key: &str, node: &Node) -> Option<bool> {
        match &node.value {
            Value::Bool(value) => return Some(*value),
            Value::Text(word) => {
                let meant = match word.to_ascii_lowercase().as_str() {
                    "yes" | "on" | "y" | "true" => Some(true),
                    "no" | "off" | "n" | "false" => Some(false),
                    _ => None,
                };
                if let Some(meant) = meant {
                    let message = format!("`{key}` must be true or false, but it is the text `{word}`");
                    self.error_with_help(node.span, message, format!("write {meant}, without quotes"));
                    return None;
                }
            }
            _ => {}
        }
        self.expected(key, "true or false", node);
        None
    }

    pub(super) fn integer(&mut self, key: &str, node: &Node) -> Option<i32> {
        if let Some(digits) = node.as_number() {
            if let Ok(number) = digits.parse() {
                return Some(number);
            }
            self.error(
                node.span,
                format!("`{key}` must be a whole number of at most ten digits, but it is {digits}"),
            );
        } else {
            self.expected(key, "a whole number", node);
        }
        None
    }

    /// `"1500ms"`, `"2s"`, `"1m"`, `"1h"`, or a number in this unit. Always more than zero.
    pub(super) fn duration(&mut self, key: &str, node: &Node, unit: TimeUnit) -> Option<Duration> {
        let (number, unit_seconds) = match &node.value {
            Value::Number(number) => {
                (number.to_string(), if unit == TimeUnit::Seconds { 1.0 } else { 0.001 })
            }
            Value::Text(text) => match with_unit(text) {
                Some(found) => found,
                None => {
                    let message = format!("`{key}` is not a time: `{}`", super::tree::shorten(text));
                    self.error_with_help(node.span, message, "write it like 1500ms, 2s, 1m or 1h");
                    return None;
                }
            },
            _ => {
                self.expected(key, "a time like 2s or 1500ms", node);
                return None;
            }
        };
        let seconds = number.parse::<f64>().unwrap_or(f64::NAN) * unit_seconds;
        if seconds.is_nan() || seconds <= 0.0 {
            self.error(node.span, format!("`{key}` must be more than 0"));
            return None;
        }
        if seconds > MAX_DURATION.as_secs_f64() {
            self.error(node.span, format!("`{key}` is more than 7 days"));
            return None;
        }
        // A time that rounds to zero must not become zero.
        Some(Duration::from_secs_f64(seconds).max(Duration::from_nanos(1)))
    }

    /// A list of texts; one text alone is a list of one.
    pub(super) fn texts(&mut self, key: &str, node: &Node) -> Vec<String> {
        match &node.value {
            Value::Text(text) => vec![text.clone()],
            Value::List(items) => items.iter().filter_map(|item| self.text(key, item)).collect(),
            _ => {
                self.expected(key, "a list of texts", node);
                Vec::new()
            }
        }
    }

    /// One of these words. The error suggests the most similar one, or lists them.
    pub(super) fn word<T: Copy>(&mut self, key: &str, node: &Node, words: &[(&'static str, T)]) -> Option<T> {
        let text = self.text(key, node)?;
        if let Some((_, found)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*found);
        }
        let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let help = match crosier_protocol::nearest::nearest(&text, all.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("use one of {}", all.join(", ")),
        };
        let message = format!("`{key}` has no value `{}`", super::tree::shorten(&text));
        self.error_with_help(node.span, message, help);
        None
    }
}

/// The number, and its unit in seconds.
fn with_unit(text: &str) -> Option<(String, f64)> {
    let text = text.trim();
    let at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(at);
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    number.trim().parse::<f64>().ok()?;
    Some((number.trim().to_owned(), seconds))
}
