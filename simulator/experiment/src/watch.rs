//! The observer of a run in progress.

use crate::view::View;
use fairwire_core::Duration;
use fairwire_scenario::SampleRow;

/// Follows a run.
pub trait Watch {
    /// Called several times a second with the fraction done, 0 to 1.
    fn reached(&mut self, fraction: f64);

    /// How often values are sampled; `None` for never.
    fn every(&self) -> Option<Duration> {
        None
    }

    /// Called with each sampled value, `at` after the start of the run, in the order of time;
    /// possibly only after the run.
    fn sample(&mut self, _at: Duration, _row: SampleRow<'_>) {}

    /// Are views of the link requested during the run?
    fn wants_views(&self) -> bool {
        false
    }

    /// Called several times a second with a view, if requested and if the stage provides views.
    fn view(&mut self, _view: View) {}
}

/// A watcher without samples.
impl<F: FnMut(f64)> Watch for F {
    fn reached(&mut self, fraction: f64) {
        self(fraction);
    }
}
