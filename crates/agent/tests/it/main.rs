//! The agent from outside: one binary, a module per subject.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod golden;
mod history;
mod history_guard;
mod mcp;
mod mcp_failure;
mod mcp_http;
mod model_answer;
mod model_failure;
mod model_retry;
mod model_server;
mod permission;
mod sequence;
mod sequence_agents;
mod sequence_halt;
mod sequence_tools;
mod stage;
mod tools;
mod tools_bash;
mod tools_workspace;

#[test]
fn no_module_is_forgotten() {
    let me = include_str!("main.rs");
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap();
        assert!(name == "main" || me.contains(&format!("mod {name};")), "tests/it/{name} is not in main.rs");
    }
}
