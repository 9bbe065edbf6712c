//! What a later layer can do to an earlier one: only add to it.

use serde_json::{Value, json};

use super::{Machine, feed};

fn fire(machine: &Machine, command: &str) -> Value {
    let call = json!({"tool_name": "Bash", "tool_input": {"command": command}});
    feed(machine.command("project", &["fire", "PreToolUse"]), &call.to_string()).exits(0).json()
}

fn user(machine: &Machine, text: &str) {
    machine.write("home/.config/crosier/crosier.yaml", text);
    machine.set_mode("home/.config/crosier/crosier.yaml", 0o600);
}

#[test]
fn a_project_that_changes_a_hook_of_the_persons_pack_weakens_nothing() {
    let machine = Machine::new();
    user(&machine, "extends: crosier:recommended\n");
    for change in ["mode: off", "mode: warn", "enabled: false", "priority: 1"] {
        let text = format!(
            "extends: crosier:recommended\nhooks: {{PreToolUse: [{{name: block-commands, {change}}}]}}\n"
        );
        machine.write("project/crosier.yaml", &text);
        machine.trust("project");
        let said = fire(&machine, "rm -rf /");
        assert_eq!(said["decision"], "deny", "{change}: {said}");
        let by = said["by"].as_str().unwrap();
        assert!(by == "block-commands" || by == "user:block-commands", "{change}: {by}");
    }
    // What it adds counts.
    machine.write(
        "project/crosier.yaml",
        "extends: crosier:recommended\nhooks: {PreToolUse: [{name: block-commands, options: {block: ['make deploy']}}]}\n",
    );
    let trusted = machine.run("project", &["trust", "--yes"]);
    if trusted.code == Some(0) {
        assert_eq!(fire(&machine, "rm -rf /")["decision"], "deny");
    }
}

#[test]
fn a_pack_in_two_layers_counts_once() {
    let machine = Machine::new();
    user(&machine, "extends: crosier:recommended\n");
    machine.write("project/crosier.yaml", "extends: crosier:recommended\n");
    machine.trust("project");
    let said = fire(&machine, "ls");
    let hooks: Vec<&str> =
        said["reports"].as_array().unwrap().iter().map(|report| report["hook"].as_str().unwrap()).collect();
    assert_eq!(hooks.iter().filter(|hook| hook.ends_with("block-commands")).count(), 1, "{hooks:?}");
}

#[test]
fn a_hook_is_switched_off_by_the_name_that_is_shown() {
    let machine = Machine::trusted();
    user(
        &machine,
        &super::CONFIG.replace("./guard.sh", "echo '{\\\"decision\\\": \\\"ask\\\"}'").replace(
            "command: echo '{\\\"decision\\\": \\\"ask\\\"}'",
            "command: \"echo '{\\\"decision\\\": \\\"ask\\\"}'\"",
        ),
    );
    assert_eq!(fire(&machine, "ls")["by"], "project:guard");
    machine.run("project", &["list"]).says("user:guard").says("project:guard");
    machine.run("project", &["disable", "project:guard"]).exits(0);
    assert_eq!(fire(&machine, "ls")["decision"], "ask", "the person's own still runs");
    machine.run("project", &["enable", "project:guard"]).exits(0);
    assert_eq!(fire(&machine, "ls")["by"], "project:guard");
    machine.run("project", &["disable", "user:guard"]).exits(0);
    assert_eq!(fire(&machine, "ls")["reports"].as_array().unwrap().len(), 1);
}

#[test]
fn permissions_of_all_layers_count_and_the_strictest_wins() {
    let machine = Machine::new();
    let check = "hooks: {PreToolUse: [{name: check, run: /perms check shell}]}\n";
    let decide = |users: &str, projects: &str| {
        user(&machine, users);
        machine.write("project/crosier.yaml", projects);
        machine.trust("project");
        let outcome = fire(&machine, "ls");
        outcome["decision"].as_str().unwrap_or("-").to_owned()
    };
    let rule = |word: &str| format!("permissions: {{shell: {word}}}\n");
    for (users, projects, expected) in [
        ("allow", "deny", "deny"),
        ("deny", "allow", "deny"),
        ("ask", "allow", "ask"),
        ("allow", "allow", "-"),
    ] {
        // Whichever layer asks for it.
        assert_eq!(decide(&(rule(users) + check), &rule(projects)), expected, "{users} {projects}");
        assert_eq!(decide(&rule(users), &(rule(projects) + check)), expected, "{users} {projects}");
    }
    assert_eq!(decide(&rule("allow"), check), "-", "a rule of an earlier layer is known in a later one");
    assert_eq!(
        decide(check, &rule("allow")),
        "deny",
        "a later layer does not allow what an earlier one denies"
    );
}
