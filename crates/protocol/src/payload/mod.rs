//! One plain struct per event, with the field names of its JSON.
//!
//! A host makes one and fires it; a typed callback gets a reference to it. `new` takes the required fields,
//! and each other field has a setter of the same name:
//! `SubagentStop::new("a-1", "coder").stop_hook_active(true)`. Every struct has a [`Base`] in its field `base`.
//! Each struct comes with a constant of the same name, so that `Hook::on(PreToolUse)` names the event and its
//! type at once.

#[macro_use]
mod declare;

mod agent;
mod fields;
mod file_and_view;
mod message;
mod session;
mod tool;

use std::any::Any;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use agent::*;
pub(crate) use fields::{FieldList, FieldSink};
pub use file_and_view::*;
pub use message::*;
pub use session::*;
pub use tool::*;

use crate::event::{EventKind, EventRow};

/// The fields that every event has. Those that the host leaves out are filled in when the event is fired.
///
/// ```
/// use crosier_protocol::Base;
/// let base = Base::default().session_id("s-1".to_owned()).agent_id("coder".to_owned());
/// assert_eq!(base.agent_id.as_deref(), Some("coder"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Base {
    /// The session's id; by default one that the engine makes.
    pub session_id: Option<String>,
    /// The path of the transcript; by default empty.
    pub transcript_path: Option<String>,
    /// The folder in which the agent works; by default the engine's folder.
    pub cwd: Option<String>,
    /// How the host asks for permissions; absent when the host has no such mode.
    pub permission_mode: Option<String>,
    /// The agent in which it happens; `None` outside an agent.
    pub agent_id: Option<String>,
    /// The id of the orchestrator that runs the agents; by default empty.
    pub orchestrator_id: Option<String>,
    /// When it happened (RFC 3339, UTC); by default now.
    pub timestamp: Option<String>,
}

macro_rules! base_setters {
    ($($(#[$doc:meta])* $field:ident)*) => {
        impl Base {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $field(mut self, value: impl Into<Option<String>>) -> Self {
                    self.$field = value.into();
                    self
                }
            )*
        }
    };
}

base_setters! {
    /// Sets the session's id.
    session_id
    /// Sets the path of the transcript.
    transcript_path
    /// Sets the folder in which the agent works.
    cwd
    /// Sets how the host asks for permissions.
    permission_mode
    /// Sets the agent in which it happens.
    agent_id
    /// Sets the id of the orchestrator that runs the agents.
    orchestrator_id
    /// Sets when it happened (RFC 3339, UTC).
    timestamp
}

/// A struct that can be fired as an event: of the built-in table, or of a row that a host added.
///
/// ```
/// use crosier_protocol::{Base, Capability, EventRow, Field, FieldKind, Payload};
/// use serde::{Deserialize, Serialize};
///
/// static ROW: EventRow = EventRow::new("PreDeploy", "a release is about to be deployed")
///     .fields(&[Field::required("target", FieldKind::Text, "where to")])
///     .matches_on("target")
///     .allows(&[Capability::Deny]);
///
/// #[derive(Debug, Clone, Default, Serialize, Deserialize)]
/// struct PreDeploy {
///     #[serde(skip)]
///     base: Base,
///     target: String,
/// }
///
/// impl Payload for PreDeploy {
///     fn row() -> &'static EventRow { &ROW }
///     fn base(&self) -> &Base { &self.base }
///     fn base_mut(&mut self) -> &mut Base { &mut self.base }
///     fn matcher_value(&self) -> Option<&str> { Some(&self.target) }
/// }
/// ```
///
/// The row is given to the engine's builder (`Builder::event`); from then on the struct is fired and hooked like a
/// built-in one.
pub trait Payload: Serialize + DeserializeOwned + Clone + Debug + Default + Send + Sync + 'static {
    /// The event's row: one of [`TABLE`](crate::event::TABLE), or one that the host adds to its engine.
    fn row() -> &'static EventRow;

    /// The fields that every event has.
    fn base(&self) -> &Base;

    /// The fields that every event has, to fill in.
    fn base_mut(&mut self) -> &mut Base;

    /// The value that matchers run on: the field that the row names. If it is `None` and the row names one,
    /// the value is read from the JSON of the payload.
    fn matcher_value(&self) -> Option<&str>;

    /// The agent whose hooks run.
    fn agent_id(&self) -> Option<&str> {
        self.base().agent_id.as_deref()
    }

    /// The same payload with these base fields.
    #[must_use]
    fn with_base(mut self, base: Base) -> Self {
        *self.base_mut() = base;
        self
    }
}

/// The name of an event together with the type of its payload.
#[derive(Debug)]
pub struct EventOf<P>(PhantomData<fn() -> P>);

impl<P> Clone for EventOf<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for EventOf<P> {}

impl<P: Payload> Default for EventOf<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Payload> EventOf<P> {
    /// The event of this payload, to hook it: `Hook::on(EventOf::<PreDeploy>::new())`.
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }

    /// The event's row.
    #[must_use]
    pub fn kind(self) -> EventKind {
        EventKind::Static(P::row())
    }
}

/// The object-safe form of [`Payload`], as an event holds it.
pub(crate) trait AnyPayload: Debug + Send + Sync {
    fn base(&self) -> &Base;
    fn agent_id(&self) -> Option<&str>;
    fn matcher_value(&self) -> Option<&str>;
    fn as_any(&self) -> &(dyn Any + Send + Sync);
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
    /// Passes the payload fields to `sink`, in order.
    fn serialize_fields(&self, sink: &mut dyn FieldSink) -> Result<(), serde_json::Error>;
}

impl<P: Payload> AnyPayload for P {
    fn base(&self) -> &Base {
        Payload::base(self)
    }
    fn agent_id(&self) -> Option<&str> {
        Payload::agent_id(self)
    }
    fn matcher_value(&self) -> Option<&str> {
        Payload::matcher_value(self)
    }
    fn as_any(&self) -> &(dyn Any + Send + Sync) {
        self
    }
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
    fn serialize_fields(&self, sink: &mut dyn FieldSink) -> Result<(), serde_json::Error> {
        fields::serialize_fields(self, sink)
    }
}

#[cfg(test)]
#[path = "payload_tests.rs"]
mod tests;
