//! Selects records.

use jiff::Timestamp;

use crate::record::{Kind, Record};

/// What a record must match; fields that are not set match everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filter {
    /// Denied: by a hook, or because nothing could be judged.
    pub denied: bool,
    /// This decision: `deny`, `ask`, `allow`, `none`; `would` is what would have been denied or asked.
    pub decision: Option<String>,
    /// This agent.
    pub agent: Option<String>,
    /// A session whose name begins with this.
    pub session: Option<String>,
    /// This hook decided, failed or ran.
    pub hook: Option<String>,
    /// Not older than this.
    pub since: Option<Timestamp>,
    /// A record whose id begins with this.
    pub id: Option<String>,
}

impl Filter {
    /// Whether a record is wanted.
    #[must_use]
    pub fn matches(&self, record: &Record) -> bool {
        let is = |wanted: &Option<String>, fits: &dyn Fn(&str) -> bool| wanted.as_deref().is_none_or(fits);
        self.since.is_none_or(|since| record.time >= since)
            && (!self.denied || record.decision.as_deref() == Some("deny"))
            && is(&self.decision, &|wanted| has_decision(record, wanted))
            && is(&self.agent, &|wanted| record.agent == wanted)
            && is(&self.session, &|wanted| {
                record.session.as_deref().is_some_and(|session| session.starts_with(wanted))
            })
            && is(&self.hook, &|wanted| has_hook(record, wanted))
            && is(&self.id, &|wanted| record.id.starts_with(wanted))
    }
}

fn has_decision(record: &Record, wanted: &str) -> bool {
    match wanted {
        "none" => record.decision.is_none() && record.kind != Kind::Command,
        "would" => matches!(record.would.as_deref(), Some("deny" | "ask")),
        other => record.decision.as_deref() == Some(other),
    }
}

/// By its whole name, or without the scope or layer in front: `guard` is `main/guard` and `managed:guard` too.
fn has_hook(record: &Record, wanted: &str) -> bool {
    let fits = |name: &str| name == wanted || name.rsplit(['/', ':']).next() == Some(wanted);
    record.by.as_deref().is_some_and(fits)
        || record.failures.iter().any(|failure| fits(&failure.hook))
        || record.hooks.iter().any(|hook| fits(&hook.hook))
}
