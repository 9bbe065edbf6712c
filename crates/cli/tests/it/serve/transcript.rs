//! The conversations of `spec/rpc`, line by line, and the schema of what is said in them.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::stdio;
use crate::lab::Lab;

fn transcripts() -> Vec<(String, Vec<Value>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/rpc");
    let mut all: Vec<(String, Vec<Value>)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            (path.file_name().unwrap().to_str().unwrap().to_owned(), lines)
        })
        .collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    assert!(all.len() >= 6);
    all
}

/// Whether something is as expected: named keys are compared, `…` is anything.
fn differs(wanted: &Value, found: &Value, place: &str) -> Option<String> {
    match (wanted, found) {
        (Value::String(any), _) if any == "…" => None,
        (Value::Object(wanted), Value::Object(found)) => wanted.iter().find_map(|(key, value)| {
            let place = format!("{place}.{key}");
            found.get(key).map_or(Some(format!("{place} is missing")), |found| differs(value, found, &place))
        }),
        (Value::Array(wanted), Value::Array(found)) if wanted.len() == found.len() => wanted
            .iter()
            .zip(found)
            .enumerate()
            .find_map(|(at, (wanted, found))| differs(wanted, found, &format!("{place}[{at}]"))),
        (wanted, found) if wanted == found => None,
        (wanted, found) => Some(format!("{place} is {found}, not {wanted}")),
    }
}

#[test]
fn every_conversation_goes_as_written() {
    for (name, lines) in transcripts() {
        let lab = Lab::new();
        let (mut client, mut server) = stdio(&lab);
        for (at, entry) in lines.iter().enumerate() {
            match entry["from"].as_str() {
                Some("client") => match entry["text"].as_str() {
                    Some(text) => client.send_text(text),
                    None => client.send(&entry["line"]),
                },
                _ => {
                    let found = client.next();
                    let difference = differs(&entry["line"], &found, "line");
                    assert_eq!(difference, None, "{name}:{}: {found}", at + 1);
                }
            }
        }
        drop(client.out.take());
        assert!(server.wait().unwrap().success(), "{name}");
    }
}

#[test]
fn what_is_said_fits_the_schema() {
    // Those of events, replies and outcomes are checked by tests of their own.
    let mut schema = Lab::new().run(&["schema", "rpc"]).exits(0).json().to_string();
    for of in ["outcome", "event", "reply"] {
        schema = schema.replace(&format!(r#"{{"$ref":"{of}.json"}}"#), "{}");
    }
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let mut checked = 0;
    for (name, lines) in transcripts() {
        let lab = Lab::new();
        let (mut client, mut server) = stdio(&lab);
        let mut methods = std::collections::HashMap::new();
        for entry in &lines {
            if entry["from"] == "client" {
                if let Some(method) = entry["line"]["method"].as_str() {
                    methods.insert(entry["line"]["id"].to_string(), method.to_owned());
                }
                match entry["text"].as_str() {
                    Some(text) => client.send_text(text),
                    None => client.send(&entry["line"]),
                }
                continue;
            }
            let found = client.next();
            let (definition, value) = match (found["method"].as_str(), found.get("result")) {
                (Some(method), _) => (format!("{method}.params"), &found["params"]),
                (None, Some(result)) => (format!("{}.result", methods[&found["id"].to_string()]), result),
                (None, None) => ("error".to_owned(), &found["error"]),
            };
            let mut part = schema.clone();
            part["$ref"] = format!("#/$defs/{definition}").into();
            part.as_object_mut().unwrap().remove("oneOf");
            let validator =
                jsonschema::validator_for(&part).unwrap_or_else(|error| panic!("{definition}: {error}"));
            let errors: Vec<String> = validator.iter_errors(value).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{name}: {definition}: {errors:?}\n{value}");
            checked += 1;
        }
        drop(client.out.take());
        server.wait().unwrap();
    }
    assert!(checked > 40, "{checked}");
}
