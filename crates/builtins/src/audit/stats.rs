//! Statistics of a log.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crosier::protocol::ordered::Value;

use super::read::{Entry, read};

/// What happened to one kind of event, or to one hook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Count {
    /// How often it occurred.
    pub total: u64,
    /// How often it was allowed.
    pub allow: u64,
    /// How often a person was asked.
    pub ask: u64,
    /// How often it was denied.
    pub deny: u64,
    /// How often a hook failed.
    pub failed: u64,
}

impl Count {
    fn add(&mut self, decision: Option<&str>, failed: bool) {
        self.total += 1;
        match decision {
            Some("allow") => self.allow += 1,
            Some("ask") => self.ask += 1,
            Some("deny") => self.deny += 1,
            _ => {}
        }
        self.failed += u64::from(failed);
    }
}

/// Statistics of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// Records.
    pub records: u64,
    /// Lines that are not records.
    pub unreadable: u64,
    /// The time of the first record.
    pub first: Option<String>,
    /// The time of the last record.
    pub last: Option<String>,
    /// Sessions.
    pub sessions: u64,
    /// By event.
    pub events: BTreeMap<String, Count>,
    /// By tool.
    pub tools: BTreeMap<String, Count>,
    /// By hook.
    pub hooks: BTreeMap<String, Count>,
}

/// Counts a log with its renamed files.
///
/// # Errors
/// When a file cannot be read.
pub fn stats(path: &Path) -> io::Result<Stats> {
    let mut stats = Stats::default();
    let mut sessions = std::collections::HashSet::new();
    read(path, |entry| {
        let Entry::Record(record) = entry else {
            stats.unreadable += 1;
            return true;
        };
        stats.records += 1;
        let text = |name: &str| record.get(name).and_then(Value::as_str);
        if let Some(time) = text("time") {
            stats.first.get_or_insert_with(|| time.to_owned());
            stats.last = Some(time.to_owned());
        }
        if let Some(session) = text("session")
            && sessions.insert(session.to_owned())
        {
            stats.sessions += 1;
        }
        let hooks = record.get("hooks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let failed = |hook: &Value| hook.get("failure").is_some();
        let decision = text("decision");
        stats
            .events
            .entry(text("event").unwrap_or("?").to_owned())
            .or_default()
            .add(decision, hooks.iter().any(failed));
        if let Some(tool) = text("tool_name") {
            stats.tools.entry(tool.to_owned()).or_default().add(decision, hooks.iter().any(failed));
        }
        for hook in hooks.iter().filter(|hook| hook.get("status").and_then(Value::as_str) != Some("skipped"))
        {
            let name = hook.get("hook").and_then(Value::as_str).unwrap_or("?");
            let decision = hook.get("decision").and_then(Value::as_str);
            stats.hooks.entry(name.to_owned()).or_default().add(decision, failed(hook));
        }
        true
    })?;
    Ok(stats)
}
