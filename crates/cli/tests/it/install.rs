//! `init`, `install`, `uninstall`, `status` and what `doctor` says of them, in a home of one's own.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::home::Home;
use crate::lab::CROSIER;

const MINE: &str = "{\n  // mine\n  \"model\": \"x\"\n}\n";

#[test]
fn from_nothing_to_a_denial_and_back() {
    let home = Home::new(&[".claude", ".codex", ".gemini"]);
    home.write(".claude/settings.json", MINE);
    let before = home.tree();
    let said = home.run(&["init", "--yes"]).exits(0);
    let said = said.says("crosier.yaml: written").says("`git push --force` → deny").says("next:");
    said.says("which are not trusted");
    let after = home.tree();
    let again = home.run(&["init", "--yes"]).exits(0);
    again.says("already exists").says("Claude Code: unchanged");
    assert_eq!(home.tree(), after, "the second time nothing changes");
    assert_eq!((home.status("claude"), home.status("codex")), ("current".to_owned(), "untrusted".to_owned()));
    home.run(&["install", "codex", "--trust"]).exits(0).says("+trusted_hash = \"sha256:");
    assert_eq!(home.status("codex"), "current");
    home.run(&["uninstall"]).exits(0).says("Claude Code: uninstalled").says("Codex: uninstalled");
    let mut left = home.tree();
    assert!(left.remove(&home.project.join("crosier.yaml")).is_some());
    assert_eq!(left, before);
    home.run(&["uninstall"]).exits(0).says("nothing was installed");
}

#[test]
fn the_first_configuration_is_good_in_every_kind_of_project() {
    for sign in ["Cargo.toml", "go.mod", "pyproject.toml", "package.json", "pom.xml", "main.tf", "nothing"] {
        let home = Home::new(&[]);
        fs::remove_file(home.project.join("Cargo.toml")).unwrap();
        fs::write(home.project.join(sign), "").unwrap();
        home.run(&["init", "--yes", "--mode", "warn"]).exits(0).says("→ would deny");
        let path = home.project.join("crosier.yaml");
        home.run(&["check", "-c", path.to_str().unwrap()]).exits(0).says("no problems");
        let text = fs::read_to_string(&path).unwrap();
        let used = text.lines().map(|line| match line.strip_prefix('#') {
            Some(rest) if rest.starts_with(' ') && !rest.starts_with("  ") => String::new(),
            Some(rest) => rest.to_owned(),
            None => line.to_owned(),
        });
        fs::write(&path, used.collect::<Vec<_>>().join("\n")).unwrap();
        let said = home.run(&["check", "-c", path.to_str().unwrap()]);
        assert!(
            !said.stdout.contains("error") && said.stdout.contains("7 hooks"),
            "{}{}",
            said.stdout,
            said.stderr
        );
    }
}

#[test]
fn a_users_own_configuration() {
    let home = Home::new(&[".claude"]);
    home.run(&["init", "--yes", "--user"]).exits(0).says("~/.config/crosier/crosier.yaml: written");
    assert!(!home.project.join("crosier.yaml").exists());
    home.run(&["install", "claude", "--mode", "warn"]).exits(0).says("mode is now warn");
    assert!(home.read(".config/crosier/crosier.yaml").contains("\nmode: warn\n"));
}

#[test]
fn nobody_to_ask() {
    let home = Home::new(&[".claude"]);
    let before = home.tree();
    home.run(&["init"]).exits(64).says("--yes");
    home.run(&["init", "--yes", "--agents", "clod"]).exits(64).says("no agent is called `clod`");
    home.run(&["init", "--yes", "--pack", "crosier:nothing"]).exits(64).says("crosier:recommended");
    assert_eq!(home.tree(), before);
}

