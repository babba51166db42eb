//! A group of flows: the properties that its members share.

use crate::event::Events;
use crate::frames::Frame;
use crate::line::Pace;
use crate::link::Link;
use crate::plan::{GroupPlan, Hop, Source};
use crate::route::{self, Leg, Sizes};
use fairwire_core::{Duration, FlowHash, Packet, Rate, Time, rng};
use fairwire_tcp::{Config, Processing};
use std::sync::Arc;

pub(crate) struct Group {
    pub(crate) plan: GroupPlan,
    pub(crate) tcp: Option<Arc<Config>>,
    /// The first of the plans that form this group.
    pub(crate) head: u32,
    /// The number of members of the earlier plans of this group.
    pub(crate) before: u32,
    members: u32,
    salt: u64,
    sizes_vary: bool,
    pub(crate) takes_time: bool,
    has_sessions: bool,
    is_outside: bool,
    /// The size of data packets on the wire; if sizes vary, the most frequent size.
    pub(crate) data_bytes: u32,
    /// The size of acknowledgements, and of the packet that opens a connection.
    pub(crate) ack_bytes: u32,
    pub(crate) pace: Pace,
    pub(crate) ack_on_access: Duration,
    /// The maximum wait of a host's output at its own link.
    pub(crate) host_queue: Duration,
    pub(crate) empty: Empty,
    work: Work,
    /// The first leg of the forward path.
    pub(crate) forward: u32,
    pub(crate) back: u32,
}

/// Transit times of a group's empty paths, without the propagation delay of access links. `None` if
/// the rate of a link changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Empty {
    there: Option<Duration>,
    back: Option<Duration>,
    /// The transmission time of a data packet at the slowest forward link.
    slowest: Duration,
}

impl Empty {
    fn of(plan: &GroupPlan, sizes: Sizes, links: &[Link]) -> Self {
        let own = [(plan.access_rate, Duration::ZERO); 2];
        let way = |hops: &[Hop]| -> Option<Vec<(Rate, Duration)>> {
            let of_hop = |hop: &Hop| match *hop {
                Hop::Wire { rate, delay } => Some((rate, delay)),
                Hop::Link(link) => links.get(link as usize)?.fixed(),
            };
            own.into_iter().map(Some).chain(hops.iter().map(of_hop)).collect()
        };
        let takes = |way: Vec<(Rate, Duration)>, bytes: u32| {
            let sent = |(rate, delay): &(Rate, Duration)| rate.time_to_send(bytes.into()) + *delay;
            way.iter().map(sent).fold(Duration::ZERO, |sum, one| sum + one)
        };
        let there = way(&plan.forward);
        let slowest = there.iter().flatten().map(|(rate, _)| rate.time_to_send(sizes.data.into())).max();
        Empty {
            slowest: slowest.unwrap_or(Duration::ZERO),
            there: there.map(|way| takes(way, sizes.data)),
            back: way(&plan.back).map(|way| takes(way, sizes.ack)),
        }
    }

    /// The least time in which `segments` reach the receiver of a flow whose own links have the
    /// delay `access_delay`. The first segment crosses all links; the others follow at the rate of
    /// the slowest link.
    pub(crate) fn alone(&self, access_delay: Duration, segments: u64) -> Option<Duration> {
        let others = self.slowest.ns().saturating_mul(segments.saturating_sub(1));
        Some(self.there? + access_delay + access_delay + Duration::from_ns(others))
    }

    fn round_trip(&self, access_delay: Duration) -> Option<Duration> {
        let own = access_delay + access_delay;
        Some(self.there? + own + self.back? + own)
    }
}

/// The longest processing time of a host, as [`Processing`] determines it.
#[derive(Debug)]
enum Work {
    UpTo(Duration),
    /// Determined by the path's links, for each spell. The first spell begins with the run, and
    /// each spell lasts until the next.
    Packet(Vec<Spell>),
}

