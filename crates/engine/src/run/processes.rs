//! What an engine needs to run processes: slots, threads, python workers, and a way to stop them all.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
#[cfg(feature = "python")]
use std::sync::Arc;
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use super::lock::lock;
use super::os;
use super::process::ProcessGuard;
use super::thread_cache::ThreadCache;
#[cfg(feature = "python")]
use super::worker::{Pools, PythonRunner};

/// How many command processes one engine runs at once, over all fires.
const MAX_PROCESSES: usize = 64;

#[derive(Debug)]
pub(crate) struct Processes {
    pub(super) guard: Option<ProcessGuard>,
    #[cfg(feature = "python")]
    pub(super) workers: Pools,
    /// The runner that is offered the calls of python hooks first.
    #[cfg(feature = "python")]
    pub(super) runner: Option<Arc<dyn PythonRunner>>,
    pub(super) threads: ThreadCache,
    free_slots: Mutex<usize>,
    slot_freed: Condvar,
    shutdown: Mutex<Shutdown>,
    /// The read end of the shutdown pipe.
    shutdown_reader: OnceLock<OwnedFd>,
}

#[derive(Debug)]
enum Shutdown {
    /// Holds the write end of the shutdown pipe, once there is one.
    Running(Option<OwnedFd>),
    Done,
}

/// The right to run one process; given back when dropped.
#[derive(Debug)]
pub(super) struct ProcessSlot<'a>(&'a Processes);

impl Processes {
    pub(crate) fn new(guard: Option<ProcessGuard>) -> Self {
        Self {
            #[cfg(feature = "python")]
            workers: Pools::new(guard.clone()),
            guard,
            #[cfg(feature = "python")]
            runner: None,
            threads: ThreadCache::default(),
            free_slots: Mutex::new(MAX_PROCESSES),
            slot_freed: Condvar::new(),
            shutdown: Mutex::new(Shutdown::Running(None)),
            shutdown_reader: OnceLock::new(),
        }
    }

    /// Sets the runner that is offered every call of a python hook first.
    #[cfg(feature = "python")]
    pub(crate) fn with_runner(self, runner: Option<Arc<dyn PythonRunner>>) -> Self {
        Self { runner, ..self }
    }

    /// Waits for a process slot, at most until the deadline or the shutdown of the engine.
    pub(super) fn acquire_slot(&self, deadline: Instant) -> Option<ProcessSlot<'_>> {
        let mut free = lock(&self.free_slots);
        while *free == 0 && !self.is_shut_down() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            free = self.slot_freed.wait_timeout(free, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *free = free.checked_sub(1)?;
        Some(ProcessSlot(self))
    }

    /// A descriptor that becomes readable when the engine shuts down. The pipe is made on first use.
    pub(super) fn shutdown_fd(&self) -> io::Result<BorrowedFd<'_>> {
        if let Some(reader) = self.shutdown_reader.get() {
            return Ok(reader.as_fd());
        }
        let mut shutdown = lock(&self.shutdown);
        if let Some(made_meanwhile) = self.shutdown_reader.get() {
            return Ok(made_meanwhile.as_fd());
        }
        let (reader, writer) = os::pipe()?;
        // Nothing ever reads from the pipe, so writing to it must not block.
        os::set_nonblocking(&writer)?;
        // After a shutdown the writer is dropped here, so that the reader is ready at once.
        if let Shutdown::Running(held) = &mut *shutdown {
            *held = Some(writer);
        }
        Ok(self.shutdown_reader.get_or_init(|| reader).as_fd())
    }

    /// Another write end of the shutdown pipe, for a signal handler: writing one byte stops every process.
    pub(crate) fn shutdown_handle(&self) -> io::Result<OwnedFd> {
        self.shutdown_fd()?;
        match &*lock(&self.shutdown) {
            Shutdown::Running(Some(writer)) => writer.try_clone(),
            _ => Err(io::Error::other("the engine is shut down")),
        }
    }

    /// Kills running processes; none is started afterwards.
    pub(crate) fn shut_down(&self) {
        let before = std::mem::replace(&mut *lock(&self.shutdown), Shutdown::Done);
        if let Shutdown::Running(Some(writer)) = before {
            // Closing it is not enough: a signal handler may hold another write end.
            let _ = File::from(writer).write(&[0]);
        }
        // A thread between its check of `is_shut_down` and its wait holds this lock. Taking it here makes
        // sure that the thread is waiting before it is notified.
        drop(lock(&self.free_slots));
        self.slot_freed.notify_all();
        #[cfg(feature = "python")]
        self.workers.close();
        self.threads.close();
    }

    /// How many commands and busy Python workers run at this moment.
    pub(crate) fn running_processes(&self) -> usize {
        let commands = MAX_PROCESSES.saturating_sub(*lock(&self.free_slots));
        #[cfg(feature = "python")]
        return commands + self.workers.busy();
        #[cfg(not(feature = "python"))]
        commands
    }

    /// Whether the engine was shut down, by a call or through the pipe.
    pub(super) fn is_shut_down(&self) -> bool {
        self.shutdown_reader.get().is_some_and(|reader| os::is_ready(reader.as_fd()))
            || matches!(*lock(&self.shutdown), Shutdown::Done)
    }
}

impl Drop for ProcessSlot<'_> {
    fn drop(&mut self) {
        *lock(&self.0.free_slots) += 1;
        self.0.slot_freed.notify_one();
    }
}
