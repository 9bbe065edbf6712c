//! All registered hooks, as an immutable value.
//!
//! Input: hooks, from the host's code or from configuration. Output: a [`Registry`] that plans are made from.
//! A change makes a new value and shares what did not change, so the cost of registering a hook or a scope
//! does not depend on how many there are. Handlers are data here; nothing in this module runs anything.

mod builder;
mod error;
mod event_hooks;
mod glob;
mod handler;
mod hook;
mod hook_set;
mod layer;
mod limits;
mod matcher;
mod resolve;
mod service;
mod snapshot;
mod sources;

pub use builder::{CallbackInput, HookBuilder, Typed, Untyped};
pub use error::{RegisterError, SwitchError};
pub use handler::{
    BoxFuture, Call, Callback, CommandSpec, Cwd, DEFAULT_GRACE, Handler, Pass, Program, PythonSpec,
};
pub use hook::{DEFAULT_PRIORITY, DEFAULT_TIMEOUT, Enforcement, Entry, Hook, Mode, OnError, Origin};
pub use layer::Layer;
pub use matcher::Matcher;
pub use service::{Service, ServiceCall};
pub use sources::{PythonSources, Sources};

pub(crate) use event_hooks::EventHooks;
pub(crate) use hook_set::{HookSet, Registration};
pub(crate) use limits::{HookedEvents, Limits};
pub(crate) use snapshot::{Changed, Registry};
