//! The daemon's log, written on a thread of its own: a client's next event does not wait for a file.
//!
//! Records are written in the order of the fires. When too many wait, a fire writes its own record, so that nothing is
//! lost and memory stays bounded.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crosier_log::{Log, Record};

/// How many records may wait.
const MAX_WAITING: usize = 1024;
/// How many records are written at once.
const MAX_BATCH: usize = 256;
/// How long the end of the daemon waits for records that are not written yet.
const END_WITHIN: Duration = Duration::from_millis(500);

/// A record, and the state folder that it belongs to.
type QueuedRecord = (PathBuf, Record);

/// Writes records in the background.
#[derive(Debug, Clone)]
pub(super) struct LogWriter(Arc<Mutex<Option<Running>>>);

#[derive(Debug)]
struct Running {
    waiting: SyncSender<QueuedRecord>,
    /// Disconnected when the thread has written everything.
    written: Receiver<()>,
}

impl LogWriter {
    /// Without a thread, when none can be started: every record is then written at once.
    pub(super) fn start() -> Self {
        let (waiting, queued) = sync_channel(MAX_WAITING);
        let (writes, written) = sync_channel::<()>(0);
        let work = move || {
            write_all(&queued);
            drop(writes);
        };
        let started = std::thread::Builder::new().name("log".to_owned()).spawn(work).is_ok();
        Self(Arc::new(Mutex::new(started.then_some(Running { waiting, written }))))
    }

    /// Adds a record to the log of this state folder.
    pub(super) fn append(&self, state: PathBuf, record: Record) {
        let refused = match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(running) => match running.waiting.try_send((state, record)) {
                Ok(()) => None,
                Err(TrySendError::Full(queued) | TrySendError::Disconnected(queued)) => Some(queued),
            },
            None => Some((state, record)),
        };
        if let Some((state, record)) = refused {
            write(&state, &[record]);
        }
    }

    /// Writes what waits. Later records are written at once.
    pub(super) fn finish(&self) {
        let Some(running) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        drop(running.waiting);
        // A log on a file system that hangs must not keep the daemon alive.
        let _ = running.written.recv_timeout(END_WITHIN);
    }
}

/// Writes records until the daemon ends.
fn write_all(queued: &Receiver<QueuedRecord>) {
    let mut next = None;
    while let Some((state, record)) = next.take().or_else(|| queued.recv().ok()) {
        let mut batch = vec![record];
        while batch.len() < MAX_BATCH {
            match queued.try_recv() {
                Ok((other, record)) if other == state => batch.push(record),
                Ok(other) => {
                    next = Some(other);
                    break;
                }
                Err(_) => break,
            }
        }
        write(&state, &batch);
    }
}

/// No decision depends on the log, so errors are ignored.
fn write(state: &Path, records: &[Record]) {
    let _ = Log::in_folder(state).append_all(records);
}
