//! Observes a run: samples at exact multiples of an interval, and each packet's path.
//!
//! An observer changes nothing, so a run gives the same bits without one. A sample at `t` includes
//! all events at `t`.

use crate::edge::{Aggregate, Edges};
use crate::ends::Took;
use crate::flow::Flow;
use crate::frames::{Frame, Frames};
use crate::group::Group;
use crate::link::Link;
use crate::seen::{Content, PacketEvent, TransferEvent, What, Window};
use fairwire_core::{Backlog, Discipline, Duration, Marker, Packet, Rate, Time};
use fairwire_metrics::{DelayHistogram, FlowName};
use fairwire_tcp::Sack;
use std::collections::BTreeMap;

/// Observes a run. All callbacks do nothing by default.
pub trait Observer: Send {
    /// The interval between samples. No samples are taken if it is `None` or zero.
    fn interval(&self) -> Option<Duration> {
        None
    }
    /// True if [`packet`](Self::packet) is to be invoked.
    fn wants_packets(&self) -> bool {
        false
    }
    /// Invoked before any event; `view` shows the participants.
    fn started(&mut self, _view: &View<'_>) {}
    /// Invoked at each multiple of the interval.
    fn sample(&mut self, _view: &View<'_>) {}
    /// Invoked for each event of a packet. Times never decrease.
    fn packet(&mut self, _event: &PacketEvent) {}
    /// Invoked when a transfer or page is complete, or once its last packet has left the last queue
    /// on its path. In the second case, the event's time is the packet's future arrival. Transfers
    /// of external protocols are reported at the end of the run.
    fn transfer(&mut self, _event: &TransferEvent) {}
    /// Invoked at the end of the run, unless it was stopped earlier.
    fn finished(&mut self, _view: &View<'_>) {}
}

impl<O: Observer + ?Sized> Observer for &mut O {
    fn interval(&self) -> Option<Duration> {
        (**self).interval()
    }
    fn wants_packets(&self) -> bool {
        (**self).wants_packets()
    }
    fn started(&mut self, view: &View<'_>) {
        (**self).started(view);
    }
    fn sample(&mut self, view: &View<'_>) {
        (**self).sample(view);
    }
    fn packet(&mut self, event: &PacketEvent) {
        (**self).packet(event);
    }
    fn transfer(&mut self, event: &TransferEvent) {
        (**self).transfer(event);
    }
    fn finished(&mut self, view: &View<'_>) {
        (**self).finished(view);
    }
}

/// The state of a run, for reading. Counts begin at the last sample, or at the start of the run.
pub struct View<'a> {
    now: Time,
    flows: &'a [Flow],
    groups: &'a [Group],
    links: &'a [Link],
    edges: Option<&'a Edges>,
    since: &'a Since,
}

/// A packet's wait at a queued link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The link, by its index in [`View::links`].
    pub link: u32,
    /// The flow of the packet, by its index in [`View::flows`].
    pub flow: u32,
    /// Is the packet an acknowledgement?
    pub is_ack: bool,
    /// The time from the packet's arrival to the beginning of its transmission.
    pub wait: Duration,
}

/// One flow, or one connection of a flow that has several.
#[derive(Clone, Copy, Debug)]
pub struct FlowView<'a> {
    /// Its group's name.
    pub group: &'a str,
    /// The flow's number in its group, from 1, as in the flow's record.
    pub number: u32,
    /// The number of this connection in its flow, from 1; `None` if a flow is one connection.
    pub connection: Option<u32>,
    /// The differentiated-services codepoint of the flow's packets.
    pub dscp: u8,
    /// Is the flow TCP? Otherwise it is UDP.
    pub is_tcp: bool,
    /// The size on the wire of the flow's packets with data.
    pub data_bytes: u32,
    /// Bytes on the wire that reached the receiver in order and for the first time.
    pub delivered_bytes: u64,
    /// Bytes on the wire that left the last queued link of the path: new and retransmitted data,
    /// without acknowledgements.
    pub left_bytes: u64,
    /// Its packets dropped.
    pub dropped: u64,
    /// Its packets marked.
    pub marked: u64,
    /// The state of the flow's TCP sender; `None` for a flow without one.
    pub window: Option<Window>,
}

