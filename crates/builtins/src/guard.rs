//! Shared by the hooks that guard tool calls: which events they may be on, and how their ruling becomes a reply.

use std::path::Path;
use std::sync::Arc;

use crosier::config::BuiltinRequest;
use crosier::{Answer, Call, Callback, Capability, Json, Mode, Reply};

/// What a guard says about one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ruling {
    Nothing,
    Allow(String),
    Ask(String),
    Deny(String),
}

impl Ruling {
    /// A stricter ruling has a greater one.
    pub(crate) fn severity(&self) -> u8 {
        match self {
            Self::Nothing => 0,
            Self::Allow(_) => 1,
            Self::Ask(_) => 2,
            Self::Deny(_) => 3,
        }
    }
}

/// One call of a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolCall<'a> {
    pub(crate) tool: &'a str,
    pub(crate) input: &'a Json,
    pub(crate) cwd: &'a Path,
}

/// A guard must be able to deny, and must be waited for.
pub(crate) fn check(request: &mut BuiltinRequest<'_>, name: &str) -> Option<()> {
    let mut fine = check_mode(request, name);
    if request.event().field("tool_input").is_none() || !request.event().capabilities.has(Capability::Deny) {
        let message = format!("`{name}` has nothing to guard at {}", request.event().name);
        request.error("", message, "put it under PreToolUse or PermissionRequest");
        fine = None;
    }
    fine
}

/// A hook that has an effect cannot run in the background or as an observer.
pub(crate) fn check_mode(request: &mut BuiltinRequest<'_>, name: &str) -> Option<()> {
    let (Mode::Observe | Mode::Background, Some(word)) = (request.mode(), request.mode().word()) else {
        return Some(());
    };
    request.error("", format!("`{name}` has no effect with `{word}: true`"), format!("leave `{word}` out"));
    None
}

/// The callback of a guard. It runs inline, so that it cannot be bypassed by a timeout.
pub(crate) fn callback(
    request: &BuiltinRequest<'_>,
    judge: impl Fn(ToolCall<'_>) -> Ruling + Send + Sync + 'static,
) -> Callback {
    let may_ask = request.event().capabilities.has(Capability::Ask);
    Callback::Inline(Arc::new(move |call: Call<'_>| {
        let event = call.event;
        let tool = event.matcher_value().unwrap_or_default();
        // `tool_input` is a required field, so this default is never used in practice.
        let input = event.get("tool_input").unwrap_or_default();
        let ruling = judge(ToolCall { tool, input: &input, cwd: Path::new(event.cwd()) });
        answer(ruling, may_ask)
    }))
}

fn answer(ruling: Ruling, may_ask: bool) -> Answer {
    match ruling {
        Ruling::Deny(reason) => Reply::deny(bounded(&reason)).into(),
        Ruling::Allow(reason) => Reply::allow(bounded(&reason)).into(),
        // An event without `ask` is a PermissionRequest: a person is being asked already.
        Ruling::Ask(_) if !may_ask => Reply::none().into(),
        Ruling::Ask(reason) => Reply::ask(bounded(&reason)).into(),
        Ruling::Nothing => Reply::none().into(),
    }
}

/// A reason for people and models: shortened, and without terminal control characters.
pub(crate) fn bounded(reason: &str) -> String {
    const LONGEST: usize = 600;
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let mut text: String = reason.chars().map(plain).take(LONGEST).collect();
    if reason.chars().nth(LONGEST).is_some() {
        text.push('…');
    }
    text
}
