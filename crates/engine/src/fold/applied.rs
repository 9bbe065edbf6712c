//! What hooks have changed so far: the outcome, and what is needed to check decisions again after a rewrite.

use std::sync::Arc;

use crosier_protocol::{Capability, Decision, Ignored, Json, Outcome, Report};

/// Created when the first hook has an effect: it is large, and most hooks have none.
#[derive(Debug)]
pub(super) struct Applied {
    pub(super) outcome: Outcome,
    pub(super) rewritten: Option<Rewritten>,
    /// Every decision that was applied.
    decisions: Vec<GivenDecision>,
    /// The index of the report of the hook that gave the permission updates, and the value that they were
    /// given for.
    permitted: Option<(usize, Option<Json>)>,
}

/// The value of the event's rewritable field.
#[derive(Debug)]
pub(super) struct Rewritten {
    /// Before the first rewrite.
    pub(super) original: Json,
    /// After the rewrites so far.
    pub(super) value: Json,
    /// The values that guards let through, by the guard's index in the plan. A guard that is not listed let
    /// the original through.
    pub(super) let_through: Vec<(usize, Json)>,
}

/// A decision, and the value that it was made for.
#[derive(Debug)]
struct GivenDecision {
    /// The index of the hook in the plan.
    hook_index: usize,
    /// The index of the hook's report.
    report_index: usize,
    decision: Decision,
    reason: Option<Arc<str>>,
    by: Arc<str>,
    /// `None`: the original value.
    about: Option<Json>,
}

impl Rewritten {
    /// Whether the current value differs from this one (`None`: the original).
    fn differs_from(&self, value: Option<&Json>) -> bool {
        *value.unwrap_or(&self.original) != self.value
    }
}

impl Applied {
    pub(super) fn new(outcome: Outcome) -> Self {
        Self { outcome, rewritten: None, decisions: Vec::new(), permitted: None }
    }

    fn value(&self) -> Option<Json> {
        self.rewritten.as_ref().map(|rewritten| rewritten.value.clone())
    }

    /// Makes the outcome's decision stricter, if this one is. The reason is that of the first hook with the
    /// strictest decision.
    pub(super) fn decide(
        &mut self,
        hook_index: usize,
        report_index: usize,
        decision: Decision,
        by: &Arc<str>,
        reason: Option<Arc<str>>,
    ) {
        let about = self.value();
        if self.outcome.decision < Some(decision) {
            self.outcome.decision = Some(decision);
            self.outcome.reason.clone_from(&reason);
            self.outcome.by = Some(Arc::clone(by));
        }
        self.decisions.push(GivenDecision {
            hook_index,
            report_index,
            decision,
            reason,
            by: Arc::clone(by),
            about,
        });
    }

    /// Replaces the value. A decision in the same reply counts for the new value.
    pub(super) fn rewrite(&mut self, hook_index: usize, value: Json, original: impl FnOnce() -> Json) {
        match &mut self.rewritten {
            Some(rewritten) => rewritten.value = value.clone(),
            None => {
                let (value, original) = (value.clone(), original());
                self.rewritten = Some(Rewritten { original, value, let_through: Vec::new() });
            }
        }
        for given in self.decisions.iter_mut().filter(|given| given.hook_index == hook_index) {
            given.about = Some(value.clone());
        }
    }

    /// Sets the permission updates, which are for the current value.
    pub(super) fn permit(&mut self, report_index: usize, permissions: Json) {
        self.permitted = Some((report_index, self.value()));
        self.outcome.updated_permissions = Some(permissions);
    }

    /// Records that a guard let the current value through.
    pub(super) fn let_through(&mut self, hook_index: usize) {
        if let Some(rewritten) = &mut self.rewritten {
            let value = rewritten.value.clone();
            rewritten.let_through.push((hook_index, value));
        }
    }

    /// Whether this guard decided about a value other than the current one.
    pub(super) fn must_judge_again(&self, hook_index: usize) -> bool {
        self.rewritten.as_ref().is_some_and(|rewritten| {
            let mut notes = rewritten.let_through.iter().rev();
            rewritten.differs_from(notes.find(|(guard, _)| *guard == hook_index).map(|(_, value)| value))
        })
    }

    /// Removes the earlier decisions of this hook.
    pub(super) fn retract(&mut self, hook_index: usize) {
        self.decisions.retain(|given| given.hook_index != hook_index);
    }

    /// Recomputes the decision without those that became void: an allow is void if it was for a value
    /// other than the final one.
    pub(super) fn decide_about_the_final_value(&mut self, reports: &mut [Report]) {
        let Some(rewritten) = &self.rewritten else { return };
        if self.outcome.is_denied() {
            return;
        }
        let is_void = |given: &GivenDecision| {
            given.decision == Decision::Allow && rewritten.differs_from(given.about.as_ref())
        };
        let mut void = |report: usize, effect: &str| {
            if let Some(report) = reports.get_mut(report) {
                let why = "a later hook changed the value that it was given for".to_owned();
                report.ignored.push(Ignored::new(effect, why));
            }
        };
        for given in self.decisions.iter().filter(|given| is_void(given)) {
            void(given.report_index, Decision::Allow.word());
        }
        if let Some((report, about)) = &self.permitted
            && rewritten.differs_from(about.as_ref())
        {
            void(*report, Capability::Permissions.word());
            self.outcome.updated_permissions = None;
        }
        let valid = self.decisions.iter().filter(|given| !is_void(given));
        // The strictest one; among equals, the first in plan order.
        let strictest = valid.min_by_key(|given| (std::cmp::Reverse(given.decision), given.hook_index));
        self.outcome.decision = strictest.map(|given| given.decision);
        self.outcome.reason = strictest.and_then(|given| given.reason.clone());
        self.outcome.by = strictest.map(|given| Arc::clone(&given.by));
    }
}
