//! An outcome becomes a reply that says the same.

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::event::{Catalog, TABLE};
use crate::outcome::{Directive, Injected};
use crate::reply::{Reply, Strategy};

fn outcome(event: &str) -> Outcome {
    Outcome::new(Catalog::default().find(event).unwrap())
}

fn because(reason: &str) -> Option<Directive> {
    Some(Directive { reason: reason.to_owned(), by: "guard".into() })
}

#[track_caller]
fn says(outcome: &Outcome, wanted: Value) {
    let got: Value = serde_json::from_str(outcome.to_reply().text()).unwrap();
    assert_eq!(got, wanted);
}

#[test]
fn nothing_to_say_is_an_empty_object() {
    for row in &TABLE {
        says(&outcome(row.name), json!({}));
    }
}

#[test]
fn a_tool_call_gets_its_permission_decision_input_and_context() {
    let mut outcome = outcome("PreToolUse");
    outcome.decision = Some(Decision::Ask);
    outcome.reason = Some("who knows".into());
    outcome.updated_input = Some(Json::parse("{\"n\":123456789012345678901234567890}").unwrap());
    outcome.context = vec!["one".to_owned(), "two".to_owned()];
    let text = outcome.to_reply();
    assert_eq!(
        text.text(),
        "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"ask\",\
         \"permissionDecisionReason\":\"who knows\",\"updatedInput\":{\"n\":123456789012345678901234567890},\
         \"additionalContext\":\"one\\ntwo\"}}"
    );
}

#[test]
fn a_permission_request_gets_an_answer_with_what_belongs_to_it() {
    let mut outcome = outcome("PermissionRequest");
    outcome.decision = Some(Decision::Deny);
    outcome.reason = Some("not today".into());
    outcome.halt = because("not today");
    says(
        &outcome,
        json!({"continue": false, "stopReason": "not today", "hookSpecificOutput": {
            "hookEventName": "PermissionRequest",
            "decision": {"behavior": "deny", "message": "not today", "interrupt": true},
        }}),
    );
}

#[test]
fn a_stop_is_blocked_to_go_on_and_context_alone_does_not_keep_it_going() {
    let mut outcome = outcome("Stop");
    outcome.context = vec!["by the way".to_owned()];
    says(&outcome, json!({"systemMessage": "by the way"}));
    outcome.resume = because("tests fail");
    says(
        &outcome,
        json!({"decision": "block", "reason": "tests fail",
               "hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "by the way"}}),
    );
}

#[test]
fn what_is_injected_is_context() {
    let mut outcome = outcome("PostToolUse");
    let content = "a note".to_owned();
    outcome.inject = vec![Injected { strategy: Strategy::UserMessage, content, hook: Arc::from("inbox") }];
    outcome.updated_output = Some(Json::parse("\"less\"").unwrap());
    says(
        &outcome,
        json!({"hookSpecificOutput": {
            "hookEventName": "PostToolUse", "updatedToolOutput": "less", "additionalContext": "a note",
        }}),
    );
}

/// Whatever an event can decide, its reply is read back as that decision, with its reason.
#[test]
fn every_decision_of_every_event_is_read_back() {
    for row in &TABLE {
        for (capability, decision) in [
            (Capability::Deny, Decision::Deny),
            (Capability::Ask, Decision::Ask),
            (Capability::Allow, Decision::Allow),
        ] {
            if !row.capabilities.has(capability) {
                continue;
            }
            let mut outcome = outcome(row.name);
            outcome.decision = Some(decision);
            outcome.reason = Some("because".into());
            outcome.context = vec!["context".to_owned()];
            let reply = outcome.to_reply();
            let effects = Reply::decode(reply.text().as_bytes(), row).unwrap().into_effects().unwrap();
            let opinion = effects.opinion.unwrap();
            assert_eq!(opinion.decision, decision, "{}", row.name);
            assert!(effects.unknown.is_empty(), "{}: {:?}", row.name, effects.unknown);
            let can_say_why = decision == Decision::Deny || row.capabilities.has(Capability::Ask);
            assert_eq!(opinion.reason.as_deref(), can_say_why.then_some("because"), "{}", row.name);
            assert_eq!(effects.context, ["context"], "{}", row.name);
        }
    }
}

#[test]
fn every_event_that_claude_code_takes_context_from_is_one_of_ours() {
    for name in READS_CONTEXT {
        assert!(
            TABLE.iter().any(|row| row.name == name && row.capabilities.has(Capability::Context)),
            "{name}"
        );
    }
}
