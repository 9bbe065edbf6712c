//! What a hook may do, by the way it runs.

use crate::registry::{Enforcement, Entry, Mode};

/// What a hook may do in the walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Every effect that the event allows.
    Full,
    /// All except rewrites: other hooks may run at the same time.
    NoRewrite,
    /// Nothing: the outcome is settled.
    Observer,
    /// Nothing: the hook only warns. What it would have decided is reported.
    Warner,
}

impl Role {
    /// A parallel hook may not rewrite when it is alone in its stage either: its rights must not depend on its
    /// neighbours.
    pub(super) fn of(hook: &Entry) -> Self {
        match (hook.mode, hook.enforcement) {
            (Mode::Observe, _) => Self::Observer,
            (_, Enforcement::Warn) => Self::Warner,
            (Mode::Parallel, _) => Self::NoRewrite,
            (Mode::Sequential | Mode::Background, _) => Self::Full,
        }
    }

    /// Why nothing that this hook asks for is applied; none when it may have effects.
    pub(super) fn why_powerless(self) -> Option<&'static str> {
        match self {
            Self::Full | Self::NoRewrite => None,
            Self::Observer => Some("a hook that observes has no effect"),
            Self::Warner => Some("a hook with `mode: warn` has no effect"),
        }
    }
}
