//! Per-packet measures after the warm-up: delays and bursts of losses.

use fairwire_core::{Duration, Time};
use fairwire_metrics::DelayHistogram;
use fairwire_scenario::{Content, PacketEvent, View, What};
use std::collections::{BTreeMap, VecDeque};

/// Measures of a group: `delay_mean_s.tcp`.
pub(crate) const NAMES: [&str; 10] = [
    "delay_mean_s",
    "delay_p50_s",
    "delay_p99_s",
    "one_way_mean_s",
    "one_way_p50_s",
    "one_way_p99_s",
    "arrived",
    "loss_bursts",
    "loss_burst_mean",
    "loss_burst_most",
];

pub(crate) fn is_one(name: &str) -> bool {
    name.split_once('.').is_some_and(|(what, _)| NAMES.contains(&what))
}

pub(crate) struct Packets {
    from: Time,
    flows: Vec<Flow>,
    groups: Vec<Group>,
    /// The queued frames, each with its arrival number in its flow.
    waiting: BTreeMap<u32, u64>,
}

#[derive(Default)]
struct Flow {
    group: usize,
    /// The number of the first segment in `sent`. An entry of `sent` is the time of first
    /// transmission, or `None` after the segment's arrival.
    first: u64,
    sent: VecDeque<Option<Time>>,
    /// For each arrival from number `settled` on: was the packet lost? `None` while unknown.
    fates: VecDeque<Option<bool>>,
    settled: u64,
    /// The number of consecutive losses after the last forwarded packet, in order of arrival.
    burst: u64,
}

struct Group {
    name: String,
    delay: DelayHistogram,
    one_way: DelayHistogram,
    bursts: u64,
    lost: u64,
    most: u64,
}

/// The number of a flow's segments that are remembered. A segment this far behind the newest has
/// arrived, or never will.
const MAX_SEGMENTS: usize = 1 << 16;

impl Packets {
    pub(crate) fn new(from: Time) -> Self {
        Packets { from, flows: Vec::new(), groups: Vec::new(), waiting: BTreeMap::new() }
    }

    pub(crate) fn start(&mut self, view: &View<'_>) {
        for flow in view.flows() {
            if self.groups.last().is_none_or(|group| group.name != flow.group) {
                self.groups.push(Group::new(flow.group));
            }
            self.flows.push(Flow { group: self.groups.len() - 1, ..Flow::default() });
        }
    }

    pub(crate) fn packet(&mut self, event: &PacketEvent) {
        let Some(flow) = self.flows.get_mut(event.flow as usize) else { return };
        let seq = match event.content {
            Content::Data { seq, .. } => Some(seq),
            Content::Datagram => None,
            Content::Syn | Content::Ack { .. } => return,
        };
        let group = &mut self.groups[flow.group];
        let is_measured = event.at >= self.from;
        match event.what {
            What::Arrive => {
                seq.into_iter().for_each(|seq| flow.note(seq, event.sent));
                self.waiting.insert(event.frame, flow.settled + flow.fates.len() as u64);
                flow.fates.push_back(None);
            }
            What::Drop(_) | What::Depart => {
                let number = self.waiting.remove(&event.frame);
                let is_lost = matches!(event.what, What::Drop(_));
                number.into_iter().for_each(|number| flow.settle(number, is_lost, group, is_measured));
            }
            What::Deliver => {
                let first = match seq {
                    Some(seq) => flow.arrived(seq),
                    None => Some(event.sent),
                };
                if is_measured {
                    group.one_way.record(event.at.since(event.sent));
                    first.iter().for_each(|first| group.delay.record(event.at.since(*first)));
                }
            }
            What::Mark(_) | What::Lost => {}
        }
    }

    pub(crate) fn into_measures(self) -> BTreeMap<String, f64> {
        self.groups.iter().flat_map(Group::measures).collect()
    }
}

impl Flow {
    /// Records the fate of arrival `number`. Bursts follow the order of arrival, so a fate counts
    /// only when all earlier fates are known.
    fn settle(&mut self, number: u64, is_lost: bool, group: &mut Group, is_measured: bool) {
        let place = number.checked_sub(self.settled).and_then(|place| self.fates.get_mut(place as usize));
        place.into_iter().for_each(|fate| *fate = Some(is_lost));
        while let Some(Some(is_lost)) = self.fates.front().copied() {
            self.fates.pop_front();
            self.settled += 1;
            if is_lost {
                self.burst += 1;
            } else {
                group.end(std::mem::take(&mut self.burst), is_measured);
            }
        }
    }

    /// Records the time of the first transmission of segment `seq`.
    fn note(&mut self, seq: u64, at: Time) {
        let Some(place) = seq.checked_sub(self.first).map(|place| place as usize) else { return };
        if place >= 2 * MAX_SEGMENTS {
            // No window allows such a jump, so all earlier segments are forgotten.
            (self.first, self.sent) = (seq, VecDeque::from([Some(at)]));
            return;
        }
        if place >= self.sent.len() {
            self.sent.resize(place + 1, None);
            self.sent[place] = Some(at);
        }
        while self.sent.len() > MAX_SEGMENTS {
            self.sent.pop_front();
            self.first += 1;
        }
    }

