//! The outcome as JSON, and what an answer can be made from.

use std::time::Duration;

use crosier_protocol::payload::PreToolUse;
use crosier_protocol::{
    Answer, Decision, Directive, Failure, FailureKind, Ignored, Injected, Json, Notice, NoticeKind, Outcome,
    Reply, Report, Status, Strategy,
};

#[test]
fn an_empty_outcome_has_every_key_in_order() {
    assert_eq!(
        Outcome::new(PreToolUse.kind()).to_json().text(),
        concat!(
            r#"{"event":"PreToolUse","decision":null,"reason":null,"by":null,"by_failure":false,"#,
            r#""would":null,"updated_input":null,"updated_output":null,"suppress_output":false,"context":[],"inject":[],"#,
            r#""resume":null,"halt":null,"notices":[],"updated_permissions":null,"reports":[]}"#
        )
    );
}

#[test]
fn a_full_outcome_is_written_as_the_design_has_it() {
    let mut outcome = Outcome::new(PreToolUse.kind());
    outcome.decision = Some(Decision::Deny);
    outcome.reason = Some("no".into());
    outcome.by = Some("guard".into());
    outcome.by_failure = true;
    outcome.updated_input = Some(Json::parse(r#"{"n":12345678901234567890123}"#).unwrap());
    outcome.updated_output = Some(Json::from("out"));
    outcome.suppress_output = true;
    outcome.context = vec!["c".into()];
    outcome.inject = vec![Injected::new(Strategy::UserMessage, "i", "h")];
    outcome.resume = Some(Directive::new("r", "h"));
    outcome.halt = Some(Directive::new("", "h"));
    outcome.notices = vec![Notice::new(NoticeKind::Log, "debug", "t").of_hook("h")];
    outcome.updated_permissions = Some(Json::parse("[1]").unwrap());
    let mut report = Report::new("guard".into(), Status::Failed);
    report.pass = 2;
    report.duration = Some(Duration::from_nanos(1_234_567));
    report.decision = Some(Decision::Ask);
    report.would = Some(Decision::Deny);
    report.rewrote = true;
    report.context = vec!["c".into()];
    report.failure = Some(Failure::new(FailureKind::BadOutput, "d").into());
    report.ignored = vec![Ignored::new("deny", "w")];
    outcome.reports = vec![report, Report::new("next".into(), Status::Skipped)];
    assert_eq!(
        outcome.to_json().text(),
        concat!(
            r#"{"event":"PreToolUse","decision":"deny","reason":"no","by":"guard","by_failure":true,"would":null,"#,
            r#""updated_input":{"n":12345678901234567890123},"updated_output":"out","suppress_output":true,"#,
            r#""context":["c"],"inject":[{"strategy":"user_message","content":"i","hook":"h"}],"#,
            r#""resume":{"reason":"r","by":"h"},"halt":{"reason":"","by":"h"},"#,
            r#""notices":[{"kind":"log","level":"debug","text":"t","hook":"h"}],"updated_permissions":[1],"#,
            r#""reports":[{"hook":"guard","pass":2,"status":"failed","duration_ms":1.235,"decision":"ask","#,
            r#""would":"deny","rewrote":true,"context":["c"],"#,
            r#""failure":{"kind":"bad_output","detail":"d"},"ignored":[{"effect":"deny","why":"w"}]},"#,
            r#"{"hook":"next","pass":1,"status":"skipped","duration_ms":null,"decision":null,"#,
            r#""would":null,"rewrote":false,"context":[],"failure":null,"ignored":[]}]}"#
        )
    );
}

#[test]
fn decisions_are_ordered_by_strictness() {
    assert!(Some(Decision::Deny) > Some(Decision::Ask));
    assert!(Some(Decision::Ask) > Some(Decision::Allow));
    assert!(Some(Decision::Allow) > None);
}

#[test]
fn an_error_that_is_a_failure_keeps_its_kind() {
    let typed: Answer = Err::<Reply, _>(Failure::new(FailureKind::Delivery, "d")).into();
    assert_eq!(typed.failure.unwrap().kind, FailureKind::Delivery);
    let other: Answer = "x".parse::<u8>().map(|_| Reply::none()).into();
    assert_eq!(other.failure.unwrap().kind, FailureKind::Error);
    assert_eq!(Answer::from(()), Answer::default());
    assert_eq!(Answer::from(None::<Reply>), Answer::default());
    assert!(Answer::from(Some(Reply::deny("x"))).reply.denies());
}

#[test]
fn only_a_denial_is_kept_of_a_denying_reply() {
    let reply = Reply::deny("no").context("c").suppress().interrupt();
    let kept = reply.denial_only().unwrap();
    assert_eq!(kept, Reply::deny("no"));
    assert_eq!(Reply::allow("yes").denial_only(), None);
    assert_eq!(Reply::none().denial_only(), None);
}
