//! The person who works with the agent, if there is one.

use std::future::Future;
use std::pin::Pin;

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The agent that asks.
    pub agent_id: String,
    /// The tool that it wants to run.
    pub tool: String,
    /// The tool's input, for display.
    pub input: String,
    /// Why this is asked.
    pub why: String,
}

/// Somebody who can be asked. Without a person, what must be asked is denied.
pub trait Person: Send + Sync {
    /// Whether the tool may run.
    fn allows<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>>;
}
