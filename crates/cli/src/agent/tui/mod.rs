//! A session on the full screen: its transcript, its hooks while they run, its tasks and decisions.
//!
//! It gets views (from the loop's renderer) and messages of the engine, and draws frames. The terminal is always
//! restored: at the end, on a signal, on a panic.

mod browse;
mod draw;
mod panes;
mod state;
mod terminal;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crosier::{Engine, Received};
use crosier_agent::agent::{Fired, Interrupt, SessionListener};
use crosier_agent::conversation::Message;
use crosier_agent::view::{Renderer, View};
use tokio::sync::oneshot;

use crate::exit::{Exit, Failed};
use crate::lock::lock;
use crate::print;
use browse::Pressed;
use state::{Question, State};
use terminal::{Key, Terminal};

/// The time between two frames.
const FRAME: Duration = Duration::from_millis(40);
/// The maximum number of messages that can wait to be shown.
const CAPACITY: usize = 4 * 1024;

/// The screen, as the session sees it. Clones share one screen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Screen {
    state: Arc<Mutex<State>>,
    /// How long each line stays the newest, so that it can be read.
    pace: Duration,
}

impl Screen {
    /// Shows the hooks of this engine while they run.
    pub(crate) fn listen(&self, engine: &Engine) {
        let listener = engine.subscribe(CAPACITY);
        let state = Arc::downgrade(&self.state);
        // A separate thread, so that times are exact and not rounded to frames. It ends with the screen.
        std::thread::spawn(move || {
            while state.strong_count() > 0 {
                let Some(heard) = listener.next_within(FRAME) else { continue };
                let Some(state) = state.upgrade() else { break };
                match heard {
                    Received::Message(message) => lock(&state).take_message(&message),
                    // After missed messages it is unknown which hooks still run.
                    Received::Missed(_) => lock(&state).forget(),
                }
            }
        });
    }

    /// Asks the person. The answer is the letter of a key; the channel closes when the person has left.
    pub(crate) fn ask(&self, text: String) -> oneshot::Receiver<char> {
        let (told, answer) = oneshot::channel();
        lock(&self.state).question = Some(Question { text, told });
        answer
    }

    /// Draws the views of a session.
    pub(crate) fn renderer(&self) -> Box<dyn Renderer> {
        Box::new(self.clone())
    }
}

impl SessionListener for Screen {
    fn on_message(&self, _: &str, _: &Message) {}

    fn on_fire(&self, fired: &Fired) {
        lock(&self.state).add_fire(fired);
    }
}

impl Renderer for Screen {
    fn draw(&mut self, view: &View) {
        lock(&self.state).view = view.clone();
        std::thread::sleep(self.pace);
    }
}

/// Handles a key: it answers a question if there is one, and otherwise changes what is shown.
fn press(screen: &Screen, key: Key) -> Pressed {
    let mut state = lock(&screen.state);
    match (key, state.question.is_some()) {
        (Key::Letter(letter), true) => {
            if let Some(asked) = state.question.take() {
                // The caller may have given up.
                let _ = asked.told.send(letter);
            }
            Pressed::Done
        }
        (Key::Quit | Key::Back, true) => Pressed::Leave,
        (_, true) => Pressed::Done,
        (key, false) => state.press(key),
    }
}

/// Shows a session while `work` runs it, and then until the person leaves. `q`, Escape and Ctrl-C interrupt it.
///
/// # Errors
/// When there is no terminal, or the error of the work.
pub(crate) fn show<T: Send>(
    interrupt: &Interrupt,
    pace: Duration,
    work: impl FnOnce(&Screen) -> Result<T, Failed> + Send,
) -> Result<T, Failed> {
    let mut terminal = Terminal::open().map_err(|error| {
        Failed::new(Exit::Usage, format!("--tui needs a terminal: {error}; leave it out to get plain lines"))
    })?;
    // Other output would be written over the screen.
    let _held = print::hold();
    let screen = Screen { pace, ..Screen::default() };
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| work(&screen));
        let mut is_leaving = false;
        loop {
            let is_over = worker.is_finished();
            let shown = {
                let mut state = lock(&screen.state);
                state.is_over = is_over;
                state.is_leaving = is_leaving;
                terminal.draw(&mut state)
            };
            let key = shown.and_then(|()| terminal.key(FRAME));
            let wants_to_leave = match key {
                Ok(None) => false,
                Ok(Some(key)) => press(&screen, key) == Pressed::Leave,
                // A closed terminal means that the person has left.
                Err(_) => true,
            };
            if wants_to_leave || interrupt.is_set() {
                is_leaving = true;
                interrupt.set();
            }
            if is_leaving {
                lock(&screen.state).question = None;
            }
            if is_over && is_leaving {
                break;
            }
            if key.is_err() {
                std::thread::sleep(FRAME);
            }
        }
        drop(terminal);
        match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
