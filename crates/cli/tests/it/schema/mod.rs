//! The JSON Schemas: the files are what the program prints, good values fit them, bad ones do not.

mod config;

use std::fs;
use std::path::{Path, PathBuf};

use crosier::config::{Node, Source, parse_document};
use crosier::protocol::event::TABLE;
use crosier::protocol::reply::REPLY_KEYS;
use crosier::{Catalog, Engine, EventKind, Outcome, Reply};
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::lab::{BASH, Lab};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn schema(of: &str) -> Value {
    Lab::new().run(&["schema", of]).exits(0).json()
}

fn validator(of: &str) -> Validator {
    let schema = schema(of);
    jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{of} is no schema: {error}"));
    jsonschema::validator_for(&schema).unwrap()
}

#[track_caller]
fn fits(validator: &Validator, value: &Value, what: &str) {
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{} at {}", error, error.instance_path())).collect();
    assert!(errors.is_empty(), "{what}: {errors:#?}\n{value:#}");
}

#[test]
fn the_files_in_the_repository_are_what_the_program_prints() {
    for of in ["config", "event", "reply", "outcome", "rpc"] {
        let path = repository().join("schema").join(format!("{of}.json"));
        let printed = Lab::new().run(&["schema", of]).exits(0).stdout;
        if std::env::var_os("CROSIER_GENERATE").is_some() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &printed).unwrap();
        }
        let written = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == printed,
            "{} is out of date: run this test with CROSIER_GENERATE=1",
            path.display()
        );
    }
}

/// Every case of the corpus: its text as a tree.
fn corpus() -> Vec<(String, Node)> {
    let mut cases = Vec::new();
    let mut folders = vec![repository().join("spec/cases")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.extension().is_none_or(|end| end != "yaml") {
                continue;
            }
            let source = Source::new(path.display().to_string(), fs::read_to_string(&path).unwrap());
            let node = parse_document(&source).unwrap();
            for case in node.as_list().unwrap_or_default() {
                let name = case.get("name").map(Node::to_json).unwrap_or_default();
                cases.push((format!("{}: {name}", source.name), case.clone()));
            }
        }
    }
    assert!(cases.len() > 900);
    cases
}

fn value(node: &Node) -> Option<Value> {
    serde_json::from_str(&node.to_json()).ok()
}

#[test]
fn every_event_of_the_corpus_fits_on_the_wire() {
    let validator = validator("event");
    let engine = Engine::builder().folder("/project").build().unwrap();
    let (catalog, mut seen) = (Catalog::default(), 0);
    for (what, case) in corpus() {
        let Some(kind) = case.get("event").and_then(Node::as_text).and_then(|name| catalog.find(name)) else {
            continue;
        };
        let input = case.get("input").map_or_else(|| "{}".to_owned(), Node::to_json);
        let Ok(event) = engine.event(kind.name, input.as_bytes()) else { continue };
        // Asking what would run completes the event.
        let _ = engine.explain(&event);
        let Ok(wire) = serde_json::from_str::<Value>(event.wire().unwrap()) else { continue };
        fits(&validator, &wire, &what);
        seen += 1;
    }
    assert!(seen > 700, "only {seen} events were seen");
    let base = json!({
        "session_id": "s", "transcript_path": "", "cwd": "/", "hook_event_name": "PreToolUse",
        "hook_type": "PreToolUse", "agent_id": null, "orchestrator_id": "", "timestamp": "2026-01-01T00:00:00Z",
        "tool_name": "Bash", "tool_input": {},
    });
    fits(&validator, &base, "the base of what follows");
    for (key, bad) in [
        ("tool_name", json!(3)),
        ("hook_event_name", json!("PreTolUse")),
        ("cwd", Value::Null),
        ("agent_id", json!(1)),
    ] {
        let mut event = base.clone();
        event[key] = bad;
        assert!(!validator.is_valid(&event), "{event}");
        event.as_object_mut().unwrap().remove(key);
        assert!(!validator.is_valid(&event), "{event}");
    }
}

