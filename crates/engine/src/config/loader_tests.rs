use super::*;
use proptest::prelude::*;

fn load(text: &str) -> Result<Config, Problems> {
    Loader::new(Catalog::default()).text("hooks.yaml", text, "/").lint().load()
}

#[test]
fn a_name_in_two_files_is_an_error_that_shows_both_places() {
    let text = "hooks: {PreToolUse: [{name: guard, command: x}]}";
    let loader = Loader::new(Catalog::default()).text("a.yaml", text, "/").text("b.yaml", text, "/");
    let problems = loader.load().unwrap_err().to_string();
    assert!(problems.contains("b.yaml:1:29") && problems.contains("a.yaml:1:29"), "{problems}");
}

#[test]
fn later_files_add_and_keep_their_own_defaults() {
    let loader = Loader::new(Catalog::default())
        .text("a.yaml", "hooks: {timeout: 2000, PreToolUse: [{name: a, command: x}]}", "/")
        .text("b.yaml", "hooks: {PreToolUse: [{name: b, command: x}]}", "/");
    let config = loader.load().unwrap();
    let timeouts: Vec<_> = config.hooks.iter().map(|hook| hook.timeout).collect();
    assert_eq!(timeouts, [Some(Duration::from_secs(2)), None]);
}

#[test]
fn callbacks_of_a_group_come_before_its_commands() {
    let text =
        "hooks: {PreToolUse: [{matcher: Bash, hooks: [{name: c, command: x}, {name: s, run: /notify hi}]}]}";
    let config = load(text).unwrap();
    let names: Vec<_> = config.hooks.iter().filter_map(Hook::name).collect();
    assert_eq!(names, ["s", "c"]);
}

#[test]
fn keys_outside_hooks_sections_belong_to_somebody_else() {
    let text = "orchestrator: {x: [1, 2]}\nhooks: {Stop: [{command: x}]}\nagents: [{id: a, backend: {type: openai}, other: 1}]";
    assert!(load(text).is_ok());
}

#[test]
fn what_a_program_makes_may_be_empty() {
    let load = |text: &str| Loader::default().may_be_empty().text("config", text, "/").load();
    for text in ["{}", "hooks: {}", "hooks: {PreToolUse: []}", "agents: []"] {
        assert!(load(text).is_ok(), "{text}");
    }
    for text in ["ui: {theme: dark}", "hooks: {PreTolUse: []}", "hoks: {}", "[]"] {
        assert!(load(text).is_err(), "{text}");
    }
}

#[test]
fn a_file_without_anything_for_crosier_is_an_error() {
    for (text, message) in [
        ("", "the file is empty"),
        ("# nothing yet\n", "the file is empty"),
        ("hooks:\n", "there is no hook in this file"),
        ("hooks: {}\n", "there is no hook in this file"),
        ("hooks: {PreToolUse: []}\n", "there is no hook in this file"),
        ("ui: {theme: dark}\n", "there is nothing for Crosier in this file"),
        ("agents: [{id: a, backend: {type: openai}}]\n", "there is nothing for Crosier in this file"),
        ("hooks:\nPreToolUse: [{command: x}]\n", "`PreToolUse` is an event, but it is not below `hooks:`"),
        ("hooks: {Stop: [{command: x}]}\npre:tool: [{command: x}]\n", "`pre:tool` is an event"),
        (
            "hooks: {Stop: [{command: x}]}\nPreTolUse: [{command: x}]\n",
            "did you mean the event `PreToolUse`?",
        ),
        ("hoks: {PreToolUse: [{command: x}]}\n", "did you mean `hooks`?"),
        ("hook: {PreToolUse: [{command: x}]}\n", "did you mean `hooks`?"),
        ("Hooks: {PreToolUse: [{command: x}]}\n", "did you mean `hooks`?"),
        ("hooks: {Stop: [{command: x}]}\nscript: [x.arma]\n", "did you mean `scripts`?"),
        (
            "hooks: {Stop: [{command: x}]}\nagent: {id: a, hooks: {Stop: [{command: x}]}}\n",
            "did you mean `agents`?",
        ),
        ("agents: {a: {hooks: {}}}\n", "there is nothing for Crosier in this file"),
        (
            "hooks: {Stop: [{command: x}]}\nagents: {a: {hoks: {PreToolUse: [{command: x}]}}}\n",
            "did you mean `hooks`?",
        ),
        (
            "hooks: {Stop: [{command: x}]}\nagents: [{id: a, backend: {hook: {Stop: [{command: x}]}}}]\n",
            "did you mean `hooks`?",
        ),
        (
            "hooks: {Stop: [{command: x}]}\nagents: {a: {PreToolUse: [{command: x}]}}\n",
            "`PreToolUse` is an event, but it is not below `hooks:`",
        ),
        (
            "hooks: {Stop: [{command: x}]}\nagents: [{id: a, backend: {PreTolUse: [{command: x}]}}]\n",
            "did you mean the event `PreToolUse`?",
        ),
        ("{ // guards\n  \"hooks\": {\"Stop\": [{\"command\": \"x\"}]}\n}", "JSON has no comments"),
        ("{ /* guards */\n  \"hooks\": {\"Stop\": [{\"command\": \"x\"}]}\n}", "JSON has no comments"),
    ] {
        let problems = load(text).expect_err(text).to_string();
        assert!(problems.contains(message), "{text}\n{problems}");
        assert!(problems.contains("help: "), "no remedy: {problems}");
    }
}

