//! Secrets in JSON: only the texts in it are changed; numbers, order, spacing and depth stay as they are.

use std::sync::Arc;

use crosier::Json;

use super::redactor::Redactor;

impl Redactor {
    /// The value without its secrets, when there were any; every rule that found one is told.
    #[must_use]
    pub fn json(&self, value: &Json, note: &mut dyn FnMut(&Arc<str>)) -> Option<Json> {
        let raw = value.text();
        // Letters can be written so that no literal shows: `\u0067hp_`, `:\/\/`.
        let disguised = raw.contains("\\u00") || raw.contains("\\/");
        if !disguised && !self.literals().is_match(raw) {
            return None;
        }
        let mut out = String::with_capacity(raw.len());
        let mut changed = false;
        let (mut at, mut copied) = (0, 0);
        let mut name: Option<String> = None;
        let bytes = raw.as_bytes();
        while let Some(quote) = bytes[at..].iter().position(|byte| *byte == b'"') {
            let start = at + quote;
            let end = end_of_string(bytes, start);
            at = end;
            let token = &raw[start..end];
            let Some(text) =
                Json::parse(token).ok().and_then(|json| json.as_str().map(|text| text.into_owned()))
            else {
                continue;
            };
            let is_name = bytes[end..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':');
            // The name belongs to this value only when nothing but a colon stands between them.
            let named = name.take().filter(|_| !is_name && follows_colon(bytes, start));
            let masked = match named.and_then(|name| self.named_value(&name, &text)) {
                Some((masked, rule)) => {
                    note(&rule);
                    Some(masked)
                }
                None => match self.text_noting(&text, note) {
                    std::borrow::Cow::Owned(masked) => Some(masked),
                    std::borrow::Cow::Borrowed(_) => None,
                },
            };
            if let Some(masked) = masked {
                out.push_str(&raw[copied..start]);
                out.push_str(Json::from(masked).text());
                copied = end;
                changed = true;
            }
            if is_name {
                name = Some(text);
            }
        }
        if !changed {
            return None;
        }
        out.push_str(&raw[copied..]);
        Json::parse(&out).ok()
    }
}

/// Where the string that begins here ends; the JSON is valid, so it does.
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
