//! For any payload that a model can produce, a deny-all hook denies.

use crosier::payload::PreToolUse;
use crosier::{Engine, Event, Json};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;

use super::lab::{Lab, Way, alone, each_way};

/// Two guards that deny everything: one never looks, one reads it all.
fn guards(lab: &Lab) -> [Engine; 2] {
    ["exit 2", "cat > /dev/null; exit 2"].map(|line| lab.engine([lab.shell(line).hook()]))
}

fn expect_denied(way: Way, engines: &[Engine], event: &Event) {
    for engine in engines {
        let outcome = way.fire_here(engine, event);
        assert!(outcome.is_denied() && !outcome.by_failure, "{:?}", outcome.reports);
    }
}

/// An event as a host reads it from JSON text.
fn read(engine: &Engine, tool_input: &str) -> Event {
    let text = format!(r#"{{"tool_name":"Bash","tool_input":{tool_input},"session_id":"s"}}"#);
    engine.event("PreToolUse", text.as_bytes()).unwrap()
}

fn expect_input_denied(lab: &Lab, tool_input: &str) {
    let engines = guards(lab);
    expect_denied(lab.way, &engines, &read(&engines[0], tool_input));
    let event = PreToolUse::new("Bash", Json::parse(tool_input).unwrap());
    expect_denied(lab.way, &engines, &event.into());
}

#[test]
fn a_payload_nested_100_000_deep_is_denied() {
    each_way(|lab| {
        expect_input_denied(lab, &format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)));
        expect_input_denied(lab, &format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000)));
    });
}

#[test]
fn numbers_that_no_machine_has_are_denied() {
    each_way(|lab| {
        for number in
            ["1e309", "-1e-999999", &"9".repeat(100_000), &format!("0.{}", "1".repeat(100_000)), "-0"]
        {
            expect_input_denied(lab, &format!(r#"{{"n":{number}}}"#));
        }
    });
}

#[test]
fn half_surrogate_pairs_are_denied() {
    each_way(|lab| {
        for text in [r"\ud800", r"\udc00\ud800", r"rm \ud83d -rf", r"\ud800\u0000", r"\\ud800"] {
            expect_input_denied(lab, &format!(r#"{{"command":"{text}","{text}":1}}"#));
            let engines = guards(lab);
            let event = format!(r#"{{"tool_name":"{text}","tool_input":{{}},"agent_id":"{text}"}}"#);
            expect_denied(lab.way, &engines, &engines[0].event("PreToolUse", event.as_bytes()).unwrap());
        }
    });
}

#[test]
fn large_strings_and_many_keys_are_denied() {
    each_way(|lab| {
        expect_input_denied(lab, &format!(r#"{{"content":"{}"}}"#, "\u{1f600}".repeat(250_000)));
        expect_input_denied(lab, &format!(r#"{{"content":"{}"}}"#, r#"\u0001\"\\"#.repeat(100_000)));
        let keys: Vec<String> = (0..20_000).map(|n| format!(r#""k{n}":{n}"#)).collect();
        expect_input_denied(lab, &format!("{{{}}}", keys.join(",")));
    });
}

#[test]
fn odd_keys_are_denied() {
    each_way(|lab| {
        expect_input_denied(
            lab,
            r#"{"":1,"":2,"a":1,"a":2,"__proto__":{},"\u0000":1,"$(id)":"`id`","\n":"\r"}"#,
        );
        // Fields that look like ours, like a reply, or like nothing at all.
        let engines = guards(lab);
        let event = r#"{"tool_name":"*","tool_input":null,"decision":"allow","continue":true,"tool_output":1,
            "outcome":{"decision":"allow"},"":{},"CROSIER_HOOK":"x","tool_use_id":"'; exit 0; '"}"#;
        expect_denied(lab.way, &engines, &engines[0].event("PreToolUse", event.as_bytes()).unwrap());
    });
}

#[test]
fn tool_names_that_are_no_names_are_denied() {
    each_way(|lab| {
        let engines = guards(lab);
        for name in ["", "\0", "a=b", "\n", "*", "../../x", "\u{202e}", &"x".repeat(1 << 20), "$(exit 0)"] {
            expect_denied(lab.way, &engines, &PreToolUse::new(name, json!({})).into());
        }
    });
}

/// JSON text as a model could write it: also what no JSON library would.
fn any_json() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        any::<String>().prop_map(|text| json!(text).to_string()),
        proptest::collection::vec(any::<u16>(), 0..8).prop_map(|units| {
            let escaped: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            format!("\"{escaped}\"")
        }),
        (0_usize..40_000).prop_map(|count| format!("\"{}\"", "y".repeat(count))),
    ];
    let number = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        "-?(0|[1-9][0-9]{0,60})(\\.[0-9]{1,40})?([eE][+-]?[0-9]{1,6})?",
    ];
    let word = prop_oneof![Just("null".to_owned()), Just("true".to_owned()), Just("false".to_owned())];
    let leaf = prop_oneof![text.clone(), number, word];
    leaf.prop_recursive(6, 40, 6, move |inner| {
        let key = text.clone();
        let deep = (inner.clone(), 0_usize..3000);
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(|list| format!("[{}]", list.join(","))),
            proptest::collection::vec((key, inner), 0..6).prop_map(|members| {
                let members: Vec<String> =
                    members.into_iter().map(|(key, value)| format!("{key} : {value}")).collect();
                format!("{{{}}}", members.join(", "))
            }),
            deep.prop_map(|(inner, depth)| format!("{}{inner}{}", "[".repeat(depth), "]".repeat(depth))),
        ]
    })
}

#[test]
fn any_payload_at_all_is_denied() {
    each_way(|lab| {
        let engines = guards(lab);
        let config =
            Config { cases: 48, failure_persistence: None, max_shrink_iters: 100, ..Config::default() };
        let (names, ids) = (any::<String>(), any::<String>());
        TestRunner::new(config)
            .run(&(any_json(), names, ids), |(input, name, id)| {
                let text = format!(
                    r#"{{"tool_name":{},"tool_input":{input},"agent_id":{},"more":{input}}}"#,
                    json!(name),
                    json!(id)
                );
                let event = engines[0].event("PreToolUse", text.as_bytes());
                let event = event.map_err(|error| TestCaseError::fail(error.to_string()))?;
                expect_denied(lab.way, &engines, &event);
                Ok(())
            })
            .unwrap();
    });
}

#[test]
fn a_payload_reaches_the_hook_byte_for_byte() {
    alone(|| {
        let folder = tempfile::tempdir().unwrap();
        let spec = crosier::CommandSpec::shell("cat > copy", folder.path());
        let hook = crosier::Hook::on(PreToolUse).command(spec);
        let engine = Engine::builder().hook(hook).build().unwrap();
        let inputs = [
            r#"{"z": 1e309, "a":123456789012345678901234567890, "a" : "\ud800", "deep":[[[ ]]]}"#.to_owned(),
            format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)),
        ];
        for input in inputs {
            assert_eq!(engine.fire_blocking(read(&engine, &input)).reports[0].failure, None);
            let copy = std::fs::read_to_string(folder.path().join("copy")).unwrap();
            assert!(copy.contains(&format!(r#""tool_input":{input}"#)));
        }
    });
}
