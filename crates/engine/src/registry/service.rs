//! Handler kinds that a host defines, besides callbacks, commands and python functions.

use std::fmt;
use std::time::Instant;

use super::handler::{BoxFuture, Call};

/// A handler kind that the host defines: an HTTP endpoint, a tool of an MCP server, a rule engine.
///
/// Like tower's `Service`, it turns a call into a future of an answer. One value is one configured hook: its
/// settings are its fields. The engine enforces the deadline, catches panics, writes the report, and makes
/// the second call that an answer may ask for.
///
/// ```
/// use crosier::{Answer, BoxFuture, Engine, Handler, Hook, Reply, Service, ServiceCall, payload::PreToolUse};
///
/// struct OfficeHours { open: bool }
///
/// impl Service for OfficeHours {
///     fn kind(&self) -> &'static str {
///         "office-hours"
///     }
///     fn call(&self, call: ServiceCall<'_>) -> BoxFuture {
///         let reply = if self.open { Reply::none() } else { Reply::deny(format!("{}: closed", call.call.hook)) };
///         Box::pin(async move { Answer::from(reply) })
///     }
/// }
///
/// let hook = Hook::on(PreToolUse).named("hours").service(OfficeHours { open: false });
/// let engine = Engine::builder().hook(hook).build().unwrap();
/// assert!(engine.fire_blocking(PreToolUse::default()).is_denied());
/// ```
pub trait Service: Send + Sync {
    /// The name of this kind, in tables and messages.
    fn kind(&self) -> &'static str;

    /// Begins a call. The future is polled inside a tokio runtime with timers and io, and dropped at the deadline or
    /// when the fire is cancelled; what it has started must end with it.
    fn call(&self, call: ServiceCall<'_>) -> BoxFuture;
}

/// One call of a [`Service`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ServiceCall<'a> {
    /// The event, the hook's name, and whether it is the second run.
    pub call: Call<'a>,
    /// When the future is dropped.
    pub deadline: Instant,
}

impl<'a> ServiceCall<'a> {
    /// A call with this deadline.
    #[must_use]
    pub const fn new(call: Call<'a>, deadline: Instant) -> Self {
        Self { call, deadline }
    }
}

impl fmt::Debug for dyn Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Service").field(&self.kind()).finish()
    }
}
