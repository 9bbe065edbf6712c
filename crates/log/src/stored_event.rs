//! Whole events, from which test cases can be made.
//!
//! A case needs the whole input; the short form in a record is not enough. So the events that people may ask about
//! (denied, asked, would have been, or with a hook that failed) are stored completely: as they were fired, with secrets
//! masked, at most 64 KB each, in a separate file beside the log. That file is renamed at 4 MB, and one older file is
//! kept. A larger event is not stored. A hook that looks at a masked secret may decide differently about the case.

use crosier::{Event, Json};
use crosier_builtins::redact_secrets::Redactor;
use serde::{Deserialize, Serialize};

use crate::needed::needs_rules;
use crate::record::Record;

/// The maximum number of bytes of an event that is stored.
const MAX_EVENT: usize = 64 * 1024;

/// A whole event that was fired.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StoredEvent {
    /// The id of its record.
    pub id: String,
    /// The event's name.
    pub event: String,
    /// The project's folder.
    #[serde(default)]
    pub project: Option<String>,
    /// The configuration files that were in force.
    #[serde(default)]
    pub files: Vec<String>,
    /// The event as it was fired, with secrets masked.
    pub input: Json,
}

impl StoredEvent {
    /// The event to store; `None` when it is too large or cannot be written.
    #[must_use]
    pub fn of(record: &Record, event: &Event, files: &[String]) -> Option<Self> {
        let wire = event.wire().ok().filter(|wire| wire.len() <= MAX_EVENT)?;
        let mut input = Json::parse(wire).ok()?;
        if needs_rules(wire) {
            // Without the rules that mask secrets, nothing is stored.
            let redactor = Redactor::standard().ok()?;
            if let Some(masked) = redactor.json(&input, &mut |_| {}) {
                input = masked;
            }
        }
        Some(Self {
            id: record.id.clone(),
            event: event.name().to_owned(),
            project: record.project.clone(),
            files: files.to_vec(),
            input,
        })
    }
}
