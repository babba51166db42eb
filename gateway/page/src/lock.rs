//! Locks, whatever their threads did.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`. What a thread left behind that panicked is shown as it is.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
