//! A base, a tool call, and the JSON that a host would write for a row.

use crosier_protocol::payload::PreToolUse;
use crosier_protocol::{Base, EventRow, FieldKind, Json};

/// A base with every field given, so that nothing is left to complete.
pub(crate) fn base(agent: Option<&str>) -> Base {
    Base::default()
        .session_id("s-1".to_owned())
        .transcript_path("/t/s-1.jsonl".to_owned())
        .cwd("/project".to_owned())
        .permission_mode("default".to_owned())
        .agent_id(agent.map(str::to_owned))
        .orchestrator_id("o-1".to_owned())
        .timestamp("2026-01-02T03:04:05.006Z".to_owned())
}

/// A JSON value that must come back digit by digit and key by key.
pub(crate) fn odd() -> Json {
    Json::parse(r#"{"z":1,"a":123456789012345678901234567890,"t":"\u00e4 \ud83d\ude00\n","n":[null,{}]}"#)
        .unwrap()
}

/// JSON that fits a field.
pub(crate) fn fitting(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::Text | FieldKind::TextOrNull => "\"text\"",
        FieldKind::Bool => "true",
        _ => "{\"k\":[1,2]}",
    }
}

/// The payload fields of a row with a value each, as a host would write them.
pub(crate) fn fields(row: &EventRow) -> Vec<(String, Json)> {
    let value = |field: &crosier_protocol::Field| Json::parse(fitting(field.kind)).unwrap();
    row.fields.iter().map(|field| (field.name.to_owned(), value(field))).collect()
}

/// One JSON object of these members.
pub(crate) fn object(members: &[(String, Json)]) -> String {
    let members: Vec<String> = members
        .iter()
        .map(|(name, value)| format!("{}:{value}", serde_json::to_string(name).unwrap()))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// A tool call that is about to happen.
pub(crate) fn tool_call() -> PreToolUse {
    PreToolUse::new("Bash", odd()).with_base(base(Some("a-1")))
}
