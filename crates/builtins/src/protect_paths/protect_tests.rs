//! Protected files stay protected, however they are named.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crosier::config::Loader;
use crosier::{Catalog, Decision, Engine};
use serde_json::{Value, json};

use super::ProtectPaths;

struct Lab {
    engine: Engine,
    folder: tempfile::TempDir,
}

impl Lab {
    fn new(options: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let hook = json!({"type": "builtin", "handler": "protect-paths", "options": options});
        let config = json!({"hooks": {"PreToolUse": [hook], "PreGitWrite": [hook]}}).to_string();
        fs::write(folder.path().join("hooks.yaml"), &config).unwrap();
        let loader = Loader::new(Catalog::default()).builtin(ProtectPaths::default());
        let config = loader.file(folder.path().join("hooks.yaml")).load().unwrap();
        Self { engine: Engine::builder().config(config).build().unwrap(), folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn decide(&self, tool: &str, input: Value) -> Option<Decision> {
        let event = json!({"tool_name": tool, "tool_input": input, "cwd": self.path()}).to_string();
        let event = self.engine.event("PreToolUse", event.as_bytes()).unwrap();
        self.engine.fire_blocking(event).decision
    }

    fn bash(&self, line: &str) -> Option<Decision> {
        self.decide("Bash", json!({"command": line}))
    }
}

const DENY: Option<Decision> = Some(Decision::Deny);
const ASK: Option<Decision> = Some(Decision::Ask);

#[test]
fn tools_are_stopped_by_their_path_fields() {
    let lab = Lab::new(&json!({}));
    for (tool, input, expected) in [
        ("Read", json!({"file_path": ".env"}), DENY),
        ("Read", json!({"file_path": "./a/../.env.local"}), DENY),
        ("Read", json!({"file_path": ".ENV"}), DENY),
        ("Read", json!({"file_path": ".env.example"}), None),
        ("Read", json!({"file_path": "src/environment.rs"}), None),
        ("Read", json!({"file_path": "~/.ssh/id_rsa"}), DENY),
        ("Read", json!({"file_path": "/home/x/.ssh/id_ed25519.pub"}), None),
        ("Read", json!({"file_path": ".git/config"}), None),
        ("Write", json!({"file_path": ".git/hooks/pre-commit", "content": ""}), DENY),
        ("Edit", json!({"file_path": "deep/.git/config"}), DENY),
        ("NotebookEdit", json!({"notebook_path": "keys/server.pem"}), ASK),
        ("Write", json!({"file_path": ".env", "content": "A=1"}), ASK),
        ("Write", json!({"file_path": ".envrc", "content": "use flake"}), ASK),
        ("Write", json!({"file_path": "~/.ssh/id_rsa", "content": ""}), DENY),
        ("Read", json!({"file_path": "terraform.tfstate"}), ASK),
        ("mcp__x__go", json!({"path": "src", "command": "cat .env"}), DENY),
        ("mcp__fs__write_file", json!({"path": "x/crosier.yaml"}), DENY),
        ("mcp__fs__read_multiple_files", json!({"paths": ["a", "b/.env"]}), DENY),
        ("mcp__x__upload", json!({"file": "server.key"}), DENY),
        ("apply_patch", json!({"input": "*** Begin Patch\n*** Update File: .env\n"}), ASK),
        ("Write", json!({"file_path": "hooks.yaml", "content": "hooks: {}"}), DENY),
        ("Write", json!({"file_path": "hooks.yaml.state.json", "content": ""}), DENY),
        ("Read", json!({"file_path": "hooks.yaml"}), None),
        ("Grep", json!({"pattern": "x", "path": ".env"}), DENY),
        ("WebFetch", json!({"url": "https://example.com"}), None),
    ] {
        assert_eq!(lab.decide(tool, input.clone()), expected, "{tool} {input}");
    }
}

#[test]
fn every_line_gets_its_verdict() {
    let lab = Lab::new(&json!({}));
    for name in [".env", "a.pem", "notes.txt"] {
        fs::write(lab.path().join(name), "").unwrap();
    }
    let lines = include_str!("../../tests/data/protected-lines.txt").lines();
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (verdict, call) = line.split_once(' ').unwrap();
        count += 1;
        let input = call.split_once(' ').filter(|(_, json)| json.starts_with("{\""));
        let decision = match input {
            Some((tool, input)) => lab.decide(tool, serde_json::from_str(input).unwrap()),
            None => lab.bash(call),
        };
        let found = match decision {
            Some(Decision::Deny) => "deny",
            Some(Decision::Ask) => "ask",
            _ => "free",
        };
        if found != verdict {
            wrong.push(format!("{call}: {found} instead of {verdict}"));
        }
    }
    assert!(count > 150, "{count}");
    assert!(wrong.is_empty(), "{} of {count} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_folder_that_holds_the_configuration_is_not_removed() {
    let lab = Lab::new(&json!({}));
    let folder = lab.path().display().to_string();
    assert_eq!(lab.bash(&format!("rm -rf {folder}")), DENY);
    assert_eq!(lab.bash(&format!("mv {folder} /tmp/elsewhere")), DENY);
    assert_eq!(lab.bash(&format!("rm -rf {folder}/target")), None);
}

#[test]
fn links_do_not_help() {
    let lab = Lab::new(&json!({}));
    let root = lab.path();
    fs::create_dir(root.join(".git")).unwrap();
    fs::write(root.join(".env"), "").unwrap();
    symlink(".env", root.join("notes.txt")).unwrap();
    symlink(".git", root.join("store")).unwrap();
    symlink("hooks.yaml", root.join("other.yaml")).unwrap();
    symlink(".env", root.join(".env.example")).unwrap();
    assert_eq!(lab.decide("Read", json!({"file_path": "notes.txt"})), DENY);
    assert_eq!(lab.bash("cat notes.txt"), DENY);
    assert_eq!(lab.decide("Write", json!({"file_path": "store/config"})), DENY);
    assert_eq!(lab.decide("Edit", json!({"file_path": "other.yaml"})), DENY);
    assert_eq!(lab.decide("Read", json!({"file_path": ".env.example"})), DENY);
}

#[test]
fn options_choose_the_patterns() {
    let lab = Lab::new(
        &json!({"no_read": ["./private/**"], "also_no_write": ["*.lock"], "except": ["./private/ok"]}),
    );
    assert_eq!(lab.decide("Read", json!({"file_path": "private/a"})), DENY);
    assert_eq!(lab.decide("Read", json!({"file_path": "private/ok"})), None);
    assert_eq!(lab.decide("Read", json!({"file_path": ".env"})), None);
    assert_eq!(lab.decide("Write", json!({"file_path": "Cargo.lock"})), DENY);
    assert_eq!(lab.decide("Write", json!({"file_path": ".git/x"})), DENY);
}

#[test]
fn commits_are_stopped_too() {
    let lab = Lab::new(&json!({}));
    let fire = |path: &str| {
        let event = json!({"path": path, "content": "", "cwd": lab.path()}).to_string();
        lab.engine.fire_blocking(lab.engine.event("PreGitWrite", event.as_bytes()).unwrap()).decision
    };
    assert_eq!(fire("config/.env"), DENY);
    assert_eq!(fire("src/main.rs"), None);
}
