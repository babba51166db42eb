//! A deterministic packet simulator.
//!
//! One run is one thread and one seed: the same plan, seed and tie rule give the same bits on every machine.
#![forbid(unsafe_code)]

mod dumbbell;
mod event;
mod flow;
mod frames;
mod link;
mod plan;

pub use link::{Departure, Link};
pub use plan::{Access, Dumbbell, FlowPlan, LinkPlan, Measured, Settings, Source, TieRule};

use fairwire_core::Time;
use std::ops::ControlFlow;

/// Runs `dumbbell` once.
///
/// `watch` is asked now and then, with the simulated time reached, whether to go on; when it says no, the result is `None`.
///
/// # Panics
/// When the plan breaks a bound that its fields state: a run not longer than its warm-up, a dither not from 0 to 1, more header
/// bytes than bytes.
pub fn run(
    dumbbell: Dumbbell,
    settings: &Settings,
    watch: &mut dyn FnMut(Time) -> ControlFlow<()>,
) -> Option<Measured> {
    let flows = dumbbell.flows.clone();
    let mut run = dumbbell::Run::new(dumbbell, settings);
    run.go(watch).then(|| run.measured(&flows))
}
