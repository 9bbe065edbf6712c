//! The architecture rules, checked on the source tree: who may import whom, how long a file may be, what things are
//! called, and that no test file is forgotten. A broken rule is printed with the file that broke it.
//!
//! The checker works on a [`Tree`] of file names and texts, so that its own tests can break every rule in a
//! made-up tree and see that it notices.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Modules of the engine that an event passes through, in this order. A module imports only earlier ones.
const ORDER: [&str; 7] = ["registry", "ingest", "plan", "message", "run", "fold", "gate"];
/// Modules outside of that order: `config` builds a registry, `engine` uses all others.
const OUTSIDE_ORDER: [&str; 2] = ["config", "engine"];
/// Modules that are pure: no runtime, no process, no thread.
const PURE: [&str; 3] = ["plan", "fold", "gate"];
/// What the protocol may depend on.
const PROTOCOL_MAY: [&str; 2] = ["serde", "serde_json"];
/// Names that say nothing.
const EMPTY_NAMES: [&str; 4] = ["utils", "common", "manager", "types"];
/// The maximum number of lines of a file, without its tests.
const MAX_LINES: usize = 500;

/// Files by their path from the root of the workspace.
type Tree = BTreeMap<String, String>;

#[test]
fn the_architecture_rules_hold() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut tree = Tree::new();
    for place in ["crates", "bench"] {
        read(&root, place, &mut tree);
    }
    assert!(tree.contains_key("crates/engine/src/lib.rs") && tree.contains_key("crates/protocol/Cargo.toml"));
    let broken = check(&tree);
    assert!(broken.is_empty(), "the architecture rules are broken:\n{}", broken.join("\n"));
}

fn read(root: &Path, place: &str, tree: &mut Tree) {
    let mut entries: Vec<_> = fs::read_dir(root.join(place)).unwrap().map(Result::unwrap).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().into_string().unwrap();
        let path = format!("{place}/{name}");
        // A file may vanish while it is looked at: others work in the same tree.
        let Ok(meta) = entry.metadata() else { continue };
        if meta.is_dir() && name != "target" && !name.starts_with('.') {
            read(root, &path, tree);
        } else if path.ends_with(".rs") || name == "Cargo.toml" {
            tree.extend(fs::read_to_string(root.join(&path)).ok().map(|text| (path, text)));
        }
    }
}

/// Every broken rule, in words.
fn check(tree: &Tree) -> Vec<String> {
    let mut broken = Vec::new();
    let mut seen: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in tree {
        if let Some(inside) = path.strip_prefix("crates/engine/src/") {
            check_module(path, inside, text, &mut seen, &mut broken);
        }
        if path == "crates/protocol/Cargo.toml" {
            for name in dependencies(text).iter().filter(|name| !PROTOCOL_MAY.contains(&name.as_str())) {
                broken.push(format!(
                    "{path}: the protocol depends on serde and serde_json only, not on {name}"
                ));
            }
        }
        if path.ends_with(".rs") {
            check_size(path, text, &mut broken);
            check_name(path, &mut broken);
            check_declared(path, tree, &mut broken);
        }
    }
    for (module, modules) in seen {
        if modules.len() > 2 && module != "engine" {
            broken.push(format!(
                "crates/engine/src/{module}: only engine/ sees more than two modules, but this one sees {}",
                modules.into_iter().collect::<Vec<_>>().join(", ")
            ));
        }
    }
    broken.dedup();
    broken
}

