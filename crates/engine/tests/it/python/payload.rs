//! Whatever a model puts into a payload: a hook that denies everything denies it.

use std::time::Duration;

use crosier::{Event, FailureKind};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use super::lab::{Way, each_way, ms, one_way};

const DENIES: &str = "
def denies(event): return deny('no')
def quotes(event): return {'decision': 'deny', 'reason': 'no', 'updated_input': event.tool_input}
def repeats(event): return deny(event.to_json())
";

fn event(desk: &super::desk::Desk<'_>, function: &str, input: &str) -> Event {
    let json = format!(r#"{{"tool_name":"{function}","tool_input":{input}}}"#);
    desk.engine.event("PreToolUse", json.as_bytes()).unwrap()
}

#[test]
fn what_python_cannot_read_is_undelivered_and_denies() {
    each_way(|lab| {
        let desk = lab.desk("def reads(event): return event.args and None");
        let before = desk.pid();
        for input in [
            format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)),
            format!("{}1{}", r#"{"a":"#.repeat(100_000), "}".repeat(100_000)),
            "9".repeat(1_000_000),
            format!("[{},-1]", "9".repeat(20_001)),
        ] {
            let trial = desk.fire_event(event(&desk, "reads", &input));
            trial.failed(FailureKind::Delivery, &["cannot hand over"]);
            assert!(trial.took < ms(15_000), "{:?}", trial.took);
        }
        assert_eq!(desk.pid(), before);
    });
}

#[test]
fn large_events_arrive_whole() {
    each_way(|lab| {
        let desk = lab.desk(
            "def measures(event): return deny(f\"{len(event.args['text'])} {event.args['text'][-3:]}\")",
        );
        for size in [0, 1, 4096, 65_535, 65_536, 65_537, 100_000, 1_000_000, 5_000_000] {
            let text = format!("{}end", "x".repeat(size));
            let input = format!(r#"{{"text":"{text}"}}"#);
            desk.fire_event(event(&desk, "measures", &input)).denied(&format!("{} end", size + 3));
        }
    });
}

#[test]
fn odd_numbers_and_characters_arrive_as_they_are() {
    each_way(|lab| {
        let desk = lab.desk(
            "def shows(event): return deny(repr(event.args))\ndef sent(event): return deny(event.to_json())",
        );
        for (input, shown) in [
            (
                "12345678901234567890123456789012345678901234567890",
                "12345678901234567890123456789012345678901234567890",
            ),
            ("-0", "0"),
            ("-0.0", "-0.0"),
            ("1e400", "inf"),
            ("1E-400", "0.0"),
            (r#""\ud800""#, r"'\ud800'"),
            (r#""\u0000""#, r"'\x00'"),
            (r#""\ud83d\ude00""#, "'\u{1f600}'"),
            (r#"{"":{"":[]}}"#, "{'': {'': []}}"),
            (r#"{"self":1,"_sent":2,"class":3}"#, "{'self': 1, '_sent': 2, 'class': 3}"),
            (r#"{"a":1,"a":2}"#, "{'a': 2}"),
        ] {
            desk.fire_event(event(&desk, "shows", input)).denied(shown);
            let sent = desk.fire_event(event(&desk, "sent", input)).outcome.reason.unwrap();
            assert!(sent.contains(&format!(r#""tool_input":{input}"#)), "{sent}");
        }
    });
}

#[test]
fn a_deny_that_quotes_what_cannot_be_written_is_a_deny() {
    each_way(|lab| {
        let desk = lab.desk(DENIES);
        for value in
            [r#""\udc00\ud800""#.to_owned(), "1e999".to_owned(), format!(r#""{}""#, "x".repeat(2_000_000))]
        {
            let trial = desk.fire_event(event(&desk, "quotes", &format!(r#"{{"value":{value}}}"#)));
            trial.denied_anyway("no");
        }
    });
}

/// Any JSON value, as text that parsers find hard.
fn any_json() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        "-?(0|[1-9][0-9]{0,40})",
        "-?(0|[1-9][0-9]{0,5})\\.[0-9]{1,30}([eE][+-]?[0-9]{1,5})?",
        "-?[1-9][0-9]{3000,5000}",
        Just("1e999".to_owned()),
        Just("-1E-999".to_owned()),
    ];
    let text = prop_oneof![
        any::<String>().prop_map(|text| serde_json::Value::from(text).to_string()),
        "\"(\\\\u[0-9a-fA-F]{4}|\\\\[nrtbf/\\\\\"]|[a-z\u{7f}-\u{1ffff}]){0,20}\"",
        Just(format!("\"{}\"", "long ".repeat(30_000))),
    ];
    let leaf = prop_oneof![Just("null".to_owned()), Just("true".to_owned()), number, text];
    let key = prop_oneof!["\"[a-z_]{0,6}\"", "\"(\\\\u[0-9a-f]{4}){1,3}\"", Just("\"__class__\"".to_owned())];
    let tree = leaf.prop_recursive(12, 200, 8, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..8)
                .prop_map(|items| format!("[{}]", items.join(" ,\n"))),
            proptest::collection::vec((key.clone(), inner), 0..8).prop_map(|entries| {
                let entries = entries.into_iter().map(|(key, value)| format!("{key}\t: {value}"));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
            }),
        ]
    });
    let deep = (1..5000_usize).prop_map(|depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
    prop_oneof![9 => tree, 1 => deep]
}

#[test]
fn any_payload_is_denied_by_a_hook_that_denies_everything() {
    // Fired with `on_error: log`, so that a failure would let it pass.
    one_way(Way::Async, |lab| {
        let desk = lab.desk(DENIES);
        let before = desk.pid();
        let functions = prop_oneof![Just("denies"), Just("repeats")];
        let mut runner =
            TestRunner::new(Config { cases: 300, failure_persistence: None, ..Config::default() });
        let begun = std::time::Instant::now();
        let result = runner.run(&(functions, any_json()), |(function, input)| {
            let outcome = desk.fire_event(event(&desk, function, &input)).outcome;
            match outcome.is_denied() {
                true => Ok(()),
                false => Err(TestCaseError::fail(format!("{outcome:?}"))),
            }
        });
        result.unwrap_or_else(|error| panic!("{error}"));
        assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
        assert_eq!(desk.pid(), before, "a payload cost the worker its life");
    });
}
