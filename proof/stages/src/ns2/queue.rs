//! The ns-2 2.35 counterpart of a discipline.

use crate::same::{first_come, packets, row};
use fairwire_core::Limit;
use fairwire_experiment::Plan;
use fairwire_laws::Site;
use fairwire_laws::compose::fair_queueing::drr;
use fairwire_laws::compose::fair_queueing::entry::{CheckedEntry, MakesRoom};
use fairwire_laws::dropper::half_free::BUCKETS;
use fairwire_laws::dropper::red::{self, IdleRule, Spreading};
use fairwire_laws::dropper::rem::{self, Law};
use fairwire_laws::dropper::rio::{self, Coupling, OutRule};
use fairwire_laws::dropper::tail_drop;
use fairwire_laws::scheduler::service::{Per, QueueTerms};
use fairwire_laws::spec::Measure;

/// A queue of ns-2, with its variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// The subclass of `Queue`.
    pub class: &'static str,
    /// The variables in Tcl's form, including the limit: alternating names and values.
    pub variables: String,
    /// The maximum number of flows that the queue separates; `None` without a limit.
    pub most_flows: Option<u32>,
}

impl Queue {
    /// The queue that equals the discipline of `plan`. `None` if ns-2 lacks the discipline, or does
    /// not support these parameters.
    pub fn of(plan: &Plan<'_>) -> Option<Queue> {
        plan.of_part(|part, site| {
            row(part, site, drop_tail)
                .or_else(|| row(part, site, red))
                .or_else(|| row(part, site, rio))
                .or_else(|| row(part, site, rem))
                .or_else(|| row(part, site, fair))
        })
    }

    fn new(class: &'static str, variables: String) -> Self {
        Queue { class, variables, most_flows: None }
    }
}

/// ns-2's `DropTail`, whose `limit_` is one packet more than the queue holds.
fn drop_tail(spec: &tail_drop::Spec, site: &Site<'_>) -> Option<Queue> {
    let packets = packets(first_come(spec.queue.buffer, &spec.queue.scheduler, site)?)?;
    Some(Queue::new("DropTail", format!("limit_ {}", packets + 1)))
}

/// ns-2's RED. It counts in packets or in bytes, but its limit and thresholds are always in packets
/// of the mean size.
fn red(spec: &red::Spec, site: &Site<'_>) -> Option<Queue> {
    let limit: Limit = first_come(spec.queue.buffer, &spec.queue.scheduler, site)?;
    let (_, config) = spec.check(site).ok()?;
    let red::Config { given, ramp, packet_bytes, .. } = config;
    let red::Checked { measure, weight, .. } = given;
    let is_ns2s = given.idle_rule == IdleRule::Ns2
        && given.spare_short_queue
        && config.adaptation.is_none()
        && given.mark_limit.is_none();
    let in_bytes = measure == Measure::Bytes;
    let unit = if in_bytes { u64::from(packet_bytes) } else { 1 };
    let most = if limit.is_in_bytes() { limit.max_bytes() } else { limit.max_packets().into() };
    let is_whole = limit.is_in_bytes() == in_bytes && most.is_multiple_of(unit);
    let mean = unit as f64;
    (is_ns2s && is_whole).then(|| {
        let variables = format!(
            "limit_ {} thresh_ {} maxthresh_ {} linterm_ {} q_weight_ {weight} gentle_ {} wait_ {} adaptive_ 0 \
             bytes_ {in_bytes} queue_in_bytes_ {in_bytes} mean_pktsize_ {packet_bytes}",
            most / unit,
            ramp.min / mean,
            ramp.max / mean,
            1.0 / ramp.max_probability,
            ramp.gentle,
            config.spreading == Spreading::AtLeast,
        );
        Queue::new("RED", variables)
    })
}

/// ns-2's RIO. The flow identifier is the colour, and 0 is out of profile. For packets of colour 0,
/// ns-2 uses `linterm_`, never `out_linterm_`. Thresholds without `in_` or `out_` are for the total
/// queue.
fn rio(spec: &rio::Spec, site: &Site<'_>) -> Option<Queue> {
    let packets = packets(first_come(spec.queue.buffer, &spec.queue.scheduler, site)?)?;
    let (_, config) = spec.check(site).ok()?;
    let [green, yellow, _] = config.ramps;
    let is_ns2s = config.given.out_rule == OutRule::Ns2
        && config.given.coupling == Coupling::Coupled
        && config.given.measure == Measure::Packets
        && config.colors == 2
        && !green.gentle;
    is_ns2s.then(|| {
        let variables = format!(
            "limit_ {packets} thresh_ {0} maxthresh_ {1} linterm_ {2} out_thresh_ {0} out_maxthresh_ {1} out_linterm_ {2} \
             in_thresh_ {3} in_maxthresh_ {4} in_linterm_ {5} q_weight_ {6} gentle_ false wait_ {7} \
             bytes_ false queue_in_bytes_ false mean_pktsize_ {8} priority_method_ 1",
            yellow.min,
            yellow.max,
            1.0 / yellow.max_probability,
            green.min,
            green.max,
            1.0 / green.max_probability,
            config.given.weight,
            config.spreading == Spreading::AtLeast,
            config.packet_bytes,
        );
        Queue::new("RED/RIO", variables)
    })
}

/// ns-2's REM. `limit_` is one packet more than the queue holds, and `alpha`, the weight of the
/// backlog, is always 0.1.
fn rem(spec: &rem::Spec, site: &Site<'_>) -> Option<Queue> {
    let packets = packets(first_come(spec.queue.buffer, &spec.queue.scheduler, site)?)?;
    let (_, rem::Config { law: Law { given, target, .. }, packet_bytes, .. }) = spec.check(site).ok()?;
    let rem::Checked { measure, interval, gamma, alpha, phi, input_weight, .. } = given;
    (measure == Measure::Packets && alpha == 0.1).then(|| {
        let variables = format!(
            "limit_ {} pbo_ {target} pupdtime_ {} gamma_ {gamma} phi_ {phi} inw_ {input_weight} mean_pktsize_ {packet_bytes}",
            packets + 1,
            interval.secs(),
        );
        Queue::new("REM", variables)
    })
}

/// ns-2's DRR or SFQ. DRR has a buffer in bytes, and drops from the longest queue. SFQ sends a
/// packet of each flow in turn.
fn fair(spec: &drr::Spec, site: &Site<'_>) -> Option<Queue> {
    let CheckedEntry { limit, ref service, dropper, .. } = spec.check(site).ok()?;
    let QueueTerms { weights, per, queues, .. } = &spec.entry.queue;
    let has_a_queue_for_each_flow = weights.is_none() && queues.is_none() && *per != Some(Per::Class);
    if !has_a_queue_for_each_flow || spec.hosts == Some(true) || spec.round.is_some() {
        return None;
    }
    match dropper {
        MakesRoom::Lqd if limit.is_in_bytes() => {
            let variables = format!("blimit_ {} quantum_ {}", limit.max_bytes(), service.quantum());
            Some(Queue::new("DRR", variables))
        }
        MakesRoom::HalfFree if service.quantum() == site.packet_bytes => {
            let variables = format!("maxqueue_ {} buckets_ {BUCKETS}", packets(limit)?);
            // The hash of SFQ separates the address pairs of up to 12 flows.
            Some(Queue { most_flows: Some(12), ..Queue::new("SFQ", variables) })
        }
        _ => None,
    }
}
