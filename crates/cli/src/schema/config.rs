//! The schema of a configuration file, from the tables of keys and events.

use crosier::config::{Key, KeyTables, ValueKind};
use crosier::protocol::json;
use crosier::protocol::ordered::{Map, Value};
use crosier_dialect::rows::all_rows;

use super::{about, or_null, properties, root, with};
use crate::setup;

/// The longest timeout of a hook, in seconds.
const WEEK: u32 = 7 * 24 * 60 * 60;

const ABOUT: &str = "Hooks for AI agents. Keys outside `hooks` sections may belong to other programs. \
                     `crosier check` finds what a schema cannot.";

/// The schema of a configuration file.
pub(crate) fn config() -> Value {
    let tables = setup::loader().keys();
    with(
        root("config", "Crosier configuration", ABOUT),
        json!({
            "type": "object",
            "allOf": [something(), nothing_misplaced()],
            "properties": {
                "hooks": about(json!({ "$ref": "#/$defs/section" }), "the base hooks, which apply to every agent"),
                "agents": agents(),
                "scripts": about(
                    json!({ "type": ["array", "string", "null"], "items": { "type": "string" } }),
                    "`.arma` files, relative to this file; one hook per line",
                ),
                "extends": about(
                    json!({ "type": ["string", "array", "null"], "items": { "type": "string" } }),
                    "packs of ready hooks, such as `crosier:recommended`, or files; entries below `hooks` change their hooks by name",
                ),
                "mode": about(
                    or_null(json!({ "enum": ["enforce", "warn", "off"] })),
                    "for every hook of this file that names none: warn runs it without an effect and reports what it would have done",
                ),
                "trust": about(
                    json!({ "type": ["string", "array", "null"], "items": { "type": "string" } }),
                    "more files that belong to what a person trusts, as globs",
                ),
                "log": about(json!({ "enum": ["on", "off", true, false, null] }), "whether decisions are logged; in the user's and the managed file"),
                "daemon": about(json!({ "enum": ["auto", "off", true, false, null] }), "whether a daemon may be started; in the user's and the managed file"),
                "self_guard": about(json!({ "enum": ["on", "off", true, false, null] }), "whether agents are kept from changing Crosier itself; in the user's and the managed file"),
                "otlp": about(json!({}), "accepted, but without effect: this version sends no traces; in the user's and the managed file"),
                "permissions": about(
                    permissions(),
                    "what `/perms check` looks up; a capability that is not here is denied",
                ),
            },
            "$defs": {
                "section": section(&tables),
                "event": event(&tables),
                "hooks": {
                    "type": ["array", "null"],
                    "items": {
                        "if": { "type": "object", "required": ["hooks"] },
                        "then": { "$ref": "#/$defs/group" },
                        "else": { "$ref": "#/$defs/hook" },
                    },
                },
                "group": group(&tables),
                "hook": hook(&tables),
            },
        }),
    )
}

/// At least one section is not empty: a file without anything for Crosier is a mistake.
fn something() -> Value {
    let has = |key: &str, schema: Value| json!({ "required": [key], "properties": { key: schema } });
    let filled = || json!({ "type": ["object", "array", "string"], "minProperties": 1, "minItems": 1, "minLength": 1 });
    json!({ "anyOf": [
        has("hooks", json!({ "type": "object", "minProperties": 1 })),
        has("agents", filled()),
        has("scripts", filled()),
        has("permissions", filled()),
        has("extends", filled()),
        { "required": ["mode"] },
        { "required": ["trust"] },
        { "required": ["log"] },
        { "required": ["daemon"] },
        { "required": ["self_guard"] },
        { "required": ["otlp"] },
    ] })
}

/// Refuses events and misspelled sections beside `hooks`, which would be ignored.
fn nothing_misplaced() -> Value {
    let misspelled = ["hook", "hoks", "Hooks", "script", "permission"];
    no_key_of(event_names().chain(misspelled).collect())
}

/// The names and points of the events.
fn event_names() -> impl Iterator<Item = &'static str> {
    all_rows().flat_map(|row| std::iter::once(row.name).chain(row.alias))
}

fn no_key_of(names: Vec<&str>) -> Value {
    json!({ "propertyNames": {
        "not": { "enum": names },
        "$comment": "events belong below `hooks`, spelled exactly like this",
    } })
}

