//! The interpreter state of a thread of this program.
#![expect(unsafe_code, reason = "PyO3 has no call for it that takes what cannot be sent to other threads")]

use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::c_ulong;

/// A thread, by its number in the interpreter.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Thread(c_ulong);

impl Thread {
    /// Raises KeyboardInterrupt in the thread, if it is executing Python.
    pub(super) fn interrupt(self, _: Python<'_>) {
        // SAFETY: the lock is held, and the exception object is immortal. The interpreter does not
        // know a thread that has ended, so the call then has no effect.
        unsafe {
            ffi::PyThreadState_SetAsyncExc(self.0.cast_signed(), ffi::PyExc_KeyboardInterrupt);
        }
    }
}

/// Keeps the interpreter state of this thread while `what` runs without the interpreter's lock.
///
/// Otherwise, each Python call would create and drop the state, which takes longer than most calls.
pub(super) fn keeping_state<T>(what: impl FnOnce(Thread) -> T) -> T {
    struct Kept(*mut ffi::PyThreadState, ffi::PyGILState_STATE);

    impl Drop for Kept {
        fn drop(&mut self) {
            // SAFETY: these calls undo those of `keeping_state`, in the reverse order and on the
            // same thread.
            unsafe {
                ffi::PyEval_RestoreThread(self.0);
                ffi::PyGILState_Release(self.1);
            }
        }
    }

    // SAFETY: the interpreter runs while this module is in use. `PyGILState_Ensure` acquires the
    // interpreter's lock, and may be nested. `PyEval_SaveThread` releases the lock before `what`
    // runs.
    let (_kept, thread) = unsafe {
        let state = ffi::PyGILState_Ensure();
        let thread = Thread(ffi::PyThread_get_thread_ident());
        (Kept(ffi::PyEval_SaveThread(), state), thread)
    };
    what(thread)
}
