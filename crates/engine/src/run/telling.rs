//! Tells listeners about one run of a hook, from its start to its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crosier_protocol::{Answer, Event, FailureKind};

use crate::message::{Bus, Ended, Message, Moment};
use crate::registry::Entry;

/// Exists only while somebody listens. Dropped without an end, it says that the run was cancelled.
#[derive(Debug)]
pub(super) struct Telling {
    bus: Arc<Bus>,
    /// What all messages of the run have in common.
    about: Message,
    said: Said,
    /// Whether it was stopped from outside.
    cancelled: bool,
    over: bool,
}

/// What a process said and how it ended.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) exit_code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Runs are numbered per process; with the session they are unique enough to join messages.
static NEXT: AtomicU64 = AtomicU64::new(1);

impl Telling {
    #[inline]
    pub(super) fn start(bus: &Arc<Bus>, hook: &Entry, event: &Event) -> Option<Self> {
        bus.is_heard().then(|| Self::tell_start(bus, hook, event))
    }

    #[cold]
    fn tell_start(bus: &Arc<Bus>, hook: &Entry, event: &Event) -> Self {
        let about = Message {
            hook_id: format!("hook-{}", NEXT.fetch_add(1, Ordering::Relaxed)).into(),
            hook_name: Arc::clone(&hook.name),
            hook_event: hook.kind.name,
            session_id: event.session_id().into(),
            moment: Moment::Started,
        };
        bus.send(&about);
        Self { bus: Arc::clone(bus), about, said: Said::default(), cancelled: false, over: false }
    }

    fn send(&self, moment: Moment) {
        self.bus.send(&Message { moment, ..self.about.clone() });
    }

    pub(super) fn progress(&self, stdout: String, stderr: String) {
        self.send(Moment::Progress { stdout, stderr });
    }

    /// Remembers what the process said, for the end.
    pub(super) fn remember(&mut self, said: Said) {
        self.said = said;
    }

    /// Forgets what the first run said: the second one speaks for itself.
    pub(super) fn forget(&mut self) {
        self.said = Said::default();
    }

    /// Remembers that it was stopped with the fire or the engine.
    pub(super) fn cancel(&mut self) {
        self.cancelled = true;
    }

    pub(super) fn end(mut self, answer: &Answer) {
        self.over = true;
        let outcome = match &answer.failure {
            None => Ended::Success,
            Some(failure) if self.cancelled || failure.kind == FailureKind::Timeout => Ended::Cancelled,
            Some(_) => Ended::Error,
        };
        self.respond(outcome);
    }

    fn respond(&mut self, outcome: Ended) {
        let Said { exit_code, stdout, stderr } = std::mem::take(&mut self.said);
        self.send(Moment::Response { outcome, exit_code, stdout, stderr });
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        if !self.over {
            self.respond(Ended::Cancelled);
        }
    }
}
