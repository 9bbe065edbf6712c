//! Selects records.

use jiff::Timestamp;

use crate::record::{Record, RecordKind};

/// What a record must match; fields that are not set match everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filter {
    /// Only what was denied: by a hook, or because no decision could be made.
    pub denied: bool,
    /// Only this decision: `deny`, `ask`, `allow`, `none`; `would` is what would have been denied or asked.
    pub decision: Option<String>,
    /// Only this agent.
    pub agent: Option<String>,
    /// Only sessions whose name begins with this.
    pub session: Option<String>,
    /// Only records in which this hook decided, failed or ran.
    pub hook: Option<String>,
    /// Only records since this time.
    pub since: Option<Timestamp>,
    /// Only records whose id begins with this.
    pub id: Option<String>,
}

impl Filter {
    /// Whether a record matches.
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
        "none" => record.decision.is_none() && record.kind != RecordKind::Command,
        "would" => matches!(record.would.as_deref(), Some("deny" | "ask")),
        other => record.decision.as_deref() == Some(other),
    }
}

/// Matches the whole name, or the name without its scope or layer: `guard` also matches `main/guard` and
/// `managed:guard`.
fn has_hook(record: &Record, wanted: &str) -> bool {
    let fits = |name: &str| name == wanted || name.rsplit(['/', ':']).next() == Some(wanted);
    record.by.as_deref().is_some_and(fits)
        || record.failures.iter().any(|failure| fits(&failure.hook))
        || record.hooks.iter().any(|hook| fits(&hook.hook))
}