fn check_module<'a>(
    path: &str,
    inside: &'a str,
    text: &str,
    seen: &mut BTreeMap<&'a str, BTreeSet<String>>,
    broken: &mut Vec<String>,
) {
    let Some((module, rest)) = inside.split_once('/') else { return };
    let is_module = |name: &str| ORDER.contains(&name) || OUTSIDE_ORDER.contains(&name);
    if !is_module(module) {
        broken.push(format!(
            "{path}: `{module}` is not a module that the architecture test knows; add it to ORDER"
        ));
        return;
    }
    if rest.ends_with("_tests.rs") {
        return;
    }
    let (code, _) = without_tests(text);
    let paths = paths(&code);
    for path_in_code in &paths {
        let words: Vec<&str> = path_in_code.iter().map(String::as_str).collect();
        match words[..] {
            ["crate", other, ..] if other == module => {}
            ["crate", other, ..] if is_module(other) => {
                seen.entry(module).or_default().insert(other.to_owned());
                if let Some(why) = forbidden(module, other) {
                    broken.push(format!("{path}: {why}"));
                }
            }
            ["crate", other, ..] if module != "engine" => {
                broken.push(format!(
                    "{path}: `crate::{other}` hides the module that it comes from; name the module"
                ));
            }
            ["super", ..] => {
                let climbs = words.iter().take_while(|word| **word == "super").count();
                let depth = 1 + rest.matches('/').count() + usize::from(!rest.ends_with("mod.rs"));
                if climbs >= depth {
                    broken.push(format!(
                        "{path}: `super` climbs out of its module; write `crate::` and the module"
                    ));
                }
            }
            _ => {}
        }
        let impure = matches!(words[..], ["tokio", ..] | ["std", "process" | "thread", ..]);
        if PURE.contains(&module) && impure {
            broken.push(format!("{path}: {module} is pure and may not name {}", words.join("::")));
        }
    }
}

/// Why this module may not import that one.
fn forbidden(module: &str, other: &str) -> Option<String> {
    let place = |name: &str| ORDER.iter().position(|module| *module == name);
    match (module, other) {
        ("engine", _) => None,
        (_, "engine") => Some(format!("{module} may not import engine, which joins all modules")),
        ("config", "registry") => None,
        ("config", _) => Some(format!("config only builds a registry and may not import {other}")),
        (_, "config") => {
            Some(format!("{module} may not import config: modules know the registry, not files"))
        }
        ("registry", _) => Some(format!("registry imports no module, but it imports {other}")),
        _ if place(other) > place(module) => {
            Some(format!("{module} may not import {other}, which is a later module ({})", ORDER.join(", ")))
        }
        _ => None,
    }
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("_tests.rs")
}

fn check_size(path: &str, text: &str, broken: &mut Vec<String>) {
    let (_, lines) = without_tests(text);
    if lines > MAX_LINES && !is_test(path) {
        broken.push(format!("{path}: {lines} lines without tests, and {MAX_LINES} is the most; split it"));
    }
}

fn check_name(path: &str, broken: &mut Vec<String>) {
    let words = path.trim_end_matches(".rs").split('/');
    for name in words.filter(|name| EMPTY_NAMES.contains(name)) {
        broken.push(format!("{path}: `{name}` says nothing; name it after what it does"));
    }
}

/// Whether a file under `tests` is part of the one integration binary.
fn check_declared(path: &str, tree: &Tree, broken: &mut Vec<String>) {
    // Measurements are not part of the published crates and may need processes of their own.
    let Some((krate, file)) = path.split_once("/tests/").filter(|_| path.starts_with("crates/")) else {
        return;
    };
    let Some(inside) = file.strip_prefix("it/") else {
        broken.push(format!("{path}: there is one integration binary per crate, tests/it/main.rs"));
        return;
    };
    if inside == "main.rs" {
        return;
    }
    let module = inside.trim_end_matches(".rs").trim_end_matches("/mod");
    let (folder, name) = module.rsplit_once('/').unwrap_or(("", module));
    let parents = match folder {
        "" => vec!["main.rs".to_owned()],
        folder => vec![format!("{folder}/mod.rs"), format!("{folder}.rs")],
    };
    let declares = |parent: &String| {
        let Some(text) = tree.get(&format!("{krate}/tests/it/{parent}")) else { return false };
        let code = strip(text);
        let words: Vec<&str> = code.split_whitespace().collect();
        words.windows(2).any(|pair| pair[0] == "mod" && pair[1].trim_end_matches(';') == name)
    };
    if !parents.iter().any(declares) {
        broken.push(format!("{path}: no module declares it, so its tests never run; add `mod {name};`"));
    }
}

