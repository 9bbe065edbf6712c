//! The list itself, and how options change it. Lines and verdicts are in `tests/data/shell-lines.txt`.

use crosier::config::Loader;
use crosier::{Catalog, Engine, Outcome};
use serde_json::{Value, json};

use super::{BlockCommands, entries};

fn engine(options: &Value, folder: &std::path::Path) -> Result<Engine, String> {
    let hook = json!({"type": "builtin", "handler": "block-commands", "options": options});
    let config = json!({"hooks": {"PreToolUse": [hook]}}).to_string();
    let loader = Loader::new(Catalog::default()).builtin(BlockCommands);
    let config =
        loader.text("hooks.yaml", &config, folder).load().map_err(|problems| problems.to_string())?;
    Ok(Engine::builder().config(config).build().unwrap())
}

fn bash(engine: &Engine, line: &str) -> Outcome {
    bash_in("/w", engine, line)
}

fn bash_in(folder: &str, engine: &Engine, line: &str) -> Outcome {
    let event = json!({"tool_name": "Bash", "tool_input": {"command": line}, "cwd": folder}).to_string();
    engine.fire_blocking(engine.event("PreToolUse", event.as_bytes()).unwrap())
}

#[test]
fn every_entry_has_a_reason_and_a_safer_way() {
    let entries: Vec<_> = entries().collect();
    assert!(entries.len() > 40);
    let mut ids: Vec<&str> = entries.iter().map(|entry| entry.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), entries.len(), "an id is there twice");
    for entry in &entries {
        assert!(!entry.reason.is_empty() && !entry.instead.is_empty(), "{}", entry.id);
    }
}

#[test]
fn the_reason_names_the_entry_and_the_safer_way() {
    let engine = engine(&json!({}), "/".as_ref()).unwrap();
    let reason = bash(&engine, "sudo rm -rf /").reason.unwrap();
    assert!(
        reason.contains("`rm -rf /`") && reason.contains("rm-top") && reason.contains("Instead: "),
        "{reason}"
    );
    assert_eq!(bash(&engine, "ls").decision, None);
}

#[test]
fn a_project_may_be_in_a_folder_of_services() {
    let engine = engine(&json!({}), "/".as_ref()).unwrap();
    for folder in ["/srv/app", "/opt/work/app", "/root/app", "/var/www/app"] {
        for line in ["rm -rf dist", "rm -rf build/ *.egg-info", "find . -name __pycache__ -exec rm -rf {} +"]
        {
            assert_eq!(bash_in(folder, &engine, line).decision, None, "{line} in {folder}");
        }
        for line in ["rm -rf ../other", "rm -rf .", &format!("rm -rf {folder}")] {
            assert!(bash_in(folder, &engine, line).decision.is_some(), "{line} in {folder}");
        }
    }
    // Only a project's own folder holds its work, not one above folders of services or above somebody's documents.
    for (folder, line) in [
        ("/", "rm -rf /var/lib/mysql"),
        ("/", "rm -rf srv/app"),
        ("/var", "rm -rf lib/mysql"),
        ("/srv", "rm -rf app"),
        ("/root", "rm -rf /root/app"),
        ("/home/dev", "rm -rf ~/Documents/taxes/2024"),
        ("/home/dev", "rm -rf /home/dev/Documents/taxes/2024"),
        ("/home/dev/Documents", "rm -rf ~/Documents/taxes/2024"),
    ] {
        assert!(bash_in(folder, &engine, line).decision.is_some(), "{line} in {folder}");
    }
    let line = "rm -rf /home/dev/Documents/code/app/generated";
    assert_eq!(bash_in("/home/dev/Documents/code/app", &engine, line).decision, None);
    assert!(bash_in("/etc/nginx", &engine, "rm -rf sites-enabled").decision.is_some());
    assert!(bash_in("/var/lib/mysql", &engine, "rm -rf data").decision.is_some());
}

#[test]
fn the_list_can_be_extended_and_softened() {
    let folder = tempfile::tempdir().unwrap();
    let more = "commands: [{id: no-foo, programs: [foo], reason: foo is bad, instead: use bar}]";
    std::fs::write(folder.path().join("more.yaml"), more).unwrap();
    let options = json!({"also": ["more.yaml"], "except": ["reboot-x", "power"], "ask": ["rm-top"],
        "commands": [{"id": "reboot-x", "programs": "baz", "flags": [["x"]], "reason": "no"}]});
    let engine = engine(&options, folder.path()).unwrap();
    let decision = |line: &str| bash(&engine, line).decision.map(crosier::Decision::word);
    assert_eq!(decision("foo"), Some("deny"));
    assert_eq!(decision("reboot"), None);
    assert_eq!(decision("rm -rf /"), Some("ask"));
    assert_eq!(decision("baz -x"), None);
}

#[test]
fn mistakes_in_options_are_load_errors() {
    let folder = tempfile::tempdir().unwrap();
    for (options, message) in [
        (json!({"except": ["rm-tap"]}), "did you mean `rm-top`?"),
        (json!({"also": ["missing.yaml"]}), "cannot be used"),
        (json!({"commands": [{"id": "x", "reason": "y"}]}), "names no `programs`"),
        (json!({"commands": [{"id": "x", "program": "y", "reason": "z"}]}), "did you mean `programs`?"),
        (json!({"comands": []}), "did you mean `commands`?"),
    ] {
        let error = engine(&options, folder.path()).unwrap_err();
        assert!(error.contains(message), "{options}: {error}");
    }
}
