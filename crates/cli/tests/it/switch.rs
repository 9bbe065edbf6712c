//! `crosier enable` and `crosier disable`: what a person chose, in the state folder.

use std::fs;
use std::thread;

use crate::lab::{BASH, Lab, mode};

const HOOKS: &str = "
hooks:
  Stop:
    - {name: one, reply: {systemMessage: one}}
    - {name: two, reply: {systemMessage: two}}
    - {name: guard, reply: {}, system: true}
    - {name: off, reply: {}, enabled: false}
    - {reply: {}}
agents: {a1: {hooks: {Stop: [{name: one, reply: {}}]}}}
";
const STATE: &str = "switches.json";
/// Where earlier versions remembered it.
const OLD: &str = "crosier.yaml.state.json";

fn ran(lab: &Lab) -> Vec<String> {
    let outcome = lab.run(&["fire", "Stop"]).exits(0).json();
    let reports = outcome["reports"].as_array().unwrap().iter();
    reports.map(|report| report["hook"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_disabled_hook_does_not_run_until_it_is_enabled() {
    let lab = Lab::with(HOOKS);
    let all = ["one", "two", "guard", "Stop[1]", "a1/one"];
    assert_eq!(ran(&lab), all);
    let said = lab.run(&["disable", "one"]).exits(0);
    said.says("disabled one, in ").says("switches.json");
    lab.run(&["disable", "one"]).exits(0).says("one is already disabled");
    assert_eq!((mode(&lab.state(STATE)), mode(&lab.state(""))), (0o600, 0o700));
    assert_eq!(ran(&lab), all[1..]);
    lab.run(&["disable", "a1/one"]).exits(0);
    assert_eq!(ran(&lab), all[1..4]);
    lab.run(&["enable", "one"]).exits(0).says("enabled one");
    lab.run(&["enable", "one"]).exits(0).says("one is already enabled");
    lab.run(&["enable", "a1/one"]).exits(0);
    assert_eq!(ran(&lab), all);
    assert!(!lab.state(STATE).exists(), "a state that says nothing is no file");
}

#[test]
fn list_and_explain_show_it() {
    let lab = Lab::with(HOOKS);
    lab.run(&["disable", "two"]).exits(0);
    let hooks = lab.run(&["list", "--json"]).exits(0).json();
    assert_eq!(
        (hooks[1]["enabled"].clone(), hooks[1]["disabled_by"].as_str()),
        (false.into(), Some("state"))
    );
    lab.run(&["list"]).exits(0).says("no (state)");
    lab.run(&["explain", "Stop"]).exits(0).says("disabled with `crosier disable`");
    lab.run(&["fire", "Stop", "--trace"]).exits(0).complains("disabled with `crosier disable`");
}

#[test]
fn cases_do_not_look_at_it() {
    let lab = Lab::with(HOOKS);
    lab.run(&["disable", "two"]).exits(0);
    lab.write("a.test.yaml", "- {name: x, config: crosier.yaml, event: Stop, expect: {context: [one, two]}}");
    lab.run(&["test", "a.test.yaml"]).exits(0);
}

#[test]
fn what_may_not_be_switched_is_refused() {
    let lab = Lab::with(HOOKS);
    lab.run(&["disable", "guard"])
        .exits(1)
        .complains("`guard` is a system hook (crosier.yaml:6) and cannot be disabled");
    lab.run(&["disable", "tow"]).exits(1).complains("no hook is named `tow`, did you mean `two`?");
    lab.run(&["enable", "nobody-at-all"]).exits(1).complains("`crosier list` shows them");
    lab.run(&["disable", "Stop[1]"]).exits(1).complains("is a position, not a name");
    lab.run(&["enable", "off"]).exits(1).complains("by `enabled: false`; change it there");
    assert!(!lab.state(STATE).exists());
}

#[test]
fn a_state_that_makes_no_sense_denies_and_is_left_for_a_person() {
    let lab = Lab::with("hooks: {PreToolUse: [{name: one, reply: {}}]}");
    fs::create_dir_all(lab.state("")).unwrap();
    for bad in ["{", "[]", "{\"a\": \"one\"}", "{\"a\": [1]}", ""] {
        fs::write(lab.state(STATE), bad).unwrap();
        let ran = lab.feed(&["fire", "PreToolUse"], BASH).exits(0);
        assert_eq!(ran.json()["decision"], "deny", "{bad}");
        ran.complains(STATE);
        lab.run(&["disable", "one"]).exits(1).complains(STATE);
        lab.run(&["enable", "one"]).exits(1).complains(STATE);
        lab.feed(&["fire", "PreToolUse", "--exit-code"], BASH).exits(2);
        assert_eq!(fs::read_to_string(lab.state(STATE)).unwrap(), bad);
    }
}

#[test]
fn a_file_beside_the_configuration_switches_nothing_off_unless_a_person_takes_it_over() {
    let lab = Lab::with(HOOKS);
    lab.write(OLD, "{\"disabled\": [\"one\", \"guard\", \"gone\"]}");
    assert_eq!(ran(&lab).len(), 5, "it has no effect");
    lab.run(&["check"]).exits(0).says("crosier.yaml.state.json").says("crosier disable --migrate");
    let taken = lab.run(&["disable", "--migrate"]).exits(0);
    taken.says("disabled one").says("removed crosier.yaml.state.json");
    taken.complains("`guard` is a system hook").complains("no hook is named `gone`");
    assert!(!lab.path(OLD).exists());
    assert_eq!(ran(&lab), ["two", "guard", "Stop[1]", "a1/one"]);
    lab.run(&["disable", "--migrate"]).exits(0).says("nothing to import");
}

#[test]
fn a_name_that_is_left_over_can_be_forgotten() {
    let lab = Lab::with(HOOKS);
    lab.run(&["disable", "one"]).exits(0);
    lab.write("crosier.yaml", "hooks: {Stop: [{name: two, reply: {}}]}");
    lab.run(&["enable", "one"]).exits(0);
    assert!(!lab.state(STATE).exists());
}

#[test]
fn an_agent_switches_nothing_off() {
    let lab = Lab::with(HOOKS);
    for variable in
        ["CLAUDECODE", "GEMINI_CLI", "QWEN_CODE", "OPENCODE", "CODEX_SANDBOX", "COPILOT_CLI", "CROSIER_DEPTH"]
    {
        let output = lab.command(&["disable", "one"]).env(variable, "1").output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{variable}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("use a terminal outside the agent"), "{said}");
    }
    let output = lab.command(&["disable", "one"]).env("CLAUDE_PROJECT_DIR", "/x").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "it says nothing about an agent");
}

#[test]
fn each_file_has_a_state_of_its_own() {
    let lab = Lab::new();
    lab.write("a/one.yaml", "hooks: {Stop: [{name: one, reply: {}}]}");
    lab.write("b/two.yaml", "hooks: {Stop: [{name: two, reply: {}}]}");
    let both = ["-c", "a/one.yaml", "-c", "b/two.yaml"];
    lab.run(&[&["disable", "two"][..], &both].concat()).exits(0);
    let outcome = lab.run(&[&["fire", "Stop"][..], &both].concat()).exits(0).json();
    assert_eq!(outcome["reports"].as_array().unwrap().len(), 1);
    // The same name in another file is somebody else's.
    lab.write("a/one.yaml", "hooks: {Stop: [{name: two, reply: {}}]}");
    let outcome = lab.run(&["fire", "Stop", "-c", "a/one.yaml"]).exits(0).json();
    assert_eq!(outcome["reports"].as_array().unwrap().len(), 1);
}

#[test]
fn many_at_once_lose_nothing() {
    let lab = Lab::new();
    let hooks: Vec<String> = (0..12).map(|n| format!("{{name: h{n}, reply: {{}}}}")).collect();
    lab.write("crosier.yaml", &format!("hooks: {{Stop: [{}]}}", hooks.join(", ")));
    thread::scope(|scope| {
        for n in 0..12 {
            let lab = &lab;
            scope.spawn(move || lab.run(&["disable", &format!("h{n}")]).exits(0));
        }
    });
    let state: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(lab.state(STATE)).unwrap()).unwrap();
    let names = state.as_object().unwrap().values().next().unwrap();
    assert_eq!(names.as_array().unwrap().len(), 12);
    let left: Vec<_> = fs::read_dir(lab.state("")).unwrap().collect();
    assert_eq!(left.len(), 3, "the state, its lock and the log: {left:?}");
}