/// One queued link.
#[derive(Clone, Copy)]
pub struct LinkView<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its rate.
    pub rate: Rate,
    /// The waiting packets.
    pub backlog: Backlog,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets marked.
    pub marked: u64,
    /// The link's discipline, to be inspected.
    pub discipline: &'a dyn Discipline,
    /// Queueing delays after the warm-up.
    pub sojourn: &'a DelayHistogram,
    link: &'a Link,
}

impl FlowView<'_> {
    /// The name in the flow's record, such as `web.3`; all connections of the flow share it.
    pub fn name(&self) -> FlowName {
        FlowName::numbered(self.group, self.number)
    }
}

impl LinkView<'_> {
    /// The bits that the link can send from `from` to `to`.
    pub fn bits(&self, from: Time, to: Time) -> f64 {
        self.link.bits(from, to)
    }
}

/// One aggregate of flows.
pub struct AggregateView<'a> {
    /// Its name.
    pub name: &'a str,
    /// The names of the aggregate's groups.
    pub groups: Vec<&'a str>,
    /// The aggregate's marker, to be inspected.
    pub marker: &'a dyn Marker,
    /// The marker's target rate, bit/s; `None` if the marker receives no requests.
    pub target_bps: Option<f64>,
    /// The marked share of the aggregate's green packets, estimated by the edge where these packets
    /// leave; `None` without an estimator.
    pub mark_estimate: Option<f64>,
}

impl<'a> View<'a> {
    /// The simulated time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The flows, in the order of the plan. The connections of one flow follow each other.
    pub fn flows(&self) -> impl Iterator<Item = FlowView<'a>> + use<'a> {
        let (groups, since) = (self.groups, self.since);
        let mut last = (u32::MAX, 0);
        self.flows.iter().enumerate().map(move |(at, flow)| {
            let index = if last.0 == flow.group() { last.1 + 1 } else { 0 };
            last = (flow.group(), index);
            let group = &groups[flow.group() as usize];
            let each = group.plan.flows_each() as u32;
            let count = since.flows.get(at).copied().unwrap_or_default();
            FlowView {
                group: &group.plan.name,
                number: group.before + index / each + 1,
                connection: (each > 1).then(|| index % each + 1),
                dscp: group.plan.dscp,
                is_tcp: group.is_acknowledged(),
                data_bytes: group.data_bytes,
                delivered_bytes: count.delivered,
                left_bytes: count.left,
                dropped: count.dropped,
                marked: count.marked,
                window: flow.window(),
            }
        })
    }

    /// The waits of the packets that began to leave a queued link since the last sample, in order
    /// of departure. Empty if the observer has no interval.
    pub fn waits(&self) -> &'a [Wait] {
        &self.since.waits
    }

    /// The aggregates, in the order of the plan.
    pub fn aggregates(&self) -> impl Iterator<Item = AggregateView<'a>> + use<'a> {
        let (now, groups) = (self.now, self.groups);
        let aggregates = self.edges.map_or(&[][..], Edges::aggregates);
        aggregates.iter().map(move |aggregate: &'a Aggregate| AggregateView {
            name: &aggregate.plan.name,
            groups: aggregate
                .plan
                .groups
                .iter()
                .filter(|&&group| groups[group].head as usize == group)
                .map(|&group| groups[group].plan.name.as_str())
                .collect(),
            marker: aggregate.marker(),
            target_bps: aggregate.marker().target_bps(now),
            mark_estimate: aggregate.estimate(),
        })
    }

    /// The queued links, in the order of the plan.
    pub fn links(&self) -> impl Iterator<Item = LinkView<'a>> + use<'a> {
        let since = self.since;
        self.links.iter().enumerate().map(move |(at, link)| {
            let count = since.links.get(at).copied().unwrap_or_default();
            LinkView {
                name: link.name(),
                rate: link.rate(),
                backlog: link.backlog(),
                dropped: count.dropped,
                marked: count.marked,
                discipline: link.discipline(),
                sojourn: link.sojourn(),
                link,
            }
        })
    }
}