fn section(tables: &KeyTables) -> Value {
    let to_event = |text: &str| about(json!({ "$ref": "#/$defs/event" }), text);
    let mut known: Map = keys(&tables.section, tables);
    let mut points = Map::new();
    for row in all_rows() {
        known.insert(row.name.to_owned(), to_event(row.about));
        if let Some(alias) = row.alias {
            known.insert(alias.to_owned(), to_event(&format!("{}, by its alias", row.name)));
            if row.matcher.is_some() {
                let text = format!("{}, with a matcher after its alias", row.name);
                points.insert(format!("^{alias}:."), to_event(&text));
            }
        }
    }
    points.insert("^x-".to_owned(), json!(true));
    json!({
        // An empty value is the same as no key. Not written as `anyOf`, so that editors mark the mistake itself.
        "type": ["object", "null"],
        "properties": known,
        "patternProperties": points,
        "additionalProperties": false,
    })
}

fn event(tables: &KeyTables) -> Value {
    json!({
        "if": { "type": "object" },
        "then": closed(keys(&tables.event, tables), json!({})),
        "else": { "$ref": "#/$defs/hooks" },
    })
}

fn group(tables: &KeyTables) -> Value {
    closed(keys(&tables.group, tables), json!({ "required": ["hooks"] }))
}

fn hook(tables: &KeyTables) -> Value {
    // A `handler` alone is a Python hook in a MassGen file, and an error elsewhere; only `check` can tell them apart.
    let says = ["type", "handler", "command", "argv", "run", "reply", "then", "delay", "fail"];
    let says: Vec<Value> = says.into_iter().map(|key| json!({ "required": [key] })).collect();
    let one_of = |a: &str, b: &str| json!({ "not": { "required": [a, b] } });
    let mut all = vec![one_of("command", "argv"), one_of("command", "handler"), one_of("argv", "handler")];
    all.extend(contradictions());
    all.extend(builtins());
    closed(
        keys(&tables.hook, tables),
        json!({
            "anyOf": says,
            "allOf": all,
        }),
    )
}

/// Values that contradict each other on one hook.
fn contradictions() -> Vec<Value> {
    let never = |pairs: &[(&str, Value)]| {
        let values = properties(pairs.iter().map(|(key, value)| (*key, json!({ "const": value }))));
        let names: Vec<&str> = pairs.iter().map(|(key, _)| *key).collect();
        json!({ "not": { "properties": values, "required": names } })
    };
    let (yes, no) = (|| Value::Bool(true), || Value::Bool(false));
    let modes = ["observe", "parallel", "background"];
    let pairs = modes.iter().enumerate().flat_map(|(at, a)| modes.iter().skip(at + 1).map(move |b| (*a, *b)));
    let mut all: Vec<Value> = pairs.map(|(a, b)| never(&[(a, yes()), (b, yes())])).collect();
    all.push(never(&[("guard", yes()), ("observe", yes())]));
    all.push(never(&[("guard", yes()), ("background", yes())]));
    all.push(never(&[("system", yes()), ("mode", "off".into())]));
    all.push(never(&[("system", yes()), ("enabled", no())]));
    all.push(never(&[("on_error", "abort".into()), ("fail_closed", no())]));
    all.push(never(&[("on_error", "log".into()), ("fail_closed", yes())]));
    all.push(never(&[("on_error", "skip".into()), ("fail_closed", yes())]));
    all
}

/// The built-in hooks, each with its options: first their names, then the options of each.
fn builtins() -> Vec<Value> {
    let loader = setup::loader();
    let choices: Vec<Value> =
        loader.builtins().map(|builtin| about(json!({ "const": builtin.name() }), builtin.about())).collect();
    let which = json!({
        "if": { "properties": { "type": { "const": "builtin" } }, "required": ["type"] },
        "then": { "properties": { "handler": { "oneOf": choices } }, "required": ["handler"] },
    });
    let each = loader.builtins().map(|builtin| {
        let known = builtin.options().iter().map(|option| (option.name, about(json!({}), option.about)));
        let options = json!({
            "type": ["object", "null"],
            "properties": properties(known),
            "additionalProperties": false,
        });
        let named = json!({ "type": { "const": "builtin" }, "handler": { "const": builtin.name() } });
        json!({
            "if": { "properties": named, "required": ["type", "handler"] },
            "then": { "properties": { "options": options } },
        })
    });
    std::iter::once(which).chain(each).collect()
}

/// A mapping with these keys, `x-…` keys, and no others.
fn closed(known: Map, more: Value) -> Value {
    // `on_error` and `onError` are one key.
    let twice = known.keys().filter_map(|key| {
        let camel = camel_case(key);
        (camel != *key).then(|| json!({ "not": { "required": [key, camel] } }))
    });
    let mut once: Vec<Value> = twice.collect();
    let mut more = more;
    match more.get_mut("allOf") {
        Some(Value::Array(all)) => all.append(&mut once),
        _ if once.is_empty() => {}
        _ => more["allOf"] = once.into(),
    }
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), known.into());
    schema.insert("patternProperties".to_owned(), json!({ "^x-": true }));
    schema.insert("additionalProperties".to_owned(), false.into());
    with(schema, more)
}

