//! The schema of the messages of `crosier serve`: for each method its parameters and its result, under `$defs`.

use crosier::protocol::json;
use crosier::protocol::ordered::{Map, Value};

use super::{about, or_null, root, with};

const ABOUT: &str =
    "One line of the protocol of `crosier serve`. `$defs` has `<method>.params` and `<method>.result`.";

/// The schema of the protocol.
pub(crate) fn rpc() -> Value {
    let mut defs = Map::default();
    for (method, params, result) in methods() {
        defs.insert(format!("{method}.params"), params);
        defs.insert(format!("{method}.result"), result);
    }
    for (method, params) in notifications() {
        defs.insert(format!("{method}.params"), params);
    }
    defs.insert("id", json!({ "type": ["string", "integer"] }));
    defs.insert("error", error());
    let version = json!({ "const": "2.0" });
    let id = json!({ "$ref": "#/$defs/id" });
    let request = json!({
        "required": ["jsonrpc", "method"],
        "properties": { "jsonrpc": version.clone(), "id": id, "method": { "type": "string" }, "params": { "type": "object" } },
    });
    let result =
        json!({ "required": ["jsonrpc", "id", "result"], "properties": { "jsonrpc": version.clone() } });
    let failed = json!({
        "required": ["jsonrpc", "id", "error"],
        "properties": { "jsonrpc": version, "error": { "$ref": "#/$defs/error" } },
    });
    let keywords =
        json!({ "type": "object", "oneOf": [request, result, failed], "$defs": Value::Object(defs) });
    with(root("rpc", "Crosier protocol", ABOUT), keywords)
}

fn methods() -> Vec<(&'static str, Value, Value)> {
    let outcome = || {
        let problems = about(json!({ "type": "array" }), "of a place that `hello` did not name");
        closed(&["outcome"], [("outcome", json!({ "$ref": "outcome.json" })), ("problems", problems)], true)
    };
    vec![
        ("hello", hello(), hello_result()),
        ("fire", fire(), outcome()),
        ("recheck", fire(), outcome()),
        (
            "explain",
            closed(
                &["event"],
                [
                    ("event", text()),
                    ("tool", or_null(text())),
                    ("agent_id", or_null(text())),
                    place().0,
                    place().1,
                ],
                false,
            ),
            json!({ "type": "object" }),
        ),
        ("events", none(), json!({ "type": "array" })),
        (
            "scope.enter",
            closed(
                &["agent_id"],
                [
                    ("agent_id", text()),
                    ("hooks", about(or_null(json!({ "type": "object" })), "the value of a `hooks:` section")),
                    ("dir", about(or_null(text()), "the base of its relative paths")),
                ],
                false,
            ),
            closed(&["scope"], [("scope", text())], true),
        ),
        ("scope.leave", closed(&["agent_id"], [("agent_id", text())], false), flag_result("left")),
        ("hook.register", register(), closed(&["hook"], [("hook", text())], true)),
        ("hook.remove", one_hook(), flag_result("removed")),
        ("hook.enable", one_hook(), flag_result("enabled")),
        ("hook.disable", one_hook(), flag_result("enabled")),
        (
            "subscribe",
            closed(&[], [("messages", flag()), ("outcomes", flag()), ("all", flag())], false),
            closed(&["subscription"], [("subscription", integer())], true),
        ),
        ("unsubscribe", closed(&["subscription"], [("subscription", integer())], false), none()),
        ("status", none(), status()),
        ("shutdown", closed(&[], [("now", flag())], false), none()),
        ("python.call", python(), python_result()),
        (
            "hook.call",
            closed(
                &["hook", "fire", "deadline_ms", "event"],
                [
                    ("hook", text()),
                    ("fire", json!({ "type": ["string", "integer", "null"] })),
                    ("deadline_ms", integer()),
                    ("phase", json!({ "const": 2 })),
                    ("pass", json!({ "const": 2 })),
                    ("event", json!({ "$ref": "event.json" })),
                ],
                false,
            ),
            or_null(json!({ "$ref": "reply.json" })),
        ),
    ]
}

fn notifications() -> Vec<(&'static str, Value)> {
    let of_request = || closed(&["id"], [("id", json!({ "$ref": "#/$defs/id" }))], false);
    let number = || ("subscription", integer());
    vec![
        ("cancel", of_request()),
        ("alive", of_request()),
        (
            "message",
            closed(&["subscription", "message"], [number(), ("message", json!({ "type": "object" }))], false),
        ),
        (
            "outcome",
            closed(
                &["subscription", "session_id", "agent_id", "outcome"],
                [
                    number(),
                    ("session_id", text()),
                    ("agent_id", or_null(text())),
                    ("outcome", json!({ "type": "object" })),
                ],
                false,
            ),
        ),
        ("missed", closed(&["subscription", "count"], [number(), ("count", integer())], false)),
    ]
}

fn hello() -> Value {
    let client = closed(&[], [("name", text()), ("version", text())], false);
    closed(
        &["protocols"],
        [
            ("protocols", json!({ "type": "array", "items": { "type": "integer" } })),
            ("client", or_null(client)),
            ("nonce", or_null(json!({ "type": "string", "pattern": "^[0-9a-fA-F]{32}$" }))),
            place().0,
            place().1,
            ("env", variables()),
            ("cwd", or_null(text())),
            ("config_home", or_null(text())),
            ("state_home", or_null(text())),
        ],
        false,
    )
}

