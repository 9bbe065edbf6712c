//! Listeners, which are told what happens in a session: a timeline, a record, a test.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crosier::{Json, Outcome};

use crate::conversation::Message;

/// One fire and its outcome.
#[derive(Debug, Clone)]
pub struct Fired {
    /// The agent that it happened in.
    pub agent_id: String,
    /// The event's name.
    pub event: &'static str,
    /// The whole event, as the first hook got it.
    pub input: Json,
    /// Its outcome.
    pub outcome: Outcome,
    /// How long all hooks together took.
    pub took: Duration,
}

/// Is told what happens in a session, while it happens. It must not block. Unlike the engine's
/// [`Listener`](crosier::Listener), it gets whole fires and messages of the conversation.
pub trait SessionListener: Send + Sync {
    /// A message was added to the conversation of an agent.
    fn on_message(&self, agent_id: &str, message: &Message);

    /// An event was fired, and its hooks are done.
    fn on_fire(&self, fired: &Fired);
}

/// A listener that records every fire.
#[derive(Default)]
pub struct FireRecorder(Mutex<Vec<Fired>>);

impl FireRecorder {
    /// Every fire so far, in order.
    #[must_use]
    pub fn fires(&self) -> Vec<Fired> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl SessionListener for FireRecorder {
    fn on_message(&self, _: &str, _: &Message) {}

    fn on_fire(&self, fired: &Fired) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(fired.clone());
    }
}

impl fmt::Debug for FireRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recording")
    }
}