#[test]
fn every_reply_that_the_engine_understands_fits() {
    let validator = validator("reply");
    let (catalog, mut good) = (Catalog::default(), 0);
    for (what, case) in corpus() {
        let Some(kind) = case.get("event").and_then(Node::as_text).and_then(|name| catalog.find(name)) else {
            continue;
        };
        let mut replies = Vec::new();
        collect(&case, &mut replies);
        for reply in replies {
            let Ok(decoded) = Reply::decode(reply.to_json().as_bytes(), &kind) else { continue };
            let is_known = decoded.effects().is_none_or(|effects| effects.unknown.is_empty());
            if let Some(reply) = value(reply).filter(|_| is_known) {
                fits(&validator, &reply, &what);
                good += 1;
            }
        }
    }
    assert!(good > 400, "only {good} replies were seen");
}

/// Every `reply` mapping under a node.
fn collect<'a>(node: &'a Node, found: &mut Vec<&'a Node>) {
    for entry in node.as_map().unwrap_or_default() {
        if entry.key == "reply" && entry.value.as_map().is_some() {
            found.push(&entry.value);
        }
        collect(&entry.value, found);
    }
    for item in node.as_list().unwrap_or_default() {
        collect(item, found);
    }
}

#[test]
fn what_the_engine_calls_bad_output_does_not_fit() {
    let validator = validator("reply");
    let row = Catalog::default().find("PreToolUse").unwrap();
    for bad in [
        json!({"decision": "maybe"}),
        json!({"decision": 1}),
        json!({"descision": "deny"}),
        json!({"allowed": "no"}),
        json!({"continue": "false"}),
        json!({"inject": {"strategy": "tool_result"}}),
        json!({"inject": {"content": "x", "strategy": "elsewhere"}}),
        json!({"asyncTimeout": 601, "async": true}),
        json!({"modified_args": {"a": 1}}),
        json!({"modify": []}),
        json!({"hookSpecificOutput": {"permissionDecison": "deny"}}),
        json!({"decision": {"message": "no behavior"}}),
        json!([]),
        json!("deny"),
    ] {
        assert!(Reply::decode(bad.to_string().as_bytes(), &row).is_err(), "{bad} is good output");
        assert!(!validator.is_valid(&bad), "{bad}");
    }
}

#[test]
fn the_reply_schema_has_the_keys_of_the_grammar_and_no_others() {
    let schema = schema("reply");
    let mut known: Vec<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    let mut wanted = REPLY_KEYS.to_vec();
    known.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(known, wanted);
}

#[test]
fn outcomes_fit_and_their_keys_are_all_there() {
    let validator = validator("outcome");
    for row in TABLE {
        let empty = Outcome::new(EventKind::Static(row)).to_json();
        fits(&validator, &empty.to_value().unwrap(), row.name);
    }
    let lab = Lab::with(
        "hooks:
          PostToolUse:
            - {name: a, reply: {inject: {content: x}, systemMessage: y, updatedToolOutput: z, decision: block}}
            - {name: b, fail: timeout}
            - {name: c, reply: {continue: false}}
            - {name: d, reply: {}}",
    );
    let event = BASH.replace("}}", "}, \"tool_response\": 1}");
    let outcome = lab.feed(&["fire", "PostToolUse"], event).exits(0).json();
    fits(&validator, &outcome, "a full outcome");
    for (key, bad) in
        [("decision", json!("block")), ("context", json!("x")), ("halt", json!({})), ("more", json!(1))]
    {
        let mut outcome = outcome.clone();
        outcome[key] = bad;
        assert!(!validator.is_valid(&outcome), "{outcome}");
    }
    let mut less = outcome;
    less.as_object_mut().unwrap().remove("resume");
    assert!(!validator.is_valid(&less));
}
