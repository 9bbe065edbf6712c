//! SIGINT, SIGTERM and SIGHUP: the processes that hooks started are killed first, then this process ends.
//!
//! While no hook runs, a signal ends the process at once with its status. While one does, the signal is
//! stored and a pipe becomes readable: the thread that waits on it wakes up, kills what it started, and reports it.

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
    /// Whether a signal may end the process at once, because no child process would be left behind.
    alone: Arc<AtomicBool>,
    /// Becomes readable when a signal arrives; for callers that wait for something else at the same time.
    wakeup: Option<PipeReader>,
}

impl Signals {
    /// Watches for signals; they can kill running hooks, see [`kill`](Self::kill).
    pub(crate) fn watch() -> Result<Self, Failed> {
        Self::new().map_err(cannot)
    }

    /// Watches for signals, and lets them interrupt [`wait_for`](Self::wait_for).
    pub(crate) fn watch_and_wake() -> Result<Self, Failed> {
        let mut signals = Self::watch()?;
        let (wakeup, writer) = io::pipe().map_err(cannot)?;
        let writer = OwnedFd::from(writer);
        for signal in ALL {
            let writer = writer.try_clone().map_err(cannot)?;
            signal_hook::low_level::pipe::register(signal, writer).map_err(cannot)?;
        }
        signals.wakeup = Some(wakeup);
        Ok(signals)
    }

    fn new() -> io::Result<Self> {
        let (seen, alone) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(true)));
        for signal in ALL {
            let number = usize::try_from(signal).unwrap_or_default();
            let status = if exit::is_strict() { i32::from(Exit::DENIED) } else { 128 + signal };
            // Registered first, so that the number is stored before a waiting thread wakes up.
            signal_hook::flag::register_usize(signal, Arc::clone(&seen), number)?;
            signal_hook::flag::register_conditional_shutdown(signal, status, Arc::clone(&alone))?;
        }
        Ok(Self { seen, alone, wakeup: None })
    }

    /// Runs `work` while a signal does not end the process; `work` itself must notice the signal.
    /// `then` is the consequence, for the message.
    ///
    /// # Errors
    /// The signal that arrived meanwhile.
    pub(crate) fn during<T>(&self, then: &str, work: impl FnOnce() -> T) -> Result<T, Failed> {
        self.alone.store(false, Ordering::SeqCst);
        let done = work();
        // In this order, no signal is lost: one in between ends the process.
        self.alone.store(true, Ordering::SeqCst);
        match self.seen() {
            None => Ok(done),
            Some(number) => {
                Err(Failed::new(Exit::Signal(number), format!("stopped by signal {number}: {then}")))
            }
        }
    }

    /// Makes signals kill the hooks of this engine.
    pub(crate) fn kill(&self, engine: &Engine) {
        for signal in ALL {
            if let Ok(writer) = engine.kill_switch() {
                let _ = signal_hook::low_level::pipe::register(signal, writer);
            }
        }
    }

    /// The signal that arrived, if any.
    pub(crate) fn seen(&self) -> Option<u8> {
        u8::try_from(self.seen.load(Ordering::SeqCst)).ok().filter(|&number| number > 0)
    }

    /// Waits until this descriptor has something to read or is closed. Returns false when a signal arrived first.
    pub(crate) fn wait_for(&self, other: BorrowedFd<'_>) -> io::Result<bool> {
        loop {
            let wakeup = self.wakeup.as_ref().map(AsFd::as_fd);
            let mut all = vec![PollFd::new(&other, PollFlags::IN)];
            all.extend(wakeup.as_ref().map(|wakeup| PollFd::new(wakeup, PollFlags::IN)));
            match poll(&mut all, None) {
                _ if self.seen().is_some() => return Ok(false),
                Ok(_) if !all[0].revents().is_empty() => return Ok(true),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Happens only when no file descriptors are left.
fn cannot(error: io::Error) -> Failed {
    Failed::new(Exit::Failed, format!("signals cannot be handled: {error}; nothing was run"))
}
