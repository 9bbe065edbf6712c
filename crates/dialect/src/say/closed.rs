//! The answer when Crosier itself cannot decide: actions are denied, the person is told, and no agent is kept going.

use super::{Answer, AnswerBuilder};
use crate::read::Call;
use crate::table::{Agent, AgentEvent, AnswerPart, Delivery, Effect};

/// The events before an action: without a decision, the action must not happen.
pub const DENIED_WHEN_CLOSED: [&str; 4] = ["PreToolUse", "PermissionRequest", "PreGitWrite", "PreAgentSpawn"];
/// The events at which the person is told.
pub const TOLD_WHEN_CLOSED: [&str; 2] = ["UserPromptSubmit", "SessionStart"];

/// Whether this event comes before an action, which is denied when Crosier cannot decide.
#[must_use]
pub fn is_denied_when_closed(event: &str) -> bool {
    DENIED_WHEN_CLOSED.contains(&event)
}

/// The answer when Crosier cannot decide. `event` is `None` when not even the event's name could be read.
#[must_use]
pub fn closed(
    agent: &'static Agent,
    event: Option<&'static AgentEvent>,
    call: Option<&Call>,
    reason: &str,
) -> Answer {
    let entry = event.or_else(|| unambiguous_event(agent));
    let mut builder = AnswerBuilder::new(agent, entry, call);
    match entry {
        Some(entry) if is_denied_when_closed(entry.event) => {
            builder.add_effect(Effect::Deny, reason);
        }
        Some(entry) if TOLD_WHEN_CLOSED.contains(&entry.event) => {
            builder.answer.told = builder.add_effect(Effect::Tell, reason);
        }
        _ => {}
    }
    builder.answer.log.push(reason.to_owned());
    builder.end()
}

/// The event to answer for when its name is unknown: the one before a tool runs, unless the same answer would
/// keep the agent going at another event.
fn unambiguous_event(agent: &'static Agent) -> Option<&'static AgentEvent> {
    let before = agent.events.iter().find(|entry| entry.event == "PreToolUse")?;
    let resumes = |entry: &AgentEvent| is_same(before.effects.deny, entry.effects.resume);
    (!agent.events.iter().any(resumes)).then_some(before)
}

fn is_same(one: Delivery, other: Delivery) -> bool {
    let words = |delivery: Delivery| match delivery {
        Delivery::Send(parts) | Delivery::SendAlone(parts) => {
            let key = |part: &AnswerPart| match part {
                AnswerPart::Key(path, _) => (*path).to_owned(),
                other => format!("{other:?}"),
            };
            Some(parts.iter().map(key).collect::<Vec<_>>())
        }
        _ => None,
    };
    words(one).is_some_and(|keys| Some(keys) == words(other))
}
