//! The interface for borrowed workers: a host can run the calls of python hooks in workers that outlive its
//! engine.

use std::ffi::OsString;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crosier_protocol::FailureKind;

use super::super::process::Stop;
use super::call::CallLimits;
use super::request;
use super::response::{Failed, Response};
use crate::registry::{Layer, Pass, PythonSources, PythonSpec};

/// Runs the calls of python hooks outside the engine, in workers that are already started.
///
/// Set with [`Builder::python_runner`](crate::Builder::python_runner). The engine offers every call to it
/// first. If it returns [`NotCompleted`], the engine runs the hook in a worker of its own within the same
/// deadline, with `CROSIER_ATTEMPT=2` in its environment if the hook may already have begun.
pub trait PythonRunner: Send + Sync {
    /// Runs one call. It may block until the deadline, and must end early when one of the call's
    /// [`stops`](PythonCall::stops) becomes readable.
    ///
    /// # Errors
    /// Why the call was not completed.
    fn call(&self, call: &PythonCall<'_>) -> Result<PythonResult, NotCompleted>;
}

impl std::fmt::Debug for dyn PythonRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PythonRunner")
    }
}

/// Why a [`PythonRunner`] did not complete a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotCompleted {
    /// The reason, for logs.
    pub why: String,
    /// Whether code of the hook may have run.
    pub may_have_begun: bool,
}

impl NotCompleted {
    /// No code of the hook was run.
    pub fn before(why: impl Into<String>) -> Self {
        Self { why: why.into(), may_have_begun: false }
    }

    /// Code of the hook may have run.
    pub fn midway(why: impl Into<String>) -> Self {
        Self { why: why.into(), may_have_begun: true }
    }
}

/// One call of a python hook.
#[derive(Clone)]
#[non_exhaustive]
pub struct PythonCall<'a> {
    /// The function.
    pub spec: &'a Arc<PythonSpec>,
    /// The hook's name as shown.
    pub hook: &'a Arc<str>,
    /// The hook's layer. Hooks of two layers never share a worker.
    pub layer: Layer,
    /// What its worker may load from the project; `None` if there is no record.
    pub record: Option<PythonSources>,
    /// The event, as JSON.
    pub event: &'a str,
    /// All environment variables of the worker.
    pub environment: &'a [(OsString, OsString)],
    /// Whether this is a second run, which the hook asked for in its first reply.
    pub second: bool,
    /// Whether this is the first pass, or a guard is asked again about the final event.
    pub pass: Pass,
    /// When it must have ended.
    pub deadline: Instant,
    /// The time limit from which the deadline was computed, for messages.
    pub timeout: Duration,
    pub(super) stop: Stop<'a>,
    pub(super) progress: Option<&'a dyn Fn(String)>,
}

impl std::fmt::Debug for PythonCall<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PythonCall").field("hook", &self.hook).finish_non_exhaustive()
    }
}

impl<'a> PythonCall<'a> {
    /// A first call without a record, with a time limit that begins now.
    pub fn new(spec: &'a Arc<PythonSpec>, hook: &'a Arc<str>, event: &'a str, timeout: Duration) -> Self {
        Self {
            spec,
            hook,
            layer: Layer::Host,
            record: None,
            event,
            environment: &[],
            second: false,
            pass: Pass::First,
            deadline: super::super::deadline_in(timeout),
            timeout,
            stop: Stop { cancel: None, shutdown: None },
            progress: None,
        }
    }

    pub(super) fn limited(self, limits: &CallLimits<'a>) -> Self {
        Self { deadline: limits.deadline, stop: limits.stop, progress: limits.progress, ..self }
    }

    /// Ends the call when this descriptor becomes readable or is closed.
    #[must_use]
    pub fn stopped_by(mut self, cancel: BorrowedFd<'a>) -> Self {
        self.stop.cancel = Some(cancel);
        self
    }

    /// Keeps what the function prints, and returns it in the result.
    #[must_use]
    pub fn keeping_output(mut self) -> Self {
        self.progress = Some(&|_| {});
        self
    }

    /// The descriptors that become readable or are closed when the call must end early.
    pub fn stops(&self) -> impl Iterator<Item = BorrowedFd<'a>> {
        [self.stop.cancel, self.stop.shutdown].into_iter().flatten()
    }

    /// The folders in which python looks for the module before its own path.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        request::paths(self.spec, self.environment)
    }

    pub(super) fn limits(&self) -> CallLimits<'a> {
        CallLimits { deadline: self.deadline, stop: self.stop, progress: self.progress }
    }

    /// The run and the pass as one number, as a worker expects it.
    pub(super) fn phase(&self) -> u16 {
        let phase = if self.second { 2 } else { 1 };
        phase + 256 * (u16::from(self.pass.number()) - 1)
    }
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonResult {
    /// What the function answered.
    pub response: PythonResponse,
    /// What it printed, if that was asked for.
    pub printed: Vec<u8>,
}

/// What a python function answered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PythonResponse {
    /// A reply, as JSON.
    Reply(Vec<u8>),
    /// No opinion.
    Nothing,
    /// A failure.
    Failed {
        /// Its kind.
        kind: FailureKind,
        /// One line about it.
        detail: String,
        /// The reason of a denial that could not be serialized as a reply. The denial still counts.
        deny: Option<String>,
    },
}

impl From<Response> for PythonResponse {
    fn from(response: Response) -> Self {
        match response {
            Response::Reply(bytes) => Self::Reply(bytes),
            Response::Nothing => Self::Nothing,
            Response::Failed(Failed { kind, detail, deny, .. }) => Self::Failed { kind, detail, deny },
        }
    }
}

impl From<PythonResponse> for Response {
    fn from(response: PythonResponse) -> Self {
        match response {
            PythonResponse::Reply(bytes) => Self::Reply(bytes),
            PythonResponse::Nothing => Self::Nothing,
            PythonResponse::Failed { kind, detail, deny } => {
                Self::Failed(Failed { kind, detail, traceback: String::new(), deny })
            }
        }
    }
}