fn hello_result() -> Value {
    let server = closed(
        &["name", "version", "pid"],
        [("name", json!({ "const": "crosier" })), ("version", text()), ("pid", integer())],
        true,
    );
    let limits = closed(
        &["line", "in_flight", "reply"],
        [("line", integer()), ("in_flight", integer()), ("reply", integer())],
        true,
    );
    closed(
        &["protocol", "server", "proof", "confined", "limits", "config", "problems"],
        [
            ("protocol", integer()),
            ("server", server),
            ("proof", or_null(json!({ "type": "string", "pattern": "^[0-9a-f]{64}$" }))),
            ("confined", or_null(text())),
            ("limits", limits),
            ("config", json!({ "type": "array", "items": text() })),
            ("problems", json!({ "type": "array" })),
        ],
        true,
    )
}

fn fire() -> Value {
    closed(
        &["event", "input"],
        [
            ("event", text()),
            ("input", json!({ "type": "object" })),
            place().0,
            place().1,
            ("env", variables()),
            ("cwd", or_null(text())),
            ("deadline_ms", or_null(json!({ "type": "integer", "minimum": 1 }))),
            ("call", about(or_null(text()), "the id of the open `hook.call` inside which it is fired")),
        ],
        false,
    )
}

fn register() -> Value {
    closed(
        &["name", "event"],
        [
            ("name", text()),
            ("event", text()),
            ("matcher", or_null(text())),
            ("priority", or_null(integer())),
            ("timeout_ms", or_null(json!({ "type": "integer", "minimum": 1 }))),
            ("on_error", or_null(json!({ "enum": ["log", "skip", "abort"] }))),
            ("parallel", or_null(flag())),
            ("observe", or_null(flag())),
            ("guard", or_null(flag())),
            ("agent_id", or_null(text())),
        ],
        false,
    )
}

fn status() -> Value {
    let worker = closed(
        &["python", "pid", "calls"],
        [("python", text()), ("pid", integer()), ("calls", integer())],
        true,
    );
    let numbers =
        ["protocol", "pid", "uptime_ms", "idle_ms", "connections", "fires", "late_replies", "rss_bytes"];
    let mut keys: Vec<(&'static str, Value)> = vec![("version", text())];
    keys.extend(numbers.map(|name| (name, integer())));
    keys.extend([("workers", json!({ "type": "array", "items": worker })), ("http", text())]);
    let required: Vec<&str> = keys.iter().map(|(name, _)| *name).filter(|name| *name != "http").collect();
    closed(&required, keys.clone(), true)
}

fn python() -> Value {
    let path = || json!({ "type": "array", "items": text() });
    closed(
        &["handler", "layer", "dir", "env", "event", "deadline_ms", "hook"],
        [
            ("handler", text()),
            ("config", or_null(text())),
            ("layer", text()),
            ("python", or_null(text())),
            ("python_path", path()),
            ("paths", about(path(), "instead of `dir` and `python_path`: the whole search path")),
            ("dir", text()),
            ("cwd", text()),
            ("isolate", flag()),
            ("files", about(variables(), "trusted files and their digests, `sha256:…`")),
            ("folders", about(path(), "in these folders only trusted files are loaded")),
            ("units", about(path(), "folders inside them that are trusted as a whole")),
            ("env", variables()),
            ("event", json!({ "$ref": "event.json" })),
            ("deadline_ms", integer()),
            ("timeout_ms", integer()),
            ("hook", text()),
            ("phase", json!({ "enum": [1, 2] })),
            ("pass", json!({ "enum": [1, 2] })),
        ],
        false,
    )
}

fn python_result() -> Value {
    let failure = closed(&["kind", "detail"], [("kind", text()), ("detail", text())], true);
    let reply = or_null(json!({ "$ref": "reply.json" }));
    let reply = closed(&["reply"], [("reply", reply), ("stdout", text())], true);
    let failed = closed(
        &["failure"],
        [("failure", failure), ("deny", or_null(text())), ("stdout", text()), ("stderr", text())],
        true,
    );
    json!({ "oneOf": [reply, failed] })
}

fn error() -> Value {
    closed(
        &["code", "message", "data"],
        [
            ("code", integer()),
            ("message", text()),
            ("data", json!({ "type": "object", "required": ["kind"], "properties": { "kind": text() } })),
        ],
        true,
    )
}

fn place() -> ((&'static str, Value), (&'static str, Value)) {
    (
        ("project", about(or_null(text()), "the folder whose layers and trust apply")),
        ("config", about(or_null(json!({ "type": "array", "items": text() })), "these files instead")),
    )
}

fn one_hook() -> Value {
    closed(&["hook"], [("hook", text())], false)
}

fn flag_result(name: &'static str) -> Value {
    closed(&[name], [(name, flag())], true)
}

fn none() -> Value {
    closed(&[], [], false)
}

/// An object; results may have more keys in later versions.
fn closed(required: &[&str], keys: impl IntoIterator<Item = (&'static str, Value)>, may_grow: bool) -> Value {
    let properties: Map = keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let mut schema = json!({ "type": "object", "properties": Value::Object(properties) });
    if !required.is_empty() {
        schema["required"] = required.iter().map(|name| Value::from(*name)).collect::<Vec<_>>().into();
    }
    if !may_grow {
        schema["additionalProperties"] = false.into();
    }
    schema
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn integer() -> Value {
    json!({ "type": "integer" })
}

fn flag() -> Value {
    json!({ "type": "boolean" })
}

fn variables() -> Value {
    json!({ "type": ["object", "null"], "additionalProperties": { "type": "string" } })
}
