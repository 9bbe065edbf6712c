//! What all hooks of an engine share: the environment, the places to run in, the way to stop them all.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use super::environment::Environment;
use super::worker::Pools;

/// How many processes one engine runs at once, over all fires.
const MAX_PROCESSES: usize = 64;

#[derive(Debug)]
pub(crate) struct Host {
    pub(super) environment: Environment,
    pub(super) workers: Pools,
    free: Mutex<usize>,
    freed: Condvar,
    shutdown: Mutex<Shutdown>,
    bell: OnceLock<Option<OwnedFd>>,
}

/// The other end of the bell: while it is held, hooks run; when it is dropped, they are killed.
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
            free: Mutex::new(MAX_PROCESSES),
            freed: Condvar::new(),
            shutdown: Mutex::new(Shutdown::Not(None)),
            bell: OnceLock::new(),
        }
    }

    /// Waits for a place, at most until the deadline.
    pub(super) fn place(&self, deadline: Instant) -> Option<Place<'_>> {
        let mut free = lock(&self.free);
        while *free == 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            free = self.freed.wait_timeout(free, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *free -= 1;
        Some(Place(self))
    }

    /// A descriptor that becomes readable when the engine shuts down. Made when the first process is run.
    pub(crate) fn bell(&self) -> Option<BorrowedFd<'_>> {
        let bell = self.bell.get_or_init(|| {
            let (listens, rings) = super::os::pipe().ok()?;
            match &mut *lock(&self.shutdown) {
                // Dropping the ringing end here makes the bell ring from the start.
                Shutdown::Done => {}
                Shutdown::Not(held) => *held = Some(rings),
            }
            Some(listens)
        });
        bell.as_ref().map(AsFd::as_fd)
    }

    /// A second hand on the bell, for a signal handler: one byte written to it stops every process.
    pub(crate) fn bell_rope(&self) -> io::Result<OwnedFd> {
        self.bell();
        match &*lock(&self.shutdown) {
            Shutdown::Not(Some(rings)) => rings.try_clone(),
            _ => Err(io::Error::other("the engine is shut down, or has no descriptors left")),
        }
    }

    /// Kills what runs; what is started later is not.
    pub(crate) fn shut_down(&self) {
        *lock(&self.shutdown) = Shutdown::Done;
        self.workers.clear();
    }

    pub(super) fn is_shut_down(&self) -> bool {
        matches!(*lock(&self.shutdown), Shutdown::Done)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        *lock(&self.0.free) += 1;
        self.0.freed.notify_one();
    }
}
