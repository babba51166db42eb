//! Runs a discipline and a second reading of its law side by side.

use fairwire_core::scheduler::Fcfs;
use fairwire_core::units::Amount;
use fairwire_core::{
    Cause, Discipline, Dropper, Ecn, EcnPolicy, Limit, Packet, Queue, Rate, Rng, Seed, Signals, Time,
};
use fairwire_laws::Site;
use std::collections::{BTreeMap, VecDeque};

/// 10 Mbit/s, packets of 512 bytes, room for 40.
pub(super) fn site() -> Site<'static> {
    Site {
        rate: Rate::from_bps(10_000_000).expect("not zero"),
        buffer: Amount::Packets(40),
        packet_bytes: 512,
        seed: Seed(1),
        stream: "rates",
    }
}

/// A packet, as the second reading sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub frame: u32,
    pub flow: u64,
    pub len: u32,
    pub ecn: Ecn,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fate {
    Dropped(u32, Cause),
    Marked(u32, Cause),
    Sent(u32),
}

/// A second reading: a law with a queue of its own.
pub(super) trait Reading {
    fn offer(&mut self, offer: Offer, now: u64, fates: &mut Vec<Fate>);
    fn request(&mut self, now: u64, fates: &mut Vec<Fate>);
}

/// A first-come-first-served queue for readings.
#[derive(Debug)]
pub(super) struct Line {
    pub waiting: VecDeque<Offer>,
    limit: Limit,
    pub marks: bool,
}

impl Line {
    pub(super) fn new(limit: Limit, policy: EcnPolicy) -> Self {
        Line { waiting: VecDeque::new(), limit, marks: policy == EcnPolicy::Mark }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.waiting.iter().map(|offer| u64::from(offer.len)).sum()
    }

    /// In typical packets of 512 bytes where `in_bytes`, else in packets.
    pub(super) fn len(&self, in_bytes: bool) -> f64 {
        if in_bytes { self.bytes() as f64 / 512.0 } else { self.waiting.len() as f64 }
    }

    /// Gives the signal, as a drop or as a mark, and lets in what was not dropped; false when the
    /// buffer refused it.
    pub(super) fn settle(&mut self, mut offer: Offer, signalled: bool, fates: &mut Vec<Fate>) -> bool {
        let marks = self.marks && offer.ecn.is_capable();
        if signalled && !marks {
            fates.push(Fate::Dropped(offer.frame, Cause::Early));
            return true;
        }
        let held = self.waiting.len() as u32;
        if held == self.limit.max_packets() || self.bytes() + u64::from(offer.len) > self.limit.max_bytes() {
            fates.push(Fate::Dropped(offer.frame, Cause::Overflow));
            return false;
        }
        if signalled {
            offer.ecn = Ecn::Ce;
            fates.push(Fate::Marked(offer.frame, Cause::Early));
        }
        self.waiting.push_back(offer);
        true
    }
}

#[derive(Default)]
struct Fates(Vec<Fate>);

impl Signals for Fates {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        self.0.push(Fate::Dropped(packet.frame, cause));
    }
    fn marked(&mut self, packet: &Packet, cause: Cause) {
        self.0.push(Fate::Marked(packet.frame, cause));
    }
}

/// The next step of the traffic: the time, whether the transmitter polls, and the arrival.
///
/// The load swings between half and thrice the link's rate; at times it pauses, and at times
/// packets come together.
fn step(traffic: &mut Rng, frame: u32, now: u64) -> (u64, bool, Offer) {
    let load = [3.0, 1.1, 0.5, 1.6, 1.0][(frame / 500) as usize % 5];
    let mut now = now;
    if !traffic.chance(0.1) {
        now += (819_200.0 * traffic.uniform() / load) as u64;
    }
    if traffic.chance(0.001) {
        now += u64::from(traffic.below(400_000_000));
    }
    let polls = traffic.chance(1.0 / load);
    let len = if traffic.chance(0.5) { 512 } else { 40 + traffic.below(960) };
    // One flow of twelve sends a third of everything.
    let flow = if traffic.chance(0.27) { 0 } else { traffic.below(12).into() };
    (now, polls, Offer { frame, flow, len, ecn: Ecn::from_bits(traffic.below(4) as u8) })
}

/// Offers `packets` packets to both and compares what becomes of each; `watch` compares their
/// states. Returns how often each fate was met, by name.
pub(super) fn compare<D: Dropper, R: Reading>(
    queue: &mut Queue<Fcfs, D>,
    reading: &mut R,
    packets: u32,
    seed: u64,
    watch: impl Fn(&D, &R),
) -> BTreeMap<&'static str, u32> {
    let (mut now, mut met) = (0, BTreeMap::new());
    let mut traffic = Seed(seed).stream("traffic");
    for frame in 0..packets {
        let polls;
        let offer;
        (now, polls, offer) = step(&mut traffic, frame, now);
        let (mut fates, mut read) = (Fates::default(), Vec::new());
        let at = Time::from_ns(now);
        if polls {
            let sent = queue.dequeue(at, &mut fates);
            fates.0.extend(sent.map(|packet| Fate::Sent(packet.frame)));
            reading.request(now, &mut read);
        }
        let packet = Packet { ecn: offer.ecn, ..Packet::new(frame, offer.len, offer.flow.into(), at) };
        queue.enqueue(packet, at, &mut fates);
        reading.offer(offer, now, &mut read);
        fates.0.sort();
        read.sort();
        assert_eq!(fates.0, read, "frame {frame}");
        watch(queue.dropper(), reading);
        for fate in read {
            *met.entry(name(fate)).or_insert(0) += 1;
        }
    }
    met
}

fn name(fate: Fate) -> &'static str {
    match fate {
        Fate::Dropped(_, cause) => cause.name(),
        Fate::Marked(..) => "marked",
        Fate::Sent(_) => "sent",
    }
}

/// Are two states the same but for the rounding of sums and powers that were taken in another
/// order?
pub(super) fn assert_near(ours: f64, theirs: f64) {
    // Ten thousand roundings of half a unit in the last place, 1.1e-16 each, with a good margin.
    assert!((ours - theirs).abs() <= 1e-10 * theirs.abs().max(1.0), "{ours} {theirs}");
}
