//! Which effects a hook may have, by its mode and enforcement.

use crate::registry::{Enforcement, Entry, Mode};

/// Which effects a hook may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Every effect that the event allows.
    Full,
    /// All except rewrites: other hooks may run at the same time.
    NoRewrite,
    /// None: the outcome is already settled.
    Observer,
    /// None: the hook only warns. What it would have decided is reported.
    Warner,
}

impl Role {
    /// A parallel hook may not rewrite even if it is alone in its stage: what it may do must not depend on
    /// other hooks.
    pub(super) fn of(hook: &Entry) -> Self {
        match (hook.mode, hook.enforcement) {
            (Mode::Observe, _) => Self::Observer,
            (_, Enforcement::Warn) => Self::Warner,
            (Mode::Parallel, _) => Self::NoRewrite,
            (Mode::Sequential | Mode::Background, _) => Self::Full,
        }
    }

    /// Why no effect of this hook is applied; `None` when it may have effects.
    pub(super) fn why_no_effect(self) -> Option<&'static str> {
        match self {
            Self::Full | Self::NoRewrite => None,
            Self::Observer => Some("a hook that observes has no effect"),
            Self::Warner => Some("a hook with `mode: warn` has no effect"),
        }
    }
}
