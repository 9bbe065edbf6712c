//! The JSON object that `fire` prints: all reports folded into one answer.

use crosier::protocol::json;
use crosier::protocol::ordered::Value;
use crosier::{Decision, FailureKind, Strategy};
use crosier_dialect::rows::all_rows;

use super::{about, or_null, properties, root, with};

const ABOUT: &str = "The outcome of one event. Every key is always present.";

/// The schema of an outcome.
pub(crate) fn outcome() -> Value {
    let events: Vec<&str> = all_rows().map(|row| row.name).collect();
    let any = |what: &str| about(json!({}), what);
    let text = |what: &str| about(json!({ "type": ["string", "null"] }), what);
    let flag = |what: &str| about(json!({ "type": "boolean" }), what);
    let list = |items: Value, what: &str| about(json!({ "type": "array", "items": items }), what);
    let because = |what: &str| about(or_null(json!({ "$ref": "#/$defs/because" })), what);
    let keys = [
        ("event", about(json!({ "enum": events }), "the event")),
        (
            "decision",
            about(json!({ "$ref": "#/$defs/decision" }), "the strictest decision; null when no hook had one"),
        ),
        ("reason", text("why, in the words of the first hook with that decision")),
        ("by", text("the first hook with that decision")),
        ("by_failure", flag("whether the engine made the decision because a hook failed")),
        (
            "would",
            about(
                json!({ "$ref": "#/$defs/decision" }),
                "the strictest decision of hooks that only warn; it has no effect",
            ),
        ),
        ("updated_input", any("the rewritten field of a pre event; null when nothing changed")),
        ("updated_output", any("the rewritten field of a post event; null when nothing changed")),
        ("suppress_output", flag("whether to hide the output")),
        ("context", list(json!({ "type": "string" }), "text for the next model call")),
        ("inject", list(injected(), "text for the tool result or messages after it")),
        ("resume", because("set when the loop is to continue although it was about to stop")),
        ("halt", because("set when the host is to stop its loop")),
        ("notices", list(notice(), "things to log or to tell a person")),
        ("updated_permissions", any("permission updates, as the hook gave them")),
        ("reports", list(report(), "what each planned hook did, in order")),
    ];
    let required: Vec<&str> = keys.iter().map(|(name, _)| *name).collect();
    let decisions = [Decision::Allow.word(), Decision::Ask.word(), Decision::Deny.word()];
    with(
        root("outcome", "Crosier outcome", ABOUT),
        json!({
            "type": "object",
            "required": required,
            "properties": properties(keys.clone()),
            "additionalProperties": false,
            "$defs": {
                "decision": or_null(json!({ "enum": decisions })),
                "because": closed(vec![("reason", json!({ "type": "string" })), ("by", json!({ "type": "string" }))]),
            },
        }),
    )
}

/// An object in which every key is always present.
fn closed(keys: Vec<(&str, Value)>) -> Value {
    let required: Vec<&str> = keys.iter().map(|(name, _)| *name).collect();
    json!({
        "type": "object",
        "required": required,
        "properties": properties(keys.clone()),
        "additionalProperties": false,
    })
}

fn injected() -> Value {
    closed(vec![
        ("strategy", json!({ "enum": [Strategy::ToolResult.word(), Strategy::UserMessage.word()] })),
        ("content", json!({ "type": "string" })),
        ("hook", json!({ "type": "string" })),
    ])
}

fn notice() -> Value {
    closed(vec![
        ("kind", json!({ "enum": ["log", "notify"] })),
        ("level", json!({ "type": "string" })),
        ("text", json!({ "type": "string" })),
        ("hook", json!({ "type": "string" })),
    ])
}

fn report() -> Value {
    let failure = closed(vec![
        ("kind", json!({ "enum": FailureKind::ALL.map(FailureKind::word) })),
        ("detail", json!({ "type": "string" })),
    ]);
    let ignored = closed(vec![("effect", json!({ "type": "string" })), ("why", json!({ "type": "string" }))]);
    closed(vec![
        ("hook", about(json!({ "type": "string" }), "the display name: `agent/name` in a scope")),
        (
            "pass",
            about(json!({ "enum": [1, 2] }), "2 when a guard was run again on the final input or output"),
        ),
        ("status", json!({ "enum": ["ok", "failed", "skipped", "background"] })),
        ("duration_ms", json!({ "type": ["number", "null"] })),
        ("decision", json!({ "$ref": "#/$defs/decision" })),
        (
            "would",
            about(json!({ "$ref": "#/$defs/decision" }), "what a hook that only warns would have decided"),
        ),
        ("rewrote", about(json!({ "type": "boolean" }), "whether it replaced the input or the output")),
        (
            "context",
            about(json!({ "type": "array", "items": { "type": "string" } }), "the context that it gave"),
        ),
        ("failure", or_null(failure)),
        (
            "ignored",
            about(json!({ "type": "array", "items": ignored }), "what it asked for and was not applied"),
        ),
    ])
}
