//! The edges of a DiffServ domain. One edge colours the packets of an aggregate when they enter the
//! domain. Another edge, where the packets leave, reports marks.
//!
//! The edge where packets leave writes a [request](RateRequest) into each packet. The request
//! returns in the acknowledgement, and the sender copies the latest request into its packets. The
//! edge where packets enter clears the request and passes it to the marker.
//!
//! Source: E. Park and C. Choi 2003, section III-B. The paper uses the two ECN bits for requests.
//! Here requests have separate bits, [`Tag`], because ECN needs its bits.

use crate::plan::{AggregateCount, AggregatePlan};
use fairwire_core::{Ecn, Marker, Packet, RateRequest, Time};
use fairwire_metrics::marks::Estimator;

/// The edges' bits on a packet: its colour in the low two bits, and a request between edges in the
/// next two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tag(u8);

const COLOR: u8 = 0b11;
const INCREASE: u8 = 0b01_00;
const DECREASE: u8 = 0b10_00;

impl Tag {
    #[inline]
    pub(crate) fn color(self) -> u8 {
        self.0 & COLOR
    }

    fn request(self) -> RateRequest {
        match self.0 & !COLOR {
            INCREASE => RateRequest::Increase,
            DECREASE => RateRequest::Decrease,
            _ => RateRequest::Keep,
        }
    }

    fn of_color(color: u8) -> Self {
        Tag(color & COLOR)
    }

    fn of_request(request: RateRequest) -> Self {
        Tag(match request {
            RateRequest::Keep => 0,
            RateRequest::Increase => INCREASE,
            RateRequest::Decrease => DECREASE,
        })
    }
}

pub(crate) struct Edges {
    aggregates: Vec<Aggregate>,
    of_group: Vec<u32>,
    /// By flow: the latest tags that its two ends received.
    ends: Vec<Ends>,
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Default)]
struct Ends {
    sender: Tag,
    receiver: Tag,
}

pub(crate) struct Aggregate {
    pub(crate) plan: AggregatePlan,
    estimator: Option<Estimator>,
    counts: Counts,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    from: Time,
    /// The integral of the marker's target rate up to `target_up_to`, in bits.
    target_bits: f64,
    target_up_to: Time,
    entered: u64,
    green: u64,
    green_left: u64,
    green_marked: u64,
}

impl Edges {
    pub(crate) fn new(aggregates: Vec<AggregatePlan>, groups: usize) -> Option<Box<Self>> {
        let mut of_group = vec![NONE; groups];
        for (number, plan) in aggregates.iter().enumerate() {
            for &group in &plan.groups {
                let before = std::mem::replace(&mut of_group[group], number as u32);
                assert_eq!(before, NONE, "a group belongs to one aggregate");
            }
        }
        let aggregates: Vec<_> = aggregates.into_iter().map(Aggregate::new).collect();
        (!aggregates.is_empty()).then(|| Box::new(Edges { aggregates, of_group, ends: Vec::new() }))
    }

    pub(crate) fn add_flow(&mut self) {
        self.ends.push(Ends::default());
    }

    pub(crate) fn aggregates(&self) -> &[Aggregate] {
        &self.aggregates
    }

    pub(crate) fn enter(&mut self, group: u32, tag: Tag, packet: &mut Packet, now: Time) -> Tag {
        let Some(aggregate) = self.aggregates.get_mut(self.of_group[group as usize] as usize) else {
            return tag;
        };
        aggregate.integrate(now);
        let Aggregate { plan: AggregatePlan { marker, .. }, counts, .. } = aggregate;
        marker.on_request(tag.request(), now);
        marker.color(packet, now);
        counts.entered += 1;
        counts.green += u64::from(packet.color == 0);
        Tag::of_color(packet.color)
    }

    /// Counts a packet that leaves, and returns the tag for its receiver.
    pub(crate) fn leave(&mut self, group: u32, tag: Tag, ecn: Ecn) -> Tag {
        let Some(aggregate) = self.aggregates.get_mut(self.of_group[group as usize] as usize) else {
            return Tag::default();
        };
        let Aggregate { counts, estimator, .. } = aggregate;
        let (is_green, is_marked) = (tag.color() == 0, ecn == Ecn::Ce);
        counts.green_left += u64::from(is_green);
        counts.green_marked += u64::from(is_green && is_marked);
        let Some(estimator) = estimator else { return Tag::default() };
        if is_green {
            estimator.observe(is_marked);
        }
        Tag::of_request(estimator.request())
    }

    pub(crate) fn of_sender(&self, flow: u32) -> Tag {
        self.ends[flow as usize].sender
    }

    pub(crate) fn of_receiver(&self, flow: u32) -> Tag {
        self.ends[flow as usize].receiver
    }

    pub(crate) fn reached_sender(&mut self, flow: u32, tag: Tag) {
        self.ends[flow as usize].sender = tag;
    }

    pub(crate) fn reached_receiver(&mut self, flow: u32, tag: Tag) {
        self.ends[flow as usize].receiver = tag;
    }

    pub(crate) fn counts(&self, now: Time) -> Vec<AggregateCount> {
        self.aggregates.iter().map(|aggregate| aggregate.count(now)).collect()
    }

    pub(crate) fn start_measuring(&mut self, now: Time) {
        for aggregate in &mut self.aggregates {
            aggregate.counts = Counts { from: now, ..Counts::default() };
        }
    }
}

impl Aggregate {
    fn new(plan: AggregatePlan) -> Self {
        let estimator = plan.estimator.map(Estimator::new);
        Aggregate { plan, estimator, counts: Counts::default() }
    }

    pub(crate) fn estimate(&self) -> Option<f64> {
        self.estimator.as_ref().map(Estimator::estimate)
    }

    pub(crate) fn marker(&self) -> &dyn Marker {
        &*self.plan.marker
    }

    fn count(&self, now: Time) -> AggregateCount {
        let Counts { from, entered, green, green_left, green_marked, .. } = self.counts;
        let seconds = now.since(from).secs();
        let target_bps = self.target_bits(now).map(|bits| bits / seconds);
        let name = self.plan.name.clone();
        AggregateCount { name, target_bps, entered, green, green_left, green_marked }
    }

    /// The integral of the target rate up to `now`, in bits; `None` if the target is fixed. The
    /// rate changes by at most one step between two packets, so it is taken as constant.
    fn target_bits(&self, now: Time) -> Option<f64> {
        let Counts { target_bits, target_up_to, from, .. } = self.counts;
        let since = target_up_to.max(from);
        Some(target_bits + self.plan.marker.target_bps(since)? * now.since(since).secs())
    }

    fn integrate(&mut self, now: Time) {
        if let Some(bits) = self.target_bits(now) {
            (self.counts.target_bits, self.counts.target_up_to) = (bits, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_keeps_its_colour_and_its_request_apart() {
        for request in [RateRequest::Keep, RateRequest::Increase, RateRequest::Decrease] {
            assert_eq!(Tag::of_request(request).request(), request);
            assert_eq!(Tag::of_request(request).color(), 0);
        }
        assert_eq!((Tag::of_color(2).color(), Tag::of_color(2).request()), (2, RateRequest::Keep));
    }
}
