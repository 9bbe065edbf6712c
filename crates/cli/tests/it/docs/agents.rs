//! `docs/agents`: a page for each agent, generated from its table.

use crosier_dialect::ALL;
use crosier_dialect::page::markdown;
use crosier_dialect::table::{Agent, Verification};

use super::is_up_to_date;

const HEAD: &str = "\
# Crosier in your agent

An agent calls Crosier by a hook entry in its own configuration: `crosier hook AGENT`. The same `crosier.yaml` applies in
all agents, because tools and their fields have the same names everywhere (`Bash`, `Read`, `Write`, `Edit`, `Glob`, `Grep`,
`WebFetch`, `WebSearch`, `Task`, `mcp__server__tool`; `command`, `file_path`, `content`, `old_string`, `new_string`,
`pattern`, `url`). A matcher may also use the agent's own name of a tool. A hook finds the agent's original names under `host`.

An effect that an agent does not support is never dropped silently: the agent's page says what happens instead, and
`crosier events --agent AGENT` prints it. When Crosier itself fails (a bad configuration, a mistake in the entry, an exceeded
deadline), actions are denied, the person is told at the next prompt, and at Stop the agent may stop.

On these pages, *tell the person* is what [events](../events.md) calls a notice, *replace output* is a rewrite of the output,
and *hide output* is suppress.

A call with several parts (a patch of several files, a list of commands) fires one event per part, and the strictest
decision counts. `host.part` is the number of the part.

| agent | | tested with version |
|---|---|---|
";

#[test]
fn the_page_of_every_agent_is_as_its_table_has_it() {
    let mut index = HEAD.to_owned();
    for agent in ALL {
        let seen = match agent.verification {
            Verification::Run(version) => version,
            Verification::Source => "no, from its sources",
            Verification::Documentation => "no, from documentation",
        };
        index.push_str(&format!(
            "| [{}]({}.md) | `crosier hook {}` | {seen} |\n",
            agent.title, agent.name, agent.name
        ));
        is_up_to_date(&format!("docs/agents/{}.md", agent.name), &markdown(agent));
    }
    index.push_str("\n[What fires when](events.md) compares them, event by event.\n");
    is_up_to_date("docs/agents/README.md", &index);
}

const EVENTS_HEAD: &str = "\
# What fires when

<!-- Generated from the tables of the agents. -->

Which agent fires which event, and under which name. A dash means that the agent does not fire the event. The page of each
agent says what a hook can do there.
";

#[test]
fn the_events_of_all_agents_are_in_one_matrix() {
    let mut page = EVENTS_HEAD.to_owned();
    let (seen, from_sources): (Vec<_>, Vec<_>) =
        ALL.iter().copied().partition(|agent| matches!(agent.verification, Verification::Run(_)));
    for (title, agents) in
        [("Tested with the real programs", seen), ("From sources and documentation", from_sources)]
    {
        page.push_str(&format!("\n## {title}\n\n| event |"));
        for agent in &agents {
            page.push_str(&format!(" [{}]({}.md) |", agent.title, agent.name));
        }
        page.push_str(&format!("\n|---|{}\n", "---|".repeat(agents.len())));
        for row in crosier_dialect::catalog().rows() {
            let cells: Vec<String> = agents.iter().map(|agent| own_names(agent, row.name)).collect();
            if cells.iter().any(|cell| cell != "–") {
                page.push_str(&format!("| {} | {} |\n", row.name, cells.join(" | ")));
            }
        }
    }
    is_up_to_date("docs/agents/events.md", &page);
}

/// What an agent calls an event.
fn own_names(agent: &Agent, event: &str) -> String {
    let mut names: Vec<&str> =
        agent.events.iter().filter(|entry| entry.event == event).map(|entry| entry.name()).collect();
    names.dedup();
    match names.as_slice() {
        [] => "–".to_owned(),
        [same] if *same == event => "yes".to_owned(),
        others => others.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    }
}
