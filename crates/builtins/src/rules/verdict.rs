//! What the rules say about one call.

use std::sync::Arc;

use crosier::Decision;

/// What the rules say about one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The decision; none when no rule says anything.
    pub decision: Option<Decision>,
    /// The rule that decides, as it was written; several that allow together are joined by commas. None when
    /// the decision does not come from a rule, but from something that cannot be known.
    pub rule: Option<Arc<str>>,
    /// Why, for people.
    pub reason: String,
    /// Whether the decision is ask because a deny rule may apply. Only a person should overrule that.
    pub perhaps_denied: bool,
}

impl Verdict {
    pub(super) fn new(decision: Decision, rule: Option<&Arc<str>>, reason: impl Into<String>) -> Self {
        Self { decision: Some(decision), rule: rule.cloned(), reason: reason.into(), perhaps_denied: false }
    }

    /// Ask, because a deny rule may apply.
    pub(super) fn perhaps(rule: Option<&Arc<str>>, reason: impl Into<String>) -> Self {
        Self { perhaps_denied: true, ..Self::new(Decision::Ask, rule, reason) }
    }

    pub(super) fn none(reason: impl Into<String>) -> Self {
        Self { decision: None, rule: None, reason: reason.into(), perhaps_denied: false }
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