/// The text before its test module, and how many lines that is.
fn without_tests(text: &str) -> (String, usize) {
    let lines: Vec<&str> = text.lines().collect();
    let begins = |at: &usize| {
        let rest = || lines[at + 1..].iter().find(|line| !line.starts_with("#["));
        lines[*at] == "#[cfg(test)]" && rest().is_some_and(|line| line.starts_with("mod "))
    };
    let end = (0..lines.len()).find(begins).unwrap_or(lines.len());
    (lines[..end].join("\n"), end)
}

/// Names in the tables of dependencies that end up in the crate, dev-dependencies apart.
fn dependencies(toml: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut inside = false;
    for line in toml.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            let words: Vec<&str> = section.split('.').collect();
            let is_table = |word: &&str| matches!(*word, "dependencies" | "build-dependencies");
            inside = words.last().is_some_and(is_table);
            // `[dependencies.name]` is a table of its own.
            if let [.., table, name] = words[..]
                && is_table(&table)
            {
                names.push(name.to_owned());
            }
        } else if inside && !line.is_empty() && !line.starts_with('#') {
            let name = line.split(['=', '.', ' ']).next().unwrap_or_default();
            names.push(name.trim_matches('"').to_owned());
        }
    }
    names
}

/// The code without comments, strings and characters.
fn strip(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let at = |place: usize| chars.get(place).copied().unwrap_or('\0');
    let mut out = String::with_capacity(text.len());
    let mut here = 0;
    while here < chars.len() {
        let before = if here == 0 { '\0' } else { at(here - 1) };
        let raw = raw_string(&chars, here).filter(|_| !(before.is_alphanumeric() || before == '_'));
        match (at(here), at(here + 1)) {
            ('/', '/') => {
                while here < chars.len() && at(here) != '\n' {
                    here += 1;
                }
            }
            ('/', '*') => {
                let mut depth = 0;
                loop {
                    match (at(here), at(here + 1)) {
                        ('/', '*') => depth += 1,
                        ('*', '/') => depth -= 1,
                        _ if here >= chars.len() => break,
                        _ => {
                            here += 1;
                            continue;
                        }
                    }
                    here += 2;
                    if depth == 0 {
                        break;
                    }
                }
            }
            _ if raw.is_some() => here = raw.unwrap_or(here + 1),
            ('"', _) => {
                here += 1;
                while here < chars.len() && at(here) != '"' {
                    here += if at(here) == '\\' { 2 } else { 1 };
                }
                here += 1;
                out.push(' ');
            }
            ('\'', '\\') => {
                here += 3;
                while here < chars.len() && at(here) != '\'' {
                    here += 1;
                }
                here += 1;
            }
            ('\'', _) if at(here + 2) == '\'' => here += 3,
            (c, _) => {
                out.push(c);
                here += 1;
            }
        }
    }
    out
}

/// Where the raw string that begins here ends, if one does.
fn raw_string(chars: &[char], start: usize) -> Option<usize> {
    let mut here = start + usize::from(chars.get(start) == Some(&'b'));
    if chars.get(here) != Some(&'r') {
        return None;
    }
    here += 1;
    let hashes = chars[here..].iter().take_while(|c| **c == '#').count();
    here += hashes;
    if chars.get(here) != Some(&'"') {
        return None;
    }
    here += 1;
    while here < chars.len() {
        let closes =
            chars[here] == '"' && chars[here + 1..].iter().take_while(|c| **c == '#').count() >= hashes;
        here += 1;
        if closes {
            return Some(here + hashes);
        }
    }
    Some(chars.len())
}

/// Every path in the code, `use` groups taken apart.
fn paths(text: &str) -> Vec<Vec<String>> {
    let tokens = tokens(&strip(text));
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if is_word(&tokens[at]) {
            at = path(&tokens, at, &[], &mut found);
        } else {
            at += 1;
        }
    }
    found
}

