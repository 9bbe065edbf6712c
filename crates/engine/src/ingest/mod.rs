//! Freezes an event: from here on it does not change, and what the host left out is known.
//!
//! In comes what a host fired; out goes an [`Event`] that every room after this one reads. Its JSON is made
//! lazily, once, when the first hook asks for it, and again only after a rewrite. Nothing here looks into a
//! payload.

mod clock;

use std::sync::Arc;

use crosier_protocol::{Defaults, Event};

/// What the engine completes events with.
pub(crate) fn defaults(session_id: Option<String>, cwd: String) -> Arc<Defaults> {
    let session_id = session_id.unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
    Arc::new(Defaults { session_id, cwd, now: clock::now })
}

/// Freezes an event.
pub(crate) fn ingest(event: impl Into<Event>, defaults: &Arc<Defaults>) -> Event {
    event.into().completed(defaults)
}
