//! Ways around the protection of Crosier's own files, by what commands do to the folders around them.

use std::path::Path;

use crosier::config::Loader;
use crosier::{Catalog, Engine};
use serde_json::{Value, json};

/// What the self-guard says about a call in a project of somebody.
fn verdict(tool: &str, input: &Value) -> &'static str {
    static ENGINE: std::sync::LazyLock<Engine> = std::sync::LazyLock::new(|| {
        let home = Path::new("/people/someone");
        let host = crate::Host {
            home: Some(home.to_owned()),
            state_folder: Some(home.join(".local/state/crosier")),
            own_folders: vec![home.join(".config/crosier")],
            ..crate::Host::default()
        };
        let loader = crate::register_for(Loader::new(Catalog::default()), &host);
        let config = loader.text("self-guard.yaml", crate::self_guard::CONFIG, Path::new("/nowhere"));
        Engine::builder().config(config.load().unwrap()).build().unwrap()
    });
    let event = json!({"tool_name": tool, "tool_input": input, "cwd": "/people/someone/work"}).to_string();
    let event = ENGINE.event("PreToolUse", event.as_bytes()).unwrap();
    match ENGINE.fire_blocking(event).decision {
        Some(crosier::Decision::Deny) => "deny",
        Some(crosier::Decision::Ask) => "ask",
        _ => "free",
    }
}

#[test]
fn every_call_gets_its_verdict() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    let lines = include_str!("../../tests/data/self-guard-lines.txt").lines();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (expected, call) = line.split_once(' ').unwrap();
        let found = match call.split_once(' ').filter(|(_, input)| input.starts_with("{\"")) {
            Some((tool, input)) => verdict(tool, &serde_json::from_str(input).unwrap()),
            None => verdict("Bash", &json!({"command": call.replace('␤', "\n")})),
        };
        count += 1;
        if found != expected {
            wrong.push(format!("{call}: {found} instead of {expected}"));
        }
    }
    assert!(count > 250, "{count}");
    assert!(wrong.is_empty(), "{} of {count} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
