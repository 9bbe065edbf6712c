//! A session on a full screen: its transcript, its hooks while they run, its tasks and decisions.
//!
//! In come views (from the loop's renderer) and messages of the engine; out go frames. The terminal is given back
//! as it was, whatever happens: at the end, on a signal, on a panic.

mod draw;
mod state;
mod terminal;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crosier::{Engine, Received};
use crosier_agent::agent::Interrupt;
use crosier_agent::view::{Renderer, View};
use tokio::sync::oneshot;

use crate::exit::{Exit, Failed};
use crate::print;
use state::{Question, State};
use terminal::{Key, Terminal};

/// Between two frames.
const FRAME: Duration = Duration::from_millis(40);
/// The most messages that wait to be shown.
const CAPACITY: usize = 4 * 1024;

/// The screen, as the session sees it. Clones are the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Screen {
    state: Arc<Mutex<State>>,
    /// So long each line stays the newest, so that it can be read.
    pace: Duration,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Screen {
    /// Shows the hooks of this engine while they run.
    pub(crate) fn listen(&self, engine: &Engine) {
        let listener = engine.subscribe(CAPACITY);
        let state = Arc::downgrade(&self.state);
        // Heard at once, or the times on the screen would be those of its frames. Over when the screen is.
        std::thread::spawn(move || {
            while state.strong_count() > 0 {
                let Some(heard) = listener.next_within(FRAME) else { continue };
                let Some(state) = state.upgrade() else { break };
                match heard {
                    Received::Message(message) => lock(&state).hear(&message),
                    // Who missed something does not know what still runs.
                    Received::Missed(_) => lock(&state).forget(),
                }
            }
        });
    }

    /// Asks the person. The answer is the letter of a key, and none when the person has left.
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

impl Renderer for Screen {
    fn draw(&mut self, view: &View) {
        lock(&self.state).view = view.clone();
        std::thread::sleep(self.pace);
    }
}

/// Shows a session while `work` does it, and then until a key is pressed. `q`, Escape and Ctrl-C interrupt it.
///
/// # Errors
/// When there is no terminal, or what came of the work.
pub(crate) fn show<T: Send>(
    interrupt: &Interrupt,
    pace: Duration,
    work: impl FnOnce(&Screen) -> Result<T, Failed> + Send,
) -> Result<T, Failed> {
    let mut terminal = Terminal::open().map_err(|error| {
        Failed::new(Exit::Usage, format!("--tui needs a terminal: {error}; leave it out to get plain lines"))
    })?;
    // What is said meanwhile would be written over the screen.
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
                terminal.draw(&state)
            };
            let key = shown.and_then(|()| terminal.key(FRAME));
            // A terminal that is gone is a person who has left.
            if matches!(key, Ok(Some(Key::Leave)) | Err(_)) || interrupt.is_set() {
                is_leaving = true;
                interrupt.set();
            }
            if let Ok(Some(Key::Letter(letter))) = key
                && let Some(asked) = lock(&screen.state).question.take()
            {
                // Who asked may have given up.
                let _ = asked.told.send(letter);
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
