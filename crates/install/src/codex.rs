//! Codex runs a hook only when its hash is in `config.toml`: Codex writes it when the person trusts the hook there, and
//! `crosier install --trust` writes it too.

use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use toml_edit::{DocumentMut, Item, Table, value};

use crate::json::FoundEntry;

/// Events whose matcher Codex ignores.
const WITHOUT_MATCHER: [&str; 2] = ["user_prompt_submit", "stop"];

/// The key and the hash of one hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedHook {
    /// `FILE:event_name:GROUP:HANDLER`.
    pub key: String,
    /// `sha256:…`.
    pub hash: String,
}

/// The keys and hashes of these entries of a `hooks.json`.
#[must_use]
pub fn trusted_hooks(file: &Path, found: &[FoundEntry]) -> Vec<TrustedHook> {
    let one = |found: &FoundEntry| {
        let event = snake(&found.event);
        let key = format!("{}:{event}:{}:{}", file.display(), found.group, found.handler);
        TrustedHook { key, hash: hash(&event, found) }
    };
    found.iter().map(one).collect()
}

/// `PreToolUse` → `pre_tool_use`.
fn snake(event: &str) -> String {
    let mut out = String::new();
    for c in event.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// The SHA-256 of the entry as compact JSON with sorted keys, defaults filled in.
fn hash(event: &str, found: &FoundEntry) -> String {
    let field = |name: &str| found.value.get(name).cloned();
    let mut handler = json!({
        "type": "command",
        "command": field("command").unwrap_or(Value::Null),
        "timeout": field("timeout").unwrap_or_else(|| json!(600)),
        "async": field("async").unwrap_or(Value::Bool(false)),
    });
    if let Some(message) = field("statusMessage") {
        handler["statusMessage"] = message;
    }
    let mut whole = json!({"event_name": event, "hooks": [handler]});
    if let Some(matcher) = found.matcher.as_ref().filter(|_| !WITHOUT_MATCHER.contains(&event)) {
        whole["matcher"] = json!(matcher);
    }
    let digest = Sha256::digest(whole.to_string().as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// The hash for a key in a `config.toml`.
#[must_use]
pub fn stored(document: &DocumentMut, key: &str) -> Option<String> {
    let entry = document.get("hooks")?.get("state")?.get(key)?;
    entry.get("trusted_hash")?.as_str().map(str::to_owned)
}

/// Whether Codex was told not to run this hook.
#[must_use]
pub fn is_off(document: &DocumentMut, key: &str) -> bool {
    let entry = document.get("hooks").and_then(|hooks| hooks.get("state")).and_then(|state| state.get(key));
    entry.and_then(|entry| entry.get("enabled")).and_then(Item::as_bool) == Some(false)
}

/// Whether the person told Codex to trust this project, or a folder that contains it.
#[must_use]
pub fn is_trusted_project(document: &DocumentMut, project: &Path) -> bool {
    let level = |folder: &Path| {
        let entry = document.get("projects")?.get(folder.to_str()?)?;
        entry.get("trust_level")?.as_str().map(str::to_owned)
    };
    // The nearest folder that Codex knows counts.
    project.ancestors().find_map(level).is_some_and(|level| level == "trusted")
}

/// Writes the hashes.
///
/// # Errors
/// When something else is in their place.
pub fn trust(document: &mut DocumentMut, all: &[TrustedHook]) -> Result<(), String> {
    fn below<'a>(item: &'a mut Item, name: &str) -> Result<&'a mut Item, String> {
        let table = item.as_table_like_mut().ok_or_else(|| format!("`{name}` is not below a table"))?;
        let mut new = Table::new();
        new.set_implicit(true);
        Ok(table.entry(name).or_insert(Item::Table(new)))
    }
    for one in all {
        if stored(document, &one.key).as_ref() == Some(&one.hash) {
            continue;
        }
        let state = below(below(document.as_item_mut(), "hooks")?, "state")?;
        let entry = below(state, &one.key)?;
        let table = entry.as_table_like_mut().ok_or("an entry of `hooks.state` is not a table")?;
        table.insert("trusted_hash", value(&one.hash));
        if let Some(table) = entry.as_table_mut() {
            table.set_implicit(false);
        }
    }
    Ok(())
}

/// Removes the hashes of Crosier's hooks.
pub fn distrust(document: &mut DocumentMut, all: &[TrustedHook]) {
    let Some(hooks) = document.get_mut("hooks").and_then(Item::as_table_like_mut) else { return };
    let Some(state) = hooks.get_mut("state").and_then(Item::as_table_like_mut) else { return };
    let mut taken = false;
    for one in all {
        let is_theirs = state.get(&one.key).and_then(|entry| entry.get("trusted_hash")?.as_str())
            == Some(one.hash.as_str());
        taken |= is_theirs && state.remove(&one.key).is_some();
    }
    let state_is_empty = taken && state.is_empty();
    if state_is_empty {
        hooks.remove("state");
        if hooks.is_empty() {
            document.remove("hooks");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toml::parse;

    fn found() -> FoundEntry {
        let value = json!({"type": "command", "command": "crosier hook codex", "timeout": 600});
        FoundEntry { event: "PreToolUse".into(), group: 1, handler: 0, value, matcher: None }
    }

    #[test]
    fn the_hash_is_that_of_codex() {
        let one = trusted_hooks(Path::new("/h/.codex/hooks.json"), &[found()]).remove(0);
        assert_eq!(one.key, "/h/.codex/hooks.json:pre_tool_use:1:0");
        let text = r#"{"event_name":"pre_tool_use","hooks":[{"async":false,"command":"crosier hook codex","timeout":600,"type":"command"}]}"#;
        let digest: String =
            Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(one.hash, format!("sha256:{digest}"));
    }

    /// The hashes that `hooks/list` of Codex 0.166.0 gives for the same entries with the command `true`.
    #[test]
    fn a_matcher_counts_where_codex_keeps_it() {
        let hash = |event: &str, matcher: Option<&str>| {
            let value = json!({"type": "command", "command": "true"});
            let matcher = matcher.map(str::to_owned);
            let found = FoundEntry { event: event.into(), group: 0, handler: 0, value, matcher };
            trusted_hooks(Path::new("hooks.json"), &[found]).remove(0).hash
        };
        assert_eq!(
            hash("PreToolUse", Some("*")),
            "sha256:b30d8c3c10d15e07c1f6479619d2e81059794466921c11b395b2bc917ddb4e15"
        );
        assert_eq!(
            hash("PreToolUse", Some("Bash")),
            "sha256:39057ebd30cc98418da09c661f1ff844e076ba83820ea7f8a14b085993f1a440"
        );
        assert_eq!(hash("Stop", Some("*")), hash("Stop", None));
    }

    #[test]
    fn hashes_are_written_and_taken_out() {
        let all = trusted_hooks(Path::new("/h/.codex/hooks.json"), &[found()]);
        for text in [
            "",
            "model = \"x\" # c\n\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n",
            "[hooks.state.\"a:stop:0:0\"]\ntrusted_hash = \"sha256:1\"\n",
        ] {
            let mut document = parse(text).unwrap();
            trust(&mut document, &all).unwrap();
            let with = document.to_string();
            let mut document = parse(&with).unwrap();
            assert_eq!(stored(&document, &all[0].key).as_ref(), Some(&all[0].hash), "{with}");
            assert!(!is_off(&document, &all[0].key));
            distrust(&mut document, &all);
            assert_eq!(document.to_string(), text);
        }
    }
}
