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

#[test]
fn hooks_of_earlier_layers_hold_in_a_daemon() {
    use std::io::{BufRead, BufReader, Write};
    let machine = Machine::trusted();
    machine.write("home/.config/crosier/crosier.yaml", USER);
    machine.set_mode("home/.config/crosier/crosier.yaml", 0o600);
    let mut server = machine.command("project", &["serve", "--stdio"]).spawn().unwrap();
    let (mut to, mut from) = (server.stdin.take().unwrap(), BufReader::new(server.stdout.take().unwrap()));
    let mut id = 0;
    let mut call = |method: &str, params: Value| {
        id += 1;
        writeln!(to, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).unwrap();
        loop {
            let mut line = String::new();
            assert!(from.read_line(&mut line).unwrap() > 0, "the server ended");
            let said: Value = serde_json::from_str(&line).unwrap();
            if said["id"] == id {
                return said;
            }
        }
    };
    let project = machine.path("project");
    let said = call("hello", json!({"protocols": [1], "project": project, "env": {"PATH": "/usr/bin:/bin"}}));
    assert!(said["error"].is_null(), "{said}");
    let tool = |name: &str| json!({"tool_name": name, "tool_input": {"command": "ls"}, "tool_response": "x"});
    let said = call("fire", json!({"event": "PreToolUse", "input": tool("Write")}));
    assert_eq!(said["result"]["outcome"]["decision"], Value::Null, "{said}");
    // No hook runs the file that changed, and still what acts is denied.
    let good = std::fs::read_to_string(machine.path("project/guard.sh")).unwrap();
    machine.write("project/guard.sh", "#!/bin/sh\n");
    let said = call("fire", json!({"event": "PreToolUse", "input": tool("Write")}));
    assert_eq!(said["result"]["outcome"]["decision"], "deny", "{said}");
    assert!(said.to_string().contains("guard.sh changed"), "{said}");
    let said = call("fire", json!({"event": "PostToolUse", "input": tool("Write")}));
    assert!(said.to_string().contains("from the person"), "{said}");
    let said = call("hook.disable", json!({"hook": "closed:PreToolUse"}));
    assert_eq!(said["error"]["code"], -32005, "{said}");
    machine.write("project/guard.sh", &good);
    let said = call("fire", json!({"event": "PreToolUse", "input": tool("Write")}));
    assert_eq!(said["result"]["outcome"]["decision"], Value::Null, "{said}");
    drop(to);
    server.wait().unwrap();
}

#[test]
fn the_line_that_a_person_copies_is_quoted() {
    let machine = Machine::trusted();
    super::copy_folder(&machine.path("project"), &machine.path("my project"));
    machine.trust("my project");
    machine.write("my project/guard.sh", "#!/bin/sh\n");
    let (_, reason) = machine.decision("my project");
    let line = reason.split_once(": crosier ").unwrap().1;
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &format!("{} {line}", crate::lab::CROSIER)]).current_dir("/");
    command.env("HOME", machine.path("home"));
    let ran = command.output().unwrap();
    assert!(String::from_utf8_lossy(&ran.stdout).contains("guard.sh changed"), "{line}: {ran:?}");
}

#[test]
fn a_trusted_project_behind_a_link_of_its_name_keeps_its_policy() {
    let machine = Machine::trusted();
    std::fs::rename(machine.path("project"), machine.path("away")).unwrap();
    std::os::unix::fs::symlink("away", machine.path("project")).unwrap();
    let ran = machine.hook("project", &["claude"], &event("PreToolUse", "ls"), &[]).exits(0);
    assert!(ran.stdout.contains("deny") && ran.stdout.contains("a link to another folder"), "{}", ran.stdout);
    machine.run("away", &["trust", "--revoke", machine.path("project").to_str().unwrap()]).exits(0);
    let ran = machine.hook("project", &["claude"], &event("PreToolUse", "ls"), &[]).exits(0);
    assert!(!ran.stdout.contains("deny"), "{}", ran.stdout);
}

#[test]
fn hooks_of_earlier_layers_hold_in_a_run() {
    let machine = closed();
    // The prompt is let through.
    let user = USER.replace("UserPromptSubmit", "Notification").replace("Stop:", "SubagentStop:");
    machine.write("home/.config/crosier/crosier.yaml", &user);
    machine.write(
        "project/turns.yaml",
        "- tools: [{name: Bash, input: {command: 'touch done'}}]\n- say: over\n",
    );
    let args = ["run", "--model", "scripted:turns.yaml", "--allow", "Bash", "--json", "go"];
    let ran = machine.run("project", &args);
    assert!(ran.stdout.contains("guard.sh changed"), "{} {}", ran.stdout, ran.stderr);
    assert!(!machine.path("project/done").exists(), "what acts is denied");
    assert!(machine.path("home/.config/crosier/asked").exists(), "{} {}", ran.stdout, ran.stderr);
}