#[test]
fn an_agent_that_is_named_is_installed_although_it_is_not_found() {
    let home = Home::new(&[]);
    home.run(&["install"]).exits(1).says("no agent was found");
    home.run(&["install", "qwen"]).exits(0).says("Qwen Code: installed").says("+  \"hooks\": {");
    home.run(&["install", "qwen"]).exits(0).says("Qwen Code: unchanged");
    home.run(&["uninstall", "qwen"]).exits(0);
    assert!(!home.home.join(".qwen").exists());
}

#[test]
fn a_dry_run_changes_nothing_and_is_for_everybody() {
    let home = Home::new(&[".claude"]);
    let before = home.tree();
    let mut command = home.command(&["install", "--dry-run", "--json"]);
    let output = command.env("CLAUDECODE", "1").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said[0]["state"], "would change");
    assert!(said[0]["files"][0]["diff"].as_str().unwrap().contains("+"), "{said}");
    assert_eq!(home.tree(), before);
}

#[test]
fn below_an_agent_only_a_person_may_do_it() {
    let home = Home::new(&[".claude"]);
    let before = home.tree();
    for command in [&["install"][..], &["uninstall"], &["init", "--yes"]] {
        let output = home.command(command).env("CLAUDECODE", "1").output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("outside the agent"));
    }
    assert_eq!(home.tree(), before);
}

#[test]
fn a_file_that_makes_no_sense_is_refused_and_the_others_are_installed() {
    let home = Home::new(&[".claude", ".gemini"]);
    home.write(".claude/settings.json", "{\"a\": ");
    home.run(&["install"]).exits(1).says("Claude Code: refused:").says("Gemini CLI: installed");
    assert_eq!(home.read(".claude/settings.json"), "{\"a\": ");
    assert_eq!(
        (home.status("claude"), home.status("gemini")),
        ("unreadable".to_owned(), "current".to_owned())
    );
}

