//! Replaces the configuration a thousand times while packets wait, on memory ports and virtual
//! time.

use etherparse::PacketBuilder;
use fairwire_catalogue::{self as catalogue, Parameters, Site, build};
use fairwire_core::units::Amount;
use fairwire_core::{Duration, Probe, Rate, Seed, Time, Unit};
use fairwire_datapath::classify::Classifier;
use fairwire_datapath::direction::{Direction, DirectionPlan, HandedOver, Replacement, ShaperPlan};
use fairwire_datapath::io::memory::{Arrival, Departure, MemoryPort, run};
use fairwire_datapath::ledger::Totals;
use fairwire_datapath::pool::PoolSize;
use fairwire_datapath::{Datapath, DatapathPlan, Wire};
use fairwire_wire::flow_key::FlowHasher;
use fairwire_wire::vnet::VnetHeader;
use std::collections::BTreeMap;

const FLOWS: u16 = 6;
/// The interval between arrivals. The fastest link below needs longer per packet, so packets always
/// wait.
const GAP: Duration = Duration::from_us(150);
const PAYLOAD_BYTES: usize = 500;
/// Bytes of a packet on the link. The last term is the overhead of the links below.
const WIRE_BYTES: u64 = 14 + 20 + 8 + PAYLOAD_BYTES as u64 + 24;

/// Draws the same numbers on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

fn frame(flow: u16, number: u32) -> Vec<u8> {
    let mut payload = [0; PAYLOAD_BYTES];
    payload[..4].copy_from_slice(&number.to_be_bytes());
    let mut frame = Vec::new();
    PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
        .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        .udp(4000 + flow, 9)
        .write(&mut frame, &payload)
        .expect("a vector takes everything");
    frame
}

fn identity(frame: &[u8]) -> (u16, u32) {
    let port = u16::from_be_bytes([frame[34], frame[35]]);
    (port - 4000, u32::from_be_bytes([frame[42], frame[43], frame[44], frame[45]]))
}

fn plan(dice: &mut Dice, buffer: u32, frames: u32) -> DirectionPlan {
    let name = dice.one_of(catalogue::all()).name;
    let rate = Rate::from_bps(dice.one_of(&[10_000_000, 17_000_000, 25_000_000])).expect("not zero");
    let seed = Seed(dice.below(1000));
    let site = Site { rate, buffer: Amount::Packets(buffer), packet_bytes: 560, seed, stream: "reload" };
    let discipline = build(name, &Parameters::default(), &site).expect("the defaults are allowed");
    DirectionPlan {
        shaper: Some(ShaperPlan {
            discipline,
            rate,
            catch_up: Duration::from_ms(1),
            not_ip: rate,
            control: rate,
        }),
        // Another key changes every flow's hash.
        classifier: Classifier::new(FlowHasher::new([dice.one_of(&[7, 8]); 16]), 24),
        pool: PoolSize { frames, frame_bytes: dice.one_of(&[700, 1518]) },
        flows: dice.one_of(&[8, 64]),
        classes: 1,
    }
}

fn unshaped(dice: &mut Dice) -> DirectionPlan {
    DirectionPlan { shaper: None, ..plan(dice, 50, 600) }
}

fn arrivals(count: u32) -> Vec<Arrival> {
    let at = |number: u32| Time::ZERO + Duration::from_ns(GAP.ns() * u64::from(number));
    let arrival = |number: u32| Arrival {
        at: at(number),
        frame: frame((number % u32::from(FLOWS)) as u16, number),
        vnet: VnetHeader::PLAIN,
    };
    (0..count).map(arrival).collect()
}

fn gone(direction: &Direction) -> u64 {
    direction.totals().packets_gone()
}

fn reload(datapath: &mut Datapath, next: DirectionPlan, keeps_flows: bool, now: Time) -> HandedOver {
    let forward = &mut datapath.forward;
    let (inside, lost, totals) = (forward.packets_inside(), gone(forward), *forward.totals());
    let waiting = forward.backlog().packets;
    let is_shaped = next.shaper.is_some();
    let sent = if is_shaped { 0 } else { u64::from(waiting) * WIRE_BYTES };
    let totals = Totals { bytes_out: totals.bytes_out + sent, ..totals };
    let replacement = Replacement::new(next, forward.sizes(), keeps_flows);
    let (handed, _) = forward.replace(replacement, &[0], now);
    assert!(handed.is_balanced && forward.is_balanced());
    assert_eq!(handed.packets, u64::from(waiting));
    assert_eq!((forward.packets_inside(), gone(forward), *forward.totals()), (inside, lost, totals));
    assert_eq!(forward.backlog().packets, if is_shaped { waiting } else { 0 });
    handed
}

fn check_order(sent: &[Departure]) {
    let mut latest: BTreeMap<u16, u32> = BTreeMap::new();
    for departure in sent {
        let (flow, number) = identity(&departure.frame);
        let before = latest.insert(flow, number);
        assert!(before.is_none_or(|before| before < number), "flow {flow}: {number} after {before:?}");
    }
}