/// A time in which no link of a path changes its rate.
#[derive(Clone, Copy, Debug)]
struct Spell {
    since: Time,
    /// Transmission time of [`PACKETS`] data packets at the slowest forward link.
    packets: Duration,
    /// The round trip without queues and without the flow's own propagation delays.
    round_trip: Duration,
}

/// The maximum processing time, unless the plan states one, is the transmission time of this many
/// packets at the slowest link. With 1, shares still depended on round trips: see
/// `tests/it/phase.rs` of the scenarios.
const PACKETS: u64 = 2;

/// If the plan states no maximum processing time, the maximum is at most a round trip divided by
/// this. The divisor is ours. Without this bound, hosts would limit flows with few packets in
/// flight.
const MAX_PART_OF_ROUND_TRIP: u64 = 8;

impl Work {
    fn of(plan: &GroupPlan, tcp: Option<&Config>, sizes: Sizes, links: &[Link]) -> Self {
        match tcp.map_or(Processing::None, |tcp| tcp.processing) {
            Processing::None => return Work::UpTo(Duration::ZERO),
            Processing::UpTo(most) => return Work::UpTo(most),
            Processing::Packet => {}
        }
        let on_the_way = plan.forward.iter().chain(&plan.back).filter_map(|hop| match *hop {
            Hop::Wire { .. } => None,
            Hop::Link(at) => links.get(at as usize),
        });
        let mut times: Vec<Time> = on_the_way.flat_map(Link::changes_at).chain([Time::ZERO]).collect();
        times.sort_unstable();
        times.dedup();
        Work::Packet(times.into_iter().map(|since| Spell::of(plan, sizes, links, since)).collect())
    }
}

impl Spell {
    fn of(plan: &GroupPlan, sizes: Sizes, links: &[Link], since: Time) -> Self {
        let own = [(plan.access_rate, Duration::ZERO); 2];
        let of_hop = |hop: &Hop| match *hop {
            Hop::Wire { rate, delay } => (rate, delay),
            Hop::Link(at) => links.get(at as usize).map_or(own[0], |link| link.at(since)),
        };
        let way = |hops: &[Hop]| own.into_iter().chain(hops.iter().map(of_hop)).collect::<Vec<_>>();
        let (there, back) = (way(&plan.forward), way(&plan.back));
        let sent = |(rate, _): &(Rate, Duration)| rate.time_to_send(sizes.data.into());
        let passed = |time: Duration, hop: &(Rate, Duration)| time + hop.1;
        let delay = there.iter().chain(&back).fold(Duration::ZERO, passed);
        let sending = there.iter().map(sent).fold(Duration::ZERO, |sum, one| sum + one);
        let packet = there.iter().map(sent).max().unwrap_or(Duration::ZERO);
        Spell { since, packets: packet * PACKETS, round_trip: delay + sending }
    }

    fn most(&self, access_delay: Duration) -> Duration {
        let own = access_delay + access_delay;
        let round_trip = self.round_trip + own + own;
        self.packets.min(Duration::from_ns(round_trip.ns() / MAX_PART_OF_ROUND_TRIP))
    }
}

