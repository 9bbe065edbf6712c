//! Blocking on a fire: by parking the thread, or with a runtime when the plan needs a clock.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use tokio::runtime::{Builder, Handle};

/// Wakes a thread that is parked.
pub(super) struct ThreadWaker(Thread);

impl ThreadWaker {
    /// Wakes this thread.
    pub(super) fn waker() -> Waker {
        Waker::from(Arc::new(Self(std::thread::current())))
    }
}

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on this thread that waits only for threads and processes.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    // In most fires everything happens in the first poll; a waker that does nothing costs nothing.
    if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        return output;
    }
    let waker = ThreadWaker::waker();
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// Runs a future that needs a clock: on a small runtime of its own, also when the caller is inside one.
pub(crate) fn block_on_runtime<F>(future: F) -> F::Output
where
    F: Future + Send,
    F::Output: Send,
{
    let run = |future: F| match Builder::new_current_thread().enable_time().build() {
        Ok(runtime) => runtime.block_on(future),
        // No runtime can be had (no descriptors left): callbacks that wait will report it.
        Err(_) => block_on(future),
    };
    if Handle::try_current().is_err() {
        return run(future);
    }
    let joined = std::thread::scope(|scope| scope.spawn(move || run(future)).join());
    joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
