//! The schema of the JSON object that a hook answers: three families of keys in one grammar.

use crosier::protocol::json;
use crosier::protocol::ordered::{Map, Value};
use crosier::{Decision, Strategy};

use super::{about, or_null, properties, root, with};

const ABOUT: &str = "What a hook writes to its stdout; nothing at all is no opinion. Keys of the families may be \
                     mixed; the strictest decision wins. An unknown key has no effect, or is refused when it is \
                     a near miss of a known one.";

/// The schema of a reply.
pub(crate) fn reply() -> Value {
    // `decision` is the same in both.
    let mut all = top();
    for (key, schema) in specific() {
        if !all.contains_key(&key) {
            all.insert(key, schema);
        }
    }
    with(
        root("reply", "Crosier reply", ABOUT),
        json!({
            "type": ["object", "null"],
            "properties": all,
            "additionalProperties": false,
            "$defs": {
                "decision": about(or_null(json!({ "enum": words() })), "allow = approve, deny = block, ask"),
                "permission": permission(),
                "inject": inject(),
            },
        }),
    )
}

/// The words for decisions, in all spellings.
fn words() -> Vec<&'static str> {
    vec![Decision::Allow.word(), "approve", Decision::Ask.word(), Decision::Deny.word(), "block"]
}

fn text(what: &str) -> Value {
    about(json!({ "type": ["string", "null"] }), what)
}

fn flag(what: &str) -> Value {
    about(json!({ "type": ["boolean", "null"] }), what)
}

fn object(entries: Vec<(&str, Value)>) -> Map {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn either() -> Value {
    about(
        json!({ "anyOf": [{ "$ref": "#/$defs/decision" }, { "$ref": "#/$defs/permission" }] }),
        "the decision; an object answers a PermissionRequest",
    )
}

fn top() -> Map {
    let seconds = json!({ "type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 600 });
    let inject = json!({
        "anyOf": [
            { "$ref": "#/$defs/inject" },
            { "type": "array", "items": { "$ref": "#/$defs/inject" } },
            { "type": "null" },
        ],
    });
    let json_text = json!({ "type": ["string", "null"], "contentMediaType": "application/json" });
    object(vec![
        ("continue", flag("false stops the host's loop; true keeps it going where it wants to stop")),
        ("suppressOutput", flag("hides the output")),
        ("stopReason", text("why the loop stops or goes on")),
        ("decision", either()),
        ("reason", text("why")),
        ("systemMessage", text("text for the next model call")),
        (
            "hookSpecificOutput",
            about(
                or_null(json!({ "type": "object", "properties": specific(), "additionalProperties": false })),
                "Claude's keys; they are accepted at the top level too",
            ),
        ),
        ("async", flag("call this hook once more and use that answer")),
        ("asyncTimeout", about(seconds, "how long the second run may take, in seconds (30)")),
        ("allowed", flag("false denies")),
        ("updated_input", about(json!({}), "replaces the input of a pre event as a whole")),
        ("modified_args", about(json_text, "the same, as JSON text; wins over updated_input")),
        ("inject", about(inject, "text for the tool result, or a message after it")),
        ("abort", flag("true denies")),
        (
            "modify",
            about(
                json!({ "type": ["object", "null"] }),
                "replaces payload fields, each as a whole: prompt, args, result, …",
            ),
        ),
    ])
}

fn specific() -> Map {
    object(vec![
        ("hookEventName", text("the event; refused if it is not the current one")),
        ("permissionDecision", json!({ "$ref": "#/$defs/decision" })),
        ("permissionDecisionReason", text("why")),
        ("updatedInput", about(json!({}), "replaces the input of a pre event as a whole")),
        ("additionalContext", text("text for the next model call")),
        ("updatedMCPToolOutput", about(json!({}), "replaces the output of a post event")),
        ("updatedToolOutput", about(json!({}), "replaces the output of a post event")),
        ("decision", either()),
        ("custom_instructions", text("replaces the instructions of a compaction")),
    ])
}

fn permission() -> Value {
    json!({
        "type": "object",
        "properties": properties([
            ("behavior", about(json!({ "enum": words() }), "the decision")),
            ("message", text("why")),
            ("updatedInput", about(json!({}), "the input to run the tool with")),
            ("updatedPermissions", about(json!({}), "passed to the host unchanged")),
            ("interrupt", flag("a denial that also stops the loop")),
        ]),
        "required": ["behavior"],
        "additionalProperties": false,
    })
}

fn inject() -> Value {
    let strategies = [Strategy::ToolResult.word(), Strategy::UserMessage.word()];
    json!({
        "type": "object",
        "properties": properties([
            ("content", about(json!({ "type": "string" }), "the text")),
            ("strategy", about(or_null(json!({ "enum": strategies })), "at the end of the tool result (default), or a separate message")),
        ]),
        "required": ["content"],
        "additionalProperties": false,
    })
}
