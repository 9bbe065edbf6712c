//! The output of a tool, searched for secrets.
#![no_main]

use std::sync::LazyLock;

use crosier::config::Loader;
use crosier::protocol::Catalog;
use crosier::{Engine, Event};
use libfuzzer_sys::fuzz_target;

static REDACT: LazyLock<Engine> = LazyLock::new(|| {
    let text = "hooks: {PostToolUse: [{type: builtin, handler: redact-secrets}]}";
    let loader = crosier_builtins::register(Loader::new(Catalog::default()));
    let config = loader.text("crosier.yaml", text, "/nonexistent").load().expect("the hook loads");
    Engine::builder().config(config).build().expect("the hook is registered")
});

fuzz_target!(|text: &str| {
    let fields = serde_json::json!({ "tool_name": "Bash", "tool_input": {}, "tool_response": text });
    let kind = Catalog::default().find("PostToolUse").expect("the table has it");
    let event = Event::from_json(kind, fields.to_string().as_bytes()).expect("it is a whole event");
    let outcome = REDACT.fire_blocking(&event);
    assert!(outcome.failures().next().is_none(), "the hook failed: {outcome:?}");
});