#[test]
fn the_line_names_program_and_folders_in_full_and_answers() {
    let home = Home::new(&[".claude"]);
    home.run(&["install"]).exits(0);
    let settings: Value = serde_json::from_str(&home.read(".claude/settings.json")).unwrap();
    let gate = &settings["hooks"]["PreToolUse"][0]["hooks"][0];
    let program = Path::new(CROSIER).canonicalize().unwrap();
    assert_eq!(gate["command"], program.to_str().unwrap());
    let args: Vec<&str> =
        gate["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let config = home.home.join(".config/crosier").display().to_string();
    let state = home.home.join(".local/state/crosier").display().to_string();
    let line = ["hook", "claude", "--config-home", &config, "--state-home", &state, "--deadline", "595"];
    assert_eq!(args, line);
    let doctor = home.run(&["doctor", "--json"]).json();
    let claude = doctor.as_array().unwrap().iter().find(|one| one["what"] == "claude").unwrap();
    assert_eq!(claude["judged"], "ok", "{claude}");
}

#[test]
fn doctor_tries_the_line_of_every_agent() {
    let agents = [
        "claude",
        "gemini",
        "qwen",
        "droid",
        "copilot",
        "cline",
        "opencode",
        "cursor",
        "windsurf",
        "crush",
        "goose",
        "kimi",
        "openhands",
        "kiro",
        "vscode",
    ];
    let home = Home::new(&[]);
    home.run(&[&["install"][..], &agents].concat()).exits(0);
    let doctor = home.run(&["doctor", "--json"]).json();
    for agent in agents {
        let one = doctor.as_array().unwrap().iter().find(|one| one["what"] == agent);
        assert_eq!(one.map(|one| &one["judged"]), Some(&"ok".into()), "{one:?}");
    }
    home.run(&["uninstall"]).exits(0);
    assert_eq!(home.run(&["status", "--json"]).json()["agents"], Value::Array(Vec::new()));
}

#[test]
fn doctor_says_what_is_wrong_with_a_line() {
    let home = Home::new(&[".gemini"]);
    home.run(&["install"]).exits(0);
    let program = Path::new(CROSIER).canonicalize().unwrap();
    let other = home.read(".gemini/settings.json").replace(program.to_str().unwrap(), "/gone/crosier");
    home.write(".gemini/settings.json", &other);
    assert_eq!(home.status("gemini"), "outdated");
    home.run(&["doctor"]).exits(1).says("run: crosier install gemini");
    home.run(&["install"]).exits(0).says("-            \"command\": \"/gone/crosier");
    assert_eq!(home.status("gemini"), "current");
}

#[test]
fn an_event_that_a_hook_names_is_missing_from_the_line() {
    let home = Home::new(&[".claude"]);
    home.run(&["install"]).exits(0);
    home.write(".config/crosier/crosier.yaml", "hooks: {FileChanged: [{name: seen, reply: {}}]}\n");
    assert_eq!(home.status("claude"), "outdated");
    home.run(&["status"]).exits(0).says("it has no entry for FileChanged");
    home.run(&["install"]).exits(0);
    assert_eq!(home.status("claude"), "current");
}

#[test]
fn hooks_of_codex_are_imported_from_both_of_its_files() {
    let home = Home::new(&[]);
    home.write(
        ".codex/hooks.json",
        r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "one"}]}]}}"#,
    );
    home.write(
        ".codex/config.toml",
        "model = \"x\"\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"two\"\ntimeout = 5\n\
         [[hooks.PreToolUse]]\nmatcher = \"Bash\"\nhooks = [{type = \"command\", command = \"three\"}]\n\
         [hooks.state.\"a:stop:0:0\"]\ntrusted_hash = \"sha256:0\"\n",
    );
    let said = home.run(&["import", "codex"]).exits(0);
    for text in [
        "command: \"one\"",
        "command: \"two\"",
        "command: \"three\"",
        "timeout: \"5000ms\"",
        "matcher: \"Bash\"",
    ] {
        assert!(said.stdout.contains(text), "{}", said.stdout);
    }
    assert_eq!(said.stdout.matches("  Stop:\n").count(), 1, "{}", said.stdout);
    let path = home.project.join("imported.yaml");
    fs::write(&path, &said.stdout).unwrap();
    let checked = home.run(&["check", "-c", path.to_str().unwrap()]);
    assert!(checked.stdout.contains("3 hooks"), "{}{}", checked.stdout, checked.stderr);
}

