//! What is seen of a run while it goes on.

use crate::view::View;
use fairwire_core::Duration;
use fairwire_scenario::Row;

/// Follows a run.
pub trait Watch {
    /// Invoked some times a second with the fraction done, 0 to 1.
    fn reached(&mut self, fraction: f64);

    /// How often values are sampled; `None` for never.
    fn every(&self) -> Option<Duration> {
        None
    }

    /// Invoked with each value sampled, `at` after the start of the run, in the order of time;
    /// perhaps only when the run is over.
    fn sample(&mut self, _at: Duration, _row: Row<'_>) {}

    /// Is what is seen of the link wanted while the run goes on?
    fn wants_views(&self) -> bool {
        false
    }

    /// Invoked some times a second with what is seen, where it is wanted and the stage can say it.
    fn view(&mut self, _view: View) {}
}

/// A watcher without samples.
impl<F: FnMut(f64)> Watch for F {
    fn reached(&mut self, fraction: f64) {
        self(fraction);
    }
}
