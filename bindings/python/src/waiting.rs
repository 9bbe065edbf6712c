//! Waits for a fire on the calling thread, without the interpreter's lock.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::python::error;

/// How often a waiting thread checks for signals.
const SLICE: Duration = Duration::from_millis(50);

static IS_ENDING: AtomicBool = AtomicBool::new(false);
static WAITING: AtomicUsize = AtomicUsize::new(0);
static THREADS: Mutex<Vec<Weak<Parked>>> = Mutex::new(Vec::new());

struct Parked {
    thread: Thread,
    is_woken: AtomicBool,
}

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

thread_local! {
    static WAKER: Waker = {
        let parked = Arc::new(Parked { thread: std::thread::current(), is_woken: AtomicBool::new(false) });
        Waker::from(parked)
    };
}

/// Stops a fire at its deadline.
#[derive(Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn now(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Future for Stop {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.0.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// Polls the future to its end. The lock is held while Python hooks run on this thread, and released while it waits.
pub fn wait<T>(
    py: Python<'_>,
    mut future: Pin<&mut (impl Future<Output = T> + Send)>,
    limit: Option<(Duration, &Stop)>,
) -> PyResult<T> {
    // Most fires finish at once.
    let first = WAKER.with(|waker| future.as_mut().poll(&mut Context::from_waker(waker)));
    if let Poll::Ready(value) = first {
        return Ok(value);
    }
    let deadline = limit.map(|(limit, stop)| (Instant::now() + limit, stop));
    let parked = Arc::new(Parked { thread: std::thread::current(), is_woken: AtomicBool::new(true) });
    let waker = Waker::from(Arc::clone(&parked));
    let _counted = Counted::new(&parked);
    loop {
        if parked.is_woken.swap(false, Ordering::AcqRel)
            && let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker))
        {
            return Ok(value);
        }
        let mut slice = SLICE;
        if let Some((at, stop)) = deadline {
            let left = at.saturating_duration_since(Instant::now());
            if left.is_zero() {
                stop.now();
                parked.is_woken.store(true, Ordering::Release);
                continue;
            }
            slice = slice.min(left);
        }
        py.detach(|| {
            if !parked.is_woken.load(Ordering::Acquire) {
                std::thread::park_timeout(slice);
            }
        });
        py.check_signals()?;
        if IS_ENDING.load(Ordering::Acquire) {
            return Err(error(py, "Error", ("the interpreter is ending; the fire was stopped",)));
        }
    }
}

struct Counted;

impl Counted {
    fn new(parked: &Arc<Parked>) -> Self {
        WAITING.fetch_add(1, Ordering::AcqRel);
        let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|thread| thread.strong_count() > 0);
        threads.push(Arc::downgrade(parked));
        Self
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Called when the interpreter ends: threads that wait for a fire give up while they still can.
#[pyfunction]
pub fn end_all(py: Python<'_>) {
    IS_ENDING.store(true, Ordering::Release);
    for thread in THREADS.lock().unwrap_or_else(PoisonError::into_inner).iter().filter_map(Weak::upgrade) {
        thread.thread.unpark();
    }
    let until = Instant::now() + Duration::from_secs(1);
    while WAITING.load(Ordering::Acquire) > 0 && Instant::now() < until {
        py.detach(|| std::thread::sleep(Duration::from_millis(1)));
    }
}
