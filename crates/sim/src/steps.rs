//! A run to its end, or in steps whose caller does other things between them.

use crate::event::Events;
use crate::model::Model;
use crate::observe::{Observer, Tap, Watch};
use crate::plan::{Measured, Network, Settings};
use crate::queue::Sides;
use fairwire_core::Time;
use std::ops::ControlFlow;

impl<T: Tap, E: Events> Model<T, E> {
    /// Handles every event up to the end; false when the watcher stopped it.
    pub(crate) fn go(&mut self, watch: &mut dyn FnMut(Time) -> ControlFlow<()>) -> bool {
        loop {
            if let ControlFlow::Break(is_whole) = self.go_to_pause(watch) {
                return is_whole;
            }
        }
    }
}

/// A run that goes on from one sample of its observer to the next. What works in it may be changed
/// between two steps, where its maker kept a way to do so. Its results are those of
/// [`run_observed`](crate::run_observed), bit for bit.
pub struct Steps {
    model: Box<Model<Watch<'static>, Sides>>,
    is_over: bool,
}

impl Steps {
    /// A run of `network` at its start.
    ///
    /// # Panics
    /// As [`run`](crate::run).
    pub fn new(network: Network, settings: &Settings, observer: Box<dyn Observer>) -> Self {
        let model = Box::new(Model::new(network, settings, Watch::new(observer)));
        Steps { model, is_over: false }
    }

    /// Goes on to the next sample, or to the end, which may have one too. Does the run go on after
    /// it?
    ///
    /// # Panics
    /// As [`run`](crate::run).
    pub fn advance(&mut self) -> bool {
        let sample = self.model.store.tap.next_sample();
        while !self.is_over && self.model.store.tap.next_sample() == sample {
            self.is_over = self.model.go_to_pause(&mut |_| ControlFlow::Continue(())).is_break();
        }
        !self.is_over
    }

    /// The results of the run; `None` before its end.
    pub fn measured(&self) -> Option<Measured> {
        self.is_over.then(|| self.model.measured())
    }
}