impl Group {
    pub(crate) fn new(
        number: u32,
        plan: GroupPlan,
        salt: u64,
        links: &[Link],
        legs: &mut Vec<Leg>,
        events: &mut impl Events,
    ) -> Self {
        let (data_bytes, ack_bytes) = match &plan.source {
            Source::Bulk { tcp } | Source::Tcp { tcp, .. } => {
                (tcp.segment_bytes + tcp.header_bytes, tcp.ack_bytes)
            }
            Source::Cbr { packet_bytes, header_bytes, dither, .. } => {
                assert!((0.0..=1.0).contains(dither), "a dither of {dither} is not from 0 to 1");
                assert!(
                    header_bytes <= packet_bytes,
                    "{header_bytes} of {packet_bytes} bytes cannot be headers"
                );
                (*packet_bytes, 0)
            }
            Source::Datagrams { traffic, header_bytes } => (traffic.typical_bytes(*header_bytes), 0),
            Source::Endpoints { endpoints, .. } => (endpoints.packet_bytes(), 0),
        };
        let vary = matches!(plan.source, Source::Datagrams { .. } | Source::Endpoints { .. });
        let sizes = Sizes { data: data_bytes, ack: ack_bytes, vary };
        let tcp = match &plan.source {
            Source::Bulk { tcp } | Source::Tcp { tcp, .. } => Some(Arc::new(tcp.clone())),
            Source::Cbr { .. } | Source::Datagrams { .. } | Source::Endpoints { .. } => None,
        };
        let work = Work::of(&plan, tcp.as_deref(), sizes, links);
        let host_queue = tcp.as_deref().and_then(|tcp| tcp.host_queue);
        let two = plan.access_rate.time_to_send(2 * u64::from(data_bytes));
        Group {
            takes_time: !matches!(work, Work::UpTo(Duration::ZERO)),
            work,
            head: number,
            before: 0,
            members: 0,
            salt,
            sizes_vary: vary,
            has_sessions: matches!(plan.source, Source::Tcp { .. }),
            is_outside: matches!(plan.source, Source::Endpoints { .. }),
            pace: Pace::new(plan.access_rate, data_bytes),
            ack_on_access: plan.access_rate.time_to_send(ack_bytes.into()),
            host_queue: host_queue.map_or(Duration::MAX, |most| most.max(two)),
            tcp,
            data_bytes,
            ack_bytes,
            empty: Empty::of(&plan, sizes, links),
            forward: route::lay(&plan.forward, number, sizes, legs, events),
            back: route::lay(&plan.back, number, sizes, legs, events),
            plan,
        }
    }

    pub(crate) fn with(self, members: u32, last: Option<&Group>) -> Self {
        match last.filter(|last| last.plan.name == self.plan.name) {
            Some(last) => Group { head: last.head, before: last.before + last.members, members, ..self },
            None => Group { members, ..self },
        }
    }

    pub(crate) fn follow(&mut self, links: &[Link]) {
        let sizes = Sizes { data: self.data_bytes, ack: self.ack_bytes, vary: self.sizes_vary };
        self.work = Work::of(&self.plan, self.tcp.as_deref(), sizes, links);
    }

    pub(crate) fn is_first(&self, leg: u32) -> bool {
        leg == self.forward
    }

    pub(crate) fn is_acknowledged(&self) -> bool {
        self.tcp.is_some()
    }

    /// The round-trip time without queues, given the delay of the access links; `None` if no
    /// packets return, or if a rate changes.
    pub(crate) fn base_rtt(&self, access_delay: Duration) -> Option<Duration> {
        self.empty.round_trip(access_delay).filter(|_| self.is_acknowledged())
    }

    #[inline]
    pub(crate) fn works_at_most(&self, access_delay: Duration, now: Time) -> Duration {
        match &self.work {
            Work::UpTo(most) => *most,
            Work::Packet(spells) => match &spells[..] {
                [only] => only.most(access_delay),
                many => {
                    let latest = many.partition_point(|spell| spell.since <= now).saturating_sub(1);
                    many[latest].most(access_delay)
                }
            },
        }
    }

    /// The time for which the host of flow `index` processes a packet given at `now`: uniform from
    /// zero to the maximum.
    #[inline(never)] // profiles of older TCPs take no time
    pub(crate) fn works(&self, index: u32, access_delay: Duration, now: Time) -> Duration {
        let most = self.works_at_most(access_delay, now);
        let drawn = rng::mix(self.salt ^ u64::from(index) ^ now.ns().rotate_left(20)) >> 32;
        Duration::from_ns(((u128::from(drawn) * u128::from(most.ns())) >> 32) as u64)
    }

    #[inline]
    pub(crate) fn is_outside(&self) -> bool {
        self.is_outside
    }

    #[inline]
    pub(crate) fn has_sessions(&self) -> bool {
        self.has_sessions
    }

