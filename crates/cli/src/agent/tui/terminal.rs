//! The terminal: taken over, drawn on, and given back as it was.

use std::io::{self, IsTerminal, Stdout};
use std::sync::Arc;
use std::time::Duration;

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use super::draw::draw;
use super::state::State;

type PanicHook = Box<dyn Fn(&std::panic::PanicHookInfo<'_>) + Send + Sync>;

/// The terminal, for as long as this lives.
pub(super) struct Terminal {
    inner: ratatui::Terminal<CrosstermBackend<Stdout>>,
    /// What a panic did before.
    hook: Arc<PanicHook>,
}

/// What a person wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Leave,
    /// An answer, when there is a question.
    Letter(char),
}

impl Terminal {
    pub(super) fn open() -> io::Result<Self> {
        if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
            return Err(io::Error::other("stdin or stdout is not one"));
        }
        enable_raw_mode()?;
        let opened = execute!(io::stdout(), EnterAlternateScreen)
            .and_then(|()| ratatui::Terminal::new(CrosstermBackend::new(io::stdout())));
        let inner = opened.inspect_err(|_| give_back())?;
        let hook: Arc<PanicHook> = Arc::new(std::panic::take_hook());
        let before = Arc::clone(&hook);
        // What a panic says would be gone with the other screen.
        std::panic::set_hook(Box::new(move |info| {
            give_back();
            before(info);
        }));
        Ok(Self { inner, hook })
    }

    pub(super) fn draw(&mut self, state: &State) -> io::Result<()> {
        self.inner.draw(|frame| draw(frame, state)).map(drop)
    }

    /// Waits for a key, at most so long.
    pub(super) fn key(&self, limit: Duration) -> io::Result<Option<Key>> {
        if !event::poll(limit)? {
            return Ok(None);
        }
        let Event::Key(key) = event::read()? else { return Ok(None) };
        let control_c = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
        let leaves = control_c || matches!(key.code, KeyCode::Char('q') | KeyCode::Esc);
        Ok(match key.code {
            _ if key.kind != KeyEventKind::Press => None,
            _ if leaves => Some(Key::Leave),
            KeyCode::Char(letter) => Some(Key::Letter(letter)),
            _ => None,
        })
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        give_back();
        // While a thread panics its hook cannot be changed.
        if !std::thread::panicking() {
            let hook = Arc::clone(&self.hook);
            std::panic::set_hook(Box::new(move |info| hook(info)));
        }
    }
}

/// Nobody can be told when the terminal is gone.
fn give_back() {
    let _ = disable_raw_mode();
    let _ = execute!(io::stdout(), LeaveAlternateScreen, ratatui::crossterm::cursor::Show);
}
