//! Patterns for tools that are neither shells nor about files: `field=glob`, `domain:host`, or any text.

use crosier::Json;
use serde_json::Value;

use crate::token::{Token, covers, of_text, of_wildcards};

/// What is looked at, and the pattern for it.
#[derive(Debug, Clone)]
pub(super) struct FieldPattern {
    field: Option<String>,
    form: Form,
}

#[derive(Debug, Clone)]
enum Form {
    Glob(Vec<Token>),
    Domain(String),
}

/// How much of the input has to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// One text is enough: for a deny rule.
    Any,
    /// All of them: for an allow rule.
    All,
}

impl FieldPattern {
    pub(super) fn parse(text: &str) -> Self {
        if let Some(host) = text.strip_prefix("domain:") {
            let form = Form::Domain(host.trim().trim_start_matches("*.").to_ascii_lowercase());
            return Self { field: None, form };
        }
        let is_name =
            |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
        let (field, glob) = match text.split_once('=') {
            Some((name, glob)) if is_name(name.trim()) => (Some(name.trim().to_owned()), glob.trim()),
            _ => (None, text),
        };
        Self { field, form: Form::Glob(of_wildcards(glob)) }
    }

    /// Whether the input matches; none when it cannot be inspected.
    pub(super) fn matches(&self, input: &Json, extent: Extent) -> Option<bool> {
        let fields = match input.entries() {
            Some(fields) => fields,
            None => vec![(String::new(), input.clone())],
        };
        let mut seen = Vec::new();
        for (name, value) in fields {
            let wanted = match &self.form {
                Form::Domain(_) => matches!(name.as_str(), "url" | "uri" | "domain" | "host"),
                Form::Glob(_) => self.field.as_ref().is_none_or(|field| *field == name),
            };
            if wanted {
                let value = value.to_value()?;
                match &value {
                    Value::Array(items) => items.iter().for_each(|item| seen.push(self.fits(item))),
                    other => seen.push(self.fits(other)),
                }
            }
        }
        // Numbers and the like are not texts; they matter only when the rule names their field.
        let seen: Vec<bool> = seen.into_iter().flatten().collect();
        Some(match extent {
            Extent::Any => seen.contains(&true),
            Extent::All => !seen.is_empty() && !seen.contains(&false),
        })
    }

    fn fits(&self, value: &Value) -> Option<bool> {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) if self.field.is_some() => value.to_string(),
            Value::Object(_) | Value::Array(_) => return Some(false),
            _ => return None,
        };
        Some(match &self.form {
            Form::Glob(glob) => covers(glob, &of_text(&text)),
            Form::Domain(wanted) => host_of(&text).is_some_and(|host| {
                host == *wanted || host.strip_suffix(wanted.as_str()).is_some_and(|rest| rest.ends_with('.'))
            }),
        })
    }
}

/// The host of an address; none when it is obfuscated.
fn host_of(url: &str) -> Option<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = host.split(':').next()?.trim_end_matches('.').to_ascii_lowercase();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    (!host.is_empty() && host.chars().all(is_plain)).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn any(pattern: &str, input: &str) -> bool {
        FieldPattern::parse(pattern).matches(&Json::parse(input).unwrap(), Extent::Any).unwrap()
    }

    #[test]
    fn domains_are_hosts_and_those_below() {
        let url = |url: &str| any("domain:example.com", &format!(r#"{{"url":"{url}"}}"#));
        assert!(url("https://example.com/x") && url("http://a.EXAMPLE.com:80") && url("example.com"));
        assert!(!url("https://badexample.com") && !url("https://example.com@evil.org/"));
        assert!(!url("https://evil.org/example.com") && !url("https://evil.org\\\\@example.com"));
    }

    #[test]
    fn fields_are_globs() {
        assert!(any("sql=SELECT *", r#"{"sql":"SELECT 1"}"#) && !any("sql=SELECT *", r#"{"q":"SELECT 1"}"#));
        assert!(any("*secret*", r#"{"a":"x","b":"my secret"}"#));
        let all =
            FieldPattern::parse("a*").matches(&Json::parse(r#"{"x":"ab","y":"b"}"#).unwrap(), Extent::All);
        assert_eq!(all, Some(false));
        assert!(any("n=3", r#"{"n":3}"#));
    }
}
