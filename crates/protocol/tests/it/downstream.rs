//! A crate outside the workspace that embeds the engine: its own `serde_json` stays as it is.

use std::fs;
use std::path::Path;
use std::process::Command;

const MAIN: &str = r##"
fn main() {
    let hook = crosier::Hook::on(crosier::payload::PreToolUse)
        .callback(|_: &crosier::payload::PreToolUse| crosier::Reply::deny("no"));
    let engine = crosier::Engine::builder().hook(hook).build().unwrap();
    let input = crosier::Json::parse(r#"{"z":1,"a":2}"#).unwrap();
    let event = crosier::Event::from(crosier::payload::PreToolUse::new("Bash", input));
    assert!(event.wire().unwrap().contains(r#"{"z":1,"a":2}"#));
    assert!(engine.fire_blocking(event).is_denied());
    println!("{}", serde_json::json!({"z": 1, "a": 2}));
}
"##;

/// Cargo in a crate that depends on the engine without its default features, and on `serde_json` as it comes.
fn cargo(folder: &Path) -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let engine = root.join("crates/engine");
    let manifest = format!(
        "[package]\nname = \"downstream\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
         crosier = {{ path = {engine:?}, default-features = false }}\nserde_json = \"1\"\n"
    );
    fs::create_dir(folder.join("src")).unwrap();
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("src/main.rs"), MAIN).unwrap();
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(folder).env("CARGO_TARGET_DIR", root.join("target/downstream"));
    cargo
}

fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn an_embedder_gets_no_feature_that_changes_its_maps() {
    let folder = tempfile::tempdir().unwrap();
    let tree = printed(cargo(folder.path()).args([
        "tree",
        "--offline",
        "--edges",
        "normal,features",
        "--invert",
        "serde_json",
    ]));
    assert!(tree.contains("raw_value"), "{tree}");
    for feature in ["preserve_order", "arbitrary_precision"] {
        assert!(!tree.contains(feature), "{tree}");
    }
}

#[test]
fn an_embedders_own_maps_are_sorted_as_serde_json_has_it() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(printed(cargo(folder.path()).args(["run", "--offline", "--quiet"])), "{\"a\":2,\"z\":1}\n");
}
