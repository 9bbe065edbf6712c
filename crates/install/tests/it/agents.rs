//! What each agent gets.

use crosier_install::json;
use crosier_install::table::ALL;
use serde_json::Value;

use crate::lab::{Lab, row};

#[test]
fn every_agent_of_the_dialects_has_a_row() {
    let rows: Vec<&str> = ALL.iter().map(|row| row.agent).collect();
    let agents: Vec<&str> = crosier_dialect::ALL.iter().map(|agent| agent.name).collect();
    assert_eq!(rows, agents);
}

#[test]
fn an_event_that_cannot_be_read_is_denied_in_every_agent() {
    for row in ALL {
        let agent = row.dialect().unwrap();
        let answer = crosier_dialect::closed(agent, None, None, "REASON");
        let denies = answer.status != 0 || answer.stdout.contains("REASON");
        assert!(row.names_event || denies, "{}: its line must name the event", row.agent);
    }
}

#[test]
fn every_agent_is_installed_found_again_and_uninstalled_without_a_trace() {
    for row in ALL {
        let lab = Lab::new();
        let before = lab.tree();
        let plan = lab.install(row.agent).unwrap();
        assert!(!plan.is_empty(), "{}", row.agent);
        let after = lab.tree();
        assert!(
            row.install_plan(&lab.request()).unwrap().is_empty(),
            "{}: the second time nothing changes",
            row.agent
        );
        let found = crosier_install::installed::find_installed(row, &lab.request()).unwrap();
        assert_eq!(found.len(), 1, "{}", row.agent);
        assert_eq!(found[0].outdated, None, "{}", row.agent);
        assert!(
            found[0].commands.iter().all(|command| command.program == "/opt/my tools/crosier"),
            "{found:?}"
        );
        let what = found[0].commands.iter().map(|command| command.event.as_str()).collect::<Vec<_>>();
        assert!(what.iter().all(|event| !event.contains("WorktreeCreate")), "{what:?}");
        assert_ne!(before, after);
        lab.uninstall(row.agent);
        assert_eq!(lab.tree(), before, "{}", row.agent);
        assert!(!lab.store.has_record_of(row.agent));
    }
}

fn settings(lab: &Lab, path: &str) -> Value {
    json::value(&lab.read(path)).unwrap()
}

#[test]
fn claude_code_gets_words_and_a_gate_that_fails_closed() {
    let lab = Lab::new();
    lab.install("claude").unwrap();
    let hooks = &settings(&lab, ".claude/settings.json")["hooks"];
    let gate = &hooks["PreToolUse"][0]["hooks"][0];
    assert_eq!(gate["command"], "/opt/my tools/crosier");
    assert_eq!(gate["args"][0], "hook");
    assert_eq!(gate["args"][1], "claude");
    assert_eq!(gate["onFailure"], "block");
    assert_eq!(gate["timeout"], 600);
    let args: Vec<&str> = gate["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(args[args.len() - 2..], ["--deadline", "595"]);
    assert_eq!(hooks["SessionEnd"][0]["hooks"][0]["timeout"], 10);
    assert!(
        hooks["ConfigChange"].is_array() && hooks["UserPromptSubmit"][0]["hooks"][0]["onFailure"].is_null()
    );
    assert!(hooks["WorktreeCreate"].is_null() && hooks["FileChanged"].is_null());
}

#[test]
fn an_event_that_only_some_policies_need_is_installed_when_a_hook_names_it() {
    let lab = Lab::new();
    let in_force = ["FileChanged".to_owned(), "WorktreeCreate".to_owned(), "PostMessage".to_owned()];
    let mut request = lab.request();
    request.in_force = &in_force;
    lab.install_as("claude", &request).unwrap();
    lab.install_as("gemini", &request).unwrap();
    let hooks = &settings(&lab, ".claude/settings.json")["hooks"];
    assert!(hooks["FileChanged"].is_array() && hooks["WorktreeCreate"].is_null());
    assert!(settings(&lab, ".gemini/settings.json")["hooks"]["AfterModel"].is_array());
    // Without that hook the line goes away again, and only that.
    let found = crosier_install::installed::find_installed(row("claude"), &lab.request()).unwrap();
    assert!(found[0].outdated.is_some());
    lab.install("claude").unwrap();
    assert!(settings(&lab, ".claude/settings.json")["hooks"]["FileChanged"].is_null());
}

#[test]
fn a_project_gets_only_events_that_have_hooks_and_those_that_always_count() {
    let lab = Lab::new();
    let in_force = ["Stop".to_owned()];
    let mut request = lab.request();
    request.in_force = &in_force;
    request.scope = crosier_install::Scope::Project;
    lab.install_as("claude", &request).unwrap();
    let text = std::fs::read_to_string(lab.places.project.join(".claude/settings.local.json")).unwrap();
    let hooks = &json::value(&text).unwrap()["hooks"];
    assert!(hooks["Stop"].is_array() && hooks["PreToolUse"].is_array() && hooks["PostToolUse"].is_null());
}

#[test]
fn units_and_names() {
    let lab = Lab::new();
    for agent in ["gemini", "qwen", "copilot", "kiro", "codex", "cursor"] {
        lab.install(agent).unwrap();
    }
    let gemini = &settings(&lab, ".gemini/settings.json")["hooks"]["BeforeTool"][0]["hooks"][0];
    assert_eq!((&gemini["timeout"], &gemini["name"]), (&600_000.into(), &"crosier".into()));
    let qwen = &settings(&lab, ".qwen/settings.json")["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!(qwen["timeout"], 600);
    let copilot = settings(&lab, ".copilot/hooks/crosier.json");
    assert_eq!(copilot["version"], 1);
    let entry = &copilot["hooks"]["PreToolUse"][0];
    assert_eq!(entry["timeoutSec"], 600);
    assert!(entry["bash"].as_str().unwrap().starts_with("'/opt/my tools/crosier' hook copilot PreToolUse "));
    assert_eq!(settings(&lab, ".kiro/agents/crosier.json")["hooks"]["preToolUse"][0]["timeout_ms"], 30_000);
    assert_eq!(settings(&lab, ".codex/hooks.json")["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"], 3);
    assert_eq!(settings(&lab, ".cursor/hooks.json")["hooks"]["preToolUse"][0]["failClosed"], true);
}

#[test]
fn codex_is_told_only_on_request_that_its_lines_are_trusted() {
    let lab = Lab::new();
    let config = "# mine\nmodel = \"x\"\n";
    lab.write(".codex/config.toml", config);
    lab.install("codex").unwrap();
    assert_eq!(lab.read(".codex/config.toml"), config);
    let found = crosier_install::installed::find_installed(row("codex"), &lab.request()).unwrap();
    assert!(found[0].obstacles[0].contains("which are not trusted"), "{found:?}");
    let mut request = lab.request();
    request.trust = true;
    lab.install_as("codex", &request).unwrap();
    let found = crosier_install::installed::find_installed(row("codex"), &lab.request()).unwrap();
    assert_eq!(found[0].obstacles, Vec::<String>::new());
    assert!(row("codex").install_plan(&request).unwrap().is_empty());
    // Codex writes its own settings meanwhile: they stay.
    let more = lab.read(".codex/config.toml") + "\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n";
    lab.write(".codex/config.toml", &more);
    lab.uninstall("codex");
    assert_eq!(
        lab.read(".codex/config.toml"),
        format!("{config}\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n")
    );
}
