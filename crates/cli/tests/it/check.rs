//! `crosier check` and `crosier list`: what is there, and what is wrong with it.

use serde_json::Value;

use crate::lab::Lab;

const WARNS: &str = "hooks: {Stop: [{name: slow, command: 'true', timeout: 5000}]}";

#[test]
fn nothing_wrong_is_0_and_says_how_much_there_is() {
    let lab = Lab::with("hooks: {Stop: [{reply: {}}, {reply: {}}]}");
    let ran = lab.run(&["check"]).exits(0);
    assert_eq!(ran.stdout, "crosier.yaml: 2 hooks, no problems\n");
    lab.run(&["check", "--strict"]).exits(0);
}

#[test]
fn warnings_are_shown_with_their_place_and_are_1_only_when_strict() {
    let lab = Lab::with(WARNS);
    let ran = lab.run(&["check"]).exits(0);
    ran.says("crosier.yaml:1:").says("warning: ").says("5000").says("^").says("help: ");
    assert!(ran.stdout.ends_with("crosier.yaml: 1 hook, 1 warning\n"), "{}", ran.stdout);
    lab.run(&["check", "--strict"]).exits(1);
}

#[test]
fn all_problems_of_all_files_come_at_once() {
    let lab = Lab::with("hooks: {Stop: [{comand: x}], PreTolUse: []}");
    lab.write("other.yaml", "hooks: {Stop: [{command: x, priority: high}]}");
    let ran = lab.run(&["check", "-c", "crosier.yaml", "-c", "other.yaml"]).exits(78);
    ran.says("did you mean `command`?")
        .says("did you mean `PreToolUse`?")
        .says("other.yaml:1:")
        .says("`priority`");
    let last = ran.stdout.lines().last().unwrap();
    assert!(last.starts_with("crosier.yaml, other.yaml: ") && last.contains("errors"), "{last}");
}

#[test]
fn json_has_every_part_of_a_problem() {
    let lab = Lab::with(WARNS);
    let found = lab.run(&["check", "--json"]).exits(0).json();
    assert_eq!(
        (found["errors"].as_u64(), found["warnings"].as_u64(), found["hooks"].as_u64()),
        (Some(0), Some(1), Some(1))
    );
    let problem = &found["problems"][0];
    assert_eq!(problem["severity"], "warning");
    assert_eq!(problem["file"], "crosier.yaml");
    assert_eq!(problem["line"], 1);
    assert!(problem["column"].is_u64() && problem["message"].is_string() && problem["help"].is_string());
    lab.write("crosier.yaml", "hooks: [");
    let found = lab.run(&["check", "--json"]).exits(78).json();
    assert_eq!((found["hooks"].clone(), found["errors"].as_u64()), (Value::Null, Some(1)));
}

#[test]
fn python_functions_are_imported_and_one_that_is_not_there_is_an_error_at_its_hook() {
    let lab = Lab::with(
        "hooks:\n  Stop:\n    - {type: python, handler: guard.check}\n    - {type: python, handler: guard.chek}\n",
    );
    lab.write(
        "guard.py",
        "open('imported', 'w').close()\ndef check(event): raise SystemExit('it was called')",
    );
    let ran = lab.run(&["check"]).exits(78);
    ran.says("crosier.yaml:4:").says("the hook `Stop[2]` cannot be called (import)").says("chek");
    assert!(ran.stdout.ends_with("crosier.yaml: 2 hooks, 1 error\n"), "{}", ran.stdout);
    assert!(lab.path("imported").exists());
    lab.write("guard.py", "def check(event): pass\nchek = check");
    lab.run(&["check"]).exits(0).says("2 hooks, no problems");
    lab.write("guard.py", "def check(:");
    lab.run(&["check"]).exits(78).says("guard.py:1");
    lab.run(&["check", "--no-import"]).exits(0).says("2 hooks, no problems");
}

#[test]
fn a_python_hook_with_a_name_is_imported_like_any_other() {
    let lab = Lab::with(
        "hooks: {Stop: [{name: base, type: python, handler: nowhere.check}]}
agents: [{id: a1, hooks: {Stop: [{name: own, type: python, handler: nowhere.check}]}}]",
    );
    let ran = lab.run(&["check"]).exits(78);
    ran.says("crosier.yaml:1:23: error: the hook `base` cannot be called (import)");
    ran.says("crosier.yaml:2:41: error: the hook `a1/own` cannot be called (import)");
}

const HOOKS: &str = "
hooks:
  timeout: 5000
  PreToolUse:
    - {name: guard, matcher: Bash|shell, command: 'true', priority: 10, system: true}
    - {command: 'true', on_error: abort, timeout: 1500ms}
    - {name: off, command: 'true', enabled: false}
