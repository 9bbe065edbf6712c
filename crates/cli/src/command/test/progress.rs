//! Shows the progress on a terminal; writes nothing if there is none.

use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::print::one_line;

/// The least time between two updates, so that the terminal is not the slowest part.
const INTERVAL: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(super) struct Progress {
    all: usize,
    /// When it was last shown; `None` without a terminal.
    shown: Option<Mutex<Instant>>,
}

impl Progress {
    pub(super) fn new(all: usize) -> Self {
        let shown = std::io::stderr().is_terminal().then(|| Mutex::new(Instant::now()));
        Self { all, shown }
    }

    pub(super) fn tell(&self, done: usize, name: &str) {
        // Another thread is writing, and its progress is just as recent.
        let Some(Ok(mut shown)) = self.shown.as_ref().map(Mutex::try_lock) else { return };
        if shown.elapsed() < INTERVAL {
            return;
        }
        *shown = Instant::now();
        let bar = "=".repeat(20 * done / self.all.max(1));
        let name: String = one_line(name).chars().take(40).collect();
        write(&format!("\r\u{1b}[K[{bar:<20}] {done}/{} {name}", self.all));
    }

    /// Clears the line.
    pub(super) fn end(&self) {
        if self.shown.is_some() {
            write("\r\u{1b}[K");
        }
    }
}

fn write(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}
