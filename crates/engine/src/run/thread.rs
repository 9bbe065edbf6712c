//! A value that another thread is going to have: awaited, or waited for.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

/// The result of work on a thread. Dropping it leaves the thread to itself.
#[derive(Debug)]
pub(super) struct Pending<T>(Arc<Shared<T>>);

#[derive(Debug)]
struct Shared<T> {
    state: Mutex<State<T>>,
    done: Condvar,
}

#[derive(Debug)]
struct State<T> {
    value: Option<T>,
    waker: Option<Waker>,
}

/// Starts work on a thread of its own. The work must not panic.
pub(super) fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Pending<T>> {
    let shared =
        Arc::new(Shared { state: Mutex::new(State { value: None, waker: None }), done: Condvar::new() });
    let theirs = Arc::clone(&shared);
    std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        let value = work();
        let waker = {
            let mut state = theirs.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.value = Some(value);
            state.waker.take()
        };
        theirs.done.notify_one();
        if let Some(waker) = waker {
            waker.wake();
        }
    })?;
    Ok(Pending(shared))
}

impl<T> Pending<T> {
    /// Waits for the value until the deadline.
    pub(super) fn wait_until(self, deadline: Instant) -> Option<T> {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(value) = state.value.take() {
                return Some(value);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            state = self.0.done.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl<T> Future for Pending<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.value.take() {
            Some(value) => Poll::Ready(value),
            None => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