agents:
  - {id: a1, hooks: {Stop: [{name: mine, reply: {}}]}}
";

#[test]
fn list_shows_every_hook_with_everything_about_it() {
    let lab = Lab::with(HOOKS);
    let ran = lab.run(&["list"]).exits(0);
    let rows: Vec<Vec<&str>> = ran.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        rows[0],
        [
            "EVENT", "HOOK", "TYPE", "MATCHER", "PRIORITY", "SCOPE", "TIMEOUT", "ON_ERROR", "ENABLED",
            "DEFINED", "AT"
        ]
    );
    assert_eq!(
        rows[1],
        [
            "PreToolUse",
            "guard",
            "command",
            "Bash|shell",
            "10",
            "base",
            "5s",
            "log",
            "always",
            "crosier.yaml:5"
        ]
    );
    assert_eq!(
        rows[2],
        [
            "PreToolUse",
            "PreToolUse[1]",
            "command",
            "*",
            "100",
            "base",
            "1500ms",
            "abort",
            "yes",
            "crosier.yaml:6"
        ]
    );
    assert_eq!(
        rows[3],
        ["PreToolUse", "off", "command", "*", "100", "base", "5s", "log", "no", "crosier.yaml:7"]
    );
    assert_eq!(rows[4][..2], ["Stop", "a1/mine"]);
    assert_eq!(rows.len(), 5);
}

#[test]
fn list_as_json_says_the_same() {
    let hooks = Lab::with(HOOKS).run(&["list", "--json"]).exits(0).json();
    assert_eq!(hooks[0]["hook"], "guard");
    assert_eq!((hooks[0]["system"].clone(), hooks[0]["scope"].clone()), (true.into(), Value::Null));
    assert_eq!(
        (hooks[1]["timeout_ms"].as_f64(), hooks[1]["on_error"].as_str()),
        (Some(1500.0), Some("abort"))
    );
    assert_eq!(
        (hooks[2]["enabled"].clone(), hooks[2]["disabled_by"].as_str()),
        (false.into(), Some("config"))
    );
    assert_eq!((hooks[3]["scope"].as_str(), hooks[3]["line"].as_u64()), (Some("a1"), Some(9)));
}

#[test]
fn a_configuration_of_settings_has_no_hooks() {
    let lab = Lab::with("hooks: {timeout: 5000}");
    assert_eq!(lab.run(&["list"]).exits(0).stdout, "no hooks\n");
    assert_eq!(lab.run(&["list", "--json"]).exits(0).stdout, "[]\n");
}

#[test]
fn a_configuration_that_does_nothing_is_bad_everywhere() {
    for config in ["", "hooks:\nPreToolUse: [{command: 'true'}]\n", "hoks: {Stop: [{command: 'true'}]}\n"] {
        let lab = Lab::with(config);
        lab.run(&["check"]).exits(78).says("crosier.yaml:").says("help: ");
        lab.feed(&["fire", "PreToolUse"], crate::lab::BASH).exits(78).complains("help: ");
        lab.feed(&["fire", "PreToolUse", "--exit-code"], crate::lab::BASH).exits(2);
        lab.run(&["list"]).exits(78);
        lab.run(&["doctor"]).exits(1).says("1 error");
    }
}

#[test]
fn events_are_the_table() {
    let lab = Lab::new();
    lab.run(&["events"]).exits(0).says("pre:tool").says("*tool_name, tool_input, tool_use_id?");
    let rows = lab.run(&["events", "--json"]).exits(0).json();
    let is_core = |row: &&serde_json::Value| row["only_in"].as_array().unwrap().is_empty();
    let core = rows.as_array().unwrap().iter().filter(is_core).count();
    assert_eq!(core, crosier::protocol::event::TABLE.len());
    lab.run(&["events"]).says("PostToolBatch");
    lab.run(&["events", "--agent", "codex"]).exits(0).says("becomes deny");
    lab.run(&["events", "--agent", "nobody"]).exits(64).complains("there are claude, codex");
}

#[test]
fn list_calls_each_type_by_the_word_of_the_configuration() {
    let lab = Lab::with(
        "{hooks: {Stop: [{command: x}, {argv: [x]}, {run: /log info x}, {reply: {}}, {type: python, handler: m.f}]},
          scripts: [more.arma]}",
    );
    lab.write("more.arma", "hook pre:tool /log info x\n");
    lab.write("m.py", "def f(event): pass\n");
    let hooks = lab.run(&["list", "--json"]).exits(0).json();
    let mut types: Vec<&str> =
        hooks.as_array().unwrap().iter().filter_map(|hook| hook["type"].as_str()).collect();
    types.sort_unstable();
    assert_eq!(types, ["command", "command", "python", "reply", "script", "script"]);
}
