//! Properties that hold for any text: parsing ends, positions are in the text, and values stay single
//! arguments.

use std::fs;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use tempfile::TempDir;

use super::super::tree::{Problems, Source};
use super::super::{Loader, tree};
use crate::Engine;

const CASES: u32 = 500;

/// Pieces with a meaning in a line, to be joined at random.
const PIECES: &[&str] = &[
    "hook ",
    "hook",
    " pre:tool",
    " PreToolUse:Bash",
    ":re:",
    " --name ",
    " --priority ",
    " -1 ",
    " /log",
    " /deny ",
    " /perms check ",
    " debug ",
    "\"",
    "'",
    "\\",
    "\\\"",
    "$",
    "$$",
    "$tool",
    "$prompt",
    "${",
    "}",
    "${a.b",
    "${a[0]}",
    "[",
    "]",
    ".",
    "#",
    " ",
    "\t",
    "\n",
    "\r",
    "\r\n",
    "é",
    "日",
    "\u{feff}",
    "\0",
    "\u{1b}",
    "\u{85}",
    "\u{2028}",
    "/",
    ":",
    "|",
    "*",
    "x",
];

thread_local! {
    static FOLDER: TempDir = TempDir::new().unwrap();
}

/// Reads bytes as a script and checks the invariants.
fn check(bytes: &[u8]) {
    let loaded = FOLDER.with(|folder| {
        fs::write(folder.path().join("p.arma"), bytes).unwrap();
        Loader::default().lint().text("p.yaml", "scripts: p.arma", folder.path()).load()
    });
    match loaded {
        // Every line that is not a comment is a hook: none is ignored silently.
        Ok(config) => {
            let text = std::str::from_utf8(bytes).unwrap().trim_start_matches('\u{feff}');
            let lines = text.split(['\n', '\r']).map(str::trim_start);
            let meant = lines.filter(|line| !line.is_empty() && !line.starts_with('#')).count();
            assert_eq!(config.hooks.len(), meant, "{text:?}");
            check_problems(&config.warnings);
        }
        Err(problems) => {
            assert!(problems.errors() > 0);
            check_problems(&problems);
        }
    }
}

fn check_problems(problems: &Problems) {
    for problem in problems {
        let text = &problem.source().text;
        assert!(text.get(problem.span().start..problem.span().end).is_some(), "{problem:?}");
        assert!(problem.line() <= text.split(['\n', '\r']).count());
    }
    let shown = problems.to_string();
    assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
}

/// Reads a text as a `run:` line in JSON. Returns the text of the first notice.
fn run_line(line: &str, prompt: &str) -> Option<String> {
    let config = serde_json::json!({"hooks": {"pre:message": [{"run": line}]}}).to_string();
    let source = Source::new("p.json", config.as_str());
    let node = tree::parse_document(&source).ok()?;
    let config = match Loader::default().lint().part(&source, node, "/").load() {
        Ok(config) => config,
        Err(problems) => {
            check_problems(&problems);
            return None;
        }
    };
    let engine = Engine::builder().config(config).build().unwrap();
    let input = serde_json::json!({ "prompt": prompt }).to_string();
    let outcome = engine.fire_blocking(engine.event("pre:message", input.as_bytes()).unwrap());
    assert!(outcome.failures().next().is_none());
    outcome.notices.into_iter().next().map(|notice| notice.text)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reading_ends_well_for_any_text(text in any::<String>()) {
        check(text.as_bytes());
        run_line(&text, "");
    }

    #[test]
    fn reading_ends_well_for_any_bytes(bytes in vec(any::<u8>(), 0..200)) {
        check(&bytes);
        check(String::from_utf8_lossy(&bytes).as_bytes());
    }

    #[test]
    fn reading_ends_well_for_any_joined_pieces(pieces in vec(select(PIECES), 0..40)) {
        check(pieces.concat().as_bytes());
        check(format!("hook pre:tool /log debug {}", pieces.concat()).as_bytes());
        run_line(&format!("/log debug {}", pieces.concat()), "p");
    }

    #[test]
    fn any_prompt_is_logged_as_it_is(prompt in any::<String>(), pieces in vec(select(PIECES), 0..20)) {
        let prompt = format!("{prompt}{}", pieces.concat());
        prop_assert_eq!(run_line("/log info $prompt", &prompt), Some(prompt.clone()));
        prop_assert_eq!(run_line("/log info \"<${prompt}>\"", &prompt), Some(format!("<{prompt}>")));
    }

    #[test]
    fn any_text_can_be_written_in_quotes(text in any::<String>().prop_filter("one line", |text| !text.contains(['\n', '\r']))) {
        let mut quoted = String::new();
        for c in text.chars() {
            if matches!(c, '"' | '\\' | '$') {
                quoted.push('\\');
            }
            quoted.push(c);
        }
        prop_assert_eq!(run_line(&format!("/log info \"{quoted}\""), ""), Some(text));
    }
}
