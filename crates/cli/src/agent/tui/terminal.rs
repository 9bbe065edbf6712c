//! The terminal: taken over, drawn on, and restored.

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

/// The terminal, taken over until this is dropped.
pub(super) struct Terminal {
    inner: ratatui::Terminal<CrosstermBackend<Stdout>>,
    /// The panic hook that was set before.
    hook: Arc<PanicHook>,
}

/// What a key means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// Ends the session, from any pane.
    Quit,
    /// Back to the previous pane; from the session, it ends the session.
    Back,
    Enter,
    Tab,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    /// The answer to a question.
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
        let inner = opened.inspect_err(|_| restore())?;
        let hook: Arc<PanicHook> = Arc::new(std::panic::take_hook());
        let before = Arc::clone(&hook);
        // Restore the terminal first, so that the panic message stays visible.
        std::panic::set_hook(Box::new(move |info| {
            restore();
            before(info);
        }));
        Ok(Self { inner, hook })
    }

    pub(super) fn draw(&mut self, state: &mut State) -> io::Result<()> {
        self.inner.draw(|frame| draw(frame, state)).map(drop)
    }

    /// Waits for a key, at most this long.
    pub(super) fn key(&self, limit: Duration) -> io::Result<Option<Key>> {
        if !event::poll(limit)? {
            return Ok(None);
        }
        let Event::Key(key) = event::read()? else { return Ok(None) };
        let control_c = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
        Ok(match key.code {
            _ if key.kind != KeyEventKind::Press => None,
            _ if control_c => Some(Key::Quit),
            KeyCode::Char('q') => Some(Key::Quit),
            KeyCode::Esc => Some(Key::Back),
            KeyCode::Enter => Some(Key::Enter),
            KeyCode::Tab => Some(Key::Tab),
            KeyCode::Up => Some(Key::Up),
            KeyCode::Down => Some(Key::Down),
            KeyCode::PageUp => Some(Key::PageUp),
            KeyCode::PageDown => Some(Key::PageDown),
            KeyCode::Home => Some(Key::Home),
            KeyCode::End => Some(Key::End),
            KeyCode::Char(letter) => Some(Key::Letter(letter)),
            _ => None,
        })
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
        // The panic hook cannot be changed while a thread panics.
        if !std::thread::panicking() {
            let hook = Arc::clone(&self.hook);
            std::panic::set_hook(Box::new(move |info| hook(info)));
        }
    }
}

/// Restores the terminal. Errors are ignored: without a terminal there is nowhere to report them.
fn restore() {
    let _ = disable_raw_mode();
    let _ = execute!(io::stdout(), LeaveAlternateScreen, ratatui::crossterm::cursor::Show);
}
