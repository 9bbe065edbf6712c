//! `crosier events`: the event table.

use clap::Args;
use crosier::protocol::json;
use crosier::protocol::ordered::Value;
use crosier::{EventRow, FieldKind};

use crosier::protocol::event::TABLE;
use crosier_dialect::page::effect_deliveries;
use crosier_dialect::rows::all_rows;
use crosier_dialect::table::Agent;

use super::Run;
use crate::exit::{Exit, Result};
use crate::{install_context, print, table};

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  crosier events --agent codex")]
pub(crate) struct EventsArgs {
    /// Show how each effect works in this agent: claude, codex, gemini, …
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Run for EventsArgs {
    fn run(&self) -> Result {
        if let Some(name) = &self.agent {
            return self.of_agent(name);
        }
        if self.json {
            print::data(&format!("{:#}", all_json()))?;
            return Ok(Exit::Done);
        }
        let mut drawn = table::table(["EVENT", "ALIAS", "PAYLOAD (* = matcher)", "A HOOK MAY", "ONLY IN"]);
        for row in all_rows() {
            let alias = row.alias.unwrap_or("-").to_owned();
            drawn.add_row([row.name.to_owned(), alias, payload(row), may(row), agents(row).join(", ")]);
        }
        table::print(&drawn)?;
        Ok(Exit::Done)
    }
}

impl EventsArgs {
    /// How each effect works in one agent.
    fn of_agent(&self, name: &str) -> Result {
        let Some(agent) = crosier_dialect::find(name) else {
            return Err(install_context::unknown_agent(name));
        };
        let all = effect_deliveries(agent);
        if self.json {
            let rows = all.iter().map(|one| {
                json!({"event": one.agent_event, "in_crosier": one.event, "effect": one.effect.word(), "what": one.description})
            });
            print::data(&format!("{:#}", Value::from(rows.collect::<Vec<_>>())))?;
            return Ok(Exit::Done);
        }
        let mut drawn = table::table(["EVENT", "IN CROSIER", "EFFECT", "WHAT HAPPENS"]);
        for one in all {
            drawn.add_row([
                one.agent_event.to_owned(),
                one.event.to_owned(),
                one.effect.word().to_owned(),
                one.description,
            ]);
        }
        table::print(&drawn)?;
        Ok(Exit::Done)
    }
}

/// Every event, as JSON.
pub(crate) fn all_json() -> Value {
    Value::from(all_rows().map(as_json).collect::<Vec<_>>())
}

/// The agents that have this event, if the reference agent does not fire it.
fn agents(row: &EventRow) -> Vec<&'static str> {
    if TABLE.iter().any(|core| core.name == row.name) {
        return Vec::new();
    }
    let has = |agent: &&&'static Agent| agent.events.iter().any(|entry| entry.event == row.name);
    crosier_dialect::ALL.iter().filter(has).map(|agent| agent.name).collect()
}

fn payload(row: &EventRow) -> String {
    let fields = row.fields.iter().map(|field| {
        let star = if row.matcher == Some(field.name) { "*" } else { "" };
        let optional = if field.required { "" } else { "?" };
        format!("{star}{}{optional}", field.name)
    });
    fields.collect::<Vec<_>>().join(", ")
}

fn may(row: &EventRow) -> String {
    let words = row.capabilities.iter().map(|capability| match (capability.word(), row.rewrites) {
        ("rewrite", Some((_, field))) => format!("rewrite {field}"),
        (word, _) => word.to_owned(),
    });
    let words = words.collect::<Vec<_>>().join(", ");
    if words.is_empty() { "-".to_owned() } else { words }
}

fn as_json(row: &EventRow) -> Value {
    let fields: Vec<Value> = row
        .fields
        .iter()
        .map(|field| {
            let kind = match field.kind {
                FieldKind::Text => "text",
                FieldKind::TextOrNull => "text or null",
                FieldKind::Bool => "boolean",
                _ => "any",
            };
            json!({"name": field.name, "type": kind, "required": field.required, "values": field.values, "about": field.about})
        })
        .collect();
    json!({
        "event": row.name,
        "alias": row.alias,
        "about": row.about,
        "fields": fields,
        "matcher": row.matcher,
        "may": row.capabilities.iter().map(crosier::Capability::word).collect::<Vec<_>>(),
        "rewrites": row.rewrites.map(|(_, field)| field),
        "only_in": agents(row),
    })
}
