//! Which effects of hooks an agent supports: as rows of a table, and as a page of the documentation.

use std::fmt::Write as _;

use crosier_protocol::{Capability, EventRow, Phase};

use crate::rows::all_rows;
use crate::table::{
    Agent, AgentEvent, Delivery, Effect, FolderSource, Mcp, Page, Parts, TimeUnit, Verification,
};

/// How one effect works at one event of an agent: as in Crosier, in a weaker form, or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EffectDelivery {
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
pub fn effect_deliveries(agent: &Agent) -> Vec<EffectDelivery> {
    let of_event = |entry: &'static AgentEvent| {
        let row = all_rows().find(|row| row.name == entry.event);
        let effects = Effect::ALL.into_iter().filter(move |effect| row.is_some_and(|row| has(row, *effect)));
        effects.map(move |effect| EffectDelivery {
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
    let _ = write!(page, "## Install\n\n{}\n\n{}\n\n", install(agent), time(agent));
    let _ = write!(page, "{}\n\n{}\n\n", agent.page.on_failure, project(agent));
    let _ = write!(page, "## What works\n\n{}\n", effects(agent));
    let _ = write!(page, "{}\n## Tools\n\n{}\n", resumes(agent), tools(agent));
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
            "This page is based on the vendor's source code; it was not tested with the program.".to_owned()
        }
        Verification::Documentation => {
            "This page is based on documentation and reports; it was not tested with the program.".to_owned()
        }
    }
}

/// What to write where, and for which events.
fn install(agent: &Agent) -> String {
    let installed = agent.events.iter().filter(|entry| entry.install && entry.when.is_none());
    let installed: Vec<String> = installed.map(|entry| format!("`{}`", entry.name())).collect();
    let events = installed.join(", ");
    let Page { file, entry, .. } = agent.page;
    let (by_hand, events) = if entry.starts_with("crosier ") {
        (format!("this command writes the plugin {file}"), format!("The plugin handles {events}."))
    } else if entry.starts_with("#!") {
        (format!("create {file}"), format!("Create one for each of {events}."))
    } else if installed.len() == 1 {
        (format!("add this to {file}"), format!("The only event is {events}."))
    } else {
        (format!("add this to {file}"), format!("Add such an entry for each of {events}."))
    };
    format!(
        "Run `crosier install {}` ([details](../install.md)). To install it by hand, {by_hand}:\n\n```text\n{entry}\n```\n\n{events}",
        agent.name
    )
}

fn time(agent: &Agent) -> String {
    let default = agent.timeout.default_s;
    let timeout = match agent.timeout.unit {
        TimeUnit::Seconds => format!("Timeouts of hooks are in seconds; the default is {default} s."),
        TimeUnit::Milliseconds => {
            format!("Timeouts of hooks are in **milliseconds**; the default is {default} s.")
        }
        TimeUnit::Fixed => format!("The timeout of hooks is {default} s and cannot be changed."),
    };
    format!(
        "{timeout} `--deadline SECONDS` in the command sets the time for all hooks together; make it shorter than the agent's \
         timeout."
    )
}

fn project(agent: &Agent) -> String {
    let places = agent.project.iter().map(|place| match place {
        FolderSource::Variable(name) => format!("the environment variable `{name}`"),
        FolderSource::Field(path) => format!("the field `{path}` of the event's JSON"),
    });
    let places: Vec<String> = places.chain(["the working directory of the event".to_owned()]).collect();
    format!("Crosier looks for `crosier.yaml` in the project folder: {}.", places.join(", else "))
}

/// One row per event: what works, and what happens to the other effects.
fn effects(agent: &Agent) -> String {
    let all = effect_deliveries(agent);
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
    let can_resume = |entry: &AgentEvent| {
        matches!(entry.effects.delivery(Effect::Resume), Delivery::Send(_) | Delivery::SendAlone(_))
    };
    if !agent.events.iter().any(can_resume) {
        return String::new();
    }
    match agent.resumes {
        Some(1) => "The agent lets hooks keep it going only once in a row.\n".to_owned(),
        Some(number) => format!("The agent lets hooks keep it going at most {number} times in a row.\n"),
        None => "Hooks can keep the agent going 8 times in a row; then Crosier lets it stop. A new prompt resets the count.\n"
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
            Parts::Shell(field) => fields.push(format!(
                "a patch for `apply_patch` in `{field}` is also checked file by file, as Write and Edit"
            )),
            Parts::Each { list, field, .. } => {
                fields.push(format!("each item of `{list}` is a `{field}`, checked separately"))
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
                "Tools of MCP servers are `mcp__server__tool`, from the fields `{server}` and `{tool}` of the event's JSON."
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
