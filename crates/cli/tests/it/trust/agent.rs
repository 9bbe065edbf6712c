//! What an agent may not: trust, weaken, or write Crosier's files.

use std::fs;
use std::io::Read;

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
    assert!(!is_trusted(&more[1..]), "neither in CI: a repository can set that too");
    let words = ["claude", "--trust", &digest];
    let ran = machine.hook("project", &words, &event("PreToolUse", "ls"), &more[..1]).exits(0);
    assert!(ran.stdout.contains("the guard says no"), "{}", ran.stdout);
}

/// What a guard of the person says, with variables that a repository made the agent set. `guard` is a script that says a
/// reason to deny.
fn reason_of_own_guard(machine: &Machine, guard: &str, words: &[&str], more: &[(&str, &str)]) -> String {
    machine.write(
        "home/.config/crosier/crosier.yaml",
        "hooks: {PreToolUse: [{name: own, matcher: Bash, argv: [./guard]}]}\n",
    );
    let path = machine.write("home/.config/crosier/guard", guard);
    machine.set_mode("home/.config/crosier/guard", 0o755);
    assert!(path.exists());
    let words: Vec<&str> = std::iter::once("claude").chain(words.iter().copied()).collect();
    let ran = machine.hook("project", &words, &event("PreToolUse", "ls"), more).exits(0);
    if ran.stdout.is_empty() {
        return String::new();
    }
    ran.json()["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn an_exported_function_does_not_take_the_place_of_a_command() {
    let machine = Machine::new();
    let guard = "#!/bin/bash\nif grep -q ls; then echo '{\"decision\": \"deny\", \"reason\": \"own\"}'; fi\n";
    for more in [&[][..], &[("BASH_FUNC_grep%%", "() { return 1; }")]] {
        assert_eq!(reason_of_own_guard(&machine, guard, &[], more), "own", "{more:?}");
    }
}

#[test]
fn variables_do_not_lead_the_programs_of_a_guard_into_the_project() {
    let machine = Machine::new();
    let (config, state) = (machine.path("home/.config/crosier"), machine.path("home/.local/state/crosier"));
    let homes = ["--config-home", config.to_str().unwrap(), "--state-home", state.to_str().unwrap()];
    let evil = machine.path("project/evil");
    fs::create_dir_all(&evil).unwrap();
    std::os::unix::fs::symlink(&evil, machine.path("link")).unwrap();
    let link = machine.path("link");
    for (name, value, left) in [
        ("HOME", evil.to_str().unwrap(), None),
        ("HOME", link.to_str().unwrap(), None),
        ("PYTHONUSERBASE", evil.to_str().unwrap(), Some("")),
        ("GEM_HOME", evil.to_str().unwrap(), Some("")),
        ("XDG_DATA_DIRS", &format!("/usr/share:{}:/opt", evil.display()), Some("/usr/share:/opt")),
        ("XDG_CONFIG_DIRS", "evil/etc:/etc/xdg", Some("/etc/xdg")),
        ("PATH", &format!("/usr/bin:{}:.::/bin", evil.display()), Some("/usr/bin:/bin")),
        ("SHELL", "/bin/sh", Some("/bin/sh")),
        ("EDITOR", "vi", Some("vi")),
        ("MY_PLACE", evil.to_str().unwrap(), evil.to_str()),
    ] {
        let guard = format!(
            "#!/bin/sh\necho '{{\"decision\": \"deny\", \"reason\": \"it is '\"${{{name}-}}\"'\"}}'\n"
        );
        let said = reason_of_own_guard(&machine, &guard, &homes, &[(name, value)]);
        match left {
            Some(left) => assert_eq!(said, format!("it is {left}"), "{name}={value}"),
            None => assert!(said.starts_with("it is") && !said.contains("evil"), "{name}={value}: {said}"),
        }
    }
}

#[test]
fn a_home_in_the_project_does_not_make_the_persons_files_vanish() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path("project/evil")).unwrap();
    for home in ["project/evil", "project"] {
        let home = machine.path(home);
        let said = reason_of_own_guard(&machine, "#!/bin/sh\n", &[], &[("HOME", home.to_str().unwrap())]);
        assert!(said.contains("it is inside the project folder"), "{said}");
    }
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

