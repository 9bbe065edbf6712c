//! One plain struct per event, with the names of the wire.
//!
//! A host fills one in and fires it; a typed callback gets a reference to it. Every struct has
//! [`Base`] under `base` and can be made with `..Default::default()`. Beside each struct stands a
//! constant of the same name, so that `Hook::on(PreToolUse)` names the event and its type at once.

mod agent;
mod fields;
mod message;
mod session;
mod tool;
mod work;

use std::any::Any;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use agent::*;
pub(crate) use fields::{FieldList, FieldSink};
pub use message::*;
pub use session::*;
pub use tool::*;
pub use work::*;

use crate::event::{EventRow, Kind, TABLE};

/// The fields that every event has. What the host leaves out is completed when the event is fired.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Base {
    /// The session; completed with an id of the engine's own.
    pub session_id: Option<String>,
    /// The transcript's file; completed with an empty text.
    pub transcript_path: Option<String>,
    /// The folder in which the agent works; completed with the engine's folder.
    pub cwd: Option<String>,
    /// How the host asks for permissions; absent when the host has no such mode.
    pub permission_mode: Option<String>,
    /// The agent that this happens in; none outside an agent.
    pub agent_id: Option<String>,
    /// Who runs the agents; completed with an empty text.
    pub orchestrator_id: Option<String>,
    /// When it happened (RFC 3339, UTC); completed with the present.
    pub timestamp: Option<String>,
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
    /// The event's row: one of [`TABLE`], or one that the host adds to its engine.
    fn row() -> &'static EventRow;

    /// The fields that every event has.
    fn base(&self) -> &Base;

    /// The fields that every event has, to fill in.
    fn base_mut(&mut self) -> &mut Base;

    /// The value that matchers run on: the field that the row names. When it is `None` although the row has a
    /// matcher, the value is read from the JSON of the payload.
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
    pub fn kind(self) -> Kind {
        Kind::Builtin(P::row())
    }
}

/// [`Payload`] as a trait object, as an event holds it.
pub(crate) trait AnyPayload: Debug + Send + Sync {
    fn base(&self) -> &Base;
    fn agent_id(&self) -> Option<&str>;
    fn matcher_value(&self) -> Option<&str>;
    fn as_any(&self) -> &(dyn Any + Send + Sync);
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
    /// Gives the payload fields to `sink`, in order.
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

/// Implements [`Payload`] for each struct. The order here is the order of the table.
macro_rules! payloads {
    ($($name:ident $(on $matcher:ident)? $(of $agent:ident)?;)*) => {
        enum Index { $($name),* }
        $(
            impl Payload for $name {
                #[inline]
                fn row() -> &'static EventRow { &TABLE[Index::$name as usize] }
                fn base(&self) -> &Base { &self.base }
                fn base_mut(&mut self) -> &mut Base { &mut self.base }
                fn matcher_value(&self) -> Option<&str> { payloads!(@matcher self $($matcher)?) }
                $(fn agent_id(&self) -> Option<&str> { Some(&self.$agent) })?
            }
            #[expect(non_upper_case_globals, reason = "named like the struct, to stand for its event")]
            #[doc = concat!("The event of [`", stringify!($name), "`](struct@", stringify!($name), ").")]
            pub const $name: EventOf<$name> = EventOf(PhantomData);
        )*
        #[cfg(test)]
        pub(crate) const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
    (@matcher $self:ident) => { None };
    (@matcher $self:ident $field:ident) => { Some(&$self.$field) };
}

payloads! {
    Setup on trigger;
    SessionStart on source;
    SessionEnd on reason;
    UserPromptSubmit;
    PreMessage;
    PostMessage;
    PreToolUse on tool_name;
    PermissionRequest on tool_name;
    PostToolUse on tool_name;
    PostToolUseFailure on tool_name;
    PreCompact on trigger;
    Stop;
    SubagentStart on agent_type of agent_id;
    SubagentStop on agent_type of agent_id;
    PreAgentSpawn on agent_type of agent_id;
    PostAgentComplete on agent_type of agent_id;
    PreSessionPhase on to;
    PostSessionPhase on to;
    PreGitWrite on path;
    PostGitWrite on path;
    PreViewRender;
    Notification on notification_type;
    TeammateIdle on teammate_name;
    TaskCompleted;
}

#[cfg(test)]
#[path = "payload_tests.rs"]
mod tests;
