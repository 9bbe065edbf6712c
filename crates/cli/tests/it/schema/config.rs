//! The schema of the configuration: it knows what the loader knows.

use std::fs;

use crosier::config::{Source, parse_document};
use serde_json::{Value, json};

use super::{corpus, fits, repository, schema, validator, value};
use crate::lab::Lab;

#[test]
fn every_good_configuration_of_the_corpus_fits() {
    let validator = validator("config");
    let mut seen = 0;
    for (what, case) in corpus() {
        let expects_error = case.get("expect").is_some_and(|expect| expect.get("error").is_some());
        let config = case.get("config").filter(|config| config.as_map().is_some());
        if let Some(config) = config.filter(|_| !expects_error).and_then(value) {
            fits(&validator, &config, &what);
            seen += 1;
        }
    }
    assert!(seen > 700, "only {seen} configurations were seen");
}

#[test]
fn configurations_of_the_examples_fit() {
    let validator = validator("config");
    let Ok(examples) = fs::read_dir(repository().join("examples")) else { return };
    for folder in examples {
        for entry in fs::read_dir(folder.unwrap().path()).into_iter().flatten() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if name == "hooks.yaml" || name == "crosier.yaml" {
                let source = Source::new(path.display().to_string(), fs::read_to_string(&path).unwrap());
                fits(&validator, &value(&parse_document(&source).unwrap()).unwrap(), &source.name);
            }
        }
    }
}

#[test]
fn typical_mistakes_in_a_configuration_do_not_fit() {
    let validator = validator("config");
    let hook = |hook: Value| json!({"hooks": {"PreToolUse": [hook]}});
    fits(
        &validator,
        &hook(json!({"command": "x", "onError": "abort", "x-mine": 1})),
        "the same without a mistake",
    );
    fits(&validator, &json!({"hooks": {"pre:tool:shell": [{"run": "/log info x"}]}, "ui": 3}), "a point");
    let builtin = json!({"type": "builtin", "handler": "block-commands", "options": {"except": ["x"]}});
    fits(&validator, &hook(builtin), "a built-in");
    fits(&validator, &hook(json!({"type": "builtin", "handler": "protect-paths"})), "a built-in as it is");
    for bad in [
        hook(json!({"type": "builtin", "handler": "block-comands"})),
        hook(json!({"type": "builtin"})),
        hook(json!({"type": "builtin", "handler": "block-commands", "options": {"exept": ["x"]}})),
        hook(json!({"type": "builtin", "handler": "block-commands", "options": ["x"]})),
        hook(json!({"comand": "x"})),
        hook(json!({"command": "x", "timeout": "soon"})),
        hook(json!({"command": "x", "timeout": 0})),
        hook(json!({"command": "x", "timeout": "5 parsecs"})),
        hook(json!({"command": "x", "priority": "high"})),
        hook(json!({"command": "x", "on_error": "deny"})),
        hook(json!({"command": "x", "enabled": "yes"})),
        hook(json!({"command": "x", "matcher": 3})),
        hook(json!({"command": "x", "argv": ["y"]})),
        hook(json!({"command": ["x"]})),
        hook(json!({"argv": []})),
        hook(json!({"type": "shell", "command": "x"})),
        hook(json!({"name": "nothing"})),
        hook(json!("command: x")),
        hook(json!({"hooks": [{"command": "x"}], "command": "y"})),
        hook(json!({"hooks": [{"comand": "x"}]})),
        json!({"hooks": {"PreTolUse": []}}),
        json!({"hooks": {"pre:tol:shell": []}}),
        json!({"hooks": {"Stop": {"hooks": [], "overide": true}}}),
        json!({"hooks": {"Stop": {"command": "x"}}}),
        json!({"hooks": {"Stop": "x"}}),
        json!({"hooks": []}),
        json!({"hooks": {"error_behavior": "ignore"}}),
        json!({"hooks": {"max_hooks_per_point": 0}}),
        json!({"agents": [{"id": "a", "hooks": {"Stopp": []}}]}),
        json!({"agents": {"a": {"backend": {"hooks": {"Stop": [{}]}}}}}),
        json!({"permissions": {"shellExec": "sometimes"}}),
        json!(["hooks"]),
    ] {
        assert!(!validator.is_valid(&bad), "{bad}");
    }
}

