//! The threads that runs of an engine are handed to: one that is idle, else a new one.
//!
//! In comes work; out goes what is to be waited for. Work never waits for a thread that is busy, so a run that hangs
//! holds up nobody. A thread that is done stays for a moment: the next run finds it warm, and starting a thread
//! costs more than a call of a python worker. Only runs of commands and workers come here, no code of the host:
//! what it does to its thread must not reach others.

use std::io;
use std::mem;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

use super::os;
use super::thread::{Pending, promise};

/// The most threads that are kept: as many as one stage runs at once.
const MAX_IDLE: usize = 8;
/// How long a thread is kept.
const PATIENCE: Duration = Duration::from_secs(2);

type Work = Box<dyn FnOnce() + Send>;

#[derive(Debug)]
pub(super) struct Crew {
    idle: Arc<Mutex<Idle>>,
    patience: Duration,
}

/// What waits for work.
#[derive(Debug, Default)]
struct Idle {
    /// The last one is the warmest. A seat is here, or it has work, or the crew is dismissed.
    seats: Vec<Arc<Seat>>,
    ropes: Vec<Rope>,
    dismissed: bool,
}

/// Where a thread waits.
struct Seat {
    thread: Thread,
    work: Mutex<Option<Work>>,
}

impl std::fmt::Debug for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Seat").field(&self.thread.id()).finish()
    }
}

/// A pipe between a fire and its run. When the fire lets go of its end, the run sees that at the other one; who has
/// both ends knows that this never happened.
#[derive(Debug)]
pub(super) struct Rope {
    pub(super) held: OwnedFd,
    pub(super) watched: OwnedFd,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for Crew {
    fn default() -> Self {
        Self { idle: Arc::default(), patience: PATIENCE }
    }
}

impl Crew {
    /// Hands work to a thread. The work must not panic.
    pub(super) fn hand<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Pending<T>> {
        let (work, pending) = promise(work);
        let mut idle = lock(&self.idle);
        if let Some(seat) = idle.seats.pop() {
            // Before anybody can see that the seat is gone from the list.
            *lock(&seat.work) = Some(Box::new(work));
            drop(idle);
            seat.thread.unpark();
            return Ok(pending);
        }
        drop(idle);
        let (idle, patience) = (Arc::clone(&self.idle), self.patience);
        std::thread::Builder::new().name("crosier-run".to_owned()).spawn(move || {
            work();
            serve(&idle, patience);
        })?;
        Ok(pending)
    }

    /// A rope that nobody has pulled.
    pub(super) fn rope(&self) -> io::Result<Rope> {
        if let Some(rope) = lock(&self.idle).ropes.pop() {
            return Ok(rope);
        }
        let (watched, held) = os::pipe()?;
        Ok(Rope { held, watched })
    }

    /// Takes a rope back, to be used again.
    pub(super) fn keep(&self, rope: Rope) {
        let mut idle = lock(&self.idle);
        if idle.ropes.len() < MAX_IDLE && !idle.dismissed {
            idle.ropes.push(rope);
        }
    }

    /// Ends the threads that are idle, and keeps none any more: those that are busy end with their work.
    pub(super) fn dismiss(&self) {
        let ended = mem::replace(&mut *lock(&self.idle), Idle { dismissed: true, ..Idle::default() });
        ended.seats.iter().for_each(|seat| seat.thread.unpark());
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.dismiss();
    }
}

/// Does one piece of work after the other on this thread, until none comes for some time.
fn serve(idle: &Mutex<Idle>, patience: Duration) {
    let seat = Arc::new(Seat { thread: std::thread::current(), work: Mutex::default() });
    while seat.take(idle) {
        let until = Instant::now() + patience;
        match seat.wait(idle, until) {
            Some(work) => work(),
            None => return,
        }
    }
}

impl Seat {
    /// Sits down to wait. False when nobody is to wait any more.
    fn take(self: &Arc<Self>, idle: &Mutex<Idle>) -> bool {
        let mut idle = lock(idle);
        let free = idle.seats.len() < MAX_IDLE && !idle.dismissed;
        if free {
            idle.seats.push(Arc::clone(self));
        }
        free
    }

    /// Waits for work. None when it is time to go; then it has left.
    fn wait(self: &Arc<Self>, idle: &Mutex<Idle>, until: Instant) -> Option<Work> {
        loop {
            std::thread::park_timeout(until.saturating_duration_since(Instant::now()));
            if let Some(work) = lock(&self.work).take() {
                return Some(work);
            }
            // Nobody hands out work while this is held.
            let mut idle = lock(idle);
            let Some(place) = idle.seats.iter().position(|seat| Arc::ptr_eq(seat, self)) else {
                return lock(&self.work).take();
            };
            if Instant::now() >= until {
                idle.seats.remove(place);
                if idle.seats.is_empty() {
                    idle.ropes.clear();
                }
                return None;
            }
        }
    }
}

#[cfg(test)]
#[path = "crew_tests.rs"]
mod tests;
