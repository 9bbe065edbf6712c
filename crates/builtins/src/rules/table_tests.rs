//! Every line of `tests/data/shell-lines.txt` gets the verdict beside it.

use std::path::Path;

use crosier::{Decision, Json};

use super::{RuleLists, Rules};
use crate::block_commands;
use crate::guard::Ruling;

const DATA: &str = include_str!("../../tests/data/shell-lines.txt");

pub(super) fn rules() -> Rules {
    let mut lists = RuleLists::default();
    for line in DATA.lines().filter_map(|line| line.strip_prefix('@')) {
        let (word, rule) = line.split_once(' ').unwrap();
        let list = match word {
            "allow" => &mut lists.allow,
            "ask" => &mut lists.ask,
            _ => &mut lists.deny,
        };
        list.push(rule.trim().to_owned());
    }
    Rules::parse(&lists).unwrap()
}

/// Both verdicts and the line, of every row.
pub(super) fn rows() -> Vec<(&'static str, &'static str, String)> {
    let rows = DATA.lines().filter(|line| !line.is_empty() && !line.starts_with(['#', '@']));
    rows.map(|row| {
        let (rules, rest) = row.split_once(char::is_whitespace).unwrap();
        let (block, line) = rest.trim_start().split_once(' ').unwrap();
        let line = if block == "-" || block == "ask" { line.trim_start() } else { line };
        let line = line.replace('␤', "\n").replace('␍', "\r").replace('␉', "\t").replace('␀', "\0");
        let line = line.replace('⍽', "\u{a0}").replace('⌿', "\u{200b}").replace('⇄', "\u{202e}");
        (rules, block, line)
    })
    .collect()
}

pub(super) fn input(line: &str) -> Json {
    Json::from(serde_json::json!({ "command": line }))
}

fn word(decision: Option<Decision>) -> &'static str {
    decision.map_or("-", Decision::word)
}

#[test]
fn every_line_gets_its_verdict() {
    let rules = rules();
    let rows = rows();
    assert!(rows.len() >= 150, "{} lines", rows.len());
    let mut wrong = Vec::new();
    for (expected, _, line) in &rows {
        let verdict = rules.decide("Bash", &input(line), Path::new("/w"));
        if word(verdict.decision) != *expected {
            wrong.push(format!(
                "{line:?}: expected {expected}, got {} ({})",
                word(verdict.decision),
                verdict.reason
            ));
        }
        assert!(
            verdict.decision == Some(Decision::Ask) || verdict.rule.is_some() == verdict.decision.is_some()
        );
    }
    assert!(wrong.is_empty(), "{} of {} wrong\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn every_line_is_blocked_or_not() {
    let list = block_commands::standard_list();
    let mut wrong = Vec::new();
    for (_, expected, line) in &rows() {
        let (got, why) = match block_commands::judge(&list, "Bash", &input(line), Path::new("/w")) {
            Ruling::Nothing => ("-", String::new()),
            Ruling::Allow(why) => ("allow", why),
            Ruling::Ask(why) => ("ask", why),
            Ruling::Deny(why) => ("deny", why),
        };
        if got != *expected {
            wrong.push(format!("{line:?}: expected {expected}, got {got} ({why})"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

/// Every line of `tests/data/permission-lines.txt` gets its verdict by the rules in front of it.
#[test]
fn every_line_gets_its_verdict_by_the_rules_in_front_of_it() {
    let folder = tempfile::tempdir().unwrap();
    for name in [".env", "a.txt"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    let mut rules = Rules::default();
    let (mut wrong, mut count) = (Vec::new(), 0);
    let data = include_str!("../../tests/data/permission-lines.txt");
    for line in data.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(set) = line.strip_prefix("@ ") {
            let mut lists = RuleLists::default();
            for rule in set.split(" | ") {
                match rule.split_once(' ').unwrap() {
                    ("allow", rule) => lists.allow.push(rule.to_owned()),
                    ("ask", rule) => lists.ask.push(rule.to_owned()),
                    (_, rule) => lists.deny.push(rule.to_owned()),
                }
            }
            rules = Rules::parse(&lists).unwrap();
            continue;
        }
        count += 1;
        let (expected, command) = line.split_once(' ').unwrap();
        let input = Json::from(serde_json::json!({"command": command.trim()}));
        let verdict = rules.decide("Bash", &input, folder.path());
        let found = match verdict.decision {
            None => "-",
            Some(Decision::Allow) => "allow",
            Some(Decision::Ask) => "ask",
            Some(Decision::Deny) => "deny",
        };
        if found != expected {
            wrong.push(format!("{}: {found} instead of {expected} ({})", command.trim(), verdict.reason));
        }
    }
    assert!(count > 40, "{count}");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}
