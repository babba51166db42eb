//! One packet trace passes through a simulated link and through the gateway's core, under a virtual
//! clock. Every decision must be equal.

use fairwire_catalogue::{self as catalogue, Parameters, Site, build};
use fairwire_core::units::Amount;
use fairwire_core::{Cause, Discipline, Duration, Ecn, Packet, Rate, RateLaw, Rng, Seed, Signals, Time};
use fairwire_datapath::classify::Classifier;
use fairwire_datapath::direction::{DirectionPlan, ShaperPlan};
use fairwire_datapath::io::memory;
use fairwire_datapath::io::memory::{Arrival, MemoryPort};
use fairwire_datapath::pool::PoolSize;
use fairwire_datapath::{Datapath, DatapathPlan, Wire};
use fairwire_sim::{Link, LinkPlan};
use fairwire_wire::flow_key::FlowHasher;
use fairwire_wire::headers::parse;
use fairwire_wire::vnet::VnetHeader;
use std::collections::BTreeMap;

const FRAMES: u32 = 30_000;

/// A time later than the last departure.
const END: Time = Time::from_ns(1_000_000_000_000);

#[derive(Debug, PartialEq)]
struct Fate {
    sent: Vec<(u32, Time, Ecn)>, // frame, departure of its last bit, ECN field
    drops: BTreeMap<String, u64>,
    marks: BTreeMap<String, u64>,
}

fn rate() -> Rate {
    Rate::from_bps(10_000_000).expect("not zero")
}

fn discipline(name: &str, ecn: &str) -> Box<dyn Discipline> {
    let parameters: Parameters =
        toml::from_str(&format!("[{name:?}]\necn = \"{ecn}\"")).expect("every entry knows ecn");
    let site = Site {
        rate: rate(),
        buffer: Amount::Packets(100),
        packet_bytes: 512,
        seed: Seed(11),
        stream: "link/bottleneck",
    };
    build(name, &parameters, &site).expect("defaults build")
}

fn classifier() -> Classifier {
    Classifier::new(FlowHasher::new([7; 16]), -14)
}

/// Between pauses, packets arrive at 1.4 times the link's rate.
fn trace() -> Vec<Arrival> {
    let mut rng = Seed(5).stream("trace");
    let mut at = Time::from_ns(1_000);
    (0..FRAMES)
        .map(|number| {
            at += Duration::from_ns(1 + u64::from(rng.below(600_000)));
            if number % 1000 == 0 {
                at += Duration::from_ms(500); // a lull: the link goes idle
            }
            let flow = if rng.chance(0.5) { 0 } else { 1 + rng.below(4) as u8 };
            Arrival { at, frame: frame(number, flow, &mut rng), vnet: VnetHeader::default() }
        })
        .collect()
}

fn frame(number: u32, flow: u8, rng: &mut Rng) -> Vec<u8> {
    let ecn = if flow.is_multiple_of(2) { etherparse::IpEcn::Ect0 } else { etherparse::IpEcn::NotEct };
    let mut ip =
        etherparse::Ipv4Header::new(0, 64, etherparse::IpNumber::UDP, [10, 0, 0, flow], [10, 0, 1, 1])
            .expect("no payload yet");
    ip.ecn = ecn;
    let mut payload = vec![0; 60 + rng.below(900) as usize];
    payload[..4].copy_from_slice(&number.to_be_bytes());
    let mut bytes = Vec::new();
    etherparse::PacketBuilder::ethernet2([2; 6], [4; 6])
        .ip(etherparse::IpHeaders::Ipv4(ip, etherparse::Ipv4Extensions::default()))
        .udp(4000, 5000)
        .write(&mut bytes, &payload)
        .expect("a vector takes everything");
    bytes
}

fn number_of(frame: &[u8]) -> u32 {
    u32::from_be_bytes(frame[42..46].try_into().expect("four bytes"))
}

#[derive(Default)]
struct Silent;

