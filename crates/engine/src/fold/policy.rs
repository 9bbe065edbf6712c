//! What a failure means.

use std::sync::Arc;

use crosier_protocol::{Capability, Decision, Directive, Failure, FailureKind, Report};

use super::effect;
use super::role::Role;
use super::settle::Fold;
use crate::registry::{Entry, OnError};

/// Applies the policy of this hook to its failure.
///
/// `import` and `delivery` deny wherever the event has a deny: the guard never saw the event. So does `changed`, also
/// for a hook that only warns: its file may be the one that says so. All else follows `on_error`, where `abort` takes
/// the strongest effect that the event has.
pub(super) fn apply(fold: &mut Fold, hook: &Entry, failure: &Failure, report: &mut Report) {
    let allowed = hook.kind.capabilities;
    let must_deny = failure.kind.always_denies() && allowed.has(Capability::Deny);
    if !must_deny && hook.on_error != OnError::Abort {
        return;
    }
    let why = if must_deny { "which always denies" } else { "and is set to abort when it fails" };
    let mut reason = format!("hook {} failed ({}), {why}", hook.name, failure.kind);
    if !failure.detail.is_empty() {
        // The reader of the denial may be able to fix the hook.
        reason.push_str(": ");
        reason.push_str(&failure.detail);
    }
    let changed = failure.kind == FailureKind::Changed;
    if Role::of(hook) == Role::Warner && !changed {
        return effect::warn(fold, hook, Decision::Deny, &reason, report);
    }
    let outcome = fold.outcome();
    let by = Arc::clone(&hook.name);
    if allowed.has(Capability::Deny) {
        if outcome.decision != Some(Decision::Deny) {
            outcome.decision = Some(Decision::Deny);
            outcome.reason = Some(reason.into());
            outcome.by = Some(by);
            outcome.by_failure = true;
        }
        return;
    }
    // The walk ends here too: later hooks must not decide without the guard that failed.
    outcome.suppress_output |= allowed.has(Capability::Suppress);
    if !allowed.has(Capability::Suppress) && outcome.halt.is_none() {
        outcome.halt = Some(Directive::new(reason, by));
    }
    outcome.by_failure = true;
    fold.stop();
}
