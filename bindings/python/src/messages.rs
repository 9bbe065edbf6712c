//! Messages about running hooks, as an iterator. A loop is woken through a pipe, because the sender of a message must
//! not wait for the interpreter's lock.

use std::future::Future;
use std::os::fd::{AsRawFd, OwnedFd};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use crosier::{Listener, Received};
use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::prelude::*;

use crate::fork::{forked_error, generation};
use crate::json;
use crate::lock::lock;

/// The listener behind `crosier.Messages`.
#[pyclass(frozen, module = "crosier._native")]
pub struct NativeMessages {
    listener: Mutex<Option<Arc<Listener>>>,
    missed: AtomicU64,
    is_closed: AtomicBool,
    pipe: Mutex<Option<(OwnedFd, Arc<PipeWaker>)>>,
    /// The fork generation in which it was made.
    generation: u64,
}

struct PipeWaker(OwnedFd);

impl Wake for PipeWaker {
    fn wake(self: Arc<Self>) {
        let _ = rustix::io::write(&self.0, &[0]);
    }
}

impl NativeMessages {
    pub fn new(listener: Listener) -> Self {
        Self {
            listener: Mutex::new(Some(Arc::new(listener))),
            missed: AtomicU64::new(0),
            is_closed: AtomicBool::new(false),
            pipe: Mutex::new(None),
            generation: generation(),
        }
    }

    /// `None` when it is closed. In the child of a fork, no message ever arrives.
    fn listener(&self, py: Python<'_>) -> PyResult<Option<Arc<Listener>>> {
        match self.generation == generation() {
            true => Ok(lock(&self.listener).clone()),
            false => Err(forked_error(py)),
        }
    }

    fn to_python(&self, py: Python<'_>, received: Received) -> PyResult<Option<Py<PyAny>>> {
        match received {
            Received::Missed(count) => {
                self.missed.fetch_add(count, Ordering::Relaxed);
                Ok(None)
            }
            Received::Message(message) => {
                let text = serde_json::to_string(&message);
                let text = text.map_err(|error| PyTypeError::new_err(error.to_string()))?;
                Ok(Some(json::read(py, &text)?.unbind()))
            }
        }
    }
}

#[pymethods]
impl NativeMessages {
    #[getter]
    fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }

    #[getter]
    fn closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// What has arrived, without waiting.
    fn poll(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        while let Some(listener) = self.listener(py)? {
            let Some(received) = py.detach(|| listener.try_next()) else { return Ok(None) };
            if let Some(message) = self.to_python(py, received)? {
                return Ok(Some(message));
            }
        }
        Ok(None)
    }

    /// Waits on this thread; `None` when it is closed.
    fn wait(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        while let Some(listener) = self.listener(py)? {
            let received = py.detach(|| listener.next_within(Duration::from_millis(50)));
            if let Some(received) = received {
                match self.to_python(py, received)? {
                    Some(message) => return Ok(Some(message)),
                    None => continue,
                }
            }
            py.check_signals()?;
        }
        Ok(None)
    }

    /// Arranges to be woken by the pipe when something arrives; returns at once what has already arrived.
    fn arm(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.fileno()?;
        while let Some(listener) = self.listener(py)? {
            let Some(bell) = lock(&self.pipe).as_ref().map(|(_, bell)| Arc::clone(bell)) else { break };
            let polled = py.detach(|| {
                let waker = Waker::from(bell);
                pin!(listener.next()).poll(&mut Context::from_waker(&waker))
            });
            match polled {
                Poll::Pending => break,
                Poll::Ready(None) => self.close(),
                Poll::Ready(Some(received)) => {
                    if let Some(message) = self.to_python(py, received)? {
                        return Ok(Some(message));
                    }
                }
            }
        }
        Ok(None)
    }

    /// The end of the pipe to watch.
    fn fileno(&self) -> PyResult<i32> {
        let mut pipe = lock(&self.pipe);
        if pipe.is_none() {
            let flags = rustix::pipe::PipeFlags::CLOEXEC | rustix::pipe::PipeFlags::NONBLOCK;
            let made = rustix::pipe::pipe_with(flags);
            let (reader, writer) = made.map_err(|error| PyOSError::new_err(error.to_string()))?;
            *pipe = Some((reader, Arc::new(PipeWaker(writer))));
        }
        Ok(pipe.as_ref().map_or(-1, |(reader, _)| reader.as_raw_fd()))
    }

    fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        let listener = lock(&self.listener).take();
        if self.generation != generation() {
            // It belongs to the parent, and so does the other end of the pipe.
            return std::mem::forget(listener);
        }
        // What is not read any more counts too.
        while let Some(received) = listener.as_ref().and_then(|listener| listener.try_next()) {
            if let Received::Missed(count) = received {
                self.missed.fetch_add(count, Ordering::Relaxed);
            }
        }
        if let Some((_, bell)) = lock(&self.pipe).as_ref() {
            Arc::clone(bell).wake();
        }
    }
}

impl Drop for NativeMessages {
    fn drop(&mut self) {
        self.close();
    }
}
