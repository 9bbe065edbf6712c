//! What an agent may not: trust, weaken, or write Crosier's files.

use std::fs;

use super::{Machine, event, feed};

#[test]
fn an_agent_trusts_nothing() {
    let machine = Machine::new();
    for variable in
        ["CLAUDECODE", "GEMINI_CLI", "QWEN_CODE", "OPENCODE", "CODEX_SANDBOX", "COPILOT_CLI", "CROSIER_DEPTH"]
    {
        for value in ["1", ""] {
            let mut command = machine.command("project", &["trust", "--yes"]);
            command.env(variable, value);
            feed(command, "").exits(1).complains("use a terminal outside the agent");
        }
    }
    machine.is_never_trusted("project");
    // To look is free.
    let mut command = machine.command("project", &["trust", "--digest"]);
    command.env("CLAUDECODE", "1");
    feed(command, "").exits(0);
}

#[test]
fn an_agent_above_is_found_without_its_variables() {
    let machine = Machine::new();
    let agent = machine.write("home/claude", "#!/bin/sh\nenv -u CLAUDECODE sh -c \"$1\"\nexit $?\n");
    machine.set_mode("home/claude", 0o755);
    let mut command = std::process::Command::new(agent);
    command.arg(format!("{} trust --yes; exit $?", crate::lab::CROSIER)).current_dir(machine.path("project"));
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", machine.path("home"));
    command.stdin(std::process::Stdio::piped());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    feed(command, "").exits(1).complains("use a terminal outside the agent");
    machine.is_never_trusted("project");
}

#[test]
fn a_variable_trusts_nothing_below_an_agent() {
    let machine = Machine::new();
    let digest = machine.run("project", &["trust", "--digest"]).stdout.trim().to_owned();
    let more = [("CLAUDECODE", "1"), ("CROSIER_TRUST", digest.as_str()), ("CI", "true")];
    let is_trusted = |more: &[(&str, &str)]| {
        let ran = machine.hook("project", &["claude"], &event("PreToolUse", "ls"), more).exits(0);
        ran.stdout.contains("the guard says no")
    };
    assert!(!is_trusted(&more));
    assert!(!is_trusted(&more[1..2]), "not every agent can be recognised");
    assert!(is_trusted(&more[1..]), "in CI there need not be an agent");
    let words = ["claude", "--trust", &digest];
    let ran = machine.hook("project", &words, &event("PreToolUse", "ls"), &more[..1]).exits(0);
    assert!(ran.stdout.contains("the guard says no"), "{}", ran.stdout);
}

#[test]
fn the_self_guard_is_always_in_force() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path("empty")).unwrap();
    let denied = |folder: &str, command: &str| {
        let ran = machine.hook(folder, &["claude"], &event("PreToolUse", command), &[]).exits(0);
        ran.stdout.contains("deny")
    };
    for command in
        ["crosier trust --yes", "env -u CLAUDECODE crosier disable x", "CROSIER_TRUST=sha256:0 make"]
    {
        assert!(denied("empty", command), "{command}");
    }
    let state = machine.path("home/.local/state/crosier/trust/key");
    assert!(denied("empty", &format!("rm {}", state.display())));
    assert!(!denied("empty", "ls"));
    machine.write("project/guard.sh", "#!/bin/sh\n");
    machine.trust("project");
    assert!(denied("project", "echo > guard.sh"), "what is recorded is protected");
    assert!(!denied("project", "cat guard.sh && git add guard.sh"));
    // A project cannot lift it; the person can.
    machine.write("project/crosier.yaml", "self_guard: off\n");
    machine.run("project", &["trust", "--yes"]).exits(78).complains("self_guard");
    machine.write("home/.config/crosier/crosier.yaml", "self_guard: off\n");
    machine.set_mode("home/.config/crosier/crosier.yaml", 0o644);
    assert!(!denied("empty", "crosier trust --yes"));
}