#[test]
fn a_file_with_one_thing_for_crosier_may_have_keys_of_others() {
    for text in [
        "hooks: {timeout: 5000}",
        "hooks: {Stop: [{command: x, enabled: false}]}",
        "permissions: {shellExec: ask}",
        "agents: {a: {hooks: {Stop: {override: true, hooks: []}}}}",
        "agents: {a: {tools: {Bash: x}, hook: {a: 1}, stop: 3, hooks: {Stop: [{command: x}]}}}",
        "agent: {id: a}\nmodel: x\nstop: 3\nsetup: [1]\nhooks: {Stop: [{command: x}]}",
    ] {
        assert!(load(text).is_ok(), "{text}: {}", load(text).unwrap_err());
    }
}

/// A valid or invalid part of a configuration.
fn value() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("true".to_owned()),
        Just("yes".to_owned()),
        Just("null".to_owned()),
        Just("-1".to_owned()),
        Just("1e999".to_owned()),
        Just("\"2s\"".to_owned()),
        Just("\"re:(\"".to_owned()),
        Just("\"a||[b\"".to_owned()),
        Just("'/log info \"$prompt ${tool_input.x}\"'".to_owned()),
        Just("command".to_owned()),
        "[a-z./ $|*{}\\[\\]]{0,12}".prop_map(|text| format!("{text:?}")),
    ];
    scalar.prop_recursive(3, 24, 4, |inner| {
        let key = prop_oneof![
            proptest::sample::select(keys()).prop_map(str::to_owned),
            "[a-zA-Z_:]{1,10}".prop_map(|key| format!("{key:?}")),
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(", "))),
            proptest::collection::btree_map(key, inner, 0..5).prop_map(|map| {
                let entries: Vec<String> =
                    map.into_iter().map(|(key, value)| format!("{key}: {value}")).collect();
                format!("{{{}}}", entries.join(", "))
            }),
        ]
    })
}

fn keys() -> Vec<&'static str> {
    vec![
        "name",
        "matcher",
        "type",
        "command",
        "argv",
        "handler",
        "run",
        "reply",
        "then",
        "delay",
        "fail",
        "timeout",
        "priority",
        "on_error",
        "fail_closed",
        "observe",
        "parallel",
        "background",
        "system",
        "enabled",
        "env",
        "env_pass",
        "cwd",
        "output",
        "grace",
        "options",
        "python",
        "python_path",
        "isolate",
        "hooks",
        "override",
        "PreToolUse",
        "Stop",
        "errorBehavior",
        "max_hooks_per_point",
    ]
}

proptest! {
    #[test]
    fn any_shape_is_loaded_or_refused(hooks in value(), agents in value(), permissions in value(), scripts in value()) {
        let text = format!("hooks: {hooks}\nagents: {agents}\npermissions: {permissions}\nscripts: {scripts}\n");
        match load(&text) {
            Ok(config) => prop_assert_eq!(config.warnings.errors(), 0),
            Err(problems) => {
                prop_assert!(problems.errors() > 0);
                // Every problem can be shown, and has a position in the file.
                prop_assert!(problems.to_string().contains("hooks.yaml:"));
            }
        }
    }

    #[test]
    fn any_hook_is_loaded_or_refused(hook in value()) {
        let _ = load(&format!("hooks: {{PreToolUse: [{hook}, {{hooks: [{hook}]}}]}}"));
    }
}
