//! Lines that were written, or taken from public repositories, without knowledge of the rules: what the recommended
//! pack says about each.

use crosier::config::Loader;
use crosier::{Catalog, Decision, Engine};
use serde_json::json;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/");

fn engine() -> Engine {
    let loader = crate::register(Loader::new(Catalog::default()));
    let config =
        loader.text("hooks.yaml", "extends: [crosier:recommended]", std::path::Path::new("/nowhere"));
    Engine::builder().config(config.load().unwrap()).build().unwrap()
}

fn verdict(engine: &Engine, line: &str) -> &'static str {
    // A call of another tool is written as its event.
    let mut event = match line.starts_with("{\"tool_name\"") {
        true => serde_json::from_str(line).unwrap(),
        false => json!({"tool_name": "Bash", "tool_input": {"command": line.replace('␤', "\n")}}),
    };
    event["cwd"] = json!("/home/dev/project");
    let event = engine.event("PreToolUse", event.to_string().as_bytes()).unwrap();
    match engine.fire_blocking(event).decision {
        Some(Decision::Deny) => "deny",
        Some(Decision::Ask) => "ask",
        _ => "-",
    }
}

/// Every line with its heading and its verdict; all are as the file says, or the file is rewritten.
#[expect(clippy::disallowed_methods, reason = "a person asks for the file to be written")]
fn judged(file: &str) -> Vec<(String, &'static str)> {
    let engine = engine();
    let path = format!("{FOLDER}{file}");
    let data = std::fs::read_to_string(&path).unwrap();
    let (mut heading, mut rows) = (String::new(), Vec::new());
    let (mut written, mut wrong) = (String::new(), Vec::new());
    for row in data.lines() {
        if let Some(text) = row.strip_prefix("# ") {
            heading = text.to_owned();
            written.push_str(row);
        } else {
            let (expected, line) = row.split_once('\t').unwrap();
            let found = verdict(&engine, line);
            if found != expected {
                wrong.push(format!("{line}: {found} instead of {expected}"));
            }
            rows.push((heading.clone(), found));
            written.push_str(&format!("{found}\t{line}"));
        }
        written.push('\n');
    }
    if std::env::var_os("CROSIER_GENERATE").is_some() {
        std::fs::write(&path, written).unwrap();
    } else {
        assert!(wrong.is_empty(), "{} lines have another verdict: {wrong:#?}", wrong.len());
    }
    rows
}

#[test]
fn new_dangerous_lines_do_not_pass_in_silence() {
    let rows = judged("new-dangerous-lines.txt");
    let silent = rows.iter().filter(|(_, verdict)| *verdict == "-").count();
    assert!(rows.len() >= 2_000 && silent * 100 <= rows.len() * 5, "{silent} of {} pass", rows.len());
}

#[test]
fn new_everyday_lines_are_left_alone() {
    let rows = judged("new-everyday-lines.txt");
    let everyday: Vec<&str> = rows
        .iter()
        .filter(|(heading, _)| heading != "A person decides")
        .map(|(_, verdict)| *verdict)
        .collect();
    let count = |wanted: &str| everyday.iter().filter(|verdict| **verdict == wanted).count();
    let (denied, asked, all) = (count("deny"), count("ask"), everyday.len());
    assert!(
        all >= 5_000 && denied * 1_000 <= all && asked * 1_000 <= all * 5,
        "{denied} denied, {asked} asked of {all}"
    );
}
