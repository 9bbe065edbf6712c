//! Any settings file, JSON or TOML: Crosier's entries are added and removed again, or the file is refused; the result has
//! the same meaning as the original.
#![no_main]

use crosier_install::json::{self, Document, Nesting, WantedEntry};
use crosier_install::toml;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for nesting in [Nesting::Groups, Nesting::Flat] {
        json_file(text, nesting);
    }
    toml_file(text);
});

fn json_file(text: &str, nesting: Nesting) {
    let handler = vec![("command", serde_json::json!("/bin/crosier hook claude --deadline 5"))];
    let wanted = [WantedEntry { event: "PreToolUse".to_owned(), handler }];
    let Ok(document) = Document::parse(text, nesting, "claude") else { return };
    if !document.found().is_empty() || document.set_entries(&wanted, &[]).is_err() {
        return;
    }
    let with = document.text();
    let Ok(again) = Document::parse(&with, nesting, "claude") else { panic!("not JSON any more: {with}") };
    assert_eq!(again.found().len(), 1);
    let Ok(original) = Document::parse(text, nesting, "claude") else { return };
    again.remove_entries(Some(&original));
    let (left, before) = (json::value(&again.text()), json::value(text));
    // A file without a value becomes an empty object.
    assert!(left == before || before == Ok(serde_json::Value::Null));
}

fn toml_file(text: &str) {
    let command = "/bin/crosier hook kimi --deadline 5".to_owned();
    let wanted = [toml::Hook { event: "PreToolUse".to_owned(), command, timeout: 6 }];
    let Ok(mut document) = toml::parse(text) else { return };
    // An incomplete entry of Crosier's is repaired, so the file is not the same afterwards.
    if text.contains("crosier") || toml::set_entries(&mut document, "kimi", &wanted).is_err() {
        return;
    }
    let with = document.to_string();
    let Ok(mut again) = toml::parse(&with) else { panic!("not TOML any more: {with}") };
    assert_eq!(toml::found(&again, "kimi"), wanted);
    toml::remove_entries(&mut again, "kimi");
    assert_eq!(toml::as_json(&again.to_string()), toml::as_json(text));
}
