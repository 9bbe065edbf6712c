//! What is on the screen, as data.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crosier::payload::PreViewRender;
use crosier::{Ended, Message, Moment};
use crosier_agent::view::View;
use tokio::sync::oneshot;

/// The hooks that are remembered after they ended.
const REMEMBERED: usize = 40;

/// What is on the screen.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) view: View,
    pub(super) running: Vec<Running>,
    /// The newest first.
    pub(super) ended: VecDeque<Finished>,
    /// What the person is asked.
    pub(super) question: Option<Question>,
    pub(super) is_over: bool,
    pub(super) is_leaving: bool,
}

/// A question that waits for a key.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) text: String,
    pub(super) told: oneshot::Sender<char>,
}

/// A hook that runs.
#[derive(Debug)]
pub(super) struct Running {
    id: Arc<str>,
    pub(super) hook: Arc<str>,
    pub(super) event: &'static str,
    since: Instant,
}

/// A hook that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finished {
    pub(super) hook: Arc<str>,
    pub(super) event: &'static str,
    pub(super) took: Duration,
    pub(super) how: Ended,
}

impl Running {
    pub(super) fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }
}

impl State {
    /// A hook has started or ended.
    pub(super) fn hear(&mut self, message: &Message) {
        match &message.moment {
            Moment::Started => self.running.push(Running {
                id: Arc::clone(&message.hook_id),
                hook: Arc::clone(&message.hook_name),
                event: message.hook_event,
                since: Instant::now(),
            }),
            Moment::Progress { .. } => {}
            Moment::Response { outcome, .. } => {
                let Some(place) = self.running.iter().position(|hook| hook.id == message.hook_id) else {
                    return;
                };
                let Running { hook, event, since, .. } = self.running.remove(place);
                // The screen is drawn all the time; that it went well is no news.
                if event == PreViewRender.kind().name && *outcome == Ended::Success {
                    return;
                }
                self.ended.push_front(Finished { hook, event, took: since.elapsed(), how: *outcome });
                self.ended.truncate(REMEMBERED);
            }
        }
    }

    /// Nothing is known of what runs.
    pub(super) fn forget(&mut self) {
        self.running.clear();
    }
}
