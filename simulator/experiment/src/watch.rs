//! The observer of a run in progress.

use crate::view::View;
use fairwire_core::Duration;
use fairwire_scenario::SampleRow;

/// Follows a run.
pub trait Watch {
    /// Called several times a second with the fraction done, 0 to 1.
    fn reached(&mut self, fraction: f64);

    /// The sampling interval; `None` for no samples.
    fn every(&self) -> Option<Duration> {
        None
    }

    /// Called with each sampled value, in the order of time. `at` is the time since the start of
    /// the run. All calls may come after the run.
    fn sample(&mut self, _at: Duration, _row: SampleRow<'_>) {}

    /// Are views of the link requested during the run?
    fn wants_views(&self) -> bool {
        false
    }

    /// Called several times a second with a view, if views are requested and the stage provides
    /// them.
    fn view(&mut self, _view: View) {}
}

impl<F: FnMut(f64)> Watch for F {
    fn reached(&mut self, fraction: f64) {
        self(fraction);
    }
}
