//! What is on the screen, as data.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crosier::payload::PreViewRender;
use crosier::{HookEnd, Message, MessageKind};
use crosier_agent::agent::Fired;
use crosier_agent::view::View;
use tokio::sync::oneshot;

use super::super::effect::effects;
use super::browse::{Browse, Pane};

/// How many hooks are remembered after they ended.
const REMEMBERED: usize = 40;

/// How many events are remembered.
const MAX_EVENTS: usize = 500;

/// What is on the screen.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) view: View,
    pub(super) running: Vec<Running>,
    /// The newest first.
    pub(super) ended: VecDeque<Finished>,
    /// The question to the person.
    pub(super) question: Option<Question>,
    pub(super) is_over: bool,
    pub(super) is_leaving: bool,
    /// What the person looks at.
    pub(super) browse: Browse,
    /// The events, oldest first.
    pub(super) events: VecDeque<Fired>,
    /// The session and its events as they were when the person paused.
    pub(super) held: Option<(View, VecDeque<Fired>)>,
}

/// A question that waits for a key.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) text: String,
    pub(super) told: oneshot::Sender<char>,
}

/// A hook that is running.
#[derive(Debug)]
pub(super) struct Running {
    id: Arc<str>,
    pub(super) hook: Arc<str>,
    pub(super) event: &'static str,
    since: Instant,
}

/// A hook that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finished {
    pub(super) hook: Arc<str>,
    pub(super) event: &'static str,
    pub(super) took: Duration,
    pub(super) how: HookEnd,
}

impl Running {
    pub(super) fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }
}

impl State {
    /// Handles a message: a hook has started or ended.
    pub(super) fn take_message(&mut self, message: &Message) {
        match &message.kind {
            MessageKind::Started => self.running.push(Running {
                id: Arc::clone(&message.hook_id),
                hook: Arc::clone(&message.hook_name),
                event: message.hook_event,
                since: Instant::now(),
            }),
            MessageKind::Progress { .. } => {}
            MessageKind::Response { outcome, .. } => {
                let Some(place) = self.running.iter().position(|hook| hook.id == message.hook_id) else {
                    return;
                };
                let Running { hook, event, since, .. } = self.running.remove(place);
                // The screen is drawn all the time: do not list successful hooks on it.
                if event == PreViewRender.kind().name && *outcome == HookEnd::Success {
                    return;
                }
                self.ended.push_front(Finished { hook, event, took: since.elapsed(), how: *outcome });
                self.ended.truncate(REMEMBERED);
            }
        }
    }

    /// Adds an event that was fired.
    pub(super) fn add_fire(&mut self, fired: &Fired) {
        let has_effect = !effects(&fired.outcome).is_empty()
            || fired.outcome.reports.iter().any(|report| report.failure.is_some());
        if fired.event == PreViewRender.kind().name && !has_effect {
            return;
        }
        if self.events.len() == MAX_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(fired.clone());
        // The selected event stays selected.
        if self.held.is_none() && self.browse.pane != Pane::Session {
            self.browse.chosen = (self.browse.chosen + 1).min(self.events.len() - 1);
        }
    }

    /// Pauses or continues the display.
    pub(super) fn pause(&mut self) {
        self.browse.is_paused = !self.browse.is_paused;
        self.held = self.browse.is_paused.then(|| (self.view.clone(), self.events.clone()));
        self.browse.chosen = self.browse.chosen.min(self.shown_events().len().saturating_sub(1));
    }

    /// The session as it is shown.
    pub(super) fn shown_view(&self) -> &View {
        self.held.as_ref().map_or(&self.view, |(view, _)| view)
    }

    /// The events as they are shown.
    pub(super) fn shown_events(&self) -> &VecDeque<Fired> {
        self.held.as_ref().map_or(&self.events, |(_, events)| events)
    }

    /// How many lines were added since the display was paused.
    pub(super) fn waiting(&self) -> usize {
        let all = |view: &View| view.scrolled + view.lines.len();
        self.held.as_ref().map_or(0, |(held, _)| all(&self.view).saturating_sub(all(held)))
    }

    /// The selected event.
    pub(super) fn chosen_event(&self) -> Option<&Fired> {
        let events = self.shown_events();
        events.len().checked_sub(self.browse.chosen + 1).and_then(|place| events.get(place))
    }

    /// Clears the list of running hooks.
    pub(super) fn forget(&mut self) {
        self.running.clear();
    }
}
