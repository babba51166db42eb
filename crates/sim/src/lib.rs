//! A deterministic packet simulator.
//!
//! One run is one thread and one seed: the same plan, seed and tie rule give the same bits on every machine.

pub mod app;
mod edge;
pub mod endpoint;
mod ends;
mod event;
mod flow;
mod frames;
mod group;
mod lanes;
mod ledger;
mod line;
mod link;
mod network;
mod observe;
mod plan;
mod prefetch;
mod route;
mod seen;
mod sides;
mod ties;
mod tuning;
mod wheel;

pub use link::{Departure, Link};
pub use observe::{AggregateView, FlowView, LinkView, Observer, View};
pub use plan::{
    AggregateCount, AggregatePlan, Cadence, EstimatorPlan, GroupPlan, Hop, LinkPlan, Measured, Member,
    Network, Settings, Source, TieRule,
};
pub use seen::{Content, PacketEvent, What, Window};

use fairwire_core::Time;
use std::ops::ControlFlow;

/// Runs `network` once.
///
/// `watch` is asked now and then, with the simulated time reached, whether to go on; when it says no, the result is `None`.
///
/// # Panics
/// When the plan breaks a bound that its fields state: a run not longer than its warm-up, a dither not from 0 to 1, more header
/// bytes than bytes.
pub fn run(
    network: Network,
    settings: &Settings,
    watch: &mut dyn FnMut(Time) -> ControlFlow<()>,
) -> Option<Measured> {
    let mut run = network::Run::new(network, settings, observe::Unwatched);
    run.go(watch).then(|| run.measured())
}

/// As [`run`], with an observer. What is measured is the same, bit for bit.
///
/// # Panics
/// As [`run`].
pub fn run_observed(
    network: Network,
    settings: &Settings,
    watch: &mut dyn FnMut(Time) -> ControlFlow<()>,
    observer: &mut dyn Observer,
) -> Option<Measured> {
    let mut run = network::Run::new(network, settings, observe::Watch::new(observer));
    run.go(watch).then(|| run.measured())
}
