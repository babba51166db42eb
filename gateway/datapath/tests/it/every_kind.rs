//! Each type of frame keeps to its rate, and a loop is cut.

use etherparse::PacketBuilder;
use fairwire_core::scheduler::Fcfs;
use fairwire_core::{Dropper, Duration, Limit, Queue, Rate, Time};
use fairwire_datapath::classify::Classifier;
use fairwire_datapath::direction::{DirectionPlan, ShaperPlan};
use fairwire_datapath::io::memory::{Arrival, Departure, MemoryPort, run};
use fairwire_datapath::ledger::Loss;
use fairwire_datapath::not_ip::default_rate;
use fairwire_datapath::pool::PoolSize;
use fairwire_datapath::{Datapath, DatapathPlan, Wire};
use fairwire_linux::port::{Port, PortError, PortHealth, Take};
use fairwire_wire::flow_key::FlowHasher;
use fairwire_wire::vnet::VnetHeader;
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

struct TailDrop;
impl Dropper for TailDrop {}

const BPS: u64 = 50_000_000;
const SECOND: Time = Time::from_ns(1_000_000_000);

fn rate(bps: u64) -> Rate {
    Rate::from_bps(bps).expect("not zero")
}

fn shaper(not_ip: Rate) -> Option<ShaperPlan> {
    let discipline = Box::new(Queue::new(Limit::packets(100), Fcfs, TailDrop));
    Some(ShaperPlan { discipline, rate: rate(BPS), catch_up: Duration::from_ms(10), not_ip, control: not_ip })
}

fn datapath(forward: Option<ShaperPlan>, backward: Option<ShaperPlan>) -> Datapath {
    let direction = |shaper| DirectionPlan {
        shaper,
        classifier: Classifier::new(FlowHasher::new([7; 16]), 24),
        pool: PoolSize { frames: 1024, frame_bytes: 2048 },
        flows: 64,
        classes: 1,
    };
    Datapath::new(DatapathPlan { forward: direction(forward), backward: direction(backward) })
}

fn udp(len: usize) -> Vec<u8> {
    let mut frame = Vec::new();
    let packet = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
        .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        .udp(4000, 53);
    packet.write(&mut frame, &vec![7; len]).expect("it fits");
    frame
}

fn with(inside: &[u8], keeps_type: bool, len: usize) -> Vec<u8> {
    let frame = udp(len);
    [&frame[..12], inside, &frame[if keeps_type { 12 } else { 14 }..]].concat()
}

fn pppoe(len: usize) -> Vec<u8> {
    let [a, b] = (len as u16 + 28 + 2).to_be_bytes();
    with(&[0x88, 0x64, 0x11, 0, 0, 7, a, b, 0x00, 0x21], false, len)
}

fn three_tags(len: usize) -> Vec<u8> {
    with(&[0x88, 0xa8, 0, 1, 0x88, 0xa8, 0, 2, 0x81, 0x00, 0, 3], true, len)
}

fn snap(len: usize) -> Vec<u8> {
    let [a, b] = (len as u16 + 28 + 8).to_be_bytes();
    with(&[a, b, 0xaa, 0xaa, 3, 0, 0, 0], true, len)
}

fn arp() -> Vec<u8> {
    [&[0xff; 6][..], &[2, 0, 0, 0, 0, 1, 0x08, 0x06], &[0; 46]].concat()
}

fn other(ethertype: u16, len: usize) -> Vec<u8> {
    [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2][..], &ethertype.to_be_bytes(), &vec![7; len]].concat()
}

fn wire_bytes(frame: &[u8]) -> u64 {
    frame.len() as u64 + 24
}

fn flood(frames: &[Vec<u8>], bps: u64) -> Vec<Arrival> {
    let (mut at, mut arrivals) = (0, Vec::new());
    for frame in frames.iter().cycle() {
        if at >= SECOND.ns() {
            break;
        }
        arrivals.push(Arrival { at: Time::from_ns(at), frame: frame.clone(), vnet: VnetHeader::PLAIN });
        at += wire_bytes(frame) * 8_000_000_000 / bps;
    }
    arrivals
}

fn through(datapath: &mut Datapath, arrivals: Vec<Arrival>) -> Vec<Departure> {
    let mut wire = Wire { left: MemoryPort::new(arrivals), right: MemoryPort::new(vec![]) };
    run(datapath, &mut wire, SECOND);
    assert!(datapath.forward.is_balanced());
    wire.right.sent().to_vec()
}

/// The departure rate, in bit/s.
fn leaving(frames: &[Vec<u8>], not_ip: Rate) -> u64 {
    let mut datapath = datapath(shaper(not_ip), None);
    let sent = through(&mut datapath, flood(frames, 400_000_000));
    sent.iter().map(|sent| wire_bytes(&sent.frame) * 8).sum()
}

/// The maximum departure rate, in bit/s. A burst of frames that are not IP and the last packet
/// together add less than 1 %.
const MOST: u64 = BPS / 100 * 101;

