//! What the person looks at: how far back, which event, the help; and what keys do about it.

use super::state::State;
use super::terminal::Key;

/// What is in front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Pane {
    /// The session, and beside it hooks, tasks and decisions.
    #[default]
    Session,
    /// The list of events.
    Events,
    /// One event, whole.
    Detail,
    /// What keys do.
    Help,
}

/// Where the person looks.
#[derive(Debug, Default)]
pub(super) struct Browse {
    pub(super) pane: Pane,
    /// How many rows the session is scrolled back.
    pub(super) back: usize,
    /// The event that is chosen, counted from the newest.
    pub(super) chosen: usize,
    /// How many rows the detail is scrolled down.
    pub(super) down: usize,
    /// Whether what happens meanwhile waits to be shown.
    pub(super) is_paused: bool,
    /// How many rows a page has; the last frame knows.
    pub(super) page: usize,
}

/// What a key came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pressed {
    /// It is done.
    Done,
    /// The person wants to leave.
    Leave,
}

/// What keys do, for the help.
pub(super) const KEYS: [(&str, &str); 8] = [
    ("↑ ↓ PgUp PgDn", "scroll; j and k too"),
    ("Home End", "the beginning, the newest"),
    ("p", "pause: nothing moves until p"),
    ("e or Tab", "the list of events"),
    ("Enter", "one event: input, hooks, times, outcome"),
    ("Esc", "back; in the session it leaves"),
    ("?", "this help"),
    ("q or Ctrl-C", "ends the session and leaves"),
];

impl State {
    /// Does what a key means, when no question waits for it.
    pub(super) fn press(&mut self, key: Key) -> Pressed {
        match (self.browse.pane, key) {
            (_, Key::Quit) => return Pressed::Leave,
            (Pane::Session, Key::Back) => return Pressed::Leave,
            (Pane::Detail, Key::Back) => self.browse.pane = Pane::Events,
            (_, Key::Back) => self.browse.pane = Pane::Session,
            (Pane::Help, Key::Letter('?')) => self.browse.pane = Pane::Session,
            (_, Key::Letter('?')) => self.browse.pane = Pane::Help,
            (_, Key::Letter('p' | ' ')) => self.pause(),
            (Pane::Events, Key::Tab | Key::Letter('e')) => self.browse.pane = Pane::Session,
            (_, Key::Tab | Key::Letter('e')) => self.browse.pane = Pane::Events,
            (Pane::Events, Key::Enter) if !self.shown_events().is_empty() => {
                self.browse.pane = Pane::Detail;
                self.browse.down = 0;
            }
            (_, key) => self.scroll(key),
        }
        Pressed::Done
    }

    fn scroll(&mut self, key: Key) {
        let last = self.shown_events().len().saturating_sub(1);
        let browse = &mut self.browse;
        let page = browse.page.max(1);
        let (towards_start, rows) = match key {
            Key::Up | Key::Letter('k') => (true, 1),
            Key::Down | Key::Letter('j') => (false, 1),
            Key::PageUp => (true, page),
            Key::PageDown => (false, page),
            Key::Home | Key::Letter('g') => (true, usize::MAX / 4),
            Key::End | Key::Letter('G') => (false, usize::MAX / 4),
            _ => return,
        };
        let moved = |place: usize, grows: bool| {
            if grows { place.saturating_add(rows) } else { place.saturating_sub(rows) }
        };
        match browse.pane {
            // The frame that is drawn next cuts it to what there is.
            Pane::Session => browse.back = moved(browse.back, towards_start),
            // The newest event stands first.
            Pane::Events => browse.chosen = moved(browse.chosen, !towards_start).min(last),
            Pane::Detail => browse.down = moved(browse.down, !towards_start),
            Pane::Help => {}
        }
    }
}
