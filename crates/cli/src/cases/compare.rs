//! Compares what a case expects with the outcome. Only the keys that a case names are compared.

use crosier::protocol::ordered::{Map, Value};
use crosier::{Json, Outcome, Status};

use super::expect::{DERIVED, Expect, Expected};

/// A value that differs from what is expected.
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
    /// Only the keys that are named in mappings; lists as a whole.
    Named,
    /// Everything.
    Whole,
}

/// Keys whose values belong to the host or the tool and are compared as a whole.
const WHOLE: [&str; 3] = ["updated_input", "updated_output", "updated_permissions"];

/// Everything that differs from what is expected. `Err` says why there is no outcome.
pub(crate) fn differences(expect: &Expect, result: &Result<Outcome, String>) -> Vec<Difference> {
    match (expect, result) {
        (Expect::Outcome(expected), Ok(outcome)) => of_outcome(expected, outcome),
        (Expect::Outcome(_), Err(error)) => vec![Difference::new("error", "none", error)],
        (Expect::Error(expected), Ok(_)) => vec![Difference::new("error", expected.shown(), "none")],
        (Expect::Error(expected), Err(error)) => {
            // An error message also has a location: the expected text can be anywhere in it.
            let is_it = match expected {
                Expected::Pattern(regex) => regex.is_match(error),
                Expected::Text(text) => error.contains(text),
                _ => false,
            };
            if is_it { Vec::new() } else { vec![Difference::new("error", expected.shown(), error)] }
        }
    }
}

fn of_outcome(expected: &[(String, Expected)], outcome: &Outcome) -> Vec<Difference> {
    let mut got = outcome.to_json().entries().unwrap_or_default();
    got.extend(derived(outcome).into_iter().map(|(key, value)| (key, Json::from(value))));
    let mut differences = Vec::new();
    for (key, expected) in expected {
        let is_whole = WHOLE.contains(&key.as_str()) || DERIVED.contains(&key.as_str());
        let extent = if is_whole { Extent::Whole } else { Extent::Named };
        match got.iter().find(|(other, _)| other == key) {
            Some((_, value)) => compare(key, expected, value, extent, &mut differences),
            // Unreachable: keys are checked when the case is read.
            None => differences.push(Difference::new(key, expected.shown(), "nothing")),
        }
    }
    differences
}

/// `ran`, `skipped`, `failed` and `ignored`: summaries of the reports.
pub(crate) fn derived(outcome: &Outcome) -> Map {
    let names = |wanted: fn(Status) -> bool| -> Value {
        let some = outcome.reports.iter().filter(|report| wanted(report.status));
        some.map(|report| Value::from(&*report.hook)).collect()
    };
    let failed: Map =
        outcome.failures().map(|(hook, failure)| (hook.to_owned(), failure.kind.word().into())).collect();
    let ignored = outcome.reports.iter().filter(|report| !report.ignored.is_empty()).map(|report| {
        let effects = report.ignored.iter().map(|ignored| Value::from(ignored.effect.as_str()));
        (report.hook.to_string(), effects.collect())
    });
    let ignored: Map = ignored.collect();
    [
        ("ran".to_owned(), names(|status| status != Status::Skipped)),
        ("skipped".to_owned(), names(|status| status == Status::Skipped)),
        ("failed".to_owned(), failed.into()),
        ("ignored".to_owned(), ignored.into()),
    ]
    .into_iter()
    .collect()
}

/// The actual value stays JSON text, so that digits, order and depth are compared as they are.
fn compare(at: &str, expected: &Expected, got: &Json, extent: Extent, differences: &mut Vec<Difference>) {
    let is_it = match expected {
        Expected::Text(wanted) => got.as_str().is_some_and(|text| *wanted == *text),
        Expected::Pattern(regex) => got.as_str().is_some_and(|text| regex.is_match(&text)),
        Expected::Plain(wanted) => same_scalar(wanted, got.text()),
        Expected::Map(entries) => match got.entries() {
            Some(got) => {
                compare_maps(at, entries, &got, extent, differences);
                true
            }
            None => false,
        },
        Expected::List(items) => match serde_json::from_str::<Vec<Json>>(got.text()) {
            Ok(got) if got.len() == items.len() => {
                for (place, (item, got)) in items.iter().zip(&got).enumerate() {
                    compare(&format!("{at}[{place}]"), item, got, extent, differences);
                }
                true
            }
            _ => false,
        },
    };
    if !is_it {
        differences.push(Difference::new(at, expected.shown(), got.plain()));
    }
}

fn compare_maps(
    at: &str,
    expected: &[(String, Expected)],
    got: &[(String, Json)],
    extent: Extent,
    differences: &mut Vec<Difference>,
) {
    for (key, expected) in expected {
        let inner = format!("{at}.{key}");
        match got.iter().find(|(other, _)| other == key) {
            Some((_, got)) => compare(&inner, expected, got, extent, differences),
            None => differences.push(Difference::new(inner, expected.shown(), "nothing")),
        }
    }
    if extent == Extent::Whole {
        let unexpected = got.iter().filter(|(key, _)| expected.iter().all(|(other, _)| other != key));
        differences.extend(
            unexpected.map(|(key, value)| Difference::new(format!("{at}.{key}"), "nothing", value.plain())),
        );
    }
}

/// Whether two scalars are the same text, or the same number.
fn same_scalar(expected: &str, got: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    // Longer numbers than a float can hold exactly are compared as text.
    let is_small = expected.len() <= 15 && got.len() <= 15;
    expected == got || is_small && number(expected).is_some_and(|wanted| number(got) == Some(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_same_however_they_are_written_unless_digits_would_be_lost() {
        assert!(same_scalar("1", "1.0"));
        assert!(same_scalar("1e2", "100"));
        assert!(same_scalar("true", "true"));
        assert!(!same_scalar("12345678901234567890", "12345678901234567891"));
        assert!(!same_scalar("null", "0"));
    }
}