#[test]
fn the_words_of_the_schema_are_those_that_the_loader_names() {
    let schema = schema("config");
    let words = |path: &str| -> Vec<String> {
        let words = schema.pointer(path).unwrap()["enum"].as_array().unwrap().iter();
        words.filter_map(|word| word.as_str().map(str::to_owned)).collect()
    };
    for (key, path, config) in [
        ("type", "/$defs/hook/properties/type", "hooks: {Stop: [{type: zzzzzz}]}"),
        ("on_error", "/$defs/hook/properties/on_error", "hooks: {Stop: [{reply: {}, on_error: zzzzzz}]}"),
        ("output", "/$defs/hook/properties/output", "hooks: {Stop: [{command: x, output: zzzzzz}]}"),
        (
            "isolate",
            "/$defs/hook/properties/isolate",
            "hooks: {Stop: [{type: python, handler: m.f, isolate: zzzzzz}]}",
        ),
        ("fail", "/$defs/hook/properties/fail", "hooks: {Stop: [{fail: zzzzzz}]}"),
        ("error_behavior", "/$defs/section/properties/error_behavior", "hooks: {error_behavior: zzzzzz}"),
    ] {
        let said = Lab::with(config).run(&["check"]).exits(78).stdout;
        let (_, named) = said.split_once("help: use one of ").unwrap_or_else(|| panic!("{key}: {said}"));
        let (mut named, mut known): (Vec<&str>, _) =
            (named.lines().next().unwrap().split(", ").collect(), words(path));
        named.sort_unstable();
        known.sort_unstable();
        assert_eq!(known, named, "{key}");
    }
}

/// What only `check` can find: what is on the disk, what two places say together, and what is inside a text.
const ONLY_CHECK: [&str; 25] = [
    "handler-without-type",
    "python-module-and-package",
    "builtin-in-the-wrong-place",
    "builtin-option-value",
    "command-empty",
    "cwd-missing",
    "handler-file-missing",
    "handler-is-a-folder",
    "handler-not-executable",
    "matcher-bad-regex",
    "matcher-empty-part",
    "matcher-on-stop",
    "matcher-open-class",
    "matcher-reversed",
    "matcher-twice",
    "name-twice",
    "override-in-the-base",
    "pasted-data",
    "python-handler-is-a-file",
    "python-handler-without-module",
    "script-file-missing",
    "script-line-unknown-command",
    "script-line-unknown-variable",
    "system-in-an-agent",
    "too-many",
];

/// The files of `tests/good_configs` and `tests/bad_configs`: what `check` calls an error does not fit the schema, and
/// what fits it is no error, but for the known differences.
#[test]
fn the_schema_and_check_agree() {
    let validator = validator("config");
    let mut wrong = Vec::new();
    let mut seen = 0;
    for folder in ["good_configs", "bad_configs"] {
        let folder = repository().join("crates/cli/tests").join(folder);
        let mut files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in
            files.iter().filter(|file| file.extension().is_some_and(|end| end == "yaml" || end == "json"))
        {
            let name = file.file_stem().unwrap().to_str().unwrap();
            let source = Source::new(name, fs::read_to_string(file).unwrap_or_default());
            // A text that cannot be read as YAML has no value that could fit.
            let fits = parse_document(&source)
                .is_ok_and(|node| value(&node).is_some_and(|value| validator.is_valid(&value)));
            let status = std::process::Command::new(crate::lab::CROSIER)
                .args(["check", "--no-import", "-c"])
                .arg(file.file_name().unwrap())
                .current_dir(&folder)
                .output()
                .unwrap();
            let is_good = status.status.code() == Some(0);
            if is_good != fits && !(fits && ONLY_CHECK.contains(&name)) {
                wrong.push(format!("{name}: check {is_good}, schema {fits}"));
            }
            seen += 1;
        }
    }
    assert!(seen > 80, "only {seen} files were seen");
    assert!(wrong.is_empty(), "they differ:\n{}", wrong.join("\n"));
}
