//! What all hooks of an engine share: the environment, the places to run in, the way to stop them all.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use super::crew::Crew;
use super::environment::Environment;
use super::os;
use super::worker::Pools;

/// How many processes one engine runs at once, over all fires.
const MAX_PROCESSES: usize = 64;

#[derive(Debug)]
pub(crate) struct Host {
    pub(super) environment: Environment,
    pub(super) workers: Pools,
    pub(super) crew: Crew,
    free: Mutex<usize>,
    freed: Condvar,
    shutdown: Mutex<Shutdown>,
    bell: OnceLock<OwnedFd>,
}

/// The other end of the bell: while nothing was written to it and it is held, hooks run.
#[derive(Debug)]
enum Shutdown {
    Not(Option<OwnedFd>),
    Done,
}

/// A place to run a process in; given back when dropped.
#[derive(Debug)]
pub(super) struct Place<'a>(&'a Host);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Host {
    pub(crate) fn new(inherited: Option<Vec<(OsString, OsString)>>) -> Self {
        Self {
            environment: Environment::new(inherited),
            workers: Pools::default(),
            crew: Crew::default(),
            free: Mutex::new(MAX_PROCESSES),
            freed: Condvar::new(),
            shutdown: Mutex::new(Shutdown::Not(None)),
            bell: OnceLock::new(),
        }
    }

    /// Waits for a place, at most until the deadline or the end of the engine.
    pub(super) fn place(&self, deadline: Instant) -> Option<Place<'_>> {
        let mut free = lock(&self.free);
        while *free == 0 && !self.is_shut_down() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            free = self.freed.wait_timeout(free, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *free = free.checked_sub(1)?;
        Some(Place(self))
    }

    /// A descriptor that becomes readable when the engine shuts down. None when there are no descriptors left.
    pub(crate) fn bell(&self) -> Option<BorrowedFd<'_>> {
        self.try_bell().ok()
    }

    /// The same, made when it is first asked for.
    pub(super) fn try_bell(&self) -> io::Result<BorrowedFd<'_>> {
        if let Some(bell) = self.bell.get() {
            return Ok(bell.as_fd());
        }
        let mut shutdown = lock(&self.shutdown);
        if let Some(made_meanwhile) = self.bell.get() {
            return Ok(made_meanwhile.as_fd());
        }
        let (listens, rings) = os::pipe()?;
        // Nobody reads it, and whoever rings must not wait.
        os::set_nonblocking(&rings)?;
        // Dropping the ringing end of an engine that is shut down makes the bell ring from the start.
        if let Shutdown::Not(held) = &mut *shutdown {
            *held = Some(rings);
        }
        Ok(self.bell.get_or_init(|| listens).as_fd())
    }

    /// A second hand on the bell, for a signal handler: one byte written to it stops every process.
    pub(crate) fn bell_rope(&self) -> io::Result<OwnedFd> {
        self.try_bell()?;
        match &*lock(&self.shutdown) {
            Shutdown::Not(Some(rings)) => rings.try_clone(),
            _ => Err(io::Error::other("the engine is shut down")),
        }
    }

    /// Kills what runs; nothing is started later.
    pub(crate) fn shut_down(&self) {
        let before = std::mem::replace(&mut *lock(&self.shutdown), Shutdown::Done);
        if let Shutdown::Not(Some(rings)) = before {
            // Letting go is not enough: a signal handler may hold the bell too.
            let _ = File::from(rings).write(&[0]);
        }
        // Whoever has just looked and is about to wait for a place does so before this lock is had.
        drop(lock(&self.free));
        self.freed.notify_all();
        self.workers.clear();
        self.crew.dismiss();
    }

    /// Whether the engine was shut down, by itself or through the bell.
    pub(super) fn is_shut_down(&self) -> bool {
        self.bell.get().is_some_and(|bell| os::is_ready(bell.as_fd()))
            || matches!(*lock(&self.shutdown), Shutdown::Done)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        *lock(&self.0.free) += 1;
        self.0.freed.notify_one();
    }
}
