//! `crosier list`: every hook.

use clap::Args;
use crosier::Entry;
use crosier::protocol::json;
use crosier::protocol::ordered::Value;

use super::Run;
use crate::args::ConfigArgs;
use crate::describe;
use crate::exit::{Exit, Result};
use crate::setup::{self, Hooks};
use crate::{print, table};

const HEAD: [&str; 10] =
    ["EVENT", "HOOK", "TYPE", "MATCHER", "PRIORITY", "SCOPE", "TIMEOUT", "ON_ERROR", "ENABLED", "DEFINED AT"];

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  crosier list -c hooks.yaml")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Run for ListArgs {
    fn run(&self) -> Result {
        let hooks = setup::hooks(&self.config.request(), |builder| builder)?;
        let entries = hooks.engine.entries();
        if self.json {
            let rows: Vec<Value> = entries.iter().map(|entry| as_json(entry, &hooks)).collect();
            print::json(&format!("{:#}", Value::from(rows)))?;
            return Ok(Exit::Done);
        }
        if entries.is_empty() {
            print::data("no hooks")?;
            return Ok(Exit::Done);
        }
        let mut drawn = table::table(HEAD);
        for entry in &entries {
            drawn.add_row(row(entry, &hooks));
        }
        table::print(&drawn)?;
        Ok(Exit::Done)
    }
}

fn row(entry: &Entry, hooks: &Hooks) -> [String; 10] {
    let enabled = match (entry.enabled, hooks.is_disabled_by_person(&entry.name), entry.system) {
        (true, _, true) => "always",
        (true, _, false) => "yes",
        (false, true, _) => "no (state)",
        (false, false, _) => "no",
    };
    [
        entry.kind.name.to_owned(),
        describe::name(entry),
        entry.type_word().to_owned(),
        describe::matcher(entry),
        entry.priority.to_string(),
        describe::scope(entry),
        describe::time(entry.timeout),
        entry.on_error.word().to_owned(),
        enabled.to_owned(),
        describe::place(entry),
    ]
}

fn as_json(entry: &Entry, hooks: &Hooks) -> Value {
    let mut object = hook_json(entry);
    let disabled_by = match (entry.enabled, hooks.is_disabled_by_person(&entry.name)) {
        (true, _) => None,
        (false, true) => Some("state"),
        (false, false) => Some("config"),
    };
    object["enabled"] = entry.enabled.into();
    object["disabled_by"] = disabled_by.into();
    object["description"] = entry.description.as_deref().into();
    object
}

/// A hook as JSON.
pub(crate) fn hook_json(entry: &Entry) -> Value {
    json!({
        "event": entry.kind.name,
        "hook": &*entry.name,
        "type": entry.type_word(),
        "matcher": entry.matcher.text(),
        "priority": entry.priority,
        "layer": entry.layer.to_string(),
        "scope": entry.scope.as_deref(),
        "mode": entry.mode.word().unwrap_or("sequential"),
        "system": entry.system,
        "guard": entry.guard,
        "enforcement": entry.enforcement.word(),
        "timeout_ms": (entry.timeout.as_secs_f64() * 1e6).round() / 1e3,
        "on_error": entry.on_error.word(),
        "file": entry.origin.as_ref().map(|origin| &*origin.file),
        "line": entry.origin.as_ref().map(|origin| origin.line),
    })
}
