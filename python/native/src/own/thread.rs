//! The interpreter's state of a thread of ours.
#![expect(unsafe_code, reason = "PyO3 has no call for it that takes what cannot be sent to other threads")]

use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_ulong;

/// A thread, by the number that the interpreter knows it by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Thread(c_ulong);

impl Thread {
    /// Raises KeyboardInterrupt in it, if it is in a call of Python.
    pub(super) fn interrupt(self, _: Python<'_>) {
        // SAFETY: the lock is held, and the exception is one that lives for ever. A thread that is
        // gone is none that the interpreter knows, and then nothing happens.
        unsafe {
            ffi::PyThreadState_SetAsyncExc(self.0.cast_signed(), ffi::PyExc_KeyboardInterrupt);
        }
    }
}

/// Keeps the interpreter's state of this thread while `what` is done without its lock.
///
/// Otherwise each call of Python from this thread makes the state and drops it again, which takes
/// longer than most calls: with it a packet through a dropper of one method takes
/// 1.2 µs and not 9.
pub(super) fn keeping_state<T>(what: impl FnOnce(Thread) -> T) -> T {
    /// Also where `what` panics.
    struct Kept(*mut ffi::PyThreadState, ffi::PyGILState_STATE);

    impl Drop for Kept {
        fn drop(&mut self) {
            // SAFETY: as in `keeping_state`, in the reverse order and on the same thread.
            unsafe {
                ffi::PyEval_RestoreThread(self.0);
                ffi::PyGILState_Release(self.1);
            }
        }
    }

    // SAFETY: the interpreter runs as long as this module is in use, and its lock is taken here and
    // given back by the line after next, so `what` runs without it. `PyGILState_Ensure` may be
    // nested.
    let (_kept, thread) = unsafe {
        let state = ffi::PyGILState_Ensure();
        let thread = Thread(ffi::PyThread_get_thread_ident());
        (Kept(ffi::PyEval_SaveThread(), state), thread)
    };
    what(thread)
}
