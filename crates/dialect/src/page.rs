//! Which effects of hooks an agent supports: as rows of a table, and as a page of the documentation.

use std::fmt::Write as _;

use crosier_protocol::{Capability, EventRow, Phase};

use crate::rows::all_rows;
use crate::table::{Agent, AgentEvent, Effect, Mcp, Parts, Place, Proof, Unit, Way};

/// How one effect works at one event of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Degradation {
    /// The event, as the agent calls it.
    pub own: &'static str,
    /// The event in Crosier.
    pub event: &'static str,
    /// The effect.
    pub effect: Effect,
    /// How it works, in words.
    pub what: String,
}

/// How every effect that hooks can have works, at every event of this agent.
#[must_use]
pub fn degradations(agent: &Agent) -> Vec<Degradation> {
    let of_event = |entry: &'static AgentEvent| {
        let row = all_rows().find(|row| row.name == entry.event);
        let effects = Effect::ALL.into_iter().filter(move |effect| row.is_some_and(|row| has(row, *effect)));
        effects.map(move |effect| Degradation {
            own: entry.name(),
            event: entry.event,
            effect,
            what: words(entry.says.way(effect)),
        })
    };
    agent.events.iter().flat_map(of_event).collect()
}

/// Whether hooks of an event can have this effect.
fn has(row: &EventRow, effect: Effect) -> bool {
    let may = |capability| row.capabilities.has(capability);
    let phase = row.rewrites.map(|(phase, _)| phase);
    match effect {
        Effect::Deny => may(Capability::Deny),
        Effect::Ask => may(Capability::Ask),
        Effect::Allow => may(Capability::Allow),
        Effect::Rewrite => phase == Some(Phase::Pre),
        Effect::Context => may(Capability::Context) || may(Capability::Inject),
        Effect::Replace => phase == Some(Phase::Post),
        Effect::Hide => may(Capability::Suppress),
        Effect::Resume => may(Capability::Resume),
        Effect::Permissions => may(Capability::Permissions),
        Effect::Halt | Effect::Tell => true,
    }
}

fn words(way: Way) -> String {
    match way {
        Way::Says(_) | Way::Alone(_) => "yes".to_owned(),
        Way::Silence(why) => format!("nothing is said: {why}"),
        Way::Becomes(effect, why) => format!("becomes {}: {why}", effect.word()),
        Way::Waits => "waits for the session's next event that takes it".to_owned(),
        Way::Lost(why) => format!("no, it is logged: {why}"),
        Way::Nowhere => "no, it is logged".to_owned(),
    }
}

/// The page about an agent, as Markdown.
#[must_use]
pub fn markdown(agent: &Agent) -> String {
    let mut page = format!("# Crosier in {}\n\n", agent.title);
    // Writing to a string cannot fail.
    let _ = write!(page, "<!-- Generated from the table of this agent. -->\n\n{}\n\n", proof(agent.proof));
    let _ = write!(
        page,
        "## Install\n\n`crosier install {}` writes it ([how](../install.md)). By hand, in {}:\n\n```text\n{}\n```\n\n",
        agent.name, agent.page.file, agent.page.entry
    );
    let installed = agent.events.iter().filter(|entry| entry.install && entry.when.is_none());
    let installed: Vec<String> = installed.map(|entry| format!("`{}`", entry.name())).collect();
    let _ =
        write!(page, "Such an entry is worth having for {}.\n\n{}\n\n", installed.join(", "), time(agent));
    let _ = write!(page, "{}\n\n{}\n\n", agent.page.fails, project(agent));
    let _ = write!(page, "## What works\n\n{}\n", effects(agent));
    let _ = write!(page, "{}\n\n## Tools\n\n{}\n", resumes(agent), tools(agent));
    let traps: String = agent.page.traps.iter().map(|trap| format!("- {trap}\n")).collect();
    let _ = write!(page, "## Traps\n\n{traps}");
    page
}