/// Waits until it has lost its parent, whose id is the first argument, then tries to trust.
const LATER: &str = r#"
parent() { set -- $(sed 's/.*) //' /proc/$$/stat); echo "$2"; }
while [ "$(parent)" = "$1" ]; do :; done
echo "parent $(parent)"
exec "$2" trust --yes 2>&1
"#;

#[test]
fn an_agent_is_found_from_the_background_by_its_session_and_a_detached_session_is_refused() {
    let machine = Machine::new();
    let later = machine.write("home/later", LATER);
    let run = |agent: &str| {
        let path = machine.write("home/claude", &format!("#!/bin/sh\n{agent}\n"));
        machine.set_mode("home/claude", 0o755);
        let mut command = std::process::Command::new("setsid");
        command.args(["-w".as_ref(), path.as_os_str(), later.as_os_str(), crate::lab::CROSIER.as_ref()]);
        command.current_dir(machine.path("project")).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("HOME", machine.path("home"));
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = String::new();
        // Ends when the process in the background does; the agent's input stays open until then.
        child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        child.wait().unwrap();
        machine.is_never_trusted("project");
        said
    };
    let said = run(r#"(sh "$1" "$(sh -c 'echo $PPID')" "$2" &); exec > /dev/null; read -r _"#);
    assert!(said.contains("inside Claude Code (process"), "{said}");
    let said = run(r#"setsid sh "$1" $$ "$2" &"#);
    // Where somebody else than the first process adopts orphans, that one is the parent.
    if said.contains("parent 1\n") {
        assert!(said.contains("inside a session that is detached"), "{said}");
    }
}

#[test]
fn the_self_guard_is_not_deceived_by_other_names_of_the_same_thing() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path("home/.config/crosier")).unwrap();
    fs::create_dir_all(machine.path("home/.local/state/crosier")).unwrap();
    fs::create_dir_all(machine.path("empty/crosier")).unwrap();
    let said = |name: &str, command: &str| {
        machine.hook("empty", &["claude"], &event(name, command), &[]).exits(0).stdout
    };
    let program = crate::lab::CROSIER;
    for command in [
        "/usr/b*/cros?er disable guard".to_owned(),
        format!("cp {program} /tmp/tool && /tmp/tool trust --yes"),
        format!("ln -s {program} /tmp/tool"),
        format!("cat {program} > /tmp/tool"),
        format!("dd if={program} of=/tmp/tool"),
        format!("echo 'exit 0' > {program}"),
        format!("rm {program}"),
        "rm -rf ~/.config/crosier".to_owned(),
        "rm -rf ~/.config/cros*".to_owned(),
        "cd ~/.config && rm -rf crosier".to_owned(),
        "rm -rf ${XDG_STATE_HOME}/crosier".to_owned(),
        "echo > \"$XDG_CONFIG_HOME/crosier/crosier.yaml\"".to_owned(),
        "find ~/.local/state/crosier -delete".to_owned(),
        "find ~/.local/state -type f -delete".to_owned(),
    ] {
        assert!(said("PreToolUse", &command).contains("deny"), "{command}");
    }
    assert!(said("PermissionRequest", "crosier trust --yes").contains("deny"));
    for command in [
        "find ~/.local/state -name '*.log' -delete",
        "find ~/.config -type d -empty -delete",
        "cp -r crosier /tmp/copy",
        "ls ~/.config/cros*",
        "rm -rf ~/.config/other",
    ] {
        assert!(!said("PreToolUse", command).contains("deny"), "{command}");
    }
}