/// Every key in both of its spellings.
fn keys(table: &[Key], tables: &KeyTables) -> Map {
    let mut all = Map::new();
    for key in table {
        let schema = about(value(key.value, &tables.types), key.about);
        let camel = camel_case(key.name);
        if camel != key.name {
            let other = json!({ "allOf": [schema.clone()], "description": format!("another spelling of `{}`", key.name) });
            all.insert(key.name.to_owned(), schema);
            all.insert(camel, other);
        } else {
            all.insert(key.name.to_owned(), schema);
        }
    }
    all
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |camel, word| {
        let (head, tail) = word.split_at(word.len().min(1));
        camel + &head.to_ascii_uppercase() + tail
    })
}

fn value(kind: ValueKind, types: &[&str]) -> Value {
    // An empty value is the same as a missing key.
    let time = |unit: &str| {
        json!({
            "type": ["string", "number", "null"],
            "pattern": "^\\s*([0-9]+(\\.[0-9]*)?|\\.[0-9]+)\\s*(ms|s|m|h)\\s*$",
            "exclusiveMinimum": 0,
            "examples": ["2s", "1500ms"],
            "maximum": if unit == "seconds" { WEEK } else { WEEK * 1000 },
            "$comment": format!("a bare number is {unit}"),
        })
    };
    match kind {
        ValueKind::Text => json!({ "type": ["string", "null"] }),
        ValueKind::Word(words) => or_null(json!({ "enum": words })),
        ValueKind::Type => or_null(json!({ "enum": types })),
        ValueKind::Bool => json!({ "type": ["boolean", "null"] }),
        ValueKind::Integer => json!({ "type": ["integer", "null"] }),
        ValueKind::Count => json!({ "type": ["integer", "null"], "minimum": 1 }),
        ValueKind::Seconds => time("seconds"),
        ValueKind::Milliseconds => time("milliseconds"),
        ValueKind::Texts => json!({ "type": ["string", "array", "null"], "items": { "type": "string" } }),
        ValueKind::Argv => json!({ "type": ["array", "null"], "items": { "type": "string" }, "minItems": 1 }),
        ValueKind::Variables => json!({
            "type": ["object", "null"],
            "propertyNames": { "pattern": "^[^=]+$" },
            "additionalProperties": { "type": ["string", "number", "boolean"] },
        }),
        ValueKind::Hooks => json!({ "$ref": "#/$defs/hooks" }),
        // A kind that this function does not know yet: anything is valid.
        _ => json!({}),
    }
}

fn permissions() -> Value {
    // Claude's own lists and modes may be beside the capabilities; they are ignored.
    let word = || json!({ "enum": ["allow", "ask", "deny"] });
    let or_list = || json!({ "anyOf": [word(), { "type": "array" }] });
    json!({
        "type": ["object", "null"],
        "properties": properties([
            ("allow", or_list()),
            ("ask", or_list()),
            ("deny", or_list()),
            ("additionalDirectories", or_list()),
            ("defaultMode", json!({})),
            ("disableBypassPermissionsMode", json!({})),
        ]),
        "additionalProperties": word(),
    })
}

fn agents() -> Value {
    let section = || json!({ "$ref": "#/$defs/section" });
    let has_hooks = json!({ "anyOf": [
        { "required": ["hooks"] },
        { "required": ["backend"], "properties": { "backend": { "type": "object", "required": ["hooks"] } } },
    ] });
    let no_events = || no_key_of(event_names().collect());
    let agent = json!({
        "allOf": [no_events()],
        "properties": properties([
            ("id", about(json!({ "type": ["string", "number", "boolean", "null"] }), "the agent's id")),
            ("hooks", about(section(), "the hooks of this agent")),
            ("backend", json!({
                "allOf": [no_events()],
                "properties": properties([("hooks", about(section(), "the hooks of this agent, as MassGen has it"))]),
            })),
        ]),
    });
    about(
        json!({
            "items": { "allOf": [agent.clone()], "if": { "allOf": [{ "type": "object" }, has_hooks] }, "then": { "required": ["id"] } },
            "additionalProperties": agent,
        }),
        "the hooks of single agents: a list with `id`s, or a mapping by id",
    )
}
