//! The answer when Crosier itself cannot decide: actions are denied, the person is told, and no agent is kept going.

use super::{Answer, AnswerBuilder};
use crate::read::Call;
use crate::table::{Agent, AgentEvent, AnswerPart, Effect, Way};

/// The events before an action: without a decision, the action must not happen.
const ACTS: [&str; 4] = ["PreToolUse", "PermissionRequest", "PreGitWrite", "PreAgentSpawn"];
/// The events at which the person is told.
const TELLS: [&str; 2] = ["UserPromptSubmit", "SessionStart"];

/// Whether this event comes before an action, which is denied when Crosier cannot decide.
#[must_use]
pub fn acts(event: &str) -> bool {
    ACTS.contains(&event)
}

/// The answer when Crosier cannot decide. `event` is `None` when not even the event's name could be read.
#[must_use]
pub fn closed(
    agent: &'static Agent,
    event: Option<&'static AgentEvent>,
    call: Option<&Call>,
    reason: &str,
) -> Answer {
    let entry = event.or_else(|| unmistakable(agent));
    let mut speaker = AnswerBuilder::new(agent, entry, call);
    match entry {
        Some(entry) if acts(entry.event) => {
            speaker.say(Effect::Deny, reason);
        }
        Some(entry) if TELLS.contains(&entry.event) => {
            speaker.answer.told = speaker.say(Effect::Tell, reason);
        }
        _ => {}
    }
    speaker.answer.log.push(reason.to_owned());
    speaker.end()
}

/// The event to answer for when its name is unknown: the one before a tool runs, unless the same answer would
/// keep the agent going at another event.
fn unmistakable(agent: &'static Agent) -> Option<&'static AgentEvent> {
    let before = agent.events.iter().find(|entry| entry.event == "PreToolUse")?;
    let resumes = |entry: &AgentEvent| is_same(before.says.deny, entry.says.resume);
    (!agent.events.iter().any(resumes)).then_some(before)
}

fn is_same(one: Way, other: Way) -> bool {
    let words = |way: Way| match way {
        Way::Send(puts) | Way::Alone(puts) => {
            let key = |put: &AnswerPart| match put {
                AnswerPart::Key(path, _) => (*path).to_owned(),
                other => format!("{other:?}"),
            };
            Some(puts.iter().map(key).collect::<Vec<_>>())
        }
        _ => None,
    };
    words(one).is_some_and(|keys| Some(keys) == words(other))
}
