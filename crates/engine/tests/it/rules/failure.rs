//! Failures are data: every kind, every policy, at every event.

use crosier::protocol::event::TABLE;
use crosier::{
    Capability, Engine, Event, EventKind, EventRow, Failure, FailureKind, Hook, OnError, Outcome, Reply,
    Status,
};

use super::capability::event_of;
use super::kit::{engine, with_status};

fn failing(row: &'static EventRow, kind: FailureKind, on_error: OnError) -> Outcome {
    let on = |name: &str| Hook::on_event(EventKind::Static(row)).named(name);
    let engine = engine([
        on("fails").on_error(on_error).callback(move |_: &Event| Failure::new(kind, "the detail")),
        on("next").callback(|_: &Event| ()),
    ]);
    engine.fire_blocking(event_of(row))
}

#[test]
fn every_kind_of_failure_follows_its_policy_at_every_event() {
    for row in TABLE {
        for kind in FailureKind::ALL {
            for on_error in [OnError::Log, OnError::Skip, OnError::Abort] {
                let about = format!("{kind} {} at {}", on_error.word(), row.name);
                let outcome = failing(row, kind, on_error);
                assert_eq!(outcome.reports[0].status, Status::Failed, "{about}");
                assert_eq!(
                    outcome.reports[0].failure,
                    Some(Failure::new(kind, "the detail").into()),
                    "{about}"
                );
                let always =
                    matches!(kind, FailureKind::Import | FailureKind::Delivery | FailureKind::Changed);
                let can_deny = row.capabilities.has(Capability::Deny);
                let acts = on_error == OnError::Abort || always && can_deny;
                assert_eq!(outcome.by_failure, acts, "{about}");
                assert_eq!(outcome.is_denied(), acts && can_deny, "{about}");
                let suppresses = acts && !can_deny && row.capabilities.has(Capability::Suppress);
                assert_eq!(outcome.suppress_output, suppresses, "{about}");
                assert_eq!(outcome.halt.is_some(), acts && !can_deny && !suppresses, "{about}");
                let skipped: &[&str] = if acts { &["next"] } else { &[] };
                assert_eq!(with_status(&outcome, Status::Skipped), skipped, "{about}");
                if outcome.is_denied() {
                    assert_eq!(outcome.by.as_deref(), Some("fails"), "{about}");
                    let reason = outcome.reason.unwrap();
                    assert!(reason.contains("fails") && reason.contains(kind.word()), "{about}: {reason}");
                }
            }
        }
    }
}

#[test]
fn the_engines_policy_holds_for_hooks_that_name_none() {
    let row = TABLE.iter().find(|row| row.name == "PreToolUse").unwrap();
    let on = || Hook::on_event(EventKind::Static(row)).named("fails");
    let fire = |hook: Hook| {
        let engine = Engine::builder().on_error(OnError::Abort).hook(hook).build().unwrap();
        engine.fire_blocking(event_of(row))
    };
    assert!(fire(on().callback(|_: &Event| Failure::error("x"))).is_denied());
    assert!(!fire(on().on_error(OnError::Log).callback(|_: &Event| Failure::error("x"))).is_denied());
}

#[test]
fn a_denial_of_a_hook_is_not_taken_over_by_a_failure() {
    let row = TABLE.iter().find(|row| row.name == "PreToolUse").unwrap();
    let on = |name: &str| Hook::on_event(EventKind::Static(row)).named(name).mode(crosier::Mode::Parallel);
    let fails = || on("fails").on_error(OnError::Abort).callback(|_: &Event| Failure::error("x"));
    let denies = || on("denies").callback(|_: &Event| Reply::deny("no"));
    let outcome = engine([denies(), fails()]).fire_blocking(event_of(row));
    assert_eq!((outcome.by.as_deref(), outcome.by_failure), (Some("denies"), false));
    let outcome = engine([fails(), denies()]).fire_blocking(event_of(row));
    assert_eq!((outcome.by.as_deref(), outcome.by_failure), (Some("fails"), true));
}

#[test]
fn a_failure_that_denies_takes_the_place_of_a_weaker_decision() {
    let row = TABLE.iter().find(|row| row.name == "PreToolUse").unwrap();
    for reply in [Reply::allow("sure"), Reply::ask("hm")] {
        let on = |name: &str| Hook::on_event(EventKind::Static(row)).named(name);
        let engine = engine([
            on("first").callback(move |_: &Event| reply.clone()),
            on("fails").callback(|_: &Event| Failure::new(FailureKind::Delivery, "x")),
        ]);
        let outcome = engine.fire_blocking(event_of(row));
        assert!(outcome.is_denied() && outcome.by_failure);
        assert_eq!(outcome.by.as_deref(), Some("fails"));
    }
}
