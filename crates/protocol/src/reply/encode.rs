//! Encodes an outcome as a reply, for a host that is itself a hook of another agent.
//!
//! In comes an [`Outcome`]; out goes one JSON object in the words that Claude Code reads, and that
//! [`Reply::decode`](super::Reply::decode) reads too. What
//! cannot be expressed there becomes the nearest thing that can: injected text becomes context, and context at an
//! event that does not take it becomes a message to the person. A denial is never left out.

use serde::Serialize;

use crate::event::{Capability, Phase};
use crate::json::Json;
use crate::outcome::Outcome;
use crate::reply::Decision;

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Top<'a> {
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    proceed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    suppress_output: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
    #[serde(rename = "updated_input", skip_serializing_if = "Option::is_none")]
    updated_input: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<Specific<'a>>,
}

#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Specific<'a> {
    hook_event_name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<Decision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_tool_output: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<Behavior<'a>>,
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Behavior<'a> {
    behavior: Decision,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    interrupt: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_permissions: Option<&'a Json>,
}

/// The events from which Claude Code takes context. Elsewhere a text is shown to the person: a reply with a key that
/// the event does not have might not be read at all, and a denial with it.
const READS_CONTEXT: [&str; 9] = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "UserPromptSubmit",
    "SessionStart",
    "Setup",
    "SubagentStart",
    "Stop",
    "SubagentStop",
];

/// The form in which an event takes a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DecisionForm {
    /// `permissionDecision`, which can be allow, ask or deny.
    Permission,
    /// `decision: {behavior}`, the answer to a permission request.
    Answer,
    /// `decision: "block"`.
    Block,
}

pub(super) fn reply(outcome: &Outcome) -> Json {
    let row = &outcome.event;
    let form = match (row.capabilities.has(Capability::Ask), row.capabilities.has(Capability::Permissions)) {
        (true, _) => DecisionForm::Permission,
        (false, true) => DecisionForm::Answer,
        (false, false) => DecisionForm::Block,
    };
    let reason = outcome.reason.as_deref();
    let mut top = Top { suppress_output: outcome.suppress_output, ..Top::default() };
    let mut specific = Specific { hook_event_name: row.name, ..Specific::default() };
    match (form, outcome.decision) {
        (DecisionForm::Permission, decision) => {
            (specific.permission_decision, specific.permission_decision_reason) = (decision, reason);
            specific.updated_input = outcome.updated_input.as_ref();
        }
        (DecisionForm::Answer, Some(behavior)) => {
            let denied = behavior == Decision::Deny;
            specific.decision = Some(Behavior {
                behavior,
                message: reason.filter(|_| denied),
                interrupt: denied && outcome.halt.is_some(),
                updated_input: outcome.updated_input.as_ref(),
                updated_permissions: outcome.updated_permissions.as_ref(),
            });
        }
        (DecisionForm::Block, Some(Decision::Deny)) => (top.decision, top.reason) = (Some("block"), reason),
        _ => {}
    }
    if form == DecisionForm::Block && matches!(row.rewrites, Some((Phase::Pre, _))) {
        top.updated_input = outcome.updated_input.as_ref();
    }
    specific.updated_tool_output = outcome.updated_output.as_ref();
    if let Some(resume) = &outcome.resume {
        (top.decision, top.reason) = (Some("block"), Some(resume.reason.as_str()));
    }
    if let Some(halt) = &outcome.halt {
        (top.proceed, top.stop_reason) = (Some(false), Some(halt.reason.as_str()));
    }
    let injected = outcome.inject.iter().map(|injected| &injected.content);
    let lines: Vec<&str> = outcome.context.iter().chain(injected).map(String::as_str).collect();
    let text = (!lines.is_empty()).then(|| lines.join("\n"));
    // At a stop context alone would keep Claude Code going.
    let stops = row.capabilities.has(Capability::Resume) && outcome.resume.is_none();
    if READS_CONTEXT.contains(&row.name) && !stops {
        specific.additional_context = text;
    } else {
        top.system_message = text;
    }
    let nothing = Specific { hook_event_name: row.name, ..Specific::default() };
    top.hook_specific_output = (specific != nothing).then_some(specific);
    // Every part is text or JSON already: nothing here can fail to be written.
    serde_json::value::to_raw_value(&top).ok().and_then(|raw| Json::parse(raw.get()).ok()).unwrap_or_default()
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;
