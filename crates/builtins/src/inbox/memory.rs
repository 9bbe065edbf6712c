//! The inbox of a process: what its host pushes.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use super::Reader;
use super::message::Message;

/// The most waiting messages, and the most keys that are remembered.
const MAX_WAITING: usize = 1_000;
const MAX_REMEMBERED: usize = 10_000;

/// An inbox that the host pushes into. Cheap to clone: clones are the same inbox.
#[derive(Debug, Clone, Default)]
pub struct Inbox(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Waiting>,
    /// Keys that were pushed before, the oldest first.
    order: VecDeque<String>,
    known: HashSet<String>,
}

#[derive(Debug)]
struct Waiting {
    message: Message,
    /// The agents that got it.
    delivered_to: HashSet<String>,
}

/// The inbox is full: no agent takes messages out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InboxFull;

impl fmt::Display for InboxFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the inbox is full: {MAX_WAITING} messages wait to be delivered")
    }
}

impl std::error::Error for InboxFull {}

impl Inbox {
    /// Adds a message. A duplicate, by its id or its sender's sequence number, is dropped.
    ///
    /// # Errors
    /// When too many messages wait already.
    pub fn push(&self, message: Message) -> Result<(), InboxFull> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = message.key();
        if key.as_ref().is_some_and(|key| state.known.contains(key)) {
            return Ok(());
        }
        if state.waiting.len() >= MAX_WAITING {
            state.drop_expired(SystemTime::now());
            if state.waiting.len() >= MAX_WAITING {
                return Err(InboxFull);
            }
        }
        if let Some(key) = key {
            state.remember(key);
        }
        state.waiting.push_back(Waiting { message, delivered_to: HashSet::new() });
        Ok(())
    }

    /// How many messages wait. A message for every agent waits until it expires.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).waiting.len()
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes out what is for this reader, in the order it was pushed.
    pub(super) fn take(&self, reader: &Reader<'_>) -> Vec<Message> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.waiting.is_empty() {
            return Vec::new();
        }
        state.drop_expired(reader.now);
        let mut taken = Vec::new();
        for waiting in &mut state.waiting {
            if waiting.message.is_for(reader) && waiting.delivered_to.insert(reader.agent.to_owned()) {
                taken.push(waiting.message.clone());
            }
        }
        // A message for one agent only is done once it was delivered.
        state.waiting.retain(|waiting| waiting.delivered_to.is_empty() || waiting.message.only.is_none());
        taken
    }
}

impl State {
    fn drop_expired(&mut self, now: SystemTime) {
        self.waiting.retain(|waiting| !waiting.message.is_expired(now));
    }

    fn remember(&mut self, key: String) {
        if self.order.len() >= MAX_REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        self.order.push_back(key.clone());
        self.known.insert(key);
    }
}
