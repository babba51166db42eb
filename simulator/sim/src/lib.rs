//! A deterministic packet simulator.
//!
//! One run is one thread and one seed. The same plan, seed and tie rule give the same bits on every
//! machine.

pub mod app;
mod edge;
pub mod endpoint;
mod ends;
mod event;
mod faulty;
mod flow;
mod frames;
mod group;
mod line;
mod link;
mod measured;
mod model;
mod observe;
mod on_times;
mod plan;
mod prefetch;
mod presence;
mod queue;
mod route;
mod seen;
mod setup;
mod steps;
mod store;
mod ties;
mod trips;
mod tuning;
mod users;
mod watched;
mod wire;

#[cfg(test)]
mod plain;
#[cfg(test)]
mod tests;

pub use fairwire_metrics::marks::{Cadence, EstimatorPlan};
pub use link::{Departure, Link};
pub use observe::{AggregateView, FlowView, LinkView, Observer, View, Wait};
pub use plan::{
    AggregateCount, AggregatePlan, GroupPlan, Hop, LinkPlan, Measured, Member, Network, OnTime, Settings,
    Source, TieRule,
};
pub use seen::{Content, PacketEvent, TransferEvent, What, Window};
pub use setup::{Rest, SetUp};
pub use steps::Steps;

use fairwire_core::Time;
use frames::Frames;
use model::Model;
use observe::Tap;
use queue::Sides;
use std::ops::ControlFlow;
use tuning::Tuning;

/// Runs `network` once.
///
/// `watch` is called regularly with the simulated time, even while the network is set up.
///
/// # Errors
/// When `watch` returns `Break`. The error contains what remains of the run, to be freed.
///
/// # Panics
/// When the plan violates a bound that its fields state: a run no longer than its warm-up, a dither
/// outside 0 to 1, or packets smaller than their headers.
pub fn run(
    network: Network,
    settings: &Settings,
    watch: &mut dyn FnMut(Time) -> ControlFlow<()>,
) -> Result<Measured, Rest> {
    let mut model = Model::new(network, settings, observe::Unwatched, watch)?;
    if model.go(watch) { Ok(measured(model, settings)) } else { Err(model.rest()) }
}

/// Frees the events and frames before it builds the records. For a million flows, the records need
/// as much memory as the events and frames.
fn measured<T: Tap>(mut model: Model<T, Sides>, settings: &Settings) -> Measured {
    model.events = Sides::new(settings, &Tuning::default());
    model.store.frames = Frames::default();
    model.measured()
}

/// Runs `network` as [`run`] does, with an observer. The measurements are the same, bit for bit.
///
/// # Errors
/// As [`run`].
///
/// # Panics
/// As [`run`].
pub fn run_observed(
    network: Network,
    settings: &Settings,
    watch: &mut dyn FnMut(Time) -> ControlFlow<()>,
    observer: &mut dyn Observer,
) -> Result<Measured, Rest> {
    let tap = observe::Watch::new(Box::new(observer));
    let mut model = Model::new(network, settings, tap, watch)?;
    if model.go(watch) { Ok(measured(model, settings)) } else { Err(model.rest()) }
}
