//! The limits of a call to a worker, and the ways in which it can fail.

use std::time::{Duration, Instant};

use crosier_protocol::{Failure, FailureKind};

use super::super::blocking::without_controls;
use super::super::os;
use super::super::process::Stop;
use crate::registry::PythonSpec;

/// When a call must end, and who gets its output.
pub(super) struct CallLimits<'a> {
    pub(super) deadline: Instant,
    pub(super) stop: Stop<'a>,
    /// Called with what the hook prints.
    pub(super) progress: Option<&'a dyn Fn(String)>,
}

impl CallLimits<'_> {
    pub(super) fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Whether the fire was cancelled or the engine shut down.
    pub(super) fn is_stopped(&self) -> bool {
        [self.stop.cancel, self.stop.shutdown].into_iter().flatten().any(os::is_ready)
    }
}

/// Why a call has no answer.
#[derive(Debug)]
pub(super) struct CallError {
    pub(super) step: CallStep,
    pub(super) cause: Cause,
}

/// How far the call got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallStep {
    /// It had no worker yet.
    Waiting,
    /// Its worker was starting.
    Starting,
    /// Its module was being imported.
    Loading,
    /// Its function was running.
    Calling,
}

#[derive(Debug)]
pub(super) enum Cause {
    TimedOut,
    Cancelled,
    /// No worker may be started, because too many are busy.
    Crowded,
    /// The worker exited; the text says how.
    Exited(String),
    /// The worker broke the protocol, or could not be started.
    Broken(String),
}

impl CallError {
    /// The failure for the report. If the hook's code could not be loaded it is `import`, which denies.
    pub(super) fn into_failure(self, spec: &PythonSpec, timeout: Duration) -> Failure {
        let module = &spec.module;
        let (kind, detail) = match (self.cause, self.step) {
            (Cause::TimedOut, CallStep::Waiting) => {
                (FailureKind::Timeout, format!("all workers were busy for the whole {timeout:?}"))
            }
            (Cause::TimedOut, CallStep::Starting) => {
                (FailureKind::Timeout, format!("its worker was not ready after {timeout:?}, and was killed"))
            }
            (Cause::TimedOut, CallStep::Loading) => {
                let slow = format!("module '{module}' was still being imported after {timeout:?}");
                (FailureKind::Timeout, format!("{slow}, and its worker was killed"))
            }
            (Cause::TimedOut, CallStep::Calling) => (
                FailureKind::Timeout,
                format!("it did not finish within {timeout:?}, and its worker was killed"),
            ),
            (Cause::Crowded, _) => (FailureKind::Timeout, "too many workers are busy".to_owned()),
            (Cause::Cancelled, CallStep::Waiting) => {
                (FailureKind::Error, "the fire was cancelled before it had a worker".to_owned())
            }
            (Cause::Cancelled, _) => {
                (FailureKind::Error, "the fire was cancelled, and its worker was killed".to_owned())
            }
            (Cause::Exited(how), CallStep::Waiting | CallStep::Starting) => {
                (FailureKind::Import, format!("its worker ended before it was ready: {how}"))
            }
            (Cause::Exited(how), CallStep::Loading) => {
                let ended = format!("module '{module}' could not be imported: its worker ended");
                (FailureKind::Import, format!("{ended}: {how}"))
            }
            (Cause::Exited(how), CallStep::Calling) => {
                (FailureKind::WorkerLost, format!("its worker ended in the middle of the call: {how}"))
            }
            (Cause::Broken(detail), CallStep::Waiting | CallStep::Starting) => (FailureKind::Import, detail),
            (Cause::Broken(detail), CallStep::Loading) => {
                (FailureKind::Import, format!("module '{module}' could not be imported: {detail}"))
            }
            (Cause::Broken(detail), CallStep::Calling) => (FailureKind::WorkerLost, detail),
        };
        Failure::new(kind, without_controls(&detail))
    }
}