#[test]
fn no_kind_of_frame_leaves_faster_than_the_link() {
    let default = default_rate(rate(BPS));
    for (name, frame) in
        [("udp", udp(1000)), ("pppoe", pppoe(1000)), ("3 tags", three_tags(1000)), ("snap", snap(1000))]
    {
        let bits = leaving(&[frame], default);
        assert!((BPS / 100 * 98..=MOST).contains(&bits), "{name}: {bits} bit/s");
    }
    // The ARP frames differ, since equal broadcasts look like a loop.
    let arps = (0..3000_u16).map(|number| {
        let mut frame = arp();
        frame[50..52].copy_from_slice(&number.to_be_bytes());
        frame
    });
    let kinds = [
        ("arp", arps.collect()),
        ("mpls", vec![other(0x8847, 1000)]),
        ("made up", vec![other(0x1234, 1400)]),
        ("llc", vec![other(300, 300)]),
    ];
    for (name, frames) in kinds {
        let bits = leaving(&frames, default);
        // ARP has a second rate, for network control, equal to `default`.
        let most = (default.bps() + 9 * 1538 * 8) * if name == "arp" { 2 } else { 1 };
        assert!((default.bps() / 2..=most).contains(&bits), "{name}: {bits} bit/s");
    }
}

#[test]
fn a_mix_of_all_kinds_fills_the_link_exactly_at_any_share_of_other_protocols() {
    let mut kinds = vec![udp(1000), pppoe(400), three_tags(60), snap(900), arp()];
    kinds.extend((0..20).map(|n| other(0x2000 + n * 997, 50 + usize::from(n) * 70)));
    for not_ip in [default_rate(rate(BPS)), rate(BPS / 4), rate(BPS)] {
        let bits = leaving(&kinds, not_ip);
        assert!((BPS / 100 * 98..=MOST).contains(&bits), "{not_ip}: {bits} bit/s");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn no_mix_of_ethertypes_leaves_faster_than_the_link(
        mix in prop::collection::vec((any::<u16>(), 46..1500usize, any::<bool>()), 1..40),
        part in 1..=100u64,
        arrive_bps in prop_oneof![Just(60_000_000u64), Just(400_000_000)],
    ) {
        let frames: Vec<_> =
            mix.into_iter().map(|(ethertype, len, is_ip)| if is_ip { udp(len - 28) } else { other(ethertype, len) }).collect();
        let mut datapath = datapath(shaper(rate(BPS * part / 100)), None);
        let sent = through(&mut datapath, flood(&frames, arrive_bps));
        let bits: u64 = sent.iter().map(|sent| wire_bytes(&sent.frame) * 8).sum();
        prop_assert!(bits <= MOST, "{bits} bit/s with {part} % not IP");
    }
}

#[test]
fn keep_alive_frames_pass_at_once_despite_a_full_queue_and_a_flood() {
    let mut arrivals = flood(&[udp(1400), other(0x1234, 1400)], 400_000_000);
    let control: Vec<Arrival> = (0..100)
        .map(|n| Arrival { at: Time::from_ns(n * 10_000_000 + 777), frame: arp(), vnet: VnetHeader::PLAIN })
        .collect();
    let arrived: Vec<Time> = control.iter().map(|arrival| arrival.at).collect();
    arrivals.extend(control);
    arrivals.sort_by_key(|arrival| arrival.at);
    let mut datapath = datapath(shaper(default_rate(rate(BPS))), None);
    let sent = through(&mut datapath, arrivals);
    let passed: Vec<Time> = sent.iter().filter(|sent| sent.frame == arp()).map(|sent| sent.at).collect();
    assert_eq!(passed, arrived, "each, and without waiting");
    let totals = datapath.forward.totals();
    assert!(totals.lost[Loss::NotIp as usize] > 10_000, "{totals:?}");
    let counted: u64 = sent.iter().map(|sent| wire_bytes(&sent.frame)).sum();
    let under_way = totals.bytes_out - counted;
    assert!(under_way <= 1466, "{under_way} bytes more were begun than one packet");
}

#[test]
fn an_unshaped_direction_has_no_bound() {
    let mut datapath = datapath(None, None);
    let arrivals = flood(&[other(0x1234, 1400)], 400_000_000);
    let count = arrivals.len();
    assert_eq!(through(&mut datapath, arrivals).len(), count);
}

#[test]
fn frames_too_long_for_the_outgoing_interface_have_their_own_count() {
    let mut datapath = datapath(shaper(rate(BPS)), None);
    let lens = [100, 1400, 100, 1473];
    let arrivals = lens
        .map(|len| Arrival { at: Time::from_ns(1000), frame: udp(len), vnet: VnetHeader::PLAIN })
        .to_vec();
    let mut wire = Wire { left: MemoryPort::new(arrivals), right: MemoryPort::default().of_longest(1514) };
    run(&mut datapath, &mut wire, SECOND);
    let lost = datapath.forward.totals().lost;
    assert_eq!((lost[Loss::OverMtu as usize], lost[Loss::Refused as usize]), (1, 0));
    assert_eq!(wire.right.sent().len(), 3);
    assert!(datapath.forward.is_balanced());
}

/// A switch connects both ports, so frames that leave by one arrive by the other.
struct Looped {
    arriving: Rc<RefCell<VecDeque<Vec<u8>>>>,
    leaving: Rc<RefCell<VecDeque<Vec<u8>>>>,
    sent: usize,
}

impl Port for Looped {
    fn receive(&mut self, take: &mut Take<'_>) -> Result<(), PortError> {
        let frames: Vec<_> = self.arriving.borrow_mut().drain(..).collect();
        frames.iter().for_each(|frame| take(frame, &VnetHeader::PLAIN));
        Ok(())
    }

    fn transmit(&mut self, frame: &[u8]) -> bool {
        self.sent += 1;
        self.leaving.borrow_mut().push_back(frame.to_vec());
        true
    }

    fn health(&mut self) -> PortHealth {
        PortHealth::default()
    }
}

/// Sends a broadcast in each direction whose entry in `ways` is `true`. Returns the number of
/// frames sent in both directions during second `second`.
fn circling(datapath: &mut Datapath, frame: &[u8], ways: [bool; 2], second: u64) -> usize {
    let queue = || Rc::new(RefCell::new(VecDeque::new()));
    let (to_left, to_right) = (queue(), queue());
    let port = |arriving: &Rc<_>, leaving: &Rc<_>| Looped {
        arriving: Rc::clone(arriving),
        leaving: Rc::clone(leaving),
        sent: 0,
    };
    let mut wire = Wire { left: port(&to_left, &to_right), right: port(&to_right, &to_left) };
    for (is, queue) in ways.into_iter().zip([&to_left, &to_right]) {
        if is {
            queue.borrow_mut().push_back(frame.to_vec());
        }
    }
    for step in 1 + second * 100_000..=(second + 1) * 100_000 {
        datapath.step(&mut wire, Time::from_ns(step * 10_000)).expect("memory does not fail");
    }
    wire.left.sent + wire.right.sent
}

#[test]
fn a_looping_broadcast_is_cut_with_or_without_ip_and_shaping() {
    let mut mdns = udp(100);
    mdns[..6].copy_from_slice(&[0x01, 0x00, 0x5e, 0, 0, 0xfb]);
    for frame in [arp(), mdns] {
        for is_shaped in [true, false] {
            let shaper = || if is_shaped { shaper(default_rate(rate(BPS))) } else { None };
            let mut datapath = datapath(shaper(), shaper());
            let sent = circling(&mut datapath, &frame, [true, true], 0);
            assert!(sent < 200, "{sent} frames of 200 000");
            // Under IGMP snooping, multicasts circle in one direction only. The datapath has
            // already detected this loop.
            let sent = circling(&mut datapath, &frame, [true, false], 1);
            assert!(sent < 200, "{sent} frames of 100 000");
            let looped = |datapath: &Datapath| {
                [&datapath.forward, &datapath.backward]
                    .map(|way| way.totals().lost[Loss::Looped as usize])
                    .iter()
                    .sum::<u64>()
            };
            assert!(looped(&datapath) > 0, "it is counted");
            assert!(datapath.forward.is_balanced() && datapath.backward.is_balanced());
        }
    }
}

#[test]
fn a_one_directional_broadcast_loop_gets_only_the_share_of_other_protocols() {
    let shaper = || shaper(default_rate(rate(BPS)));
    let mut datapath = datapath(shaper(), shaper());
    let sent = circling(&mut datapath, &arp(), [true, false], 0) as u64;
    // A frame counts as 84 bytes.
    assert!(sent <= (500_000 / 8 + 9 * 1538) / 84 + 1, "{sent}");
}

#[test]
fn every_kind_passes_bit_identical() {
    let mut kinds = vec![udp(1), udp(1472), pppoe(1464), three_tags(1472), snap(1400), arp()];
    kinds.extend([
        other(0x88cc, 100),
        other(0x8809, 110),
        other(0x888e, 46),
        other(0x8847, 1500),
        other(38, 46),
    ]);
    kinds.push(
        [&[0x01, 0x80, 0xc2, 0, 0, 0][..], &[2, 0, 0, 0, 0, 3, 0, 38, 0x42, 0x42, 3], &[0; 43]].concat(),
    );
    let arrivals = kinds.iter().enumerate().map(|(number, frame)| {
        let at = Time::from_ns(number as u64 * 50_000_000); // spaced so that none waits for another
        Arrival { at, frame: frame.clone(), vnet: VnetHeader::PLAIN }
    });
    let mut datapath = datapath(shaper(default_rate(rate(BPS))), None);
    let sent = through(&mut datapath, arrivals.collect());
    assert!(sent.iter().map(|sent| &sent.frame).eq(kinds.iter()));
}
