//! The ways in which a hook can fail.
//!
//! A failure is data in a report. What follows from it (continue, deny, halt) is decided in one place: the
//! policy in the engine's `fold` module.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What went wrong with one hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureKind {
    /// The program could not be started at all.
    Spawn,
    /// The hook had not finished by its deadline.
    Timeout,
    /// The program ended with a code that is neither 0 nor 2, and without a valid reply.
    Exit,
    /// The program was killed by a signal.
    Signal,
    /// The reply is malformed or ambiguous.
    BadOutput,
    /// The reply is larger than the limit; all of it is discarded.
    Oversize,
    /// The hook's code could not be loaded. Always denies where the event has a deny.
    Import,
    /// The event could not be handed to the hook's code. Always denies where the event has a deny.
    Delivery,
    /// A file that the hook runs has changed since it was trusted. Always denies where the event has a deny, even when
    /// the hook only warns.
    Changed,
    /// The hook's code raised an error.
    Error,
    /// A callback panicked.
    Panic,
    /// The worker that ran the hook is gone.
    WorkerLost,
}

impl FailureKind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Self; 12] = [
        Self::Spawn,
        Self::Timeout,
        Self::Exit,
        Self::Signal,
        Self::BadOutput,
        Self::Oversize,
        Self::Import,
        Self::Delivery,
        Self::Changed,
        Self::Error,
        Self::Panic,
        Self::WorkerLost,
    ];

    /// Its name in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Spawn => "spawn",
            Self::Timeout => "timeout",
            Self::Exit => "exit",
            Self::Signal => "signal",
            Self::BadOutput => "bad_output",
            Self::Oversize => "oversize",
            Self::Import => "import",
            Self::Delivery => "delivery",
            Self::Changed => "changed",
            Self::Error => "error",
            Self::Panic => "panic",
            Self::WorkerLost => "worker_lost",
        }
    }

    /// The kind with this name in JSON.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Whether this failure denies whatever the hook's `on_error` says: the hook's code never saw the event,
    /// or other code ran in its place, so its decision is unknown.
    #[must_use]
    pub const fn always_denies(self) -> bool {
        matches!(self, Self::Import | Self::Delivery | Self::Changed)
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One failure: its kind, and a message for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Failure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// What happened, in words that help to fix it. Contains no text from the payload.
    pub detail: String,
}

impl Failure {
    /// Makes a failure.
    pub fn new(kind: FailureKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into() }
    }

    /// The hook's reply cannot be understood.
    pub fn bad_output(detail: impl Into<String>) -> Self {
        Self::new(FailureKind::BadOutput, detail)
    }

    /// The hook's code raised an error.
    pub fn error(detail: impl Into<String>) -> Self {
        Self::new(FailureKind::Error, detail)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.detail)
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_serde() {
        for kind in FailureKind::ALL {
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{}\"", kind.word()));
            assert_eq!(FailureKind::from_word(kind.word()), Some(kind));
        }
    }
}
