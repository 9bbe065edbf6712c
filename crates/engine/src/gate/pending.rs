//! Context that is kept for the next model call.

use crosier_protocol::Outcome;

/// Collects the context of outcomes until the next model call, which gets it once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PendingContext {
    lines: Vec<String>,
}

impl PendingContext {
    /// Takes the context of an outcome.
    pub fn collect(&mut self, outcome: &Outcome) {
        self.lines.extend(outcome.context.iter().cloned());
    }

    /// Whether there is no pending context.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The pending context, in order.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Moves the other's context here: when an agent is done, the agent that started it gets its pending
    /// context.
    pub fn append(&mut self, other: &mut Self) {
        self.lines.append(&mut other.lines);
    }

    /// The prompt, followed by the pending context, which is empty afterwards.
    #[must_use]
    pub fn apply(&mut self, prompt: &str) -> String {
        if self.lines.is_empty() {
            return prompt.to_owned();
        }
        format!("{prompt}\n\n{}", std::mem::take(&mut self.lines).join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosier_protocol::payload::SessionStart;
    use crosier_protocol::{EventOf, Payload};

    fn outcome<P: Payload>(event: EventOf<P>, context: &[&str]) -> Outcome {
        let mut outcome = Outcome::new(event.kind());
        outcome.context = context.iter().map(|&line| line.to_owned()).collect();
        outcome
    }

    #[test]
    fn context_is_used_once_after_the_prompt() {
        let mut pending = PendingContext::default();
        pending.collect(&outcome(SessionStart, &["a", "b"]));
        pending.collect(&outcome(SessionStart, &["c"]));
        assert_eq!(pending.apply("You are helpful."), "You are helpful.\n\na\nb\nc");
        assert_eq!(pending.apply("You are helpful."), "You are helpful.");
    }

    #[test]
    fn context_can_be_handed_on() {
        let (mut parent, mut child) = (PendingContext::default(), PendingContext::default());
        parent.collect(&outcome(SessionStart, &["a"]));
        child.collect(&outcome(SessionStart, &["b"]));
        parent.append(&mut child);
        assert_eq!(parent.lines(), ["a", "b"]);
        assert!(child.is_empty());
    }
}
