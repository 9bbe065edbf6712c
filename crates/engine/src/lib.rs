//! Crosier: a hook engine for AI agents.
//!
//! A host fires an event; the engine runs the hooks that match and returns one outcome.
//!
//! An event passes through the modules of this crate in one direction:
//!
//! ```text
//! ingest ──► plan ──► for each stage: run ──► fold ──► (rewritten event, next stage) … ──► outcome ──► gate
//!              ▲
//!           registry ◄── config, scripts
//! ```
//!
//! - `engine`: the builder, `fire`, and the loop over the plan (the walk); the only module that uses all
//!   others.
//! - `registry`: all registered hooks, as an immutable value. [`Hook::on`] begins a hook.
//! - `plan`: the ordered hooks for one event, as a value.
//! - `run`: callbacks and processes; the only module with threads, processes and tokio.
//! - `fold`: replies and failures → [`Outcome`]; the only module that knows what a decision means.
//! - `gate`: the outcome as enums to match on ([`Gates`]), and [`PendingContext`].
//! - `message`: messages about running hooks, for listeners ([`Listener`]).
//!
//! The library never prints, never reads the environment or the home folder, and never ends the process.
#![forbid(unsafe_code)]

#[cfg(feature = "config")]
pub mod config;
mod engine;
mod fold;
mod gate;
mod ingest;
mod message;
mod plan;
mod registry;
mod run;

pub use crosier_protocol as protocol;
pub use crosier_protocol::payload;
pub use crosier_protocol::{
    Answer, Base, Capabilities, Capability, Catalog, Decision, Directive, Event, EventError, EventKind,
    EventOf, EventRow, Failure, FailureKind, Field, FieldKind, HostPayload, Ignored, Injected, Json, Notice,
    NoticeKind, Outcome, Payload, Phase, Reply, Report, Status, Strategy,
};
pub use engine::{Builder, Engine, Scope, ScopeHandle};
pub use gate::{
    ActionGate, Gates, OutputGate, PendingContext, PermissionGate, Refusal, ResultGate, StopGate, ToolGate,
    WorkGate,
};
pub use ingest::timestamp;
pub use message::{HookEnd, Listener, Message, MessageKind, Received};
pub use plan::{Explanation, Inclusion, Plan};
pub use registry::{
    BoxFuture, Call, Callback, CallbackInput, CommandSpec, Cwd, DEFAULT_GRACE, DEFAULT_PRIORITY,
    DEFAULT_TIMEOUT, Enforcement, Entry, Handler, Hook, HookBuilder, Layer, Matcher, Mode, OnError, Origin,
    Pass, Program, PythonSources, PythonSpec, RegisterError, Service, ServiceCall, Sources, SwitchError,
    Typed, Untyped,
};
#[cfg(feature = "process")]
pub use run::mechanism;
pub use run::{BackgroundJob, Launcher, is_secret_or_loader};
#[cfg(feature = "python")]
pub use run::{
    BegunCall, NotCompleted, PythonCall, PythonInfo, PythonResponse, PythonResult, PythonRunner,
    PythonWorkers, WarmCall, WorkerInfo,
};

/// Runs the Rust code of the README and the guide as tests; a test of the command line runs the rest.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../../../docs/embedding.md")]
struct Guide;
