//! What the person looks at (scroll position, pane, selected event), and how keys change it.

use super::state::State;
use super::terminal::Key;

/// The pane in front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Pane {
    /// The session, and beside it hooks, tasks and decisions.
    #[default]
    Session,
    /// The list of events.
    Events,
    /// One event in full.
    Detail,
    /// The help.
    Help,
}

/// What the person looks at.
#[derive(Debug, Default)]
pub(super) struct Browse {
    pub(super) pane: Pane,
    /// How many rows the session is scrolled back.
    pub(super) back: usize,
    /// The selected event, counted from the newest.
    pub(super) chosen: usize,
    /// How many rows the detail is scrolled down.
    pub(super) down: usize,
    /// Whether the display is paused.
    pub(super) is_paused: bool,
    /// How many rows a page has, as of the last frame.
    pub(super) page: usize,
}

/// The result of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pressed {
    /// It was handled.
    Done,
    /// The person wants to leave.
    Leave,
}

/// The keys and what they do, for the help.
pub(super) const KEYS: [(&str, &str); 8] = [
    ("↑ ↓ PgUp PgDn", "scroll; j and k too"),
    ("Home End", "the beginning, the newest"),
    ("p", "pause and continue"),
    ("e or Tab", "the list of events"),
    ("Enter", "one event: input, hooks, times, outcome"),
    ("Esc", "back; from the session: leave"),
    ("?", "this help"),
    ("q or Ctrl-C", "end the session and leave"),
];

impl State {
    /// Handles a key, unless a question is waiting for it.
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
            // The next frame limits this to the rows that exist.
            Pane::Session => browse.back = moved(browse.back, towards_start),
            // The newest event comes first.
            Pane::Events => browse.chosen = moved(browse.chosen, !towards_start).min(last),
            Pane::Detail => browse.down = moved(browse.down, !towards_start),
            Pane::Help => {}
        }
    }
}
