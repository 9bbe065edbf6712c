//! [`Event`]: one event, and its JSON for hooks.
//!
//! Input: a payload struct or a JSON object that a host wrote. Output, made lazily and once: the JSON object
//! that hooks get, with the base fields first, then the host's fields in their order. Cloning an event
//! increments a reference count; a rewritten event shares all fields but the one that it replaces.

mod encode;
mod event;
mod host_payload;
mod ingest;

pub use event::{Defaults, Event};
pub use host_payload::HostPayload;
pub use ingest::EventError;

/// The base fields, in the order in which they are written.
pub const BASE_FIELDS: [&str; 9] = [
    "session_id",
    "transcript_path",
    "cwd",
    "permission_mode",
    "hook_event_name",
    "hook_type",
    "agent_id",
    "orchestrator_id",
    "timestamp",
];
