//! A value that another thread will produce: awaited as a future, or waited for by blocking.

use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use super::executor::ThreadWaker;

/// The result of work on a thread. Dropping it detaches the thread.
#[derive(Debug)]
pub(super) struct Pending<T>(Arc<Mutex<State<T>>>);

#[derive(Debug)]
struct State<T> {
    value: Option<T>,
    waker: Option<Waker>,
}

/// The work to run, and its future result. The work must not panic.
pub(super) fn promise<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> (impl FnOnce() + Send + 'static, Pending<T>) {
    let state = Arc::new(Mutex::new(State { value: None, waker: None }));
    let theirs = Arc::clone(&state);
    let work = move || {
        let value = work();
        let waker = {
            let mut state = theirs.lock().unwrap_or_else(PoisonError::into_inner);
            state.value = Some(value);
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    };
    (work, Pending(state))
}

/// Runs work on a new thread. The work must not panic.
pub(super) fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Pending<T>> {
    let (work, pending) = promise(work);
    std::thread::Builder::new().name(name.to_owned()).spawn(work)?;
    Ok(pending)
}

impl<T> Pending<T> {
    /// Waits for the value until the deadline.
    pub(super) fn wait_until(self, deadline: Instant) -> Option<T> {
        let mut pending = pin!(self);
        let waker = ThreadWaker::waker();
        loop {
            if let Poll::Ready(value) = pending.as_mut().poll(&mut Context::from_waker(&waker)) {
                return Some(value);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            std::thread::park_timeout(left);
        }
    }
}

impl<T> Future for Pending<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match state.value.take() {
            Some(value) => Poll::Ready(value),
            None => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
