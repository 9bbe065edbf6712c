//! Tells observers what happens in a session: a timeline, a record, a test.

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

/// Is told what happens in a session, while it happens. It must not block.
pub trait Witness: Send + Sync {
    /// A message was added to the conversation of an agent.
    fn said(&self, agent_id: &str, message: &Message);

    /// An event was fired, and its hooks are done.
    fn fired(&self, fired: &Fired);
}

/// A witness that records every fire.
#[derive(Default)]
pub struct Recording(Mutex<Vec<Fired>>);

impl Recording {
    /// Every fire so far, in order.
    #[must_use]
    pub fn fires(&self) -> Vec<Fired> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Witness for Recording {
    fn said(&self, _: &str, _: &Message) {}

    fn fired(&self, fired: &Fired) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(fired.clone());
    }
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recording")
    }
}
