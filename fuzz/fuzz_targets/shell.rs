//! A command line that a model wrote, judged by the guard that reads it.
#![no_main]

use std::sync::LazyLock;

use crosier::config::Loader;
use crosier::payload::PreToolUse;
use crosier::protocol::{Catalog, Json};
use crosier::{Engine, Event};
use libfuzzer_sys::fuzz_target;

static GUARD: LazyLock<Engine> = LazyLock::new(|| {
    let text = "hooks: {PreToolUse: [
        {type: builtin, handler: block-commands},
        {type: builtin, handler: protect-paths}]}";
    let loader = crosier_builtins::register(Loader::new(Catalog::default()));
    let config = loader.text("crosier.yaml", text, "/nonexistent").load().expect("the guards load");
    Engine::builder().config(config).build().expect("the guards are registered")
});

fuzz_target!(|line: &str| {
    let input = Json::from(serde_json::json!({ "command": line }));
    let outcome = GUARD.fire_blocking(&Event::from(PreToolUse::new("Bash", input)));
    assert!(outcome.failures().next().is_none(), "a guard failed: {outcome:?}");
});