    /// Returns the time at which segment `seq` was first sent; `None` for a repeated arrival.
    fn arrived(&mut self, seq: u64) -> Option<Time> {
        let place = seq.checked_sub(self.first)? as usize;
        let first = self.sent.get_mut(place)?.take();
        while self.sent.len() > 1 && self.sent[0].is_none() {
            self.sent.pop_front();
            self.first += 1;
        }
        first
    }
}

impl Group {
    fn new(name: &str) -> Self {
        Group {
            name: name.into(),
            delay: DelayHistogram::new(),
            one_way: DelayHistogram::new(),
            bursts: 0,
            lost: 0,
            most: 0,
        }
    }

    fn end(&mut self, burst: u64, is_measured: bool) {
        if burst > 0 && is_measured {
            self.bursts += 1;
            self.lost += burst;
            self.most = self.most.max(burst);
        }
    }

    fn measures(&self) -> Vec<(String, f64)> {
        let mut measures = vec![
            ("arrived", self.one_way.count() as f64),
            ("loss_bursts", self.bursts as f64),
            ("loss_burst_most", self.most as f64),
        ];
        if self.bursts > 0 {
            measures.push(("loss_burst_mean", self.lost as f64 / self.bursts as f64));
        }
        let delays = [
            (&self.delay, ["delay_mean_s", "delay_p50_s", "delay_p99_s"]),
            (&self.one_way, ["one_way_mean_s", "one_way_p50_s", "one_way_p99_s"]),
        ];
        for (delays, [mean, median, p99]) in delays {
            if delays.count() > 0 {
                let secs = Duration::secs;
                measures.push((mean, secs(delays.mean())));
                measures.push((median, secs(delays.quantile(0.5))));
                measures.push((p99, secs(delays.quantile(0.99))));
            }
        }
        measures.into_iter().map(|(what, value)| (format!("{what}.{}", self.name), value)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::{Cause, Ecn};

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    fn packets() -> Packets {
        let mut packets = Packets::new(Time::ZERO);
        packets.groups.push(Group::new("tcp"));
        packets.flows.push(Flow::default());
        packets
    }

    fn report(packets: &mut Packets, ms: u64, what: What, seq: u64, sent: u64) {
        let content = Content::Data { seq, is_retransmission: false, cwr: false };
        let (at, sent, frame) = (at(ms), at(sent), seq as u32);
        let event = PacketEvent {
            at,
            what,
            link: None,
            flow: 0,
            frame,
            wire_bytes: 552,
            content,
            ecn: Ecn::NotEct,
            sent,
        };
        packets.packet(&event);
    }

    #[test]
    fn a_retransmitted_segment_is_in_flight_since_its_first_transmission() {
        let mut packets = packets();
        report(&mut packets, 10, What::Arrive, 0, 0);
        report(&mut packets, 10, What::Drop(Cause::Early), 0, 0);
        report(&mut packets, 110, What::Arrive, 0, 100);
        report(&mut packets, 112, What::Depart, 0, 100);
        report(&mut packets, 120, What::Deliver, 0, 100);
        report(&mut packets, 130, What::Deliver, 0, 100); // a copy counts only for the one-way delay
        let measures = packets.into_measures();
        let ns = |name: &str| (measures[name] * 1e9).round();
        assert_eq!((ns("delay_mean_s.tcp"), ns("one_way_mean_s.tcp")), (120e6, 25e6));
        assert_eq!(measures["arrived.tcp"], 2.0);
    }

    #[test]
    fn consecutive_losses_are_one_burst_in_the_order_of_arrivals() {
        let mut packets = packets();
        for seq in 0..7 {
            report(&mut packets, seq, What::Arrive, seq, seq);
        }
        // Segment 3 is pushed out before segment 0 leaves, but belongs to the burst of segments 1
        // and 2.
        for (ms, seq, is_lost) in [(10, 3, true), (11, 0, false), (12, 2, true), (13, 1, true)] {
            let what = if is_lost { What::Drop(Cause::PushOut) } else { What::Depart };
            report(&mut packets, ms, what, seq, seq);
        }
        report(&mut packets, 14, What::Depart, 4, 4);
        report(&mut packets, 15, What::Drop(Cause::Early), 5, 5);
        report(&mut packets, 16, What::Depart, 6, 6);
        assert!(packets.waiting.is_empty() && packets.flows[0].fates.is_empty());
        let measures = packets.into_measures();
        assert_eq!((measures["loss_bursts.tcp"], measures["loss_burst_mean.tcp"]), (2.0, 2.0));
        assert_eq!(measures["loss_burst_most.tcp"], 3.0);
    }

    #[test]
    fn remembered_segments_are_bounded_and_old_ones_are_forgotten() {
        let mut flow = Flow::default();
        for seq in 0..3 * MAX_SEGMENTS as u64 {
            flow.note(seq, at(seq));
        }
        assert_eq!(flow.sent.len(), MAX_SEGMENTS);
        assert_eq!(flow.arrived(0), None);
        let last = 3 * MAX_SEGMENTS as u64 - 1;
        assert_eq!(flow.arrived(last), Some(at(last)));
        flow.note(u64::MAX, at(1));
        assert_eq!(flow.arrived(u64::MAX), Some(at(1)));
    }
}
