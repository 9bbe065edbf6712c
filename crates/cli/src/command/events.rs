//! `crosier events`: the table.

use clap::Args;
use crosier::protocol::event::TABLE;
use crosier::{EventRow, FieldKind};
use crosier::protocol::json;
use crosier::protocol::ordered::Value;

use super::Run;
use crate::exit::{Exit, Result};
use crate::{print, table};

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  crosier events --json")]
pub(crate) struct EventsArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Run for EventsArgs {
    fn run(&self) -> Result {
        if self.json {
            let rows: Vec<Value> = TABLE.iter().map(as_json).collect();
            print::data(&format!("{:#}", Value::from(rows)))?;
            return Ok(Exit::Done);
        }
        let mut drawn = table::table(["EVENT", "ALIAS", "PAYLOAD (* = matcher)", "A HOOK MAY"]);
        for row in &TABLE {
            drawn.add_row([row.name.to_owned(), row.alias.unwrap_or("-").to_owned(), payload(row), may(row)]);
        }
        table::print(&drawn)?;
        Ok(Exit::Done)
    }
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
                FieldKind::Any => "any",
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
    })
}
