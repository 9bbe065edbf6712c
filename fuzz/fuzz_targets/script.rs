//! One line of an `.arma` script, as a `run:` key has it.
#![no_main]

use crosier::config::Loader;
use crosier::protocol::Catalog;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|line: &str| {
    let quoted = line.replace('\'', "''");
    let text = format!("hooks:\n  PreToolUse:\n    - run: '{quoted}'\n");
    let _ = Loader::new(Catalog::default()).text("crosier.yaml", &text, "/nonexistent").load();
});
