//! A configuration file, YAML or JSON, with every built-in hook: loaded, or refused with problems that have a message.
#![no_main]

use crosier::config::Loader;
use crosier::protocol::Catalog;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let loader = crosier_builtins::register(Loader::new(Catalog::default()));
    if let Err(problems) = loader.text("crosier.yaml", text, "/nonexistent").load() {
        assert!(!problems.to_string().is_empty());
    }
});
