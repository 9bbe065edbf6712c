//! What is said when Crosier itself cannot judge: what acts is denied, the person is told, no loop is kept alive.

use super::{Answer, Speaker};
use crate::read::Call;
use crate::table::{Agent, AgentEvent, Effect, Put, Way};

/// The events at which something acts: without a judgement it must not.
const ACTS: [&str; 4] = ["PreToolUse", "PermissionRequest", "PreGitWrite", "PreAgentSpawn"];
/// The events at which the person is told.
const TELLS: [&str; 2] = ["UserPromptSubmit", "SessionStart"];

/// The answer when Crosier cannot judge. `event` is unknown when not even that could be read.
#[must_use]
pub fn closed(
    agent: &'static Agent,
    event: Option<&'static AgentEvent>,
    call: Option<&Call>,
    reason: &str,
) -> Answer {
    let entry = event.or_else(|| unmistakable(agent));
    let mut speaker = Speaker::new(agent, entry, call);
    match entry {
        Some(entry) if ACTS.contains(&entry.event) => {
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

/// The event to answer for when nobody knows which one it is: the one before a tool runs, unless the same words would
/// keep the agent going at another event.
fn unmistakable(agent: &'static Agent) -> Option<&'static AgentEvent> {
    let before = agent.events.iter().find(|entry| entry.event == "PreToolUse")?;
    let resumes = |entry: &AgentEvent| is_same(before.says.deny, entry.says.resume);
    (!agent.events.iter().any(resumes)).then_some(before)
}

fn is_same(one: Way, other: Way) -> bool {
    let words = |way: Way| match way {
        Way::Says(puts) | Way::Alone(puts) => {
            let key = |put: &Put| match put {
                Put::Key(path, _) => (*path).to_owned(),
                other => format!("{other:?}"),
            };
            Some(puts.iter().map(key).collect::<Vec<_>>())
        }
        _ => None,
    };
    words(one).is_some_and(|keys| Some(keys) == words(other))
}