/// The engine's callbacks during a run. The compiler removes the implementation that does nothing.
pub(crate) trait Tap {
    const IS_ON: bool;
    fn set_place(&mut self, now: Time, link: Option<u32>);
    fn happened(&mut self, what: What, about: About);
    fn leaves(&mut self, flow: u32, wire_bytes: u32);
    /// Reports that a packet reaches its receiver at `at`, which may lie ahead. The receiver then
    /// has `packets` more packets in order.
    fn delivers(&mut self, at: Time, packets: u64, about: About);
    fn completes(&mut self, event: &TransferEvent);
    fn next_sample(&self) -> Time;
    fn start(&mut self, state: State<'_>);
    /// Takes a sample; the time is [`next_sample`](Tap::next_sample).
    fn sample(&mut self, state: State<'_>);
    fn finish(&mut self, state: State<'_>);
}

#[derive(Clone, Copy)]
pub(crate) struct About {
    pub(crate) slot: u32,
    pub(crate) frame: Frame,
    pub(crate) wire_bytes: u32,
    pub(crate) is_tcp: bool,
    pub(crate) sent: Time,
    pub(crate) sack: Sack,
}

#[derive(Clone, Copy)]
pub(crate) struct State<'a> {
    pub(crate) now: Time,
    pub(crate) flows: &'a [Flow],
    pub(crate) groups: &'a [Group],
    pub(crate) links: &'a [Link],
    pub(crate) edges: Option<&'a Edges>,
}

/// No observer.
pub(crate) struct Unwatched;

impl Tap for Unwatched {
    const IS_ON: bool = false;
    fn set_place(&mut self, _: Time, _: Option<u32>) {}
    fn happened(&mut self, _: What, _: About) {}
    fn leaves(&mut self, _: u32, _: u32) {}
    fn delivers(&mut self, _: Time, _: u64, _: About) {}
    fn completes(&mut self, _: &TransferEvent) {}
    fn next_sample(&self) -> Time {
        Time::MAX
    }
    fn start(&mut self, _: State<'_>) {}
    fn sample(&mut self, _: State<'_>) {}
    fn finish(&mut self, _: State<'_>) {}
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    delivered: u64, // bytes
    left: u64,      // bytes
    dropped: u64,
    marked: u64,
}

#[derive(Default)]
struct Since {
    flows: Vec<Count>,
    links: Vec<Count>,
    waits: Vec<Wait>,
}

/// A future delivery.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    bytes: u64, // in order and new
    event: PacketEvent,
}

pub(crate) struct Watch<'a> {
    observer: Box<dyn Observer + 'a>,
    interval: Option<Duration>,
    next_sample: Time,
    wants_packets: bool,
    now: Time,
    link: Option<u32>,
    since: Since,
    reached: Vec<Time>,
    /// Future deliveries, ordered by time and then by order of computation.
    ahead: BTreeMap<(Time, u64), Ahead>,
    held: u64,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(observer: Box<dyn Observer + 'a>) -> Self {
        let interval = observer.interval().filter(|interval| *interval > Duration::ZERO);
        Watch {
            next_sample: interval.map_or(Time::MAX, |interval| Time::ZERO + interval),
            wants_packets: observer.wants_packets(),
            interval,
            observer,
            now: Time::ZERO,
            link: None,
            since: Since::default(),
            reached: Vec::new(),
            ahead: BTreeMap::new(),
            held: 0,
        }
    }

    fn release(&mut self, now: Time) {
        while let Some(first) = self.ahead.first_entry().filter(|first| first.key().0 <= now) {
            let ahead = first.remove();
            self.since.flows[ahead.event.flow as usize].delivered += ahead.bytes;
            if self.wants_packets {
                self.observer.packet(&ahead.event);
            }
        }
    }

    fn time_the_wait(&mut self, what: What, about: &About) {
        let (slot, Some(link)) = (about.slot as usize, self.link) else { return };
        match what {
            What::Arrive => {
                if self.reached.len() <= slot {
                    self.reached.resize(slot + 1, Time::ZERO);
                }
                self.reached[slot] = self.now;
            }
            What::Depart => {
                let (flow, is_ack) = (about.frame.flow, about.frame.is_ack());
                let wait = self.now.since(self.reached[slot]);
                self.since.waits.push(Wait { link, flow, is_ack, wait });
            }
            What::Drop(_) | What::Mark(_) | What::Lost | What::Deliver => {}
        }
    }

    fn event(&self, at: Time, what: What, about: About) -> PacketEvent {
        let About { slot, frame, wire_bytes, is_tcp, sent, sack } = about;
        let content = if is_tcp { frame.content(sack) } else { Content::Datagram };
        PacketEvent {
            at,
            what,
            link: self.link,
            flow: frame.flow,
            frame: slot,
            wire_bytes,
            content,
            ecn: frame.ecn,
            sent,
        }
    }

    fn forget(&mut self) {
        self.since.flows.fill(Count::default());
        self.since.links.fill(Count::default());
        self.since.waits.clear();
    }

    fn view<'b>(since: &'b Since, state: State<'b>) -> View<'b> {
        let State { now, flows, groups, links, edges } = state;
        View { now, flows, groups, links, edges, since }
    }
}

impl Tap for Watch<'_> {
    const IS_ON: bool = true;

    fn set_place(&mut self, now: Time, link: Option<u32>) {
        self.release(now);
        (self.now, self.link) = (now, link);
    }

    fn happened(&mut self, what: What, about: About) {
        let flow = &mut self.since.flows[about.frame.flow as usize];
        let mut unused = Count::default();
        let link = self.link.map_or(&mut unused, |link| &mut self.since.links[link as usize]);
        match what {
            What::Drop(_) => (flow.dropped, link.dropped) = (flow.dropped + 1, link.dropped + 1),
            What::Mark(_) => (flow.marked, link.marked) = (flow.marked + 1, link.marked + 1),
            What::Arrive | What::Depart | What::Lost | What::Deliver => {}
        }
        if self.interval.is_some() {
            self.time_the_wait(what, &about);
        }
        if self.wants_packets {
            let event = self.event(self.now, what, about);
            self.observer.packet(&event);
        }
    }

    fn leaves(&mut self, flow: u32, wire_bytes: u32) {
        self.since.flows[flow as usize].left += u64::from(wire_bytes);
    }

    fn delivers(&mut self, at: Time, packets: u64, about: About) {
        let link = self.link.take();
        let bytes = packets * u64::from(about.wire_bytes);
        let event = self.event(at, What::Deliver, about);
        self.link = link;
        self.held += 1;
        self.ahead.insert((at, self.held), Ahead { bytes, event });
    }

    fn completes(&mut self, event: &TransferEvent) {
        self.observer.transfer(event);
    }

    fn next_sample(&self) -> Time {
        self.next_sample
    }

    fn start(&mut self, state: State<'_>) {
        self.since.flows = vec![Count::default(); state.flows.len()];
        self.since.links = vec![Count::default(); state.links.len()];
        self.observer.started(&Self::view(&self.since, state));
    }

    fn sample(&mut self, state: State<'_>) {
        self.release(state.now);
        self.observer.sample(&Self::view(&self.since, state));
        self.forget();
        self.next_sample = self.interval.map_or(Time::MAX, |interval| self.next_sample + interval);
    }

    fn finish(&mut self, state: State<'_>) {
        self.release(state.now);
        for (flow, Took { at, took }) in
            (0..).zip(state.flows).filter_map(|(flow, of)| Some((flow, of.took()?)))
        {
            let since = Time::from_ns(at.ns() - took.ns());
            let event = TransferEvent { at, since, flow, is_page: false, bytes: None, alone: None };
            self.observer.transfer(&event);
        }
        self.observer.finished(&Self::view(&self.since, state));
    }
}

pub(crate) fn about(packet: &Packet, frames: &Frames, is_tcp: bool) -> About {
    let (slot, wire_bytes) = (packet.frame, packet.len);
    let mut frame = frames.at(slot);
    frame.ecn = packet.ecn;
    About { slot, frame, wire_bytes, is_tcp, sent: frames.sent(slot), sack: frames.blocks(slot) }
}
