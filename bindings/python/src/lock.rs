//! Locks a mutex whose poisoning does not matter.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Ignores poisoning: no change under these locks can be left half done.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
