//! The tokio runtime in which async code of the host is polled.
//!
//! It always has timers and io: code that uses a socket must not panic because of the runtime in which an
//! event was fired. It is the caller's runtime if that has both, else the engine's own. `fire_blocking`
//! always uses the engine's own, because it blocks a thread that might drive the caller's.

use std::cell::Cell;
use std::io;
use std::panic::catch_unwind;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::runtime::{Builder, EnterGuard, Handle, Id};

use super::thread::promise;

/// How many probed runtimes are remembered.
const MAX_PROBED: usize = 64;

/// A thread that drives timers, io and spawned tasks. Callbacks themselves are polled by the thread that waits for
/// them.
#[derive(Debug, Default)]
pub(super) struct OwnRuntime {
    started: OnceLock<Started>,
    starting: Mutex<()>,
}

struct Started {
    handle: Handle,
    stop: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl std::fmt::Debug for Started {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Started").field(&self.handle.id()).finish()
    }
}

impl OwnRuntime {
    /// Enters it; it is started on first use.
    pub(super) fn enter(&self) -> io::Result<EnterGuard<'_>> {
        if let Some(started) = self.started.get() {
            return Ok(started.handle.enter());
        }
        let _starting = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        if self.started.get().is_none() {
            let started = start()?;
            return Ok(self.started.get_or_init(|| started).handle.enter());
        }
        self.enter_started()
    }

    fn enter_started(&self) -> io::Result<EnterGuard<'_>> {
        let missing = || io::Error::other("the runtime of the engine is gone");
        self.started.get().map(|started| started.handle.enter()).ok_or_else(missing)
    }
}

fn start() -> io::Result<Started> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    let (stop, stopped) = promise(|| ());
    let drive = move || {
        runtime.block_on(stopped);
        // Do not wait for blocking tasks.
        runtime.shutdown_background();
    };
    std::thread::Builder::new().name("crosier-runtime".to_owned()).spawn(drive)?;
    Ok(Started { handle, stop: Mutex::new(Some(Box::new(stop))) })
}

impl Drop for Started {
    fn drop(&mut self) {
        let stop = self.stop.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(stop) = stop {
            stop();
        }
    }
}

/// Whether this thread is inside a runtime that has timers and io.
#[inline]
pub(super) fn is_inside_complete_runtime() -> bool {
    thread_local! {
        static LAST: Cell<Option<(Id, bool)>> = const { Cell::new(None) };
    }
    let Ok(handle) = Handle::try_current() else { return false };
    let id = handle.id();
    match LAST.get() {
        Some((last, complete)) if last == id => complete,
        _ => {
            let complete = probe(id);
            LAST.set(Some((id, complete)));
            complete
        }
    }
}

/// Tests the current runtime. Tokio does not tell what is enabled, and panics if something is missing. The
/// result is remembered, so that a runtime panics only once.
#[cold]
fn probe(id: Id) -> bool {
    static PROBED: Mutex<Vec<(Id, bool)>> = Mutex::new(Vec::new());
    let mut probed = PROBED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, complete)) = probed.iter().find(|(known, _)| *known == id) {
        return *complete;
    }
    let has_time = || catch_unwind(|| drop(tokio::time::sleep(Duration::ZERO))).is_ok();
    // An error (such as no descriptors left) is not a panic, and shows that io is enabled.
    let has_io = || catch_unwind(|| drop(tokio::net::UnixStream::pair())).is_ok();
    let complete = has_time() && has_io();
    let excess = (probed.len() + 1).saturating_sub(MAX_PROBED);
    probed.drain(..excess);
    probed.push((id, complete));
    complete
}
