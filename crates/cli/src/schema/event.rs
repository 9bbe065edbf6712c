//! The schema of the JSON object that a hook gets, from the event table.

use crosier::protocol::json;
use crosier::protocol::ordered::{Map, Value};
use crosier::{EventRow, Field, FieldKind};
use crosier_dialect::rows::all_rows;

use super::{about, or_null, properties, root, with};

const ABOUT: &str = "The event as a hook gets it: on a command's stdin, as a python hook's argument. Fields that \
                     a host adds pass through. `crosier fire` completes what is missing of the base fields.";

/// The schema of an event on the wire.
pub(crate) fn event() -> Value {
    let names: Vec<&str> = all_rows().map(|row| row.name).collect();
    let branches: Vec<Value> = all_rows().map(branch).collect();
    let rows = all_rows().map(|row| (row.name.to_owned(), payload(row)));
    let base = [
        ("session_id", about(json!({ "type": "string" }), "the session")),
        (
            "transcript_path",
            about(json!({ "type": "string" }), "the transcript's file; empty when there is none"),
        ),
        ("cwd", about(json!({ "type": "string" }), "the folder in which the agent works")),
        ("permission_mode", about(json!({ "type": "string" }), "how the host asks for permissions")),
        ("hook_event_name", about(json!({ "enum": names }), "the event")),
        (
            "hook_type",
            about(json!({ "enum": names }), "the name of the event, in MassGen's name for this field"),
        ),
        (
            "agent_id",
            about(
                json!({ "type": ["string", "null"] }),
                "the agent in which the event happens; null outside an agent",
            ),
        ),
        ("orchestrator_id", about(json!({ "type": "string" }), "who runs the agents; may be empty")),
        ("timestamp", about(json!({ "type": "string", "format": "date-time" }), "when it happened, in UTC")),
        ("outcome", about(json!({ "type": "object" }), "for `observe` hooks: the outcome")),
    ];
    let optional = ["permission_mode", "outcome"];
    let required: Vec<&str> =
        base.iter().map(|(name, _)| *name).filter(|name| !optional.contains(name)).collect();
    with(
        root("event", "Crosier event", ABOUT),
        json!({
            "type": "object",
            "properties": properties(base.clone()),
            "required": required,
            "allOf": branches,
            "$defs": rows.collect::<Map>(),
        }),
    )
}

fn branch(row: &EventRow) -> Value {
    json!({
        "if": { "properties": { "hook_event_name": { "const": row.name } } },
        "then": { "$ref": format!("#/$defs/{}", row.name) },
    })
}

fn payload(row: &EventRow) -> Value {
    // A field that is derived or has a default is always present when a hook gets the event.
    let is_there = |field: &&Field| {
        field.required || field.default.is_some() || row.derived.is_some_and(|(name, _)| name == field.name)
    };
    let required: Vec<&str> = row.fields.iter().filter(is_there).map(|field| field.name).collect();
    let fields = row.fields.iter().map(|field| (field.name, about(value(field), field.about)));
    json!({
        "description": row.about,
        "properties": properties(fields),
        "required": required,
    })
}

fn value(field: &Field) -> Value {
    let schema = match field.kind {
        FieldKind::Text if field.values.is_empty() => json!({ "type": "string" }),
        // A host may use other values: these are examples, not a closed list.
        FieldKind::Text => json!({ "type": "string", "examples": field.values }),
        FieldKind::TextOrNull => json!({ "type": ["string", "null"] }),
        FieldKind::Bool => json!({ "type": "boolean" }),
        _ => return json!({}),
    };
    if field.required || field.default.is_some() { schema } else { or_null(schema) }
}
