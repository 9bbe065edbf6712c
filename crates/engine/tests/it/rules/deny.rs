//! Nothing undoes a deny: any sequence of hooks against a model that is as simple as the rules.

use crosier::payload::PreToolUse;
use crosier::{Decision, Engine, Failure, FailureKind, Hook, Mode, OnError, Outcome, Reply, Status};
use proptest::prelude::*;

use super::kit::{json, tool};

/// What one hook of a sequence does.
#[derive(Debug, Clone)]
struct Part {
    says: Says,
    context: bool,
    rewrites: bool,
    mode: Mode,
    on_error: OnError,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Says {
    Nothing,
    Allow,
    Ask,
    Deny,
    Halt,
    Resume,
    DenyAndHalt,
    Fail(FailureKind),
    DenyAndFail,
}

fn part() -> impl Strategy<Value = Part> {
    use Says::{Allow, Ask, Deny, DenyAndFail, DenyAndHalt, Fail, Halt, Nothing, Resume};
    let kinds = [FailureKind::Error, FailureKind::Timeout, FailureKind::Import, FailureKind::Delivery];
    let says = prop_oneof![
        6 => Just(Nothing),
        4 => Just(Allow),
        3 => Just(Ask),
        2 => Just(Deny),
        1 => Just(Halt),
        1 => Just(Resume),
        1 => Just(DenyAndHalt),
        2 => proptest::sample::select(kinds.to_vec()).prop_map(Fail),
        1 => Just(DenyAndFail),
    ];
    let mode = prop_oneof![3 => Just(Mode::Sequential), 2 => Just(Mode::Parallel), 1 => Just(Mode::Observe)];
    let on_error = prop_oneof![Just(OnError::Log), Just(OnError::Skip), Just(OnError::Abort)];
    (says, any::<bool>(), any::<bool>(), mode, on_error).prop_map(
        |(says, context, rewrites, mode, on_error)| Part { says, context, rewrites, mode, on_error },
    )
}

impl Part {
    fn hook(&self, n: usize) -> Hook {
        let reason = format!("r{n}");
        let mut reply = match self.says {
            Says::Nothing | Says::Fail(_) => Reply::none(),
            Says::Allow => Reply::allow(reason),
            Says::Ask => Reply::ask(reason),
            Says::Deny | Says::DenyAndFail => Reply::deny(reason),
            Says::Halt => Reply::halt(reason),
            Says::Resume => Reply::resume(reason),
            Says::DenyAndHalt => Reply::deny(reason).with(|effects| effects.proceed = Some(false)),
        };
        if self.context {
            reply = reply.context(format!("c{n}"));
        }
        if self.rewrites {
            reply = reply.rewrite_input(json(&format!("{{\"n\":{n}}}")));
        }
        let failure = match self.says {
            Says::Fail(kind) => Some(Failure::new(kind, "failed")),
            Says::DenyAndFail => Some(Failure::error("failed")),
            _ => None,
        };
        let answer = crosier::Answer { reply, failure: failure.map(Box::new) };
        Hook::on(PreToolUse)
            .named(format!("h{n}"))
            .mode(self.mode)
            .on_error(self.on_error)
            .callback(move |_: &PreToolUse| answer.clone())
    }
}

/// The outcome as the rules have it, worked out in the plainest way.
#[derive(Debug, Default, PartialEq)]
struct Model {
    decision: Option<Decision>,
    by: Option<String>,
    by_failure: bool,
    halt: Option<String>,
    context: Vec<String>,
    input: Option<String>,
    statuses: Vec<(String, Status)>,
}

fn model(parts: &[Part]) -> Model {
    let mut model = Model::default();
    let walk: Vec<(usize, &Part)> =
        parts.iter().enumerate().filter(|(_, part)| part.mode != Mode::Observe).collect();
    let mut over = false;
    for (at, &(n, part)) in walk.iter().enumerate() {
        let same_stage = at > 0 && part.mode == Mode::Parallel && walk[at - 1].1.mode == Mode::Parallel;
        if !same_stage {
            over |= model.decision == Some(Decision::Deny) || model.halt.is_some();
        }
        let name = format!("h{n}");
        if over {
            model.statuses.push((name, Status::Skipped));
            continue;
        }
        let failed = matches!(part.says, Says::Fail(_) | Says::DenyAndFail);
        let decision = match part.says {
            Says::Allow => Some(Decision::Allow),
            Says::Ask => Some(Decision::Ask),
            Says::Deny | Says::DenyAndHalt | Says::DenyAndFail => Some(Decision::Deny),
            _ => None,
        };
        if decision > model.decision {
            (model.decision, model.by) = (decision, Some(name.clone()));
        }
        if part.context && !failed {
            model.context.push(format!("c{n}"));
        }
        if part.rewrites && !failed && part.mode == Mode::Sequential {
            model.input = Some(format!("{{\"n\":{n}}}"));
            // What was allowed before is not what will run.
            if model.decision == Some(Decision::Allow) {
                model.decision = decision;
                model.by = decision.map(|_| name.clone());
            }
        }
        if matches!(part.says, Says::Halt | Says::DenyAndHalt) && model.halt.is_none() {
            model.halt = Some(name.clone());
        }
        if let Says::Fail(kind) = part.says {
            let denies = part.on_error == OnError::Abort
                || matches!(kind, FailureKind::Import | FailureKind::Delivery);
            if denies && model.decision != Some(Decision::Deny) {
                (model.decision, model.by, model.by_failure) =
                    (Some(Decision::Deny), Some(name.clone()), true);
            }
        }
        model.statuses.push((name, if failed { Status::Failed } else { Status::Ok }));
    }
    if model.decision == Some(Decision::Deny) {
        model.input = None;
    }
    for (n, part) in parts.iter().enumerate().filter(|(_, part)| part.mode == Mode::Observe) {
        let failed = matches!(part.says, Says::Fail(_) | Says::DenyAndFail);
        model.statuses.push((format!("h{n}"), if failed { Status::Failed } else { Status::Ok }));
    }
    model
}

fn seen(outcome: &Outcome) -> Model {
    Model {
        decision: outcome.decision,
        by: outcome.by.as_deref().map(str::to_owned),
        by_failure: outcome.by_failure,
        halt: outcome.halt.as_ref().map(|halt| halt.by.to_string()),
        context: outcome.context.clone(),
        input: outcome.updated_input.as_ref().map(ToString::to_string),
        statuses: outcome.reports.iter().map(|report| (report.hook.to_string(), report.status)).collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_hooks_folds_as_the_rules_have_it(parts in proptest::collection::vec(part(), 0..10)) {
        let hooks = parts.iter().enumerate().map(|(n, part)| part.hook(n));
        let engine = Engine::builder().hooks(hooks).build().unwrap();
        let outcome = engine.fire_blocking(tool("Bash"));
        prop_assert_eq!(seen(&outcome), model(&parts));
        prop_assert_eq!(outcome.resume, None);
        let hooks = parts.iter().enumerate().map(|(n, part)| part.hook(n));
        let again = Engine::builder().hooks(hooks).build().unwrap().fire_blocking(tool("Bash"));
        prop_assert_eq!(engine.fire_blocking(tool("Bash")), again);
    }

    /// Whatever comes before and after: a deny that is reached is a deny, and every denial has a name and a
    /// reason.
    #[test]
    fn nothing_undoes_a_deny(
        before in proptest::collection::vec(part(), 0..6),
        after in proptest::collection::vec(part(), 0..6),
        mode in prop_oneof![Just(Mode::Sequential), Just(Mode::Parallel)],
    ) {
        let deny = Part { says: Says::Deny, context: false, rewrites: false, mode, on_error: OnError::Skip };
        let at = before.len();
        let parts: Vec<Part> = before.into_iter().chain([deny]).chain(after).collect();
        let hooks = parts.iter().enumerate().map(|(n, part)| part.hook(n));
        let outcome = Engine::builder().hooks(hooks).build().unwrap().fire_blocking(tool("Bash"));
        let name = format!("h{at}");
        let reached = outcome.reports.iter().any(|report| *report.hook == *name && report.status == Status::Ok);
        prop_assert!(!reached || outcome.is_denied());
        if outcome.is_denied() {
            prop_assert!(outcome.by.is_some() && !outcome.reason.as_deref().unwrap_or_default().is_empty());
            prop_assert_eq!(outcome.updated_input, None);
        }
    }
}
