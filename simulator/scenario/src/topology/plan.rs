//! The plan of a network: its queues, and the paths over them.

use crate::compared::Compared;
use crate::fault::{Fault, refused};
use crate::files::Files;
use crate::impair::ImpairSpec;
use crate::spec::FlowSpec;
use crate::varying::Varying;
use fairwire_catalogue::Choice;
use fairwire_core::units::{Amount, Room};
use fairwire_core::{Duration, Rate, RateLaw, Seed, WireLaw};
use fairwire_laws::compose::device::MAX_PACKETS;
use fairwire_laws::spec::Quantity;
use fairwire_sim::Hop;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) struct QueuePlan {
    pub(crate) name: String,
    pub(crate) rate: Rate,
    pub(crate) law: RateLaw,
    pub(crate) delay: Duration,
    pub(crate) wire: WireLaw,
    pub(crate) room: Room,
    pub(crate) buffer: Amount,
    /// The discipline set for this queue; `None` if the compared disciplines work here.
    pub(crate) own: Option<Compared>,
    /// The capacity in packets of the device behind the discipline; 0 if there is no device.
    pub(crate) device: u32,
    pub(crate) path: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) forward: Vec<Hop>,
    pub(crate) back: Vec<Hop>,
    pub(crate) flows: u32,
}

/// A placeholder for a buffer whose size is not yet known. Sizes in bandwidth-delay products
/// require the routes.
pub(crate) const NOT_SIZED: Amount = Amount::Packets(1);

pub(crate) type Laid = (Vec<QueuePlan>, Vec<Vec<Route>>);

impl QueuePlan {
    pub(crate) fn is_contended(&self) -> bool {
        self.rate != UNCONTENDED
    }

    /// The wire's longest delay minus its initial delay, plus its mean jitter.
    pub(crate) fn longer_by(&self) -> Duration {
        const DRAWS: u64 = 16;
        let mut rng = Seed(1).stream("a mean of jitter");
        let jitter = self.wire.jitter.as_ref().map_or(0, |jitter| {
            (0..DRAWS).fold(0u64, |sum, _| sum.saturating_add(jitter.draw(&mut rng).ns())) / DRAWS
        });
        let longest = self.wire.delays.iter().map(|step| step.delay).max().unwrap_or_default();
        longest.max(self.delay) - self.delay + Duration::from_ns(jitter)
    }

    pub(crate) fn mean_bps(&self, from: Duration, to: Duration) -> f64 {
        self.law.mean_bps(self.rate, from, to)
    }
}

/// The rate of a link without a queue. It exceeds any allowed rate and the sum of all flows' rates.
pub(super) const UNCONTENDED: Rate = Rate::from_bps(10_000_000_000_000).expect("not zero");

impl Route {
    pub(crate) fn queues(&self) -> impl Iterator<Item = usize> {
        queues(&self.forward)
    }

    pub(crate) fn slowest_wire(&self) -> Option<Rate> {
        let rate = |hop: &Hop| match hop {
            Hop::Wire { rate, .. } => Some(*rate),
            Hop::Link(_) => None,
        };
        self.forward.iter().filter_map(rate).min()
    }

    pub(crate) fn queues_back(&self) -> impl Iterator<Item = usize> {
        queues(&self.back)
    }
}

fn queues(hops: &[Hop]) -> impl Iterator<Item = usize> {
    hops.iter().filter_map(|hop| match hop {
        Hop::Link(link) => Some(*link as usize),
        Hop::Wire { .. } => None,
    })
}

pub(super) fn wire(path: &str, given: Option<&ImpairSpec>, law: WireLaw) -> Result<WireLaw, Fault> {
    given.map_or(Ok(law.clone()), |impair| impair.law(path, law))
}

pub(super) fn device(path: &str, given: Option<Quantity<Amount>>) -> Result<u32, Fault> {
    match given {
        None => Ok(0),
        Some(Quantity(Amount::Packets(packets))) if packets <= MAX_PACKETS => Ok(packets),
        Some(other) => Err(refused(
            format!("{path}.device"),
            other,
            "a device has room for a number of packets",
            format!("1 packet to {MAX_PACKETS} packets, or leave it out"),
        )),
    }
}

pub(super) struct Own<'a> {
    pub(super) impair: Option<&'a ImpairSpec>,
    pub(super) varying: Varying<'a>,
    pub(super) has_rate: bool,
    pub(super) has_delay: bool,
}

/// The changes of a link's return direction, and the behaviour of its wire. Settings missing in
/// `own` are copied from `there`, the forward direction. Not copied are:
///
/// - changes of the rate or delay, and outages, if `own` has a rate, `changes`, a pattern or a
///   trace;
/// - changes of the delay, and outages, if `own` has a file of delays;
/// - the file of delays, if `own` has a delay, `changes` or a file of delays.
pub(super) fn back_laws(
    path: &str,
    own: Own<'_>,
    there: &QueuePlan,
    rate: Rate,
    files: &Files,
) -> Result<(RateLaw, WireLaw), Fault> {
    let is_as_there = !own.varying.is_given() && !own.has_rate;
    if is_as_there && own.varying.scale_to.is_some() && there.law.repeating_mean().is_some() {
        let why = format!("what it follows is not its own, but that of `{}`", there.path);
        return Err(refused(format!("{path}.scale_to"), "given", why, "a `trace` of its own beside it"));
    }
    let mut changes = own.varying.law(path, rate, files)?;
    if is_as_there {
        changes.rates = there.law.clone();
        if own.varying.delays.is_none() {
            changes.wire.delays = there.wire.delays.clone();
            changes.wire.outages = there.wire.outages.clone();
        }
    }
    let has_its_delays = !own.has_delay && own.varying.changes.is_none();
    let of_there = || there.wire.delay_trace.clone().filter(|_| has_its_delays);
    changes.wire.delay_trace = changes.wire.delay_trace.or_else(of_there).map(|there| Arc::new(there.back()));
    if own.impair.is_some() {
        return Ok((changes.rates, wire(path, own.impair, changes.wire)?));
    }
    let WireLaw { delays, outages, delay_trace, .. } = changes.wire;
    Ok((changes.rates, WireLaw { delays, outages, delay_trace, ..there.wire.clone() }))
}

pub(super) fn no_pattern(at: usize, flow: &FlowSpec) -> Result<(), Fault> {
    match flow.pattern {
        Some(_) => Err(only_with(&format!("flow.{at}.pattern"), "`network`")),
        None => Ok(()),
    }
}

/// Tail drop with default parameters. `[discipline.tail-drop]` applies only if the scenario names
/// tail drop.
pub(super) fn tail_drop() -> Compared {
    Compared { choice: Choice::with_defaults("tail-drop"), label: None }
}

pub(super) fn only_with(path: &str, table: &str) -> Fault {
    refused(path, "given", format!("it works only with {table}"), format!("leave it out, or use {table}"))
}
