//! A run in steps, whose caller does other things between them.

use crate::model::{Model, Pause};
use crate::observe::{Observer, Watch};
use crate::plan::{Network, Settings};
use crate::queue::Sides;
use std::ops::ControlFlow;

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
        let mut model = Box::new(Model::new(network, settings, Watch::new(observer)));
        model.begin();
        Steps { model, is_over: false }
    }

    /// Goes on to the next sample, or to the end, which may have one too. Does the run go on after
    /// it?
    ///
    /// # Panics
    /// As [`run`](crate::run).
    pub fn advance(&mut self) -> bool {
        while !self.is_over {
            match self.model.go_to_pause(&mut |_| ControlFlow::Continue(())) {
                Pause::Sample => return true,
                Pause::WarmedUp => {}
                Pause::End | Pause::Stopped => self.is_over = true,
            }
        }
        false
    }
}
