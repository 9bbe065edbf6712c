//! Packs: ready-made sets of these hooks, which a configuration includes with `extends: crosier:recommended`.
//!
//! Each is a file in `packs/`. Its version is raised whenever its decisions or effects change.

use crosier::config::Pack;

/// Every pack.
pub const PACKS: &[Pack] = &[
    Pack::new(
        "crosier:recommended",
        "1.1",
        "destructive commands are denied, keys and Crosier's own files are protected, secrets are masked",
        include_str!("../packs/recommended.yaml"),
    ),
    Pack::new(
        "crosier:git",
        "1.0",
        "git commands that publish something or cannot be undone are denied or need a confirmation",
        include_str!("../packs/git.yaml"),
    ),
    Pack::new(
        "crosier:secrets",
        "1.0",
        "files with secrets are neither read nor sent, and secrets in tool output are masked",
        include_str!("../packs/secrets.yaml"),
    ),
    Pack::new(
        "crosier:strict",
        "1.1",
        "crosier:recommended, a confirmation for everything else, and an audit log of every tool call",
        include_str!("../packs/strict.yaml"),
    ),
];

#[cfg(test)]
mod tests {
    use crosier::config::Loader;
    use crosier::{Catalog, Decision, Engine};
    use serde_json::json;

    use super::PACKS;

    #[test]
    fn every_pack_loads_and_does_what_it_says() {
        let folder = tempfile::tempdir().unwrap();
        let engine = |pack: &str| {
            let loader = crate::register(Loader::new(Catalog::default()));
            let config = loader.text("crosier.yaml", &format!("extends: {pack}\n"), folder.path()).load();
            let config = config.unwrap_or_else(|problems| panic!("{pack}: {problems}"));
            Engine::builder().config(config).build().unwrap()
        };
        for pack in PACKS {
            engine(pack.name);
        }
        for (pack, line, expected) in [
            ("crosier:recommended", "rm -rf /", Some(Decision::Deny)),
            ("crosier:recommended", "cat .env", Some(Decision::Deny)),
            ("crosier:recommended", "cargo test", None),
            ("crosier:git", "git push --force", Some(Decision::Deny)),
            ("crosier:git", "git push", Some(Decision::Ask)),
            ("crosier:git", "git status", None),
            ("crosier:secrets", "cat ~/.aws/credentials", Some(Decision::Deny)),
            ("crosier:secrets", "echo x > notes", None),
            ("crosier:strict", "cat a.txt", Some(Decision::Allow)),
            ("crosier:strict", "cat .env", Some(Decision::Deny)),
            ("crosier:strict", "make deploy", Some(Decision::Ask)),
        ] {
            let engine = engine(pack);
            let event = json!({"tool_name": "Bash", "tool_input": {"command": line}, "cwd": folder.path()});
            let event = engine.event("PreToolUse", event.to_string().as_bytes()).unwrap();
            assert_eq!(engine.fire_blocking(event).decision, expected, "{pack}: {line}");
        }
    }
}