#[test]
fn a_change_that_loses_the_line_is_not_taken_up() {
    let home = Home::new(&[".claude"]);
    home.run(&["install"]).exits(0);
    let settings = home.home.join(".claude/settings.json");
    let changed = || {
        let event = serde_json::json!({
            "hook_event_name": "ConfigChange", "session_id": "s", "cwd": home.project,
            "source": "user_settings", "file_path": settings,
        });
        let mut child =
            home.command(&["hook", "claude"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), event.to_string().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(changed().0, Some(0), "the line is there");
    let with = home.read(".claude/settings.json");
    home.write(".claude/settings.json", "{}");
    let (code, said) = changed();
    assert!(code == Some(2) && said.contains("crosier uninstall claude"), "{said}");
    home.write(".claude/settings.json", &with.replacen('{', "{\"disableAllHooks\": true,", 1));
    assert_eq!(changed().0, Some(2));
    home.write(".claude/settings.json", &with);
    home.run(&["uninstall"]).exits(0);
    assert_eq!(changed().0, Some(0), "a person took it out");
}

#[test]
fn what_a_person_did_is_in_the_log() {
    let home = Home::new(&[".claude"]);
    home.run(&["init", "--yes"]).exits(0);
    home.run(&["trust", "--revoke"]).exits(0);
    home.run(&["trust", "--yes"]).exits(0);
    home.run(&["install", "claude", "--mode", "warn"]).exits(0);
    home.run(&["install", "claude", "--mode", "warn"]).exits(0);
    home.run(&["uninstall"]).exits(0);
    home.run(&["uninstall"]).exits(0);
    let said = home.run(&["log", "--json"]).exits(0);
    let records: Vec<Value> = said.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(records.iter().all(|record| record["kind"] == "command"), "{}", said.stdout);
    let did: Vec<&str> = records.iter().map(|record| record["event"].as_str().unwrap()).collect();
    // What changed nothing is no news.
    assert_eq!(
        did,
        ["init", "trust", "install", "trust", "trust", "install", "uninstall"],
        "{}",
        said.stdout
    );
}

#[test]
fn status_and_doctor_know_the_daemon() {
    let home = Home::new(&[]);
    home.run(&["status"]).exits(0).says("daemon: not running");
    assert_eq!(home.run(&["status", "--json"]).json()["daemon"]["state"], "not running");
    home.run(&["doctor"]).says("ok  daemon   not running");
    home.run(&["serve", "--restart"]).exits(0);
    let pid = home.run(&["serve", "--status", "--json"]).exits(0).json()["pid"].clone();
    let daemon = home.run(&["status", "--json"]).exits(0).json()["daemon"].clone();
    let running = format!("running, version {}, pid {pid}", env!("CARGO_PKG_VERSION"));
    home.run(&["status"]).exits(0).says(&format!("daemon: {running}"));
    home.run(&["doctor"]).says(&format!("ok  daemon   {running}"));
    home.run(&["serve", "--stop"]).exits(0);
    assert_eq!((&daemon["state"], &daemon["pid"]), (&Value::from("running"), &pid));
    home.run(&["status"]).exits(0).says("daemon: not running");
}

#[test]
fn otlp_counts_in_the_users_file_only_and_is_said_to_do_nothing_yet() {
    let home = Home::new(&[]);
    let hooks = "hooks: {Stop: [{name: a, reply: {}}]}";
    fs::write(home.project.join("crosier.yaml"), format!("{hooks}\notlp: {{endpoint: x}}\n")).unwrap();
    home.run(&["check"]).exits(78).says("`otlp` counts in the user's and the managed configuration only");
    fs::write(home.project.join("crosier.yaml"), hooks).unwrap();
    home.write(".config/crosier/crosier.yaml", "otlp: {endpoint: x}\n");
    home.run(&["check"]).says("`otlp` has no effect");
}

#[test]
fn installs_at_once_do_not_lose_each_other() {
    let agents =
        ["claude", "codex", "gemini", "qwen", "droid", "copilot", "cline", "opencode", "kimi", "cursor"];
    let home = Home::new(&[]);
    let before = home.tree();
    let all: Vec<_> = agents.iter().map(|agent| home.command(&["install", agent]).spawn().unwrap()).collect();
    for mut child in all {
        assert!(child.wait().unwrap().success());
    }
    home.run(&["uninstall"]).exits(0);
    assert_eq!(home.tree(), before, "what one of them wrote was not remembered");
}

#[test]
fn a_name_that_is_nearly_right_is_recognised() {
    let home = Home::new(&[".claude"]);
    let near = "no agent is called `cluade`, did you mean `claude`?";
    for args in [
        &["install", "cluade"][..],
        &["uninstall", "cluade"],
        &["init", "--yes", "--agents", "cluade"],
        &["try", "ls", "--agent", "cluade"],
        &["events", "--agent", "cluade"],
    ] {
        home.run(args).exits(64).says(near);
    }
    home.run(&["init", "--yes", "--pack", "crosier:recomended"])
        .exits(64)
        .says("did you mean `crosier:recommended`?");
    assert!(!home.project.join("crosier.yaml").exists());
}

#[test]
fn what_doctor_tried_is_no_event_of_the_agent() {
    let home = Home::new(&[".claude"]);
    home.run(&["init", "--yes"]).exits(0);
    home.run(&["doctor"]).exits(0).says("its entry denied the test event");
    home.run(&["status"]).exits(0).says("log: no event of an agent yet");
    let log = home.run(&["status", "--json"]).json()["log"].clone();
    assert_eq!((&log["denied_today"], &log["events_today"]), (&0.into(), &0.into()), "{log}");
    // It is in the log nevertheless: nothing that an agent can say keeps it out.
    home.run(&["log"]).exits(0).says("crosier uninstall");
}

#[test]
fn status_finds_the_last_event_behind_what_a_person_did() {
    let home = Home::new(&[".claude"]);
    home.run(&["init", "--yes"]).exits(0);
    let log = ".local/state/crosier/log/log.jsonl";
    let done = home.read(log);
    assert!(done.lines().all(|line| line.contains("\"command\"")), "{done}");
    let event = serde_json::json!({"session_id": "s", "hook_event_name": "Stop", "cwd": home.project});
    let mut hook = home.command(&["hook", "claude"]).stdin(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut hook.stdin.take().unwrap(), event.to_string().as_bytes()).unwrap();
    assert!(hook.wait().unwrap().success());
    home.write(log, &format!("{}{}", home.read(log), done.repeat(60)));
    home.run(&["status"]).exits(0).says("log: last event: claude, Stop");
}

#[test]
fn status_names_what_is_switched_off() {
    let home = Home::new(&[]);
    home.run(&["init", "--yes"]).exits(0);
    assert!(!home.run(&["status"]).exits(0).stdout.contains("switched off"));
    home.run(&["disable", "block-commands"]).exits(0);
    home.run(&["status"]).exits(0).says("switched off with `crosier disable`: block-commands\n");
    let project = home.run(&["status", "--json"]).exits(0).json()["project"].clone();
    assert_eq!(project["switched_off"], serde_json::json!(["block-commands"]), "{project}");
}

/// A Codex that answers as the real one does; only the beginning of its answer is another.
fn fake_codex(home: &Home, answer: &str) -> String {
    let folder = home.home.join("bin");
    fs::create_dir_all(&folder).unwrap();
    let script =
        format!("#!/bin/sh\nwhile read -r line; do case $line in *hooks/list*) {answer};; esac; done\n");
    fs::write(folder.join("codex"), script).unwrap();
    fs::set_permissions(folder.join("codex"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    format!("{}:/usr/bin:/bin", folder.display())
}

#[test]
fn doctor_asks_codex_itself() {
    let home = Home::new(&[".codex"]);
    home.run(&["install", "codex", "--trust"]).exits(0);
    let said = |answer: &str| {
        let path = fake_codex(&home, answer);
        let output = home.command(&["doctor", "--json"]).env("PATH", path).output().unwrap();
        let all: Value = serde_json::from_slice(&output.stdout).unwrap();
        let one = all.as_array().unwrap().iter().find(|one| one["what"] == "codex").unwrap().clone();
        (one["judged"].as_str().unwrap().to_owned(), one["says"].as_str().unwrap().to_owned())
    };
    let list = |status: &str| {
        let hook = serde_json::json!({"command": "/x/crosier hook codex --deadline 5", "trustStatus": status, "enabled": true});
        let answer = serde_json::json!({"id": 2, "result": {"data": [{"hooks": [hook]}]}});
        format!("echo '{{\"method\":\"other\"}}'; echo '{answer}'")
    };
    // It would fill the folder of somebody who never started it.
    let (judged, says) = said(&list("modified"));
    assert!(judged == "ok" && !says.contains("Codex trusts"), "{says}");
    home.write(".codex/installation_id", "x");
    let (judged, says) = said(&list("trusted"));
    assert!(judged == "ok" && says.ends_with("Codex trusts it"), "{says}");
    // Codex knows better than its files.
    let (judged, says) = said(&list("modified"));
    assert!(judged == "bad" && says.contains("runs 0 of 1 entries"), "{says}");
    let (judged, says) = said("exit 1");
    assert!(
        judged == "ok" && says.contains("by its files (codex app-server: it ended without an answer)"),
        "{says}"
    );
}