#[test]
fn the_self_guard_sees_what_commands_do_around_the_files_that_it_guards() {
    let machine = Machine::new();
    for folder in ["home/.config/crosier", "home/.local/state/crosier", "home/.claude", "empty/x/.claude"] {
        fs::create_dir_all(machine.path(folder)).unwrap();
    }
    let said = |call: &serde_json::Value| {
        let ran = machine.hook("empty", &["claude"], call, &[]).exits(0).stdout;
        let is = |decision: &str| ran.contains(&format!("\"permissionDecision\":\"{decision}\""));
        if is("deny") {
            "deny"
        } else if is("ask") {
            "ask"
        } else {
            "free"
        }
    };
    let home = machine.path("home").display().to_string();
    let config = "hooks: {PreToolUse: [{name: mine, matcher: Other, command: 'true'}]}\n";
    let yaml = machine.write("home/.config/crosier/crosier.yaml", config).display().to_string();
    machine.set_mode("home/.config/crosier/crosier.yaml", 0o644);
    let program = crate::lab::CROSIER;
    for (wanted, command) in [
        ("deny", "cp -r x/.claude ~".to_owned()),
        ("deny", format!("cp -r x/.claude {home}")),
        ("deny", "cd ~ && cp -r ../empty/x/.claude .".to_owned()),
        ("ask", format!("tar xf x.tar -C {home}")),
        ("ask", "cp -a x/. ~".to_owned()),
        ("deny", format!("ln {yaml} g2")),
        ("deny", "cp -l ~/.config/crosier/crosier.yaml g2".to_owned()),
        ("deny", format!("chmod -x {program}")),
        ("deny", "cp --remove-destination /bin/true $(which crosier)".to_owned()),
        ("deny", "chmod 000 ~/.claude".to_owned()),
        ("deny", format!("chmod 777 {home}/.config")),
        ("ask", format!("grep -rl crosier {home} | xargs rm")),
        ("deny", format!("awk 'BEGIN{{print > \"{yaml}\"}}'")),
        ("deny", "crosier serve --stop".to_owned()),
        ("free", "cp -r x/.claude/agents ~/.claude/".to_owned()),
        ("free", "tar xf x.tar".to_owned()),
        ("free", "grep -rl crosier . | xargs sed -i s/a/b/".to_owned()),
        ("free", "chmod 700 ~/.claude".to_owned()),
    ] {
        assert_eq!(said(&event("PreToolUse", &command)), wanted, "{command}");
    }
    let call = |tool: &str, input: serde_json::Value| {
        let mut call = event("PreToolUse", "");
        call["tool_name"] = tool.into();
        call["tool_input"] = input;
        said(&call)
    };
    let json = |text: String| serde_json::from_str(&text).unwrap();
    let wired = format!("{home}/.config/crosier");
    let input = json(format!(r#"{{"command": "rm -f crosier.yaml", "workdir": "{wired}"}}"#));
    assert_eq!(call("Bash", input), "deny");
    assert_eq!(call("write_bash", json(r#"{"input": "crosier trust --yes\n"}"#.to_owned())), "deny");
    assert_eq!(call("mcp__fs__move_file", json(format!(r#"{{"from": "/tmp/x", "to": "{yaml}"}}"#))), "deny");
    assert_eq!(call("mcp__fs__delete_directory", json(format!(r#"{{"path": "{home}/.config"}}"#))), "deny");
    assert_eq!(call("mcp__fs__write_file", json(format!(r#"{{"path": "{home}/notes"}}"#))), "free");
}

#[test]
fn programs_of_the_project_do_not_replace_those_that_hooks_name() {
    let machine = Machine::new();
    let hook =
        "hooks: {PreToolUse: [{name: mine, command: \"grep -q ls && { echo no ls >&2; exit 2; }\"}]}\n";
    machine.write("home/.config/crosier/crosier.yaml", hook);
    machine.set_mode("home/.config/crosier/crosier.yaml", 0o644);
    machine.write("project/bin/grep", "#!/bin/sh\nexit 1\n");
    machine.set_mode("project/bin/grep", 0o755);
    let through_link = machine.path("home/tools");
    std::os::unix::fs::symlink(machine.path("project/bin"), &through_link).unwrap();
    for folder in [machine.path("project/bin"), through_link] {
        let path = format!("{}:/usr/bin:/bin", folder.display());
        let ran =
            machine.hook("project", &["claude"], &event("PreToolUse", "ls"), &[("PATH", &path)]).exits(0);
        assert!(ran.stdout.contains("no ls"), "{path}: {}", ran.stdout);
    }
}

#[test]
fn a_project_folder_that_does_not_exist_hides_no_project() {
    let machine = Machine::trusted();
    let mut event = event("PreToolUse", "ls");
    event["cwd"] = serde_json::json!(machine.path("project"));
    let nowhere = machine.path("nowhere");
    let more = [("CLAUDE_PROJECT_DIR", nowhere.to_str().unwrap())];
    let ran = machine.hook("project", &["claude"], &event, &more).exits(0);
    assert!(ran.stdout.contains("the guard says no"), "{}", ran.stdout);
}
