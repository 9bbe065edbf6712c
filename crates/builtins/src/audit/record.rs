//! What is written about an event.

use std::fmt::Write;

use crosier::{Event, Json};
use serde_json::Value;

use super::chain::RecordHasher;
use crate::redact_secrets::Redactor;

/// How much of the payload is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Payload {
    /// Kind, size, names and hash of each field; no text.
    #[default]
    Shape,
    /// The fields themselves, with secrets masked.
    Full,
}

/// Writes the members of a record, each with a comma before it.
pub(super) fn write(line: &mut String, event: &Event, payload: Payload) {
    text(line, "time", event.timestamp());
    text(line, "event", event.name());
    text(line, "session", event.session_id());
    match event.agent_id() {
        Some(agent) => text(line, "agent", agent),
        None => line.push_str(",\"agent\":null"),
    }
    if let Some(matched) = event.matcher_value() {
        let name = event.kind().matcher.unwrap_or("matched");
        text(line, name, matched);
    }
    outcome(line, event, payload);
    line.push_str(",\"payload\":{");
    let mut first = true;
    for field in event.kind().fields.iter() {
        // Fields that were written above, or that derive from another field, are not repeated.
        let derived = event.kind().derived.is_some_and(|(name, _)| name == field.name);
        if derived || event.kind().matcher == Some(field.name) || field.name == "agent_id" {
            continue;
        }
        let Some(value) = event.get(field.name) else { continue };
        if !first {
            line.push(',');
        }
        first = false;
        quote(line, field.name);
        line.push(':');
        match payload {
            Payload::Shape => shape(line, &value),
            Payload::Full => full(line, &value),
        }
    }
    line.push('}');
}

/// Writes what the hooks before this one decided.
fn outcome(line: &mut String, event: &Event, payload: Payload) {
    let outcome = event.get("outcome").and_then(|outcome| outcome.to_value()).unwrap_or_default();
    let member = |name: &str| outcome.get(name).filter(|value| !value.is_null());
    for name in ["decision", "by"] {
        match member(name).and_then(Value::as_str) {
            Some(value) => text(line, name, value),
            None => {
                let _ = write!(line, ",\"{name}\":null");
            }
        }
    }
    if member("by_failure").and_then(Value::as_bool) == Some(true) {
        line.push_str(",\"by_failure\":true");
    }
    let flags = [
        ("updated_input", "rewritten"),
        ("updated_output", "rewritten"),
        ("halt", "halted"),
        ("resume", "resumed"),
    ];
    for (name, word) in flags {
        if member(name).is_some() {
            let _ = write!(line, ",\"{word}\":true");
        }
    }
    // A reason may quote the payload.
    if let Some(reason) = member("reason").and_then(Value::as_str) {
        match payload {
            Payload::Full => text(line, "reason", &masked(reason)),
            Payload::Shape => {
                let _ = write!(line, ",\"reason_bytes\":{}", reason.len());
            }
        }
    }
    line.push_str(",\"hooks\":[");
    let reports = member("reports").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (index, report) in reports.iter().enumerate() {
        line.push_str(if index == 0 { "{\"hook\":" } else { ",{\"hook\":" });
        quote(line, report.get("hook").and_then(Value::as_str).unwrap_or_default());
        text(line, "status", report.get("status").and_then(Value::as_str).unwrap_or_default());
        if let Some(decision) = report.get("decision").and_then(Value::as_str) {
            text(line, "decision", decision);
        }
        if let Some(kind) =
            report.get("failure").and_then(|failure| failure.get("kind")).and_then(Value::as_str)
        {
            text(line, "failure", kind);
        }
        if let Some(millis) = report.get("duration_ms").and_then(Value::as_f64) {
            let _ = write!(line, ",\"ms\":{millis}");
        }
        line.push('}');
    }
    line.push(']');
}

fn shape(line: &mut String, value: &Json) {
    let raw = value.text();
    let kind = match raw.as_bytes().first() {
        Some(b'{') => "object",
        Some(b'[') => "list",
        Some(b'"') => "text",
        Some(b't' | b'f') => "boolean",
        Some(b'n') => "null",
        _ => "number",
    };
    let _ = write!(line, "{{\"type\":\"{kind}\",\"bytes\":{}", raw.len());
    if kind == "object" {
        line.push_str(",\"keys\":[");
        for (index, (name, _)) in value.entries().unwrap_or_default().iter().take(32).enumerate() {
            if index > 0 {
                line.push(',');
            }
            // A short name is structure; a long one may be content, and is cut.
            quote(line, name.get(..name.floor_char_boundary(64)).unwrap_or_default());
        }
        line.push(']');
    }
    let _ = write!(line, ",\"sha256\":\"{}\"}}", RecordHasher::Plain.hash(raw.as_bytes()));
}

fn full(line: &mut String, value: &Json) {
    let masked = Redactor::standard().map(|redactor| redactor.json(value, &mut |_| {}));
    let one_line = |json: &Json| json.text().replace(['\n', '\r'], " ");
    match masked {
        Ok(Some(masked)) => line.push_str(&one_line(&masked)),
        Ok(None) => line.push_str(&one_line(value)),
        Err(_) => shape(line, value),
    }
}

fn masked(reason: &str) -> String {
    crate::redact_secrets::redact(reason).into_owned()
}

fn text(line: &mut String, name: &str, value: &str) {
    line.push(',');
    quote(line, name);
    line.push(':');
    quote(line, value);
}

fn quote(line: &mut String, text: &str) {
    let plain = text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\' && byte != 0x7f);
    if plain {
        line.push('"');
        line.push_str(text);
        line.push('"');
    } else {
        line.push_str(Json::from(text).text());
    }
}
