//! Secrets in JSON: only its strings are changed; numbers, order, spacing and depth stay as they are.

use std::borrow::Cow;
use std::sync::Arc;

use crosier::Json;

use super::redactor::Redactor;

/// How deep JSON inside JSON strings is parsed. Deeper text is treated as plain text.
const DEPTH: usize = 8;

/// Whether escapes of JSON can hide a literal: `\u0067hp_`, `:\/\/`.
pub(super) fn may_be_disguised(raw: &str) -> bool {
    raw.contains("\\u00") || raw.contains("\\/")
}

impl Redactor {
    /// The value without its secrets, when there were any; `note` is called with every rule that found one.
    #[must_use]
    pub fn json(&self, value: &Json, note: &mut dyn FnMut(&Arc<str>)) -> Option<Json> {
        self.json_within(value, DEPTH, note)
    }

    fn json_within(&self, value: &Json, depth: usize, note: &mut dyn FnMut(&Arc<str>)) -> Option<Json> {
        let raw = value.text();
        if !may_be_disguised(raw) && !self.may_contain_secret(raw) {
            return None;
        }
        let mut out = String::with_capacity(raw.len());
        let mut changed = false;
        let (mut at, mut copied) = (0, 0);
        let mut names = Names::default();
        let bytes = raw.as_bytes();
        while let Some(quote) = memchr::memchr(b'"', &bytes[at..]) {
            let start = at + quote;
            let end = end_of_string(bytes, start);
            at = end;
            let Some(text) = Json::parse(&raw[start..end])
                .ok()
                .and_then(|json| json.as_str().map(|text| text.into_owned()))
            else {
                continue;
            };
            if bytes[end..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':') {
                if let Cow::Owned(masked) = self.text_noting(&text, note) {
                    out.push_str(&raw[copied..start]);
                    out.push_str(Json::from(masked).text());
                    copied = end;
                    changed = true;
                }
                names.key = Some(text);
                continue;
            }
            // The name belongs to this value only when there is just a colon between them.
            let name = names.of_value(&text, follows_colon(bytes, start));
            if let Some(masked) = self.masked_value(name.as_deref(), &text, depth, note) {
                out.push_str(&raw[copied..start]);
                out.push_str(Json::from(masked).text());
                copied = end;
                changed = true;
            }
        }
        if !changed {
            return None;
        }
        out.push_str(&raw[copied..]);
        Json::parse(&out).ok()
    }

    /// A string without its secrets, treated as the value of its name, as JSON, or as plain text.
    fn masked_value(
        &self,
        name: Option<&str>,
        text: &str,
        depth: usize,
        note: &mut dyn FnMut(&Arc<str>),
    ) -> Option<String> {
        if let Some((masked, rule)) = name.and_then(|name| self.named_value(name, text)) {
            note(&rule);
            return Some(masked);
        }
        if depth > 0
            && text.trim_start().starts_with(['{', '['])
            && let Ok(inner) = Json::parse(text)
        {
            return self.json_within(&inner, depth - 1, note).map(|masked| masked.text().to_owned());
        }
        match self.text_noting(text, note) {
            Cow::Owned(masked) => Some(masked),
            Cow::Borrowed(_) => None,
        }
    }
}

/// Which name a value has: its key, or the `name` beside a `value`, as in lists of variables.
#[derive(Debug, Default)]
struct Names {
    key: Option<String>,
    beside: Option<String>,
}

impl Names {
    fn of_value(&mut self, value: &str, follows_colon: bool) -> Option<String> {
        let key = self.key.take().filter(|_| follows_colon)?;
        if key.eq_ignore_ascii_case("name") || key.eq_ignore_ascii_case("key") {
            self.beside = Some(value.to_owned());
        } else if key.eq_ignore_ascii_case("value")
            && let Some(beside) = self.beside.take()
        {
            return Some(beside);
        }
        Some(key)
    }
}

/// Where the string that begins here ends. The JSON is valid, so there is an end.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn follows_colon(bytes: &[u8], start: usize) -> bool {
    bytes[..start].iter().rev().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
}
