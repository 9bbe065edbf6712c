//! What a talk with a worker is bounded by, and how it can fail.

use std::time::{Duration, Instant};

use crosier_protocol::{Failure, FailureKind};

use super::super::os;
use super::super::process::Stop;
use crate::registry::PythonSpec;

/// What a talk is bounded by.
pub(super) struct Talk<'a> {
    pub(super) deadline: Instant,
    pub(super) stop: Stop<'a>,
    /// Told what the hook prints.
    pub(super) progress: Option<&'a dyn Fn(String)>,
}

impl Talk<'_> {
    pub(super) fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Whether the fire was cancelled or the engine shut down.
    pub(super) fn is_stopped(&self) -> bool {
        [self.stop.cancel, self.stop.bell].into_iter().flatten().any(os::is_ready)
    }
}

/// Why a call has no answer.
#[derive(Debug)]
pub(super) struct Lost {
    pub(super) when: When,
    pub(super) why: Why,
}

/// How far it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// It had no worker yet.
    Waiting,
    /// Its worker had not said a word.
    Starting,
    /// Its module was being imported.
    Loading,
    /// Its function ran.
    Calling,
}

#[derive(Debug)]
pub(super) enum Why {
    Late,
    Cancelled,
    /// The worker died, like this.
    Ended(String),
    /// It broke the protocol or could not be started.
    Broke(String),
}

impl Lost {
    /// What a report says of it. Where the hook's code could not be loaded, that is `import`, which denies.
    pub(super) fn failure(self, spec: &PythonSpec, timeout: Duration) -> Failure {
        let module = &spec.module;
        let (kind, detail) = match (self.why, self.when) {
            (Why::Late, When::Waiting) => {
                (FailureKind::Timeout, format!("all workers were busy for the whole {timeout:?}"))
            }
            (Why::Late, When::Starting) => {
                (FailureKind::Timeout, format!("its worker was not ready after {timeout:?}, and was killed"))
            }
            (Why::Late, When::Loading) => {
                let slow = format!("module '{module}' was still being imported after {timeout:?}");
                (FailureKind::Timeout, format!("{slow}, and its worker was killed"))
            }
            (Why::Late, When::Calling) => (
                FailureKind::Timeout,
                format!("it was not done after {timeout:?}, and its worker was killed"),
            ),
            (Why::Cancelled, When::Waiting) => {
                (FailureKind::Error, "the fire was cancelled before it had a worker".to_owned())
            }
            (Why::Cancelled, _) => {
                (FailureKind::Error, "the fire was cancelled, and its worker was killed".to_owned())
            }
            (Why::Ended(how), When::Waiting | When::Starting) => {
                (FailureKind::Import, format!("its worker ended before it was ready: {how}"))
            }
            (Why::Ended(how), When::Loading) => {
                let ended = format!("module '{module}' could not be imported: its worker ended");
                (FailureKind::Import, format!("{ended}: {how}"))
            }
            (Why::Ended(how), When::Calling) => {
                (FailureKind::WorkerLost, format!("its worker ended in the middle of the call: {how}"))
            }
            (Why::Broke(detail), When::Waiting | When::Starting) => (FailureKind::Import, detail),
            (Why::Broke(detail), When::Loading) => {
                (FailureKind::Import, format!("module '{module}' could not be imported: {detail}"))
            }
            (Why::Broke(detail), When::Calling) => (FailureKind::WorkerLost, detail),
        };
        Failure::new(kind, plain(&detail))
    }
}

/// A detail can hold whatever the hook's code or its interpreter said.
pub(super) fn plain(detail: &str) -> String {
    detail.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
