//! What a closed project leaves in force: everything but its own hooks.

use serde_json::{Value, json};

use super::{Machine, event, feed};

const USER: &str = r#"
hooks:
  PreToolUse:
    - {name: seen, observe: true, command: 'touch seen-PreToolUse'}
    - {name: asks, command: 'touch asked; exit 0'}
  PostToolUse:
    - {name: after, command: 'echo "{\"additionalContext\": \"from the person\"}"'}
  UserPromptSubmit:
    - {name: words, matcher: '*', command: 'echo "{\"decision\": \"deny\", \"reason\": \"not this word\"}"'}
  Stop:
    - {name: goes-on, command: 'echo "{\"decision\": \"block\", \"reason\": \"the tests are missing\"}"'}
"#;

/// A project that was trusted and then changed, and a person with hooks of their own.
fn closed() -> Machine {
    let machine = Machine::trusted();
    machine.write("home/.config/crosier/crosier.yaml", USER);
    machine.set_mode("home/.config/crosier/crosier.yaml", 0o600);
    machine.write("project/guard.sh", "#!/bin/sh\ntouch ran\n");
    machine
}

fn fire(machine: &Machine, name: &str, input: &Value) -> Value {
    feed(machine.command("project", &["fire", name]), &input.to_string()).exits(0).json()
}

#[test]
fn hooks_of_earlier_layers_hold_in_fire() {
    let machine = closed();
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "x"});
    let said = fire(&machine, "PreToolUse", &call);
    assert_eq!(said["decision"], "deny", "{said}");
    assert!(said["reason"].as_str().unwrap().contains("guard.sh changed"), "{said}");
    for file in ["seen-PreToolUse", "asked"] {
        assert!(machine.path("home/.config/crosier").join(file).exists(), "{file}: {said}");
    }
    assert!(!machine.path("project/ran").exists(), "the project's own hooks do not run");
    let said = fire(&machine, "PostToolUse", &call);
    assert!(said.to_string().contains("from the person"), "{said}");
    let said = fire(&machine, "UserPromptSubmit", &json!({"prompt": "x"}));
    assert_eq!((&said["decision"], &said["reason"]), (&json!("deny"), &json!("not this word")), "{said}");
    assert!(said["notices"].to_string().contains("guard.sh changed"), "{said}");
    let said = fire(&machine, "Stop", &json!({}));
    assert!(said.to_string().contains("the tests are missing"), "{said}");
}

#[test]
fn hooks_of_earlier_layers_hold_in_hook() {
    let machine = closed();
    let hook = |name: &str| machine.hook("project", &["claude"], &event(name, "ls"), &[]).exits(0).stdout;
    let said = hook("PreToolUse");
    assert!(said.contains("deny") && said.contains("guard.sh changed"), "{said}");
    for file in ["seen-PreToolUse", "asked"] {
        assert!(machine.path("home/.config/crosier").join(file).exists(), "{file}: {said}");
    }
    assert!(hook("PostToolUse").contains("from the person"));
    let said = hook("UserPromptSubmit");
    assert!(said.contains("not this word") && said.contains("guard.sh changed"), "{said}");
    assert!(hook("Stop").contains("the tests are missing"));
    assert!(!machine.path("project/ran").exists(), "the project's own hooks do not run");
    let logged = machine.run("project", &["log", "--json"]).exits(0).stdout;
    let mut records = logged.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let first = records.find(|record| record["event"] == "PreToolUse").unwrap();
    assert_eq!((&first["kind"], &first["decision"]), (&json!("closed"), &json!("deny")), "{logged}");
}

#[test]
fn another_project_above_or_below_a_closed_one_holds() {
    let machine = Machine::new();
    let inner = "hooks: {PostToolUse: [{name: inner, command: 'echo \"{\\\"additionalContext\\\": \\\"inner\\\"}\"'}]}";
    machine.write("project/a/crosier.yaml", inner);
    machine.trust("project/a");
    let call =
        json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "x"}).to_string();
    let after = || feed(machine.command("project/a", &["fire", "PostToolUse"]), &call).exits(0).stdout;
    assert!(after().contains("inner"));
    machine.write("project/guard.sh", "#!/bin/sh\n");
    machine.is_closed("project/a", "guard.sh changed");
    assert!(after().contains("inner"), "{}", after());
}

#[test]
fn a_bad_file_of_the_person_does_not_switch_the_project_off() {
    let machine = Machine::trusted();
    machine.write("project/crosier.yaml", &super::CONFIG.replace("PreToolUse", "PostToolUse"));
    machine.trust("project");
    machine.write("project/guard.sh.ran", "");
    machine.write("home/.config/crosier/crosier.yaml", "hooks: {Nonsense: 1}");
    machine.set_mode("home/.config/crosier/crosier.yaml", 0o600);
    let said = machine.hook("project", &["claude"], &event("PreToolUse", "ls"), &[]).exits(0).stdout;
    assert!(said.contains("deny") && said.contains("bad configuration"), "{said}");
    let said = machine.hook("project", &["claude"], &event("PostToolUse", "ls"), &[]).exits(0).stdout;
    assert!(said.contains("the guard says no"), "{said}");
}
