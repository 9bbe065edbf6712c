//! What the rules say about one call.

use std::sync::Arc;

use crosier::Decision;

/// What the rules say about one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The decision; none when no rule says anything.
    pub decision: Option<Decision>,
    /// The rule that decides, as it was written; several that allow together are joined by commas. None when
    /// the decision is not a rule's, but because something cannot be known.
    pub rule: Option<Arc<str>>,
    /// Why, for people.
    pub reason: String,
}

impl Verdict {
    pub(super) fn new(decision: Decision, rule: Option<&Arc<str>>, reason: impl Into<String>) -> Self {
        Self { decision: Some(decision), rule: rule.cloned(), reason: reason.into() }
    }

    pub(super) fn none(reason: impl Into<String>) -> Self {
        Self { decision: None, rule: None, reason: reason.into() }
    }

    /// Whether the call may happen without asking.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.decision == Some(Decision::Allow)
    }

    /// Whether the call must not happen.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        self.decision == Some(Decision::Deny)
    }
}
