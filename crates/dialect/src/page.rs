//! Which effects of hooks an agent supports: as rows of a table, and as a page of the documentation.

use std::fmt::Write as _;

use crosier_protocol::{Capability, EventRow, Phase};

use crate::rows::all_rows;
use crate::table::{Agent, AgentEvent, Delivery, Effect, FolderSource, Mcp, Parts, TimeUnit, Verification};

/// How one effect works at one event of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Degradation {
    /// The event, as the agent calls it.
    pub agent_event: &'static str,
    /// The event in Crosier.
    pub event: &'static str,
    /// The effect.
    pub effect: Effect,
    /// How it works, in words.
    pub description: String,
}

/// How every effect that hooks can have works, at every event of this agent.
#[must_use]
pub fn degradations(agent: &Agent) -> Vec<Degradation> {
    let of_event = |entry: &'static AgentEvent| {
        let row = all_rows().find(|row| row.name == entry.event);
        let effects = Effect::ALL.into_iter().filter(move |effect| row.is_some_and(|row| has(row, *effect)));
        effects.map(move |effect| Degradation {
            agent_event: entry.name(),
            event: entry.event,
            effect,
            description: words(entry.effects.delivery(effect)),
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

fn words(way: Delivery) -> String {
    match way {
        Delivery::Send(_) | Delivery::SendAlone(_) => "yes".to_owned(),
        Delivery::Silence(why) => format!("no reply ({why})"),
        Delivery::Substitute(effect, why) => format!("becomes {} ({why})", effect.word()),
        Delivery::Deferred => "delivered at the session's next event that accepts it".to_owned(),
        Delivery::Dropped(why) => format!("only logged ({why})"),
        Delivery::Inapplicable => "only logged".to_owned(),
    }
}

/// The page about an agent, as Markdown.
#[must_use]
pub fn markdown(agent: &Agent) -> String {
    let mut page = format!("# Crosier in {}\n\n", agent.title);
    // Writing to a string cannot fail.
    let _ = write!(
        page,
        "<!-- Generated from the table of this agent. -->\n\n{}\n\n",
        verification(agent.verification)
    );
    let _ = write!(
        page,
        "## Install\n\n`crosier install {}` does it ([details](../install.md)). To do it by hand, add this to {}:\n\n```text\n{}\n```\n\n",
        agent.name, agent.page.file, agent.page.entry
    );
    let installed = agent.events.iter().filter(|entry| entry.install && entry.when.is_none());
    let installed: Vec<String> = installed.map(|entry| format!("`{}`", entry.name())).collect();
    let _ = write!(page, "Add such an entry for each of {}.\n\n{}\n\n", installed.join(", "), time(agent));
    let _ = write!(page, "{}\n\n{}\n\n", agent.page.on_failure, project(agent));
    let _ = write!(page, "## What works\n\n{}\n", effects(agent));
    let _ = write!(page, "{}\n\n## Tools\n\n{}\n", resumes(agent), tools(agent));
    let caveats: String = agent.page.caveats.iter().map(|trap| format!("- {trap}\n")).collect();
    let _ = write!(page, "## Pitfalls\n\n{caveats}");
    page
}

fn verification(verification: Verification) -> String {
    match verification {
        Verification::Run(version) => {
            format!("Everything on this page was tested with the real program, version {version}.")
        }
        Verification::Source => {
            "This page follows the vendor's sources; it was not tested with the program.".to_owned()
        }
        Verification::Documentation => {
            "This page follows documentation and reports; it was not tested with the program.".to_owned()
        }
    }
}

fn time(agent: &Agent) -> String {
    let unit = match agent.timeout.unit {
        TimeUnit::Seconds => "Its timeouts are in seconds",
        TimeUnit::Milliseconds => "Its timeouts are in **milliseconds**",
        TimeUnit::Fixed => "Its timeout for hooks cannot be changed",
    };
    let default = agent.timeout.default_s;
    format!(
        "{unit}; the default is {default} s. `--deadline SECONDS` in the command sets the time for all hooks together; make \
         it shorter than the agent's timeout."
    )
}

fn project(agent: &Agent) -> String {
    let places = agent.project.iter().map(|place| match place {
        FolderSource::Variable(name) => format!("the environment variable `{name}`"),
        FolderSource::Field(path) => format!("the field `{path}` of its JSON"),
    });
    let places: Vec<String> = places.chain(["the working directory of the event".to_owned()]).collect();
    format!("Crosier looks for `crosier.yaml` in the project folder: {}.", places.join(", else "))
}

/// One row per event: what works, and what happens to the other effects.
fn effects(agent: &Agent) -> String {
    let all = degradations(agent);
    let mut table =
        "| event | in Crosier | supported | what happens to other effects |\n|---|---|---|---|\n".to_owned();
    for entry in agent.events {
        let here = all.iter().filter(|one| one.agent_event == entry.name() && one.event == entry.event);
        let (works, rest): (Vec<_>, Vec<_>) = here.partition(|one| one.description == "yes");
        let works: Vec<&str> = works.iter().map(|one| one.effect.word()).collect();
        let rest: Vec<String> =
            rest.iter().map(|one| format!("{}: {}", one.effect.word(), one.description)).collect();
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
        Some(1) => "It lets hooks resume it only once in a row.".to_owned(),
        Some(number) => format!("It lets hooks resume it at most {number} times in a row."),
        None => {
            "Hooks can resume it 8 times in a row; then Crosier lets it stop. A new prompt resets the count."
                .to_owned()
        }
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
            Parts::Shell(field) => fields.push(format!(
                "a patch for `apply_patch` in `{field}` is also checked file by file, as Write and Edit"
            )),
            Parts::Each { list, field, .. } => {
                fields.push(format!("each item of `{list}` is a `{field}`, checked by itself"))
            }
            Parts::Patch(field) => {
                fields.push(format!("the patch in `{field}` is checked file by file, as Write and Edit"));
            }
        }
        fields.extend(tool.when.map(|field| format!("only with a `{field}`")));
        let fields = if fields.is_empty() { "the same".to_owned() } else { fields.join(", ") };
        let _ = writeln!(table, "| {} | {} | {fields} |", tool.agent_name, tool.name);
    }
    let mcp = match agent.mcp {
        Mcp::Same => {
            "Tools of MCP servers have the same names as in Crosier: `mcp__server__tool`.".to_owned()
        }
        Mcp::Fields(server, tool) => {
            format!(
                "Tools of MCP servers are `mcp__server__tool`, from the fields `{server}` and `{tool}` of its JSON."
            )
        }
        Mcp::Marked(mark, between) => {
            format!(
                "Tools of MCP servers are `mcp__server__tool`; the agent calls them `{mark}server{between}tool`."
            )
        }
    };
    let blank = if table.is_empty() { "" } else { "\n" };
    format!("{table}{blank}{mcp} Other tools keep their names. A matcher may use either name.\n")
}