fn tokens(code: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = code.chars().peekable();
    while let Some(c) = rest.next() {
        if c.is_alphanumeric() || c == '_' {
            let mut word = String::from(c);
            while let Some(c) = rest.next_if(|c| c.is_alphanumeric() || *c == '_') {
                word.push(c);
            }
            tokens.push(word);
        } else if c == ':' && rest.next_if_eq(&':').is_some() {
            tokens.push("::".to_owned());
        } else if !c.is_whitespace() {
            tokens.push(c.into());
        }
    }
    tokens
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Reads one path, adds it to `found` and says where it ends.
fn path(tokens: &[String], start: usize, before: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let mut words = before.to_vec();
    let mut at = start;
    let token = |at: usize| tokens.get(at).map_or("", String::as_str);
    loop {
        if token(at) == "{" && at > start {
            at += 1;
            while !matches!(token(at), "}" | "") {
                at = if is_word(token(at)) { path(tokens, at, &words, found) } else { at + 1 };
            }
            return at + 1;
        }
        if !is_word(token(at)) {
            break;
        }
        words.push(token(at).to_owned());
        at += 1;
        if token(at) != "::" {
            break;
        }
        at += 1;
    }
    found.push(words);
    at.max(start + 1)
}

/// A made-up tree in which nothing is wrong.
fn clean() -> Tree {
    let long = "// line\n".repeat(MAX_LINES);
    let files: [(&str, &str); 14] = [
        (
            "crates/engine/src/lib.rs",
            "mod fold; mod plan; mod run; pub use crate::{fold::A, gate::B, run::C};",
        ),
        ("crates/engine/src/registry/mod.rs", "mod hook;\n/// Not `crate::run`.\npub use hook::Hook;"),
        ("crates/engine/src/registry/hook.rs", "use super::glob;\nconst TEXT: &str = \"crate::run::x\";"),
        ("crates/engine/src/plan/mod.rs", "use crate::registry::Hook;\nuse std::sync::Arc;"),
        ("crates/engine/src/run/mod.rs", "use crate::registry::{Hook, Entry};\nuse crate::message::Bus;"),
        ("crates/engine/src/fold/mod.rs", "use crate::registry::Hook; // crate::gate\nuse crate::run::Ran;"),
        ("crates/engine/src/config/mod.rs", "use crate::registry::{Hook, Handler};"),
        (
            "crates/engine/src/engine/mod.rs",
            "use crate::{registry::A, ingest::B, plan::C, run::D, fold::E}; use crate::Anything;",
        ),
        ("crates/engine/tests/it/main.rs", "mod rules;"),
        ("crates/engine/tests/it/rules/mod.rs", "pub(crate) mod order;"),
        ("crates/engine/tests/it/rules/order.rs", ""),
        (
            "crates/protocol/Cargo.toml",
            "[dependencies]\nserde.workspace = true\nserde_json = \"1\"\n[dev-dependencies]\nproptest = \"1\"",
        ),
        ("crates/cli/src/long.rs", &long),
        ("crates/cli/src/long_tests.rs", "// long\n"),
    ];
    files.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect()
}

/// What is found when one file of the clean tree is replaced.
fn broken_by(path: &str, text: &str) -> Vec<String> {
    let mut tree = clean();
    tree.insert(path.to_owned(), text.to_owned());
    check(&tree)
}

#[test]
fn the_checker_finds_nothing_in_a_clean_tree() {
    assert_eq!(check(&clean()), Vec::<String>::new());
}

#[test]
fn the_checker_finds_each_broken_rule() {
    let many = "fn f() {}\n".repeat(MAX_LINES + 1);
    let nested = "use crate::{registry::Hook, run::{Ran, process::Start}};";
    for (path, text, part) in [
        ("crates/engine/src/registry/hook.rs", "use crate::plan::Plan;", "registry imports no module"),
        (
            "crates/engine/src/plan/mod.rs",
            "use crate::run::Ran;",
            "plan may not import run, which is a later",
        ),
        ("crates/engine/src/plan/mod.rs", nested, "plan may not import run, which is a later"),
        ("crates/engine/src/plan/mod.rs", "fn f(x: &crate::fold::Fold) {}", "plan may not import fold"),
        ("crates/engine/src/run/mod.rs", "use crate::{\n    gate::Gate,\n};", "run may not import gate"),
        ("crates/engine/src/run/mod.rs", "use crate::engine::Engine;", "run may not import engine"),
        ("crates/engine/src/run/mod.rs", "use crate::config::Config;", "run may not import config"),
        ("crates/engine/src/run/mod.rs", "use crate::Engine;", "`crate::Engine` hides the module"),
        ("crates/engine/src/config/mod.rs", "use crate::run::Ran;", "config only builds a registry"),
        ("crates/engine/src/plan/mod.rs", "use super::run::Ran;", "`super` climbs out of its module"),
        (
            "crates/engine/src/plan/select.rs",
            "use super::super::run::Ran;",
            "`super` climbs out of its module",
        ),
        (
            "crates/engine/src/run/a/b.rs",
            "use super::super::super::fold::X;",
            "`super` climbs out of its module",
        ),
        (
            "crates/engine/src/gate/mod.rs",
            "use crate::registry::A; use crate::plan::B; use crate::fold::C;",
            "only engine/ sees more than two modules, but this one sees fold, plan, registry",
        ),
        ("crates/engine/src/plan/mod.rs", "use tokio::time::sleep;", "plan is pure and may not name tokio"),
        ("crates/engine/src/fold/mod.rs", "use std::{fmt, thread};", "may not name std::thread"),
        (
            "crates/engine/src/gate/mod.rs",
            "fn f() { std::process::abort() }",
            "may not name std::process::abort",
        ),
        ("crates/engine/src/cellar/mod.rs", "", "`cellar` is not a module"),
        ("crates/protocol/Cargo.toml", "[dependencies]\nserde = \"1\"\ntokio = \"1\"", "not on tokio"),
        (
            "crates/protocol/Cargo.toml",
            "[target.'cfg(unix)'.dependencies]\nlibc.workspace = true",
            "not on libc",
        ),
        ("crates/protocol/Cargo.toml", "[dependencies.uuid]\nversion = \"1\"", "not on uuid"),
        ("crates/protocol/Cargo.toml", "[build-dependencies]\ncc = \"1\"", "not on cc"),
        ("crates/cli/src/long.rs", &many, "501 lines without tests"),
        ("bench/src/long.rs", &many, "501 lines without tests"),
        ("crates/cli/src/utils.rs", "", "`utils` says nothing"),
        ("crates/cli/src/common/mod.rs", "", "`common` says nothing"),
        ("crates/agent/src/manager.rs", "", "`manager` says nothing"),
        ("crates/agent/src/types/mod.rs", "", "`types` says nothing"),
        ("crates/engine/tests/it/rules/forgotten.rs", "", "no module declares it"),
        ("crates/engine/tests/it/forgotten/mod.rs", "", "no module declares it"),
        ("crates/engine/tests/it/rules/mod.rs", "// mod order;", "no module declares it"),
        ("crates/engine/tests/second.rs", "", "one integration binary"),
    ] {
        let broken = broken_by(path, text);
        assert_eq!(broken.len(), 1, "{path}: {text:.40}: {broken:?}");
        assert!(broken[0].contains(part), "{broken:?} does not say `{part}`");
    }
}

#[test]
fn the_checker_leaves_test_code_and_other_words_alone() {
    let tested = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", "// x\n".repeat(400), "// y\n".repeat(400));
    for (path, text) in [
        ("crates/cli/src/long.rs", tested.as_str()),
        ("crates/cli/src/long_tests.rs", &"// x\n".repeat(900)),
        ("crates/engine/tests/it/rules/order.rs", &"// x\n".repeat(900)),
        (
            "crates/engine/src/plan/mod.rs",
            "#[cfg(test)]\nmod tests { use crate::fold::Fold; use tokio::test; }",
        ),
        (
            "crates/engine/src/plan/mod.rs",
            "/* use crate::fold::X; /* tokio */ */ const X: &str = r#\"tokio::x\"#;",
        ),
        ("crates/engine/src/plan/mod.rs", "const C: [char; 2] = ['\"', '\\'']; fn f<'a>(x: &'a str) {}"),
        ("crates/engine/src/plan/select.rs", "use super::Plan; mod tokio_like {}"),
        ("crates/engine/src/plan/deep/select.rs", "use super::super::Plan;"),
        ("crates/cli/src/commonly.rs", ""),
        ("bench/tests/counts.rs", ""),
    ] {
        assert_eq!(broken_by(path, text), Vec::<String>::new(), "{path}: {text:.60}");
    }
}
