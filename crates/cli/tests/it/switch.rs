//! `crosier enable` and `crosier disable`: state beside the configuration.

use std::fs;
use std::thread;

use crate::lab::Lab;

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
const STATE: &str = "crosier.yaml.state.json";

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
    lab.run(&["disable", "one"]).exits(0).says("disabled one, in crosier.yaml.state.json");
    lab.run(&["disable", "one"]).exits(0).says("one is disabled already");
    assert_eq!(lab.mode(STATE), 0o600);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&lab.read(STATE)).unwrap()["disabled"][0], "one");
    assert_eq!(ran(&lab), all[1..]);
    lab.run(&["disable", "a1/one"]).exits(0);
    assert_eq!(ran(&lab), all[1..4]);
    lab.run(&["enable", "one"]).exits(0).says("enabled one");
    lab.run(&["enable", "one"]).exits(0).says("one is enabled already");
    lab.run(&["enable", "a1/one"]).exits(0);
    assert_eq!(ran(&lab), all);
    assert!(!lab.path(STATE).exists(), "a state that says nothing is no file");
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
    lab.run(&["disable", "Stop[1]"]).exits(1).complains("is a place, not a name");
    lab.run(&["enable", "off"]).exits(1).complains("by `enabled: false`; change it there");
    assert!(!lab.path(STATE).exists());
}

#[test]
fn a_state_that_makes_no_sense_is_78_and_nothing_runs() {
    let lab = Lab::with(HOOKS);
    for bad in [
        "{",
        "[]",
        "{}",
        "{\"disabled\": \"one\"}",
        "{\"disabled\": [1]}",
        "{\"disabled\": [], \"more\": 1}",
        "",
    ] {
        lab.write(STATE, bad);
        for command in
            [&["fire", "Stop"][..], &["list"], &["explain", "Stop"], &["disable", "one"], &["enable", "one"]]
        {
            lab.run(command).exits(78).complains(STATE);
        }
        lab.run(&["check"]).exits(78).says(STATE);
        lab.run(&["fire", "Stop", "--exit-code"]).exits(2);
        assert_eq!(lab.read(STATE), bad, "it is left for a person to look at");
    }
}

#[test]
fn names_that_mean_nothing_any_more_are_warnings() {
    let lab = Lab::with(HOOKS);
    lab.write(STATE, "{\"disabled\": [\"gone\", \"guard\", \"Stop[1]\"]}");
    assert_eq!(ran(&lab).len(), 5, "none of them has an effect");
    let checked = lab.run(&["check"]).exits(0);
    checked.says("crosier.yaml.state.json:1:15: warning: no hook of crosier.yaml is named `gone`");
    checked.says("`guard` is a system hook and stays on").says("named `Stop[1]`").says("3 warnings");
    lab.run(&["check", "--strict"]).exits(1);
    for name in ["gone", "guard", "Stop[1]"] {
        lab.run(&["enable", name]).exits(0);
    }
    assert!(!lab.path(STATE).exists());
}

#[test]
fn each_file_has_a_state_of_its_own() {
    let lab = Lab::new();
    lab.write("a/one.yaml", "hooks: {Stop: [{name: one, reply: {}}]}");
    lab.write("b/two.yaml", "hooks: {Stop: [{name: two, reply: {}}]}");
    let both = ["-c", "a/one.yaml", "-c", "b/two.yaml"];
    lab.run(&[&["disable", "two"][..], &both].concat()).exits(0).says("b/two.yaml.state.json");
    assert!(!lab.path("a/one.yaml.state.json").exists());
    let outcome = lab.run(&[&["fire", "Stop"][..], &both].concat()).exits(0).json();
    assert_eq!(outcome["reports"].as_array().unwrap().len(), 1);
    // A name in the state of another file is somebody else's.
    lab.write("a/one.yaml.state.json", "{\"disabled\": [\"two\"]}");
    fs::remove_file(lab.path("b/two.yaml.state.json")).unwrap();
    let outcome = lab.run(&[&["fire", "Stop"][..], &both].concat()).exits(0).json();
    assert_eq!(outcome["reports"].as_array().unwrap().len(), 2);
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
    let state: serde_json::Value = serde_json::from_str(&lab.read(STATE)).unwrap();
    assert_eq!(state["disabled"].as_array().unwrap().len(), 12);
    let left: Vec<_> = fs::read_dir(lab.path("")).unwrap().collect();
    assert_eq!(left.len(), 2, "nothing is left lying around: {left:?}");
}
