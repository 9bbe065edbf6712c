//! For any payload that a model can produce, a deny-all hook denies.

use std::sync::{Arc, LazyLock};

use crosier::payload::PreToolUse;
use crosier::{Engine, Event, Hook, HookBuilder, Json, Reply, Typed};
use proptest::prelude::*;

use super::kit::engine;

fn on(name: &str) -> HookBuilder<Typed<PreToolUse>> {
    Hook::on(PreToolUse).named(name)
}

/// Deny-all hooks of every kind, alone in an engine each. They look at everything that they can.
static DENIERS: LazyLock<Vec<Engine>> = LazyLock::new(|| {
    fn look(event: &PreToolUse) -> Reply {
        let _ = (event.args().get("command"), event.args().to_value(), event.args().entries());
        Reply::deny(format!("{} with {}", event.tool(), event.args().plain()))
    }
    vec![
        engine([on("inline").callback(look)]),
        engine([on("async").async_callback(|e: Arc<PreToolUse>| async move { look(&e) })]),
        engine([on("blocking").blocking_callback(look)]),
        engine([on("matches").matching("*").callback(look)]),
        engine([on("glob").matching("?*|*").callback(look)]),
        engine([on("regex").matching("re:(?s).*").callback(look)]),
        engine([Hook::on_event(PreToolUse.kind()).named("untyped").callback(|e: &Event| {
            let _ = (e.wire(), e.get("tool_input"), e.get("no such field"));
            Reply::deny(e.wire().map_or("unreadable", |wire| wire))
        })]),
        // A hook before it that rewrites and allows changes nothing.
        engine([
            on("rewrites").callback(|e: &PreToolUse| Reply::allow("x").rewrite_input(e.tool_input.clone())),
            on("denies").callback(look),
        ]),
    ]
});

/// JSON of any shape, as text.
fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|value| value.to_string()),
        "-?(0|[1-9][0-9]{0,400})(\\.[0-9]{1,40})?([eE][+-]?[0-9]{1,4})?",
        any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
        "\"(\\\\u[0-9a-fA-F]{4}|\\\\u[dD][89a-fA-F][0-9a-fA-F]{2}){0,4}\"",
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let name = prop_oneof![
            Just("\"command\"".to_owned()),
            any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
            "\"\\\\u[dD][89a-fA-F][0-9a-fA-F]{2}\"",
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(|items| format!("[{}]", items.join(","))),
            proptest::collection::vec((name, inner), 0..5).prop_map(|members| {
                let members: Vec<String> =
                    members.iter().map(|(name, value)| format!("{name}:{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

fn all_deny(tool_name: &str, tool_input: &str) {
    let json = format!(r#"{{"tool_name":{tool_name},"tool_input":{tool_input}}}"#);
    for engine in &*DENIERS {
        let event = engine.event("PreToolUse", json.as_bytes()).unwrap();
        let outcome = engine.fire_blocking(event);
        assert!(outcome.is_denied(), "{outcome:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn a_deny_all_hook_denies_any_payload(
        tool_name in prop_oneof![
            any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
            "\"[A-Za-z_]{0,8}(\\\\u[dD][89a-fA-F][0-9a-fA-F]{2})?[A-Za-z_]{0,8}\"",
        ],
        tool_input in any_json(),
    ) {
        all_deny(&tool_name, &tool_input);
    }

    #[test]
    fn a_deny_all_hook_denies_any_payload_that_comes_as_a_struct(
        tool_name in any::<String>(), tool_input in any_json(),
    ) {
        for engine in &*DENIERS {
            let event = PreToolUse::new(tool_name.clone(), Json::parse(&tool_input).unwrap());
            prop_assert!(engine.fire_blocking(event).is_denied());
        }
    }
}

#[test]
fn a_deny_all_hook_denies_what_is_too_deep_too_large_or_too_long() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_object = format!("{}1{}", "{\"command\":".repeat(20_000), "}".repeat(20_000));
    let large = format!("{{\"command\":\"{}\"}}", "x".repeat(2 << 20));
    let digits = format!("{{\"command\":{}}}", "9".repeat(200_000));
    let tiny = format!("{{\"command\":1e-{}}}", "9".repeat(100));
    let keys: Vec<String> = (0..20_000).map(|n| format!("\"k{n}\":{n}")).collect();
    let many = format!("{{{}}}", keys.join(","));
    for input in [deep, deep_object, large, digits, tiny, many] {
        all_deny("\"Bash\"", &input);
    }
    let name = format!("\"{}\"", "B".repeat(1 << 20));
    all_deny(&name, "{}");
}

#[test]
fn a_guard_finds_the_command_among_whatever_stands_around_it() {
    let guard = engine([on("guard").callback(|e: &PreToolUse| match e.args().get("command") {
        Some(command) if command.plain().contains("rm -rf") => Reply::deny("no"),
        _ => Reply::none(),
    })]);
    for input in [
        r#"{"command":"rm -rf /"}"#,
        r#"{"\ud800":1,"command":"rm -rf /"}"#,
        r#"{"c\u006fmmand":"\ud800 rm -rf /"}"#,
        r#"{"command":"ls","command":"rm -rf /"}"#,
        r#"{"n":1e999,"command":"rm -rf /"}"#,
        r#"{"command":["rm -rf /"]}"#,
        r#"{"command":"\u0072m -rf /"}"#,
    ] {
        let json = format!(r#"{{"tool_name":"Bash","tool_input":{input}}}"#);
        let outcome = guard.fire_blocking(guard.event("PreToolUse", json.as_bytes()).unwrap());
        assert!(outcome.is_denied(), "{input}");
    }
}
