//! What happens when a hook fails.

use std::sync::Arc;

use crosier_protocol::{Capability, Decision, Directive, Failure, FailureKind, Report};

use super::effect;
use super::role::Role;
use super::settle::Fold;
use crate::registry::{Entry, OnError};

/// Applies the consequences of this hook's failure.
///
/// `import` and `delivery` deny if the event can be denied: the hook's code never saw the event. So does
/// `changed`, even for a hook that only warns: the changed file may be the one that sets `mode: warn`. Other
/// failures follow `on_error`; `abort` uses the strongest effect that the event allows.
pub(super) fn apply(fold: &mut Fold, hook: &Entry, failure: &Failure, report: &mut Report) {
    let allowed = hook.kind.capabilities;
    let must_deny = failure.kind.always_denies() && allowed.has(Capability::Deny);
    if !must_deny && hook.on_error != OnError::Abort {
        return;
    }
    let why = if must_deny { "which always denies" } else { "and is set to abort when it fails" };
    let mut reason = format!("hook {} failed ({}), {why}", hook.name, failure.kind);
    if !failure.detail.is_empty() {
        // The cause, so that the reader of the reason can fix the hook.
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
    // No later hook runs, as after a denial: later hooks must not decide without the guard that failed.
    outcome.suppress_output |= allowed.has(Capability::Suppress);
    if !allowed.has(Capability::Suppress) && outcome.halt.is_none() {
        outcome.halt = Some(Directive::new(reason, by));
    }
    outcome.by_failure = true;
    fold.stop();
}