#[test]
fn a_thousand_random_reloads_under_load_lose_and_reorder_nothing() {
    let mut dice = Dice(1);
    let start = DatapathPlan { forward: plan(&mut dice, 50, 600), backward: unshaped(&mut dice) };
    let mut datapath = Datapath::new(start);
    let mut wire = Wire { left: MemoryPort::new(arrivals(8000)), right: MemoryPort::new(vec![]) };
    let (mut handed, mut ahead, mut now) = (0, 0, Time::ZERO);
    for step in 1..=1000 {
        now = run(&mut datapath, &mut wire, Time::from_ns(step * 1_100_000)).max(now);
        let (buffer, frames) = (dice.one_of(&[5, 50, 200]), dice.one_of(&[600, 900, 20]));
        let next = if dice.below(20) == 0 { unshaped(&mut dice) } else { plan(&mut dice, buffer, frames) };
        let keeps = dice.below(2) == 0;
        let report = reload(&mut datapath, next, keeps, now);
        handed += report.packets;
        ahead += report.ahead;
    }
    run(&mut datapath, &mut wire, Time::MAX);
    let totals = datapath.forward.totals();
    assert_eq!((datapath.forward.packets_inside(), totals.packets_in), (0, 8000));
    assert_eq!(totals.packets_out + totals.packets_gone(), 8000);
    check_order(wire.right.sent());
    // The test needs packets that go ahead of the new discipline.
    assert!(handed > 5000 && ahead > 100 && totals.packets_out > 4000, "{handed} {ahead} {totals:?}");
}

#[test]
fn the_packet_in_transmission_leaves_when_it_would_have_left() {
    let mut dice = Dice(2);
    let slow = |discipline: &str, bps| {
        let rate = Rate::from_bps(bps).expect("not zero");
        let site = Site { rate, buffer: Amount::Packets(50), packet_bytes: 560, seed: Seed(1), stream: "r" };
        let discipline = build(discipline, &Parameters::default(), &site).expect("the defaults are allowed");
        let shaper =
            Some(ShaperPlan { discipline, rate, catch_up: Duration::ZERO, not_ip: rate, control: rate });
        DirectionPlan { shaper, ..unshaped(&mut Dice(3)) }
    };
    let times = |is_reloaded: bool, dice: &mut Dice| {
        let start = DatapathPlan { forward: slow("tail-drop", 1_000_000), backward: unshaped(dice) };
        let mut datapath = Datapath::new(start);
        let mut wire = Wire { left: MemoryPort::new(arrivals(3)), right: MemoryPort::new(vec![]) };
        let now = run(&mut datapath, &mut wire, Time::from_ns(6_000_000));
        assert_eq!(datapath.forward.backlog().packets, 1, "one has been sent, one is being sent, one waits");
        if is_reloaded {
            reload(&mut datapath, slow("drr", 500_000), true, now);
        }
        run(&mut datapath, &mut wire, Time::MAX);
        wire.right.sent().iter().map(|departure| departure.at).collect::<Vec<_>>()
    };
    let (before, after) = (times(false, &mut dice), times(true, &mut dice));
    assert_eq!(before[..2], after[..2]);
    assert_eq!(after[2].since(after[1]), before[2].since(before[1]) * 2, "at half the rate");
}

#[test]
fn counts_of_flows_and_classes_continue_across_a_reload() {
    let mut dice = Dice(4);
    let classifier = || Classifier::new(FlowHasher::new([7; 16]), 24);
    let plan =
        |dice: &mut Dice| DirectionPlan { flows: 64, classifier: classifier(), ..plan(dice, 200, 600) };
    let start = DatapathPlan { forward: plan(&mut dice), backward: unshaped(&mut dice) };
    let mut datapath = Datapath::new(start);
    let mut wire = Wire { left: MemoryPort::new(arrivals(60)), right: MemoryPort::new(vec![]) };
    let now = run(&mut datapath, &mut wire, Time::from_ns(3_000_000));
    let before = datapath.forward.classes().all()[0];
    assert!(before.packets_in > 0);
    let mut next = plan(&mut dice);
    next.classes = 3;
    let replacement = Replacement::new(next, datapath.forward.sizes(), true);
    datapath.forward.replace(replacement, &[2], now);
    assert_eq!(datapath.forward.classes().all()[2], before, "the class has another number");
    run(&mut datapath, &mut wire, Time::MAX);
    let flow = classifier().classify(&frame(0, 0)).flow;
    assert_eq!(datapath.forward.accounts().of(flow).packets_in, 10);
}

struct Gauge(&'static str, f64);

impl Probe for Gauge {
    fn gauge(&mut self, name: &str, _: Unit, value: f64) {
        if name == self.0 {
            self.1 = value;
        }
    }
}

#[test]
fn a_reload_of_a_parameter_keeps_the_state_of_the_discipline() {
    let pie = |target: &str| {
        let rate = Rate::from_bps(10_000_000).expect("not zero");
        let site = Site { rate, buffer: Amount::Packets(200), packet_bytes: 560, seed: Seed(1), stream: "r" };
        let parameters: Parameters = toml::from_str(&format!("[pie]\ntarget = '{target}'")).expect("right");
        let discipline = build("pie", &parameters, &site).expect("it is allowed");
        let shaper =
            Some(ShaperPlan { discipline, rate, catch_up: Duration::ZERO, not_ip: rate, control: rate });
        DirectionPlan { shaper, ..unshaped(&mut Dice(3)) }
    };
    let probability = |datapath: &Datapath| {
        let mut gauge = Gauge("probability", 0.0);
        datapath.forward.inspect(&mut gauge);
        gauge.1
    };
    let start = DatapathPlan { forward: pie("2 ms"), backward: unshaped(&mut Dice(4)) };
    let mut datapath = Datapath::new(start);
    let mut wire = Wire { left: MemoryPort::new(arrivals(9000)), right: MemoryPort::new(vec![]) };
    let now = run(&mut datapath, &mut wire, Time::from_ns(1_000_000_000));
    let learnt = probability(&datapath);
    assert!(learnt > 0.1, "{learnt}");
    reload(&mut datapath, pie("3 ms"), true, now);
    assert_eq!(probability(&datapath), learnt);
    reload(&mut datapath, pie("3 ms"), false, now);
    assert_eq!(probability(&datapath), 0.0, "packets of another name are handed over to a new one");
    run(&mut datapath, &mut wire, Time::MAX);
    check_order(wire.right.sent());
}
