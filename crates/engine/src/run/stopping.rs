//! A fire that is stopped early: what runs is ended, and a denial that was said before that is not lost.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Ends the processes of one fire. The threads that watch over them are waited for: only they know what was said.
#[derive(Debug, Default)]
pub(crate) struct StopSignal(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    is_stopped: bool,
    last: u64,
    /// The ends of the cancel pipes, until the fire is stopped.
    held: HashMap<u64, OwnedFd>,
    running: usize,
}

impl StopSignal {
    /// Ends every process of the fire.
    pub(crate) fn stop(&self) {
        let mut state = self.lock();
        state.is_stopped = true;
        let held = std::mem::take(&mut state.held);
        drop(state);
        drop(held);
    }

    /// Whether nothing more starts.
    pub(super) fn is_stopped(&self) -> bool {
        self.lock().is_stopped
    }

    /// Whether no thread works for the fire.
    pub(crate) fn is_quiet(&self) -> bool {
        self.lock().running == 0
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of a cancel pipe. Dropped, it is closed, and what it belongs to is cancelled.
#[derive(Debug)]
pub(super) struct Held<'a> {
    /// Without a signal it is held here.
    alone: Option<OwnedFd>,
    signal: Option<(&'a StopSignal, u64)>,
}

impl<'a> Held<'a> {
    pub(super) fn new(end: OwnedFd, signal: Option<&'a StopSignal>) -> Self {
        let Some(signal) = signal else { return Self { alone: Some(end), signal: None } };
        let mut state = signal.lock();
        state.last += 1;
        state.running += 1;
        let number = state.last;
        if !state.is_stopped {
            state.held.insert(number, end);
        }
        Self { alone: None, signal: Some((signal, number)) }
    }

    /// The end, if it was not closed.
    pub(super) fn take(&mut self) -> Option<OwnedFd> {
        let (signal, number) = match self.signal {
            None => return self.alone.take(),
            Some(shared) => shared,
        };
        signal.lock().held.remove(&number)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let end = self.take();
        if let Some((signal, _)) = self.signal {
            signal.lock().running -= 1;
        }
        drop(end);
    }
}
