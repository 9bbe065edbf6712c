//! A cache of threads on which `fire` runs commands and python hooks.
//!
//! Work gets an idle thread or a new one and never waits for a busy one, so a run that hangs delays no other.
//! Idle threads are kept for a short time, because starting a thread costs more than a call of a python
//! worker. Callbacks of the host never run here: what they do to their thread (thread locals, signal masks)
//! must not affect other hooks.

use std::io;
use std::mem;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::thread::Thread;
use std::time::{Duration, Instant};

use super::lock::lock;
use super::os;
use super::thread::{Pending, promise};

/// The maximum number of idle threads: as many as one stage runs at once.
const MAX_IDLE: usize = 8;
/// How long an idle thread is kept.
const IDLE_TIMEOUT: Duration = Duration::from_secs(2);

type Work = Box<dyn FnOnce() + Send>;

#[derive(Debug)]
pub(super) struct ThreadCache {
    idle: Arc<Mutex<Idle>>,
    idle_timeout: Duration,
}

#[derive(Debug, Default)]
struct Idle {
    /// The most recently used thread is last. Invariant: a waiting thread is listed here, or has work, or the
    /// cache is closed.
    threads: Vec<Arc<IdleThread>>,
    pipes: Vec<CancelPipe>,
    closed: bool,
}

/// A thread that waits for work.
struct IdleThread {
    thread: Thread,
    work: Mutex<Option<Work>>,
}

impl std::fmt::Debug for IdleThread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("IdleThread").field(&self.thread.id()).finish()
    }
}

/// A pipe between a fire and its run: a dropped fire closes its end, which the run notices. As long as both
/// ends exist, the pipe was never closed and can be reused.
#[derive(Debug)]
pub(super) struct CancelPipe {
    /// The fire's end.
    pub(super) fire_end: OwnedFd,
    /// The run's end.
    pub(super) run_end: OwnedFd,
}

impl Default for ThreadCache {
    fn default() -> Self {
        Self { idle: Arc::default(), idle_timeout: IDLE_TIMEOUT }
    }
}

impl ThreadCache {
    /// Runs work on a thread. The work must not panic.
    pub(super) fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Pending<T>> {
        let (work, pending) = promise(work);
        let mut idle = lock(&self.idle);
        if let Some(thread) = idle.threads.pop() {
            // Still under the lock: a thread that is removed from the list must find its work.
            *lock(&thread.work) = Some(Box::new(work));
            drop(idle);
            thread.thread.unpark();
            return Ok(pending);
        }
        drop(idle);
        let (idle, idle_timeout) = (Arc::clone(&self.idle), self.idle_timeout);
        std::thread::Builder::new().name("crosier-run".to_owned()).spawn(move || {
            work();
            work_while_used(&idle, idle_timeout);
        })?;
        Ok(pending)
    }

    /// An open cancel pipe.
    pub(super) fn cancel_pipe(&self) -> io::Result<CancelPipe> {
        if let Some(pipe) = lock(&self.idle).pipes.pop() {
            return Ok(pipe);
        }
        let (run_end, fire_end) = os::pipe()?;
        Ok(CancelPipe { fire_end, run_end })
    }

    /// Keeps a pipe for the next run.
    pub(super) fn recycle(&self, pipe: CancelPipe) {
        let mut idle = lock(&self.idle);
        if idle.pipes.len() < MAX_IDLE && !idle.closed {
            idle.pipes.push(pipe);
        }
    }

    /// Ends the idle threads. Busy ones end with their work.
    pub(super) fn close(&self) {
        let ended = mem::replace(&mut *lock(&self.idle), Idle { closed: true, ..Idle::default() });
        ended.threads.iter().for_each(|thread| thread.thread.unpark());
    }
}

impl Drop for ThreadCache {
    fn drop(&mut self) {
        self.close();
    }
}

/// Runs work on this thread until none comes for `idle_timeout`.
fn work_while_used(idle: &Mutex<Idle>, idle_timeout: Duration) {
    let thread = Arc::new(IdleThread { thread: std::thread::current(), work: Mutex::default() });
    while thread.enlist(idle) {
        let until = Instant::now() + idle_timeout;
        match thread.wait(idle, until) {
            Some(work) => work(),
            None => return,
        }
    }
}

impl IdleThread {
    /// Puts it on the list of idle threads. False if there are enough, or the cache is closed.
    fn enlist(self: &Arc<Self>, idle: &Mutex<Idle>) -> bool {
        let mut idle = lock(idle);
        let wanted = idle.threads.len() < MAX_IDLE && !idle.closed;
        if wanted {
            idle.threads.push(Arc::clone(self));
        }
        wanted
    }

    /// Waits for work. `None` if no work came in time, or the cache was closed; the thread is off the list
    /// then.
    fn wait(self: &Arc<Self>, idle: &Mutex<Idle>, until: Instant) -> Option<Work> {
        loop {
            std::thread::park_timeout(until.saturating_duration_since(Instant::now()));
            if let Some(work) = lock(&self.work).take() {
                return Some(work);
            }
            // While this lock is held, no work is assigned.
            let mut idle = lock(idle);
            let Some(position) = idle.threads.iter().position(|thread| Arc::ptr_eq(thread, self)) else {
                return lock(&self.work).take();
            };
            if Instant::now() >= until {
                idle.threads.remove(position);
                if idle.threads.is_empty() {
                    idle.pipes.clear();
                }
                return None;
            }
        }
    }
}

#[cfg(test)]
#[path = "thread_cache_tests.rs"]
mod tests;
