//! Stops a fire early: its processes are ended, and a denial that was already written still counts.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Ends the processes of one fire. The fire waits for the threads that run them, because only these know what
/// the hooks wrote.
#[derive(Debug, Default)]
pub(crate) struct StopSignal(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    is_stopped: bool,
    last: u64,
    /// The fire's ends of the cancel pipes, by number. Empty once the fire is stopped.
    fire_ends: HashMap<u64, OwnedFd>,
    running: usize,
}

impl StopSignal {
    /// Ends every process of the fire.
    pub(crate) fn stop(&self) {
        let mut state = self.lock();
        state.is_stopped = true;
        let fire_ends = std::mem::take(&mut state.fire_ends);
        drop(state);
        drop(fire_ends);
    }

    /// Whether the fire was stopped: nothing more may be started.
    pub(super) fn is_stopped(&self) -> bool {
        self.lock().is_stopped
    }

    /// Whether no thread is running a hook for the fire.
    pub(crate) fn is_finished(&self) -> bool {
        self.lock().running == 0
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The fire's end of a cancel pipe. Dropping it closes the pipe, which cancels the run.
#[derive(Debug)]
pub(super) struct CancelOnDrop<'a> {
    /// The end, if there is no stop signal that holds it.
    own_end: Option<OwnedFd>,
    signal: Option<(&'a StopSignal, u64)>,
}

impl<'a> CancelOnDrop<'a> {
    pub(super) fn new(end: OwnedFd, signal: Option<&'a StopSignal>) -> Self {
        let Some(signal) = signal else { return Self { own_end: Some(end), signal: None } };
        let mut state = signal.lock();
        state.last += 1;
        state.running += 1;
        let number = state.last;
        if !state.is_stopped {
            state.fire_ends.insert(number, end);
        }
        Self { own_end: None, signal: Some((signal, number)) }
    }

    /// The end, if it is still open.
    pub(super) fn take(&mut self) -> Option<OwnedFd> {
        let (signal, number) = match self.signal {
            None => return self.own_end.take(),
            Some(shared) => shared,
        };
        signal.lock().fire_ends.remove(&number)
    }
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        let end = self.take();
        if let Some((signal, _)) = self.signal {
            signal.lock().running -= 1;
        }
        drop(end);
    }
}
