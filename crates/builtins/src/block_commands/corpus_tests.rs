//! How many dangerous lines are missed, and how many harmless ones are stopped.

use std::path::Path;

use crosier::Decision;

use super::{entries, standard_list};
use crate::path::Places;
use crate::shell::Script;

const DANGEROUS: &str = include_str!("../../tests/data/dangerous-lines.txt");
const EVERYDAY: &str = include_str!("../../tests/data/everyday-lines.txt");

/// What the list says about a line: the decision and the reason.
fn verdict(line: &str) -> Option<(Decision, String)> {
    let script = Script::parse(&line.replace('␤', "\n"));
    let places = Places { cwd: Path::new("/home/dev/project"), home: None };
    standard_list().judge(&script, places).map(|finding| (finding.decision, finding.reason))
}

fn lines(data: &'static str) -> Vec<&'static str> {
    data.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).collect()
}

#[test]
fn dangerous_lines_do_not_pass_in_silence() {
    let lines = lines(DANGEROUS);
    assert!(lines.len() >= 600);
    let silent: Vec<&&str> = lines.iter().filter(|line| verdict(line).is_none()).collect();
    silent.iter().for_each(|line| println!("passes: {line}"));
    assert!(silent.len() * 100 <= lines.len() * 3, "{} of {} pass in silence", silent.len(), lines.len());
}

#[test]
fn everyday_lines_are_left_alone() {
    let lines = lines(EVERYDAY);
    assert!(lines.len() >= 3_000);
    let (mut denied, mut asked) = (0, 0);
    for line in &lines {
        match verdict(line) {
            None => continue,
            Some((Decision::Deny, reason)) => {
                denied += 1;
                println!("denied: {line}: {reason}");
            }
            Some((_, reason)) => {
                asked += 1;
                println!("asked: {line}: {reason}");
            }
        }
    }
    assert!(denied * 1_000 <= lines.len(), "{denied} of {} are denied", lines.len());
    assert!(asked * 1_000 <= lines.len() * 5, "{asked} of {} are asked", lines.len());
}

#[test]
fn every_entry_stops_its_example_and_lets_the_other_one_through() {
    let mut wrong = Vec::new();
    for entry in entries() {
        if entry.stops.is_empty() || entry.passes.is_empty() {
            wrong.push(format!("{} has no examples", entry.id));
        }
        if verdict(entry.stops).is_none_or(|(decision, _)| decision < entry.decision) {
            wrong.push(format!("{} does not stop {}", entry.id, entry.stops));
        }
        if let Some((_, reason)) = verdict(entry.passes) {
            wrong.push(format!("{} stops {}: {reason}", entry.id, entry.passes));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
