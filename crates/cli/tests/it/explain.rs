//! `crosier explain`: the plan before it runs.

use crate::lab::Lab;

const HOOKS: &str = "
hooks:
  PreToolUse:
    - {name: late, reply: {}}
    - {name: guard, matcher: Bash|shell, reply: {}, priority: 10}
    - {name: fmt, matcher: Write, reply: {}}
    - {name: off, reply: {}, enabled: false}
    - {name: p1, reply: {}, parallel: true, priority: 200}
    - {name: p2, reply: {}, parallel: true, priority: 200}
    - {name: audit, reply: {}, observe: true, priority: 1}
    - {name: always, reply: {}, system: true, priority: 300}
agents:
  - {id: a1, hooks: {PreToolUse: {override: true, hooks: [{name: mine, reply: {}}]}}}
  - {id: a2, hooks: {PreToolUse: [{name: theirs, reply: {}}]}}
";

fn explain(args: &[&str]) -> serde_json::Value {
    Lab::with(HOOKS).run(&[&["explain"], args, &["--json"]].concat()).exits(0).json()
}

fn pairs(list: &serde_json::Value, key: &str) -> Vec<(String, String)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    list.as_array().unwrap().iter().map(|hook| (text(&hook["hook"]), text(&hook[key]))).collect()
}

fn of(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

#[test]
fn the_plan_is_in_order_with_its_stages() {
    let found = explain(&["PreToolUse", "--tool", "Bash", "--agent", "a2"]);
    let plan = [
        ("guard", "1"),
        ("late", "2"),
        ("a2/theirs", "3"),
        ("p1", "4"),
        ("p2", "4"),
        ("always", "5"),
        ("audit", "after"),
    ];
    assert_eq!(pairs(&found["plan"], "stage"), of(&plan));
    assert_eq!(found["plan"][0]["why"], "`Bash|shell` matches Bash");
    assert_eq!(found["plan"][0]["line"], 5);
    assert_eq!(
        pairs(&found["out"], "reason"),
        of(&[("fmt", "matcher"), ("off", "disabled"), ("a1/mine", "other_agent")])
    );
}

#[test]
fn an_override_leaves_out_all_but_system_hooks() {
    let found = explain(&["pre:tool", "--match", "Bash", "--agent", "a1"]);
    assert_eq!(pairs(&found["plan"], "stage"), of(&[("a1/mine", "1"), ("always", "2")]));
    let out = pairs(&found["out"], "reason");
    assert!(out.contains(&("guard".to_owned(), "overridden".to_owned())), "{out:?}");
    assert!(out.contains(&("off".to_owned(), "disabled".to_owned())), "{out:?}");
}

#[test]
fn the_table_says_it_to_people() {
    let lab = Lab::with(HOOKS);
    let ran = lab.run(&["explain", "PreToolUse", "--tool", "Bash"]).exits(0);
    assert!(
        ran.stdout.starts_with("PreToolUse, tool_name Bash, outside any agent\n\nORDER"),
        "{}",
        ran.stdout
    );
    ran.says("5 parallel").says("after").says("crosier.yaml:5").says("\nNOT RUN ");
    ran.says("its matcher `Write` does not match tool_name Bash").says("disabled by `enabled: false`");
    // Outside any agent the hooks of all agents run.
    ran.says("a1/mine").says("a2/theirs");
}

#[test]
fn a_disabled_hook_names_the_key_that_disables_it() {
    let lab =
        Lab::with("hooks: {Stop: [{name: a, reply: {}, mode: off}, {name: b, reply: {}, enabled: false}]}");
    let json = lab.run(&["explain", "Stop", "--json"]).exits(0).json();
    let why = of(&[("a", "disabled by `mode: off`"), ("b", "disabled by `enabled: false`")]);
    assert_eq!(pairs(&json["out"], "why"), why);
    lab.run(&["enable", "a"]).exits(1).complains("by `mode: off`; change it there");
    lab.run(&["disable", "a"]).exits(0);
    lab.run(&["explain", "Stop"]).exits(0).says("disabled with `crosier disable`");
}

#[test]
fn without_a_value_it_says_what_a_hook_waits_for() {
    let ran = Lab::with(HOOKS).run(&["explain", "PreToolUse"]).exits(0);
    ran.says("any tool_name").says("it needs a tool_name that matches `Bash|shell`");
}

#[test]
fn every_event_can_be_explained() {
    let lab = Lab::with(HOOKS);
    for event in lab.run(&["events", "--json"]).exits(0).json().as_array().unwrap() {
        let name = event["event"].as_str().unwrap();
        lab.run(&["explain", name]).exits(0).says(name);
        let valued = lab.run(&["explain", name, "--match", "x"]);
        match event["matcher"].as_str() {
            Some(field) => drop(valued.exits(0).says(&format!("{name}, {field} x"))),
            None => drop(valued.exits(64).complains("has no field for a matcher")),
        }
    }
}

#[test]
fn an_agent_that_nobody_knows_is_pointed_out() {
    let lab = Lab::with(HOOKS);
    lab.run(&["explain", "Stop", "--agent", "a3"])
        .exits(0)
        .complains("no hook belongs to agent `a3`, did you mean `a1`?");
}
