//! The scope in which classes are looked up, and in which their exceptions are handled.

use super::class::{Class, Classes};
use super::thread::{Thread, keeping_state};
use fairwire_core::Time;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The signal that ends the runs of a contest.
#[derive(Default)]
pub(crate) struct Stop {
    flag: AtomicBool,
    threads: Mutex<Vec<Thread>>,
}

impl Stop {
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.flag
    }

    /// Ends the runs, even if a Python call does not return.
    pub(crate) fn interrupt(&self, py: Python<'_>) {
        self.flag.store(true, Ordering::Relaxed);
        self.threads().iter().for_each(|thread| thread.interrupt(py));
    }

    pub(super) fn on_this_thread<T>(&self, what: impl FnOnce() -> T) -> T {
        keeping_state(|thread| {
            self.threads().push(thread);
            let done = what();
            self.threads().retain(|other| *other != thread);
            done
        })
    }

    fn threads(&self) -> MutexGuard<'_, Vec<Thread>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Default)]
pub(crate) struct Run {
    stop: Arc<Stop>,
    failure: Mutex<Option<Failure>>,
}

pub(crate) struct Failure {
    pub(crate) error: PyErr,
    /// The simulated time of the exception.
    pub(crate) at: Time,
}

impl Run {
    pub(crate) fn new(stop: &Arc<Stop>) -> Self {
        Run { stop: stop.clone(), failure: Mutex::default() }
    }

    /// Should the run end? If so, Python is no longer called.
    pub(crate) fn is_over(&self) -> bool {
        self.stop.flag.load(Ordering::Relaxed)
    }

    /// Ends this run, and all runs that share its [`Stop`]. Only a run's first exception is kept.
    pub(crate) fn fail(&self, _: Python<'_>, error: PyErr, at: Time) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(Failure { error, at });
        self.stop.flag.store(true, Ordering::Relaxed);
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    pub(crate) fn failure(&self) -> Option<Failure> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns the exception of the latest call as an error, if there was one. Calls may continue
    /// afterwards.
    pub(crate) fn recover(&self) -> PyResult<()> {
        self.failure().map_or(Ok(()), |failure| {
            self.stop.flag.store(false, Ordering::Relaxed);
            Err(failure.error)
        })
    }
}

struct Scope {
    classes: Classes,
    run: Arc<Run>,
}

thread_local! {
    static SCOPE: RefCell<Option<Scope>> = const { RefCell::new(None) };
}

struct Before(Option<Scope>);

impl Drop for Before {
    fn drop(&mut self) {
        SCOPE.replace(self.0.take());
    }
}

pub(crate) fn within<T>(classes: &Classes, run: &Arc<Run>, what: impl FnOnce() -> T) -> T {
    let scope = Scope { classes: classes.clone(), run: run.clone() };
    let _before = Before(SCOPE.replace(Some(scope)));
    what()
}

pub(super) fn run() -> Arc<Run> {
    SCOPE.with_borrow(|scope| scope.as_ref().map(|scope| scope.run.clone())).unwrap_or_default()
}

pub(super) fn find(text: &str) -> Option<(Arc<Class>, Arc<Run>)> {
    SCOPE.with_borrow(|scope| {
        let scope = scope.as_ref()?;
        Some((scope.classes.find(text)?, scope.run.clone()))
    })
}