impl Signals for Silent {
    fn dropped(&mut self, _: Packet, _: Cause) {}
    fn marked(&mut self, _: &Packet, _: Cause) {}
}

fn simulated(name: &str, ecn: &str, trace: &[Arrival]) -> Fate {
    let plan = LinkPlan {
        wire: None,
        name: name.into(),
        rate: rate(),
        law: RateLaw::Fixed,
        delay: Duration::ZERO,
        discipline: discipline(name, ecn),
    };
    let mut link = Link::new(plan);
    let mut sent = Vec::new();
    let mut note = |departure: Option<fairwire_sim::Departure>| {
        if let Some(d) = departure {
            sent.push((d.packet.frame, d.reaches, d.packet.ecn));
        }
    };
    for (number, arrival) in trace.iter().enumerate() {
        while link.next_poll_at() <= arrival.at {
            note(link.poll(link.next_poll_at(), &mut Silent));
        }
        let facts = classifier().classify(&arrival.frame);
        let packet = Packet {
            ecn: facts.ecn,
            dscp: facts.dscp,
            ..Packet::new(number as u32, facts.len, facts.flow, arrival.at)
        };
        note(link.enqueue(packet, arrival.at, &mut Silent));
    }
    while link.next_poll_at() != Time::MAX {
        note(link.poll(link.next_poll_at(), &mut Silent));
    }
    let record = link.record(END);
    Fate { sent, drops: record.drops, marks: record.marks }
}

fn by_cause(counts: &[u64]) -> BTreeMap<String, u64> {
    let counted = Cause::ALL.iter().zip(counts).filter(|(_, count)| **count > 0);
    counted.map(|(cause, count)| (cause.name().to_owned(), *count)).collect()
}

fn forwarded(name: &str, ecn: &str, trace: Vec<Arrival>) -> Fate {
    let direction = |shaper| DirectionPlan {
        shaper,
        classifier: classifier(),
        pool: PoolSize { frames: 4096, frame_bytes: 2048 },
        flows: 64,
        classes: 1,
    };
    let (rate, catch_up) = (rate(), Duration::from_ms(1));
    let shaper =
        ShaperPlan { discipline: discipline(name, ecn), rate, catch_up, not_ip: rate, control: rate };
    let plan = DatapathPlan { forward: direction(Some(shaper)), backward: direction(None) };
    let mut datapath = Datapath::new(plan);
    let mut wire = Wire { left: MemoryPort::new(trace), right: MemoryPort::default() };
    memory::run(&mut datapath, &mut wire, Time::MAX);
    assert!(datapath.forward.is_balanced());
    let sent = wire.right.sent().iter().map(|departure| {
        let network = parse(&departure.frame).network.expect("an IP packet");
        (number_of(&departure.frame), departure.at, network.ecn)
    });
    let totals = datapath.forward.totals();
    Fate { sent: sent.collect(), drops: by_cause(&totals.dropped), marks: by_cause(&totals.marked) }
}

#[test]
fn every_decision_is_the_same_in_the_simulator_and_in_the_gateway() {
    for entry in catalogue::all() {
        for ecn in ["drop", "mark"] {
            let trace = trace();
            let simulated = simulated(entry.name, ecn, &trace);
            let dropped: u64 = simulated.drops.values().sum();
            assert!(dropped > 1000, "{}: the trace must overload the link, {dropped} drops", entry.name);
            assert_eq!(simulated.sent.len() as u64 + dropped, u64::from(FRAMES), "{}", entry.name);
            let forwarded = forwarded(entry.name, ecn, trace);
            assert_eq!(simulated.drops, forwarded.drops, "{} {ecn}", entry.name);
            assert_eq!(simulated.marks, forwarded.marks, "{} {ecn}", entry.name);
            let first = simulated.sent.iter().zip(&forwarded.sent).position(|(a, b)| a != b);
            assert_eq!(first, None, "{} {ecn}: the first packet that fared differently", entry.name);
            assert_eq!(simulated.sent.len(), forwarded.sent.len(), "{} {ecn}", entry.name);
        }
    }
}
