//! Whatever stands in a case file, it is cases or problems with a place; never a panic.

use std::path::Path;

use crosier::config::Problems;
use proptest::prelude::*;

use super::read;

const GOOD: &str = r#"
- name: a deny wins
  seed: "001 Aggregation"
  config: {hooks: {PreToolUse: [{name: a, reply: {decision: deny, reason: no}}]}}
  agent: one
  disable: [b]
  event: PreToolUse
  input: {tool_name: Bash, tool_input: {command: ls}}
  expect: {decision: deny, by: a, reason: "/n./", ran: [a], skipped: [], halt: null}
- name: nothing
  config: {hooks: {SessionEnd: [{reply: {}}]}}
  event: Stop
  expect: {resume: null}
"#;

fn cases_and_problems(text: &str) -> (usize, Problems) {
    let (mut cases, mut problems) = (Vec::new(), Problems::new());
    read(Path::new("any.yaml"), text.to_owned(), &mut cases, &mut problems);
    (cases.len(), problems)
}

fn check(text: &str) -> Result<(), TestCaseError> {
    let (_, problems) = cases_and_problems(text);
    let lines = text.split('\n').count();
    for problem in &problems {
        prop_assert!((1..=lines).contains(&problem.line()), "{problem}");
        prop_assert!(!problem.message().is_empty());
    }
    Ok(())
}

/// A part of a case file, in any place.
fn part() -> impl Strategy<Value = &'static str> {
    let words = [
        "- ", "name", "event", "expect", ": ", "\n", "  ", "{", "}", "[", "]", ",", "\"/(/\"", "null", "~",
        "&a ", "*a", "!!str", "|", "1e999", "'", "\"", "#", "\t", "decision", "deny", "ran", "é", "\u{0}",
        "\u{feff}",
    ];
    proptest::sample::select(words.to_vec())
}

proptest! {
    #[test]
    fn any_text_is_cases_or_problems(text in any::<String>()) {
        check(&text)?;
    }

    #[test]
    fn any_parts_of_case_files_are_cases_or_problems(parts in proptest::collection::vec(part(), 0..60)) {
        check(&parts.concat())?;
    }

    #[test]
    fn a_good_file_with_something_else_in_its_middle(at in 0..GOOD.len(), length in 0..40_usize, part in part()) {
        let end = (at + length).min(GOOD.len());
        check(&format!("{}{part}{}", &GOOD[..at], &GOOD[end..]))?;
    }
}

#[test]
fn the_good_file_is_good() {
    let (cases, problems) = cases_and_problems(GOOD);
    assert_eq!((cases, problems.to_string()), (2, String::new()));
}
