//! The types that a host, the engine and hooks share: events, replies and outcomes.
//!
//! The modules, in the order in which an event passes through them:
//!
//! - [`event`]: the table of events ([`event::TABLE`]): names, payload fields, and the effects that hooks may
//!   have.
//! - [`payload`]: one plain struct per event, with the field names of its JSON.
//! - [`wire`]: [`Event`], one fired event, made from a struct or from JSON, and its JSON for hooks.
//! - [`reply`]: what a hook answers: [`Reply`], the strict decoder for its JSON, and what the exit of a
//!   command means.
//! - [`outcome`]: [`Outcome`], the combined answer that a host gets.
//! - [`failure`]: the ways in which a hook can fail. A failure is data.
//!
//! Nothing here does I/O, reads a clock or starts anything; the only dependencies are
//! `serde` and `serde_json`.
#![forbid(unsafe_code)]

pub mod event;
pub mod failure;
pub mod json;
pub mod nearest;
pub mod ordered;
pub mod outcome;
pub mod payload;
pub mod reply;
mod same;
pub mod wire;

pub use event::{Capabilities, Capability, Catalog, EventKind, EventRow, Field, FieldKind, Phase};
pub use failure::{Failure, FailureKind};
pub use json::Json;
pub use outcome::{Directive, Ignored, Injected, Notice, NoticeKind, Outcome, Report, Status};
pub use payload::{Base, EventOf, Payload};
pub use reply::{Answer, Decision, Effects, Injection, Opinion, Reply, Rewrite, Strategy, Target};
pub use wire::{Defaults, Event, EventError, HostPayload};
