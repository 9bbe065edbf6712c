//! Every recorded event of every agent is an event of Crosier, with the agent's own words under `host`.

use std::collections::BTreeSet;

use crosier_dialect::{ALL, Read, catalog, find, read};
use serde_json::Value;

use crate::lab::{capture, captures, field};

/// What was recorded of an agent, by file name without its end.
fn recorded(agent: &str) -> BTreeSet<String> {
    let folder = std::fs::read_dir(captures().join(agent)).unwrap();
    let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .filter(|name| name != "schemas")
        .collect()
}

const UNHOOKED: [&str; 5] =
    ["chat.params", "dispose", "event.session.diff", "event.session.status", "shell.env"];

#[test]
fn all_of_them_are_read() {
    let mut count = 0;
    for folder in std::fs::read_dir(captures()).unwrap() {
        let agent = folder.unwrap().file_name().into_string().unwrap();
        let Some(table) = find(&agent) else { continue };
        for name in recorded(&agent) {
            let text = capture(&agent, &name);
            let word = name.split('.').next();
            let call = match read(table, word, text.as_bytes(), &catalog()).unwrap() {
                Read::Call(call) => call,
                Read::Repeated if name == "UserPromptSubmit.empty" => continue,
                // What a plugin of opencode gets beyond its hooks.
                Read::Unknown(_) if UNHOOKED.contains(&name.as_str()) => continue,
                other => panic!("{agent}/{name}: {other:?}"),
            };
            count += 1;
            for event in &call.events {
                let host = field(event, "host");
                assert_eq!(host["agent"], Value::from(agent.as_str()), "{agent}/{name}");
                assert!(host["event"].is_string(), "{agent}/{name}");
                assert!(!event.session_id().is_empty(), "{agent}/{name} has no session");
                event.wire().unwrap();
            }
            let answer = call.answer(&call.verdict(&[]));
            assert_eq!(
                (answer.stdout.as_str(), answer.stderr.as_str(), answer.status),
                (table.nothing, "", 0)
            );
        }
    }
    assert!(count >= 130, "only {count} were read");
}

#[test]
fn every_event_of_every_table_is_a_row() {
    let catalog = catalog();
    for agent in ALL {
        for entry in agent.events {
            assert!(catalog.find(entry.event).is_some(), "{}: {}", agent.name, entry.event);
            assert!(!entry.agent_names.is_empty());
        }
        let mut names = BTreeSet::new();
        for entry in agent.events.iter().filter(|entry| entry.when.is_none()) {
            assert!(
                entry.agent_names.iter().all(|name| names.insert(*name)),
                "{}: {:?} twice",
                agent.name,
                entry.agent_names
            );
        }
    }
}