fn proof(proof: Proof) -> String {
    match proof {
        Proof::Run(version) => format!("All of this was seen in the real program, version {version}."),
        Proof::Source => "From the vendor's sources; the program was not run.".to_owned(),
        Proof::Documentation => "From documentation and reports; the program was not run.".to_owned(),
    }
}

fn time(agent: &Agent) -> String {
    let unit = match agent.timeout.unit {
        Unit::Seconds => "Its timeouts are in seconds",
        Unit::Milliseconds => "Its timeouts are in **milliseconds**",
        Unit::Fixed => "Its time for hooks cannot be changed",
    };
    let default = agent.timeout.default_s;
    format!(
        "{unit}; a hook has {default} s unless it says otherwise. `--deadline SECONDS` in the line says how long hooks may \
         take; it should be less than that."
    )
}

fn project(agent: &Agent) -> String {
    let places = agent.project.iter().map(|place| match place {
        Place::Variable(name) => format!("the variable `{name}`"),
        Place::Field(path) => format!("`{path}` of what it sends"),
    });
    let places: Vec<String> = places.chain(["the folder of the event".to_owned()]).collect();
    format!("The project's folder, in which `crosier.yaml` is looked for, is {}.", places.join(", else "))
}

/// One row per event: what works, and what happens to the other effects.
fn effects(agent: &Agent) -> String {
    let all = degradations(agent);
    let mut table = "| event | in Crosier | works | becomes something else |\n|---|---|---|---|\n".to_owned();
    for entry in agent.events {
        let here = all.iter().filter(|one| one.own == entry.name() && one.event == entry.event);
        let (works, rest): (Vec<_>, Vec<_>) = here.partition(|one| one.what == "yes");
        let works: Vec<&str> = works.iter().map(|one| one.effect.word()).collect();
        let rest: Vec<String> =
            rest.iter().map(|one| format!("{}: {}", one.effect.word(), one.what)).collect();
        let or = |text: String| if text.is_empty() { "–".to_owned() } else { text };
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} |",
            entry.name(),
            entry.event,
            or(works.join(", ")),
            or(rest.join("; "))
        );
    }
    table
}

fn resumes(agent: &Agent) -> String {
    match agent.resumes {
        Some(number) => format!("It lets hooks resume it {number} times in a row."),
        None => "Hooks can resume it 8 times in a row; then Crosier lets it stop. A new prompt counts anew."
            .to_owned(),
    }
}

fn tools(agent: &Agent) -> String {
    let mut table = String::new();
    if !agent.tools.is_empty() {
        table.push_str("| tool | in Crosier | fields |\n|---|---|---|\n");
    }
    for tool in agent.tools {
        let mut fields: Vec<String> =
            tool.fields.iter().map(|(own, here)| format!("`{own}` is `{here}`")).collect();
        match tool.parts {
            Parts::One => {}
            Parts::Each { list, field, .. } => {
                fields.push(format!("each of `{list}` is a `{field}`, judged by itself"))
            }
            Parts::Patch(field) => {
                fields.push(format!("the patch in `{field}` is judged file by file, as Write and Edit"));
            }
        }
        let fields = if fields.is_empty() { "the same".to_owned() } else { fields.join(", ") };
        let _ = writeln!(table, "| {} | {} | {fields} |", tool.own, tool.name);
    }
    let mcp = match agent.mcp {
        Mcp::Same => {
            "Tools of MCP servers have the names that they have in Crosier: `mcp__server__tool`.".to_owned()
        }
        Mcp::Fields(server, tool) => {
            format!(
                "Tools of MCP servers are `mcp__server__tool`, from `{server}` and `{tool}` of what it sends."
            )
        }
        Mcp::Marked(mark, between) => {
            format!(
                "Tools of MCP servers are `mcp__server__tool`; there they are `{mark}server{between}tool`."
            )
        }
    };
    let blank = if table.is_empty() { "" } else { "\n" };
    format!("{table}{blank}{mcp} Others keep their names; a matcher may use either name.\n")
}
