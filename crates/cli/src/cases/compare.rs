//! What a case expects against what came out. Only what is named is compared.

use crosier::config::tree::{Node, Value as Tree};
use crosier::protocol::nearest::nearest;
use crosier::{Outcome, Status};
use regex::Regex;
use serde_json::{Map, Value};

/// One thing that is not as expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) at: String,
    pub(crate) expected: String,
    pub(crate) got: String,
}

impl Difference {
    pub(crate) fn new(at: impl Into<String>, expected: impl Into<String>, got: impl Into<String>) -> Self {
        Self { at: at.into(), expected: expected.into(), got: got.into() }
    }
}

/// How much of a value is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// Mappings by the keys that are named; lists as a whole.
    Named,
    /// Everything.
    Whole,
}

/// Keys whose values belong to the host or the tool and are compared as a whole.
const WHOLE: [&str; 3] = ["updated_input", "updated_output", "updated_permissions"];
/// Keys that are made from the reports.
const DERIVED: [&str; 4] = ["ran", "skipped", "failed", "ignored"];

pub(crate) fn outcome(expect: &Node, outcome: &Outcome) -> Vec<Difference> {
    let mut got = match serde_json::from_str::<Value>(outcome.to_json().text()) {
        Ok(Value::Object(map)) => map,
        // A payload part that cannot be looked into: compare the rest.
        _ => Map::new(),
    };
    derive(outcome, &mut got);
    let mut differences = Vec::new();
    for entry in expect.as_map().unwrap_or_default() {
        let key = entry.key.as_str();
        let extent =
            if WHOLE.contains(&key) || DERIVED.contains(&key) { Extent::Whole } else { Extent::Named };
        match got.get(key) {
            Some(value) => compare(key, &entry.value, value, extent, &mut differences),
            None => {
                let known: Vec<&str> = got.keys().map(String::as_str).chain(["error"]).collect();
                let near =
                    nearest(key, known.iter().copied()).map(|near| format!(", did you mean `{near}`?"));
                let got = format!("an outcome has no `{key}`{}", near.unwrap_or_default());
                differences.push(Difference::new(key, entry.value.to_json(), got));
            }
        }
    }
    differences
}

/// A case that expects loading or reading to fail.
pub(crate) fn error(expected: &Node, expect: &Node, got: Option<&str>) -> Vec<Difference> {
    let mut differences = Vec::new();
    for entry in expect.as_map().unwrap_or_default().iter().filter(|entry| entry.key != "error") {
        let why = "nothing else can be expected beside `error`";
        differences.push(Difference::new(&entry.key, entry.value.to_json(), why));
    }
    match (expected.as_text(), got) {
        (_, None) => differences.push(Difference::new("error", expected.to_json(), "no error")),
        // An error message is a sentence with its place: the text stands somewhere in it.
        (Some(wanted), Some(got)) if !matches(wanted, got).unwrap_or_else(|| got.contains(wanted)) => {
            differences.push(Difference::new("error", wanted, got));
        }
        (Some(_), Some(_)) => {}
        (None, Some(got)) => differences.push(Difference::new("error", expected.to_json(), got)),
    }
    differences
}

fn derive(outcome: &Outcome, got: &mut Map<String, Value>) {
    let names = |wanted: fn(Status) -> bool| -> Value {
        let some = outcome.reports.iter().filter(|report| wanted(report.status));
        some.map(|report| Value::from(&*report.hook)).collect()
    };
    got.insert("ran".into(), names(|status| status != Status::Skipped));
    got.insert("skipped".into(), names(|status| status == Status::Skipped));
    let failed: Map<String, Value> =
        outcome.failures().map(|(hook, failure)| (hook.to_owned(), failure.kind.word().into())).collect();
    got.insert("failed".into(), failed.into());
    let ignored: Map<String, Value> = outcome
        .reports
        .iter()
        .filter(|report| !report.ignored.is_empty())
        .map(|report| {
            let effects: Value =
                report.ignored.iter().map(|ignored| Value::from(ignored.effect.as_str())).collect();
            (report.hook.to_string(), effects)
        })
        .collect();
    got.insert("ignored".into(), ignored.into());
}

/// Whether `/…/` matches; none when it is no expression.
fn matches(wanted: &str, got: &str) -> Option<bool> {
    let expression = wanted.strip_prefix('/')?.strip_suffix('/')?;
    Some(Regex::new(expression).is_ok_and(|regex| regex.is_match(got)))
}

fn compare(at: &str, expected: &Node, got: &Value, extent: Extent, differences: &mut Vec<Difference>) {
    match (&expected.value, got) {
        (Tree::Text(wanted), Value::String(text)) => {
            if !matches(wanted, text).unwrap_or(wanted == text) {
                differences.push(Difference::new(at, wanted, text));
            }
        }
        (Tree::Map(entries), Value::Object(map)) => {
            for entry in entries {
                let inner = format!("{at}.{}", entry.key);
                match map.get(&entry.key) {
                    Some(value) => compare(&inner, &entry.value, value, extent, differences),
                    None => differences.push(Difference::new(inner, entry.value.to_json(), "nothing")),
                }
            }
            if extent == Extent::Whole {
                let unexpected = map.iter().filter(|(key, _)| expected.get(key).is_none());
                let unexpected = unexpected
                    .map(|(key, value)| Difference::new(format!("{at}.{key}"), "nothing", value.to_string()));
                differences.extend(unexpected);
            }
        }
        (Tree::List(items), Value::Array(values)) if items.len() == values.len() => {
            for (place, (item, value)) in items.iter().zip(values).enumerate() {
                compare(&format!("{at}[{place}]"), item, value, extent, differences);
            }
        }
        _ => {
            let same =
                serde_json::from_str::<Value>(&expected.to_json()).is_ok_and(|expected| expected == *got);
            if !same {
                differences.push(Difference::new(at, expected.to_json(), got.to_string()));
            }
        }
    }
}
