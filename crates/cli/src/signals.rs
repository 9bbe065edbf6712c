//! SIGINT, SIGTERM and SIGHUP: the processes that hooks started end first, then we do.
//!
//! While nothing of ours runs, a signal ends the process at once with its status. While something does, it is
//! remembered and a bell rings: whoever waits wakes up, kills what it started, and says so.

use std::io::{self, PipeReader};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crosier::Engine;
use rustix::event::{PollFd, PollFlags, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit::{self, Exit, Failed};

const ALL: [i32; 3] = [SIGHUP, SIGINT, SIGTERM];

/// Watches for signals, from now until the end of the process.
#[derive(Debug)]
pub(crate) struct Signals {
    seen: Arc<AtomicUsize>,
    /// Whether a signal may end the process on the spot: nobody would be left behind.
    alone: Arc<AtomicBool>,
    /// Rings when a signal comes; only for who waits for something else at the same time.
    bell: Option<PipeReader>,
}

impl Signals {
    /// Watches; hooks that run can be killed, see [`kill`](Self::kill).
    pub(crate) fn watch() -> Result<Self, Failed> {
        Self::new().map_err(cannot)
    }

    /// Watches with a bell, so that waiting for something else ends with a signal.
    pub(crate) fn watch_with_bell() -> Result<Self, Failed> {
        let mut signals = Self::watch()?;
        let (bell, rope) = io::pipe().map_err(cannot)?;
        let rope = OwnedFd::from(rope);
        for signal in ALL {
            let rope = rope.try_clone().map_err(cannot)?;
            signal_hook::low_level::pipe::register(signal, rope).map_err(cannot)?;
        }
        signals.bell = Some(bell);
        Ok(signals)
    }

    fn new() -> io::Result<Self> {
        let (seen, alone) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(true)));
        for signal in ALL {
            let number = usize::try_from(signal).unwrap_or_default();
            let status = if exit::is_strict() { i32::from(Exit::DENIED) } else { 128 + signal };
            // Remembered before any bell rings: who wakes up finds the number.
            signal_hook::flag::register_usize(signal, Arc::clone(&seen), number)?;
            signal_hook::flag::register_conditional_shutdown(signal, status, Arc::clone(&alone))?;
        }
        Ok(Self { seen, alone, bell: None })
    }

    /// Does what must not be left alone: a signal no longer ends the process, `work` must notice the bell.
    /// `then` says what a signal meant for it.
    ///
    /// # Errors
    /// The signal that came meanwhile.
    pub(crate) fn during<T>(&self, then: &str, work: impl FnOnce() -> T) -> Result<T, Failed> {
        self.alone.store(false, Ordering::SeqCst);
        let done = work();
        // First this, then the question: a signal in between ends the process, and none is lost.
        self.alone.store(true, Ordering::SeqCst);
        match self.seen() {
            None => Ok(done),
            Some(number) => {
                Err(Failed::new(Exit::Signal(number), format!("stopped by signal {number}: {then}")))
            }
        }
    }

    /// From now on a signal kills the hooks of this engine.
    pub(crate) fn kill(&self, engine: &Engine) {
        for signal in ALL {
            if let Ok(rope) = engine.kill_switch() {
                let _ = signal_hook::low_level::pipe::register(signal, rope);
            }
        }
    }

    /// The signal that came, if one did.
    pub(crate) fn seen(&self) -> Option<u8> {
        u8::try_from(self.seen.load(Ordering::SeqCst)).ok().filter(|&number| number > 0)
    }

    /// Waits until this descriptor has something to read or is closed. False when a signal came first.
    pub(crate) fn wait_for(&self, other: BorrowedFd<'_>) -> io::Result<bool> {
        loop {
            let bell = self.bell.as_ref().map(AsFd::as_fd);
            let mut all = vec![PollFd::new(&other, PollFlags::IN)];
            all.extend(bell.as_ref().map(|bell| PollFd::new(bell, PollFlags::IN)));
            match poll(&mut all, None) {
                _ if self.seen().is_some() => return Ok(false),
                Ok(_) if !all[0].revents().is_empty() => return Ok(true),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Only when no descriptors are left.
fn cannot(error: io::Error) -> Failed {
    Failed::new(Exit::Failed, format!("signals cannot be watched: {error}; nothing was run"))
}
