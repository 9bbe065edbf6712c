//! Locks a mutex whose poisoning does not matter.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Ignores poisoning: what a thread leaves behind when it panics is still shown or stopped.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
