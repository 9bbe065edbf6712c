//! Delivers messages to listeners.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use super::{Message, Received};

/// Sends every message to every listener.
#[derive(Debug, Default)]
pub(crate) struct Bus {
    listeners: Mutex<Vec<Weak<Queue>>>,
    count: AtomicUsize,
}

#[derive(Debug)]
struct Queue {
    state: Mutex<State>,
    arrived: Condvar,
    capacity: usize,
}

#[derive(Debug, Default)]
struct State {
    /// A gap is an entry too, at its position in the order.
    waiting: VecDeque<Received>,
    /// Whether the engine was dropped, so that no more messages will come.
    closed: bool,
    waker: Option<Waker>,
}

/// Receives the messages of one engine, in order. Dropping it unsubscribes.
#[derive(Debug)]
pub struct Listener {
    queue: Arc<Queue>,
    bus: Weak<Bus>,
}

/// Ignores poisoning: no change under this lock can be left half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Bus {
    /// Whether there are listeners. One relaxed read, because this is called on the hot path.
    pub(crate) fn has_listeners(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn subscribe(self: &Arc<Self>, capacity: usize) -> Listener {
        let queue =
            Arc::new(Queue { state: Mutex::default(), arrived: Condvar::new(), capacity: capacity.max(1) });
        let mut listeners = lock(&self.listeners);
        listeners.push(Arc::downgrade(&queue));
        self.count.store(listeners.len(), Ordering::Relaxed);
        Listener { queue, bus: Arc::downgrade(self) }
    }

    /// Never waits for a listener.
    pub(crate) fn send(&self, message: &Message) {
        for queue in lock(&self.listeners).iter().filter_map(Weak::upgrade) {
            let waker = {
                let mut state = lock(&queue.state);
                let is_full = state.waiting.len() >= queue.capacity;
                match state.waiting.back_mut() {
                    Some(Received::Missed(missed)) if is_full => *missed += 1,
                    _ if is_full => state.waiting.push_back(Received::Missed(1)),
                    _ => state.waiting.push_back(Received::Message(message.clone())),
                }
                state.waker.take()
            };
            queue.arrived.notify_one();
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        for queue in lock(&self.listeners).iter().filter_map(Weak::upgrade) {
            let waker = {
                let mut state = lock(&queue.state);
                state.closed = true;
                state.waker.take()
            };
            queue.arrived.notify_all();
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

impl Listener {
    /// The next message, if one has arrived.
    #[must_use]
    pub fn try_next(&self) -> Option<Received> {
        lock(&self.queue.state).waiting.pop_front()
    }

    /// Waits for the next message, at most this long. `None` if none arrived or the engine was dropped.
    #[must_use]
    pub fn next_within(&self, limit: Duration) -> Option<Received> {
        // A limit beyond what the clock can represent is no limit.
        let deadline = Instant::now().checked_add(limit);
        let mut state = lock(&self.queue.state);
        loop {
            if let Some(received) = state.waiting.pop_front() {
                return Some(received);
            }
            let left = deadline.map_or(limit, |at| at.saturating_duration_since(Instant::now()));
            if state.closed || left.is_zero() {
                return None;
            }
            state = self.queue.arrived.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The next message; `None` when the engine was dropped.
    pub async fn next(&self) -> Option<Received> {
        poll_fn(|context| {
            let mut state = lock(&self.queue.state);
            match state.waiting.pop_front() {
                Some(received) => Poll::Ready(Some(received)),
                None if state.closed => Poll::Ready(None),
                None => {
                    state.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(bus) = self.bus.upgrade() {
            let mut listeners = lock(&bus.listeners);
            listeners.retain(|queue| queue.upgrade().is_some_and(|queue| !Arc::ptr_eq(&queue, &self.queue)));
            bus.count.store(listeners.len(), Ordering::Relaxed);
        }
    }
}