    /// A flow's hashes repeat after 65 536 connections.
    #[inline]
    fn hash(&self, index: u32, connection: u16) -> FlowHash {
        FlowHash(rng::mix(self.salt ^ (u64::from(index) + 1) ^ (u64::from(connection) << 48)))
    }

    #[inline]
    pub(crate) fn takes(&self, leg: &Leg, is_data: bool, bytes: u32) -> Duration {
        if self.sizes_vary { leg.takes_bytes(bytes) } else { leg.takes(is_data) }
    }

    /// The packet's descriptor, computed without the flow, which is far away in memory.
    #[inline]
    pub(crate) fn packet(&self, frame: Frame, slot: u32, now: Time) -> Packet {
        let len = self.wire_bytes(frame);
        // Acknowledgements are a separate flow, because their five-tuple differs.
        let hash = self.hash(frame.flow, frame.connection);
        let flow = if frame.is_ack() { FlowHash(!hash.0) } else { hash };
        Packet {
            class: self.plan.class,
            dscp: self.plan.dscp,
            ecn: frame.ecn,
            color: frame.tag.color(),
            ..Packet::new(slot, len, flow, now)
        }
    }

    #[inline]
    pub(crate) fn wire_bytes(&self, frame: Frame) -> u32 {
        if self.sizes_vary {
            return frame.datagram_bytes();
        }
        if frame.is_data() { self.data_bytes } else { self.ack_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::LinkPlan;
    use fairwire_core::scheduler::Fcfs;
    use fairwire_core::{Dropper, Limit, Queue, RateLaw, Step, Trace};
    use fairwire_tcp::Profile;

    struct TailDrop;
    impl Dropper for TailDrop {}

    fn rate(mbps: u64) -> Rate {
        Rate::from_bps(mbps * 1_000_000).expect("not zero")
    }

    fn link(law: RateLaw) -> Link {
        Link::new(LinkPlan {
            wire: None,
            name: "link".into(),
            rate: rate(10_000),
            law,
            delay: Duration::ZERO,
            discipline: Box::new(Queue::new(Limit::packets(9), Fcfs, TailDrop)),
        })
    }

    fn packet_ns(links: &[Link], at: Time) -> u64 {
        let tcp = Config { header_bytes: 52, ..Config::new(Profile::Modern, 1448) };
        let plan = GroupPlan {
            name: "tcp".into(),
            source: Source::Bulk { tcp: tcp.clone() },
            forward: vec![Hop::Link(0)],
            back: vec![],
            access_rate: rate(10_000),
            class: 0,
            dscp: 0,
            ecn: fairwire_core::Ecn::NotEct,
            on: Vec::new(),
            members: vec![],
        };
        let sizes = Sizes { data: 1500, ack: 52, vary: false };
        let Work::Packet(spells) = Work::of(&plan, Some(&tcp), sizes, links) else { panic!("by packets") };
        let latest = spells.iter().rev().find(|spell| spell.since <= at).expect("from the start on");
        latest.packets.ns() / PACKETS
    }

    #[test]
    fn a_host_works_at_the_current_rate_of_its_slowest_link() {
        let at = |secs| Time::ZERO + Duration::from_secs(secs);
        let step = |secs, mbps: u64| Step { at: at(secs), rate: Rate::from_bps(mbps * 1_000_000) };
        let links = [link(RateLaw::Steps([step(1, 100), step(2, 0), step(3, 1)].into()))];
        let times = [0, 1, 2, 3, 4].map(|secs| packet_ns(&links, at(secs)));
        assert_eq!(times, [1_200, 120_000, 120_000, 12_000_000, 12_000_000], "while it is down, as before");
        let trace = Trace::parse("1\n").expect("a trace"); // 12.032 Mbit/s
        assert_eq!(packet_ns(&[link(RateLaw::Trace(trace.into()))], at(9)), 997_340);
        let mut links = [link(RateLaw::Fixed)];
        links[0].set_rate(rate(100), at(1));
        assert_eq!(packet_ns(&links, at(2)), 120_000);
    }
}
