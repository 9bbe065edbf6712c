//! Writes an event as the JSON object that hooks get.

use std::ops::Range;

use serde::ser::Error as _;
use serde_json::Error;

use super::BASE_FIELDS;
use super::event::{Body, Event};
use crate::event::{EventRow, Field};
use crate::json::{self, Json};
use crate::payload::FieldSink;

/// Values of at least this many bytes are listed as large, so that a reader can decode them only when needed.
const LARGE: usize = 64 * 1024;

/// An event as JSON.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) text: String,
    /// Where the values of its large fields are, in order.
    pub(super) large: Vec<Range<usize>>,
}

/// Writes the whole object. Fails only when the host's own payload cannot be written as JSON.
pub(super) fn event(event: &Event) -> Result<Wire, Error> {
    let mut writer = Writer {
        object: Object::with_room_for(match event.body() {
            Body::Fields { fields, .. } => {
                fields.iter().map(|(name, value)| name.len() + value.text().len() + 4).sum()
            }
            Body::Typed(_) => Object::PAYLOAD,
        }),
        row: event.kind(),
        added: event.extra(),
        missing: event.kind().fields.iter().filter(|field| field.default.is_some()).collect(),
        value_at: 0,
    };
    writer.object.base(event);
    match event.body() {
        Body::Typed(payload) => payload.serialize_fields(&mut writer)?,
        Body::Fields { fields, .. } => {
            for (name, value) in fields {
                if let Some(out) = writer.begin(name) {
                    out.extend_from_slice(value.text().as_bytes());
                    writer.end(name);
                }
            }
        }
    }
    let Writer { mut object, added, missing, .. } = writer;
    for field in missing {
        object.raw(field.name, field.default.unwrap_or_default());
    }
    for (name, value) in added {
        object.raw(name, value.text());
    }
    object.end()
}

/// Where the values of large fields are in the JSON of an event.
pub(super) fn large_values(wire: &str) -> Vec<Range<usize>> {
    if wire.len() < LARGE {
        return Vec::new();
    }
    let entries = json::readable_entries(wire).unwrap_or_default();
    let large = entries.into_iter().map(|(_, value)| value.text()).filter(|text| text.len() >= LARGE);
    // The values are parts of the text.
    let range = |text: &str| {
        let start = text.as_ptr().addr() - wire.as_ptr().addr();
        start..start + text.len()
    };
    large.map(range).collect()
}

/// Writes the fields of a payload after the base.
struct Writer<'a> {
    object: Object,
    row: &'a EventRow,
    /// Fields that the engine adds. They replace a host's field of the same name, so that no key occurs
    /// twice.
    added: &'a [(&'static str, Json)],
    /// Fields with a default that have not been written yet.
    missing: Vec<&'a Field>,
    /// Where the value that is being written begins.
    value_at: usize,
}

impl FieldSink for Writer<'_> {
    fn begin(&mut self, name: &str) -> Option<&mut Vec<u8>> {
        self.missing.retain(|field| field.name != name);
        let is_derived = self.row.derived.is_some_and(|(derived, _)| derived == name);
        if is_derived || BASE_FIELDS.contains(&name) || self.added.iter().any(|(added, _)| *added == name) {
            return None;
        }
        self.object.name(name);
        self.value_at = self.object.text.len();
        Some(&mut self.object.text)
    }

    fn end(&mut self, name: &str) {
        self.object.end_value(self.value_at);
        if let Some((derived, _)) = self.row.derived.filter(|(_, source)| *source == name) {
            let value = String::from_utf8_lossy(&self.object.text[self.value_at..]).into_owned();
            self.object.text(derived, &json::plain(&value));
        }
    }
}

/// A JSON object that is being written.
struct Object {
    text: Vec<u8>,
    large: Vec<Range<usize>>,
}

impl Object {
    /// Bytes reserved for the base fields.
    const BASE: usize = 512;
    /// Bytes reserved for a payload of unknown size.
    const PAYLOAD: usize = 1024;

    fn with_room_for(payload: usize) -> Self {
        let mut text = Vec::with_capacity(Self::BASE + payload);
        text.push(b'{');
        Self { text, large: Vec::new() }
    }

    fn base(&mut self, event: &Event) {
        self.base_field("session_id", event.session_id());
        self.base_field("transcript_path", event.transcript_path());
        self.base_field("cwd", event.cwd());
        if let Some(mode) = event.permission_mode() {
            self.base_field("permission_mode", mode);
        }
        self.base_field("hook_event_name", event.name());
        self.base_field("hook_type", event.name());
        match event.agent_id() {
            Some(agent) => self.base_field("agent_id", agent),
            None => self.raw("agent_id", "null"),
        }
        self.base_field("orchestrator_id", event.orchestrator_id());
        self.base_field("timestamp", event.timestamp());
    }

    /// Writes a base field; its name needs no escaping.
    fn base_field(&mut self, name: &str, text: &str) {
        self.text.extend_from_slice(if self.text.len() > 1 { b",\"" } else { b"\"" });
        self.text.extend_from_slice(name.as_bytes());
        self.text.extend_from_slice(b"\":");
        self.quoted(text);
    }

    fn raw(&mut self, name: &str, json: &str) {
        self.name(name);
        let start = self.text.len();
        self.text.extend_from_slice(json.as_bytes());
        self.end_value(start);
    }

    /// Remembers where the value is, if it is large.
    fn end_value(&mut self, start: usize) {
        if self.text.len() - start >= LARGE {
            self.large.push(start..self.text.len());
        }
    }

    fn text(&mut self, name: &str, text: &str) {
        self.name(name);
        let start = self.text.len();
        self.quoted(text);
        self.end_value(start);
    }

    fn name(&mut self, name: &str) {
        if self.text.len() > 1 {
            self.text.push(b',');
        }
        self.quoted(name);
        self.text.push(b':');
    }

    /// Quotes a text. Most need no escapes and are copied as they are.
    fn quoted(&mut self, text: &str) {
        // No early exit: without one the loop is vectorized, which is faster for short texts.
        let is_special = |byte: u8| (byte < b' ') | (byte == b'"') | (byte == b'\\');
        if text.bytes().fold(false, |found, byte| found | is_special(byte)) {
            // Writing a string to a vector cannot fail.
            let _ = serde_json::to_writer(&mut self.text, text);
            return;
        }
        self.text.push(b'"');
        self.text.extend_from_slice(text.as_bytes());
        self.text.push(b'"');
    }

    fn end(mut self) -> Result<Wire, Error> {
        self.text.push(b'}');
        let text = String::from_utf8(self.text).map_err(Error::custom)?;
        Ok(Wire { text, large: self.large })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_values_are_found_in_the_text_where_they_were_written() {
        for (input, count) in [("x".repeat(LARGE), 1), ("x".into(), 0), ("é\\\" ".repeat(LARGE), 1)] {
            let payload =
                crate::payload::PostToolUse::new("Bash", Json::from(input), Json::from("x".repeat(LARGE)));
            let event = Event::from(payload);
            let wire = event.wire().unwrap();
            // The response is there twice: as `tool_response` and as the text `tool_output`.
            assert_eq!(event.large_values().len(), count + 2);
            assert_eq!(large_values(wire), event.large_values());
        }
        assert_eq!(large_values(&"[".repeat(LARGE)), []);
    }
}
