//! The datapath on memory ports and virtual time.

use etherparse::{IpNumber, PacketBuilder, SlicedPacket};
use fairwire_catalogue::{Parameters, Site, build};
use fairwire_core::scheduler::Fcfs;
use fairwire_core::units::Amount;
use fairwire_core::{
    Buffer, Cause, Discipline, Dropper, Duration, Ecn, EcnPolicy, Limit, Packet, Queue, Rate, Seed, Time,
    Verdict,
};
use fairwire_datapath::classify::{Classifier, Dscp, ETHERNET_HEADER_BYTES};
use fairwire_datapath::direction::{Direction, DirectionPlan, ShaperPlan};
use fairwire_datapath::io::memory::{Arrival, Departure, MemoryPort, run};
use fairwire_datapath::ledger::Loss;
use fairwire_datapath::not_ip::default_rate;
use fairwire_datapath::pool::PoolSize;
use fairwire_datapath::{Datapath, DatapathPlan, Wire};
use fairwire_linux::port::{LinkKind, Port, PortError, PortHealth, Take};
use fairwire_wire::flow_key::FlowHasher;
use fairwire_wire::vnet::{GSO_TCPV4, NEEDS_CSUM, VnetHeader};
use proptest::prelude::*;

const ONE_BYTE_PER_US: u64 = 8_000_000;
const ROOMY: PoolSize = PoolSize { frames: 4096, frame_bytes: 1518 };

struct TailDrop;
impl Dropper for TailDrop {}

struct Signalling;
impl Dropper for Signalling {
    fn on_arrival(&mut self, _: &Packet, _: &Buffer, _: Time) -> Verdict {
        Verdict::Signal(Cause::Early)
    }
}

fn tail_drop(packets: u32) -> Box<dyn Discipline> {
    Box::new(Queue::new(Limit::packets(packets), Fcfs, TailDrop))
}

fn rate(bps: u64) -> Rate {
    Rate::from_bps(bps).expect("not zero")
}

fn datapath_of(discipline: Box<dyn Discipline>, bps: u64, pool: PoolSize) -> Datapath {
    let (rate, catch_up) = (rate(bps), Duration::ZERO);
    late_datapath_of(
        ShaperPlan { discipline, rate, catch_up, not_ip: default_rate(rate), control: default_rate(rate) },
        pool,
    )
}

fn late_datapath_of(link: ShaperPlan, pool: PoolSize) -> Datapath {
    let direction = |shaper| DirectionPlan {
        shaper,
        classifier: Classifier::new(FlowHasher::new([7; 16]), -ETHERNET_HEADER_BYTES),
        pool,
        flows: 16,
        classes: 1,
    };
    let plan = DatapathPlan { forward: direction(Some(link)), backward: direction(None) };
    Datapath::new(plan)
}

fn through(datapath: &mut Datapath, arrivals: Vec<Arrival>) -> Vec<Departure> {
    let mut wire = Wire { left: MemoryPort::new(arrivals), right: MemoryPort::new(vec![]) };
    run(datapath, &mut wire, Time::MAX);
    assert!(datapath.forward.is_balanced());
    assert_eq!(datapath.forward.packets_inside(), 0);
    wire.right.sent().to_vec()
}

fn at_us(us: u64, frame: Vec<u8>) -> Arrival {
    Arrival { at: Time::from_ns(us * 1000), frame, vnet: VnetHeader::PLAIN }
}

/// A UDP frame whose IP packet has `len` bytes.
fn udp(flow: u16, len: usize, ecn: Ecn) -> Vec<u8> {
    let payload = vec![0xab; len - 28];
    let header = etherparse::Ipv4Header::new(
        (8 + payload.len()) as u16,
        64,
        IpNumber::UDP,
        [10, 0, 0, 1],
        [10, 0, 0, 2],
    );
    let mut header = header.expect("it fits");
    header.ecn = etherparse::IpEcn::try_new(ecn as u8).expect("two bits");
    let builder = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
        .ip(etherparse::IpHeaders::Ipv4(header, etherparse::Ipv4Extensions::default()))
        .udp(flow, 9);
    let mut frame = Vec::new();
    builder.write(&mut frame, &payload).expect("a vector takes everything");
    frame
}

fn super_packet(segments: usize, size: u16) -> Arrival {
    let builder = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
        .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        .tcp(1, 2, 1000, 100);
    let mut frame = Vec::new();
    builder.write(&mut frame, &vec![0xcd; segments * usize::from(size)]).expect("a vector takes everything");
    let vnet = VnetHeader {
        flags: NEEDS_CSUM,
        gso_type: GSO_TCPV4,
        hdr_len: 54,
        gso_size: size,
        csum_start: 34,
        csum_offset: 16,
    };
    Arrival { at: Time::ZERO, frame, vnet }
}

fn acknowledgement(number: u32, has_blocks: bool) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
        .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        .tcp(1, 2, 1000, 100)
        .ack(number);
    let blocks = [5, 10, 0, 0, 9, 0, 0, 0, 9, 9, 1, 1];
    let builder = builder.options_raw(if has_blocks { &blocks } else { &[] }).expect("they fit");
    let mut frame = Vec::new();
    builder.write(&mut frame, &[]).expect("a vector takes everything");
    frame
}

fn arp() -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend([2, 0, 0, 0, 0, 1, 0x08, 0x06]);
    frame.resize(42, 0);
    frame
}

fn times_us(sent: &[Departure]) -> Vec<u64> {
    sent.iter().map(|departure| departure.at.ns() / 1000).collect()
}

#[test]
fn a_packet_leaves_when_its_last_bit_is_sent() {
    let mut datapath = datapath_of(tail_drop(10), ONE_BYTE_PER_US, ROOMY);
    let frames = [at_us(10, udp(1, 100, Ecn::NotEct)), at_us(20, udp(1, 200, Ecn::NotEct))];
    let sent = through(&mut datapath, frames.clone().into());
    assert_eq!(times_us(&sent), [110, 310]);
    assert_eq!(sent[0].frame, frames[0].frame);
    let waited = datapath.forward.sojourns().window(Time::from_ns(400_000));
    assert!((waited.max_s - 90e-6).abs() < 1e-12, "{waited:?}"); // the second, from 20 to 110 us
}

#[test]
fn the_rate_is_exact_over_many_packets() {
    let bps = 9_999_991; // a prime: no packet takes a whole number of nanoseconds
    let mut datapath = datapath_of(tail_drop(20_000), bps, PoolSize { frames: 20_001, ..ROOMY });
    let count = 20_000;
    let sent = through(&mut datapath, (0..count).map(|_| at_us(0, udp(1, 512, Ecn::NotEct))).collect());
    assert_eq!(sent.len(), count);
    let took = (sent.last().expect("many").at.since(Time::ZERO)).ns();
    assert_eq!(u128::from(took), count as u128 * 512 * 8 * 1_000_000_000 / u128::from(bps));
}

#[test]
fn a_late_process_keeps_the_rate_only_up_to_the_credit() {
    // 200 steps of 5 ms carry 50 packets each, or 25 with a catch-up of 2.5 ms.
    for (catch_up, packets) in
        [(Duration::from_ms(5), 10_000..=10_050), (Duration::from_us(2_500), 5_000..=5_250)]
    {
        let rate = rate(ONE_BYTE_PER_US);
        let link = ShaperPlan {
            discipline: tail_drop(20_000),
            rate,
            catch_up,
            not_ip: default_rate(rate),
            control: default_rate(rate),
        };
        let mut datapath = late_datapath_of(link, PoolSize { frames: 20_000, ..ROOMY });
        let arrivals = (0..20_000).map(|_| at_us(0, udp(1, 100, Ecn::NotEct))).collect();
        let mut wire = Wire { left: MemoryPort::new(arrivals), right: MemoryPort::new(vec![]) };
        for step in 0..=200 {
            datapath.step(&mut wire, Time::ZERO + Duration::from_ms(5) * step).expect("memory does not fail");
        }
        let begun = datapath.forward.totals().bytes_out / 100;
        assert!(packets.contains(&begun), "{catch_up}: {begun}");
    }
}

#[test]
fn a_super_packet_is_queued_and_dropped_packet_by_packet() {
    let mut datapath = datapath_of(tail_drop(5), ONE_BYTE_PER_US, ROOMY);
    let sent = through(&mut datapath, vec![super_packet(20, 460)]);
    // Each segment is a 500-byte packet. One is sent, five wait.
    assert_eq!(times_us(&sent), [500, 1000, 1500, 2000, 2500, 3000]);
    let totals = datapath.forward.totals();
    assert_eq!((totals.frames_received, totals.packets_in), (1, 20));
    assert_eq!(totals.dropped[Cause::Overflow as usize], 14);
    for (k, departure) in sent.iter().enumerate() {
        assert_eq!(departure.frame.len(), 514);
        check_tcp(&departure.frame, 1000 + 460 * k as u32);
    }
}

fn check_tcp(frame: &[u8], sequence: u32) {
    let sliced = SlicedPacket::from_ethernet(frame).expect("a whole packet");
    let Some(etherparse::NetSlice::Ipv4(ip)) = sliced.net else { panic!("no IPv4") };
    let Some(etherparse::TransportSlice::Tcp(tcp)) = sliced.transport else { panic!("no TCP") };
    assert_eq!(ip.header().header_checksum(), ip.header().to_header().calc_header_checksum());
    let expected = tcp.to_header().calc_checksum_ipv4_raw(
        ip.header().source(),
        ip.header().destination(),
        tcp.payload(),
    );
    assert_eq!((tcp.checksum(), tcp.sequence_number()), (expected.expect("it fits"), sequence));
}

#[test]
fn a_mark_changes_only_the_ecn_field_and_checksum() {
    let queue = Queue::new(Limit::packets(10), Fcfs, Signalling).with_ecn(EcnPolicy::Mark);
    let mut datapath = datapath_of(Box::new(queue), ONE_BYTE_PER_US, ROOMY);
    let arrivals = [Ecn::Ect0, Ecn::NotEct, Ecn::Ect1].map(|ecn| at_us(0, udp(1, 100, ecn)));
    let sent = through(&mut datapath, arrivals.into());
    assert_eq!(sent.len(), 2, "the packet that is not ECN-capable was dropped");
    assert!(sent.iter().all(|departure| departure.frame == udp(1, 100, Ecn::Ce)));
    let (totals, early) = (datapath.forward.totals(), Cause::Early as usize);
    assert_eq!((totals.marked[early], totals.dropped[early]), (2, 1));
}

const TOS: usize = 15;

fn with_dscp(mut frame: Vec<u8>, dscp: u8) -> Vec<u8> {
    let (mut header, _) = etherparse::Ipv4Header::from_slice(&frame[14..]).expect("IPv4");
    header.dscp = etherparse::IpDscp::try_new(dscp).expect("six bits");
    header.header_checksum = header.calc_header_checksum();
    frame[14..34].copy_from_slice(&header.to_bytes());
    frame
}

fn datapath_writing(dscp: Dscp, discipline: Box<dyn Discipline>) -> Datapath {
    let mut datapath = datapath_of(tail_drop(10), ONE_BYTE_PER_US, ROOMY);
    let plain = Classifier::new(FlowHasher::new([7; 16]), -ETHERNET_HEADER_BYTES);
    let rate = rate(ONE_BYTE_PER_US);
    let shaper = ShaperPlan { discipline, rate, catch_up: Duration::ZERO, not_ip: rate, control: rate };
    let plan = DirectionPlan {
        shaper: Some(shaper),
        classifier: plain.writing(dscp),
        pool: ROOMY,
        flows: 16,
        classes: 1,
    };
    datapath.forward = Direction::new(plan);
    datapath
}

#[test]
fn colours_arrive_and_leave_as_codepoints_of_the_configured_class() {
    // Best effort and EF are green. The other codepoints are AF11 (green), AF32 (yellow) and AF43
    // (red).
    let came = [(0, Ecn::NotEct), (46, Ecn::Ect0), (10, Ecn::Ce), (28, Ecn::Ect1), (38, Ecn::NotEct)];
    for (dscp, left) in [
        (Dscp::Keep, [0, 46, 10, 28, 38]),
        (Dscp::Wash, [0; 5]),
        (Dscp::Assured(1), [10, 10, 10, 12, 14]),
        (Dscp::Assured(4), [34, 34, 34, 36, 38]),
    ] {
        let mut datapath = datapath_writing(dscp, tail_drop(10));
        let frame = |(dscp, ecn)| with_dscp(udp(1, 100, ecn), dscp);
        let sent = through(&mut datapath, came.map(|one| at_us(0, frame(one))).into());
        let expected = came.iter().zip(left).map(|((_, ecn), left)| frame((left, *ecn)));
        assert!(sent.iter().map(|sent| sent.frame.clone()).eq(expected), "{dscp:?}");
    }
}

#[test]
fn a_mark_and_a_colour_are_written_into_one_packet() {
    let marking = Queue::new(Limit::packets(10), Fcfs, Signalling).with_ecn(EcnPolicy::Mark);
    let mut datapath = datapath_writing(Dscp::Assured(2), Box::new(marking));
    let sent = through(&mut datapath, vec![at_us(0, with_dscp(udp(1, 100, Ecn::Ect0), 14))]);
    assert_eq!(sent[0].frame, with_dscp(udp(1, 100, Ecn::Ce), 22));
}

#[test]
fn codepoints_are_washed_if_configured_and_ecn_stays() {
    for washes in [true, false] {
        let dscp = if washes { Dscp::Wash } else { Dscp::Keep };
        let mut datapath = datapath_writing(dscp, tail_drop(10));
        let clean = udp(1, 100, Ecn::Ect0);
        let marked = with_dscp(clean.clone(), 46);
        assert_eq!(marked[TOS], 46 << 2 | 2);
        let sent =
            through(&mut datapath, vec![at_us(0, marked.clone()), at_us(0, clean.clone()), at_us(0, arp())]);
        let frames: Vec<_> =
            sent.iter().filter(|sent| sent.frame.len() > 60).map(|sent| &sent.frame).collect();
        assert_eq!(frames, [if washes { &clean } else { &marked }, &clean]);
        assert_eq!(datapath.forward.totals().washed, u64::from(washes));
    }
}

#[test]
fn acknowledgements_are_read_from_frames_where_a_discipline_filters_them() {
    let parameters: Parameters = toml::from_str("[cake-like]\nack_filter = 'aggressive'").expect("right");
    let buffer = Amount::Packets(100);
    let site = Site { rate: rate(ONE_BYTE_PER_US), buffer, packet_bytes: 1500, seed: Seed(1), stream: "x" };
    let sent_of = |acks: &[(u32, bool)]| {
        let mut datapath =
            datapath_of(build("cake-like", &parameters, &site).expect("allowed"), ONE_BYTE_PER_US, ROOMY);
        let frames = acks.iter().map(|&(number, has_blocks)| acknowledgement(number, has_blocks));
        let all = std::iter::once(udp(1, 1000, Ecn::NotEct)).chain(frames);
        let sent = through(&mut datapath, (0..).zip(all).map(|(us, frame)| at_us(us, frame)).collect());
        let number = |frame: &Vec<u8>| u32::from_be_bytes([frame[42], frame[43], frame[44], frame[45]]);
        sent[1..].iter().map(|departure| number(&departure.frame)).collect::<Vec<_>>()
    };
    assert_eq!(sent_of(&[(100, false), (200, false), (300, false)]), [300]);
    assert_eq!(sent_of(&[(100, false), (200, true), (300, false)]), [200, 300]);
    assert_eq!(sent_of(&[(100, false), (100, false), (100, false)]), [100, 100, 100]);
}

#[test]
fn arp_passes_a_link_that_is_blocked() {
    let mut datapath = datapath_of(tail_drop(10), 8, ROOMY); // 1 B/s
    let sent = through(&mut datapath, vec![at_us(0, udp(1, 100, Ecn::NotEct)), at_us(5, arp())]);
    assert_eq!(sent[0], Departure { at: Time::from_ns(5_000), frame: arp() });
    assert_eq!(datapath.forward.totals().unshaped, 1);
}

#[test]
fn at_one_instant_a_departure_frees_its_place_before_an_arrival() {
    let mut datapath = datapath_of(tail_drop(1), ONE_BYTE_PER_US, ROOMY);
    let arrivals = [0, 50, 100].map(|us| at_us(us, udp(1, 100, Ecn::NotEct)));
    assert_eq!(times_us(&through(&mut datapath, arrivals.into())), [100, 200, 300]);
}

#[test]
fn losses_to_an_exhausted_pool_and_a_down_port_are_counted() {
    let mut datapath = datapath_of(tail_drop(10), ONE_BYTE_PER_US, PoolSize { frames: 2, frame_bytes: 600 });
    let lens = [100, 587, 100, 100];
    let arrivals = lens.map(|len| at_us(0, udp(1, len, Ecn::NotEct))).to_vec();
    let mut wire = Wire { left: MemoryPort::new(arrivals), right: MemoryPort::down() };
    run(&mut datapath, &mut wire, Time::MAX);
    let lost = |loss| datapath.forward.totals().lost[loss as usize];
    assert_eq!((lost(Loss::TooLong), lost(Loss::NoBuffer), lost(Loss::Refused)), (1, 1, 2));
    assert!(datapath.forward.is_balanced());
}

#[test]
fn links_without_ethernet_headers_split_shape_and_mark_alike() {
    let queue = || Queue::new(Limit::packets(10), Fcfs, Signalling).with_ecn(EcnPolicy::Mark);
    let mut train = super_packet(4, 460);
    let headers = fairwire_wire::parse(&train.frame);
    fairwire_wire::set_ecn(&mut train.frame, &headers, Ecn::Ect1);
    let arrivals = vec![train, at_us(0, udp(1, 100, Ecn::Ect0)), at_us(0, arp())];
    let bare = |arrival: &Arrival| {
        let (frame, mut vnet) = (arrival.frame[14..].to_vec(), arrival.vnet);
        vnet.csum_start = vnet.csum_start.saturating_sub(14);
        vnet.hdr_len = vnet.hdr_len.saturating_sub(14);
        Arrival { frame, vnet, at: arrival.at }
    };
    let mut ethernet = datapath_of(Box::new(queue()), ONE_BYTE_PER_US, ROOMY);
    let expected = through(&mut ethernet, arrivals.clone());
    let mut ip = datapath_of(Box::new(queue()), ONE_BYTE_PER_US, ROOMY);
    let port = |arrivals| MemoryPort::new(arrivals).of_kind(LinkKind::Ip);
    let mut wire = Wire { left: port(arrivals.iter().map(bare).collect()), right: port(vec![]) };
    run(&mut ip, &mut wire, Time::MAX);
    let given: Vec<_> =
        wire.right.sent().iter().map(|departure| (departure.at, departure.frame.clone())).collect();
    let expected: Vec<_> =
        expected.iter().map(|departure| (departure.at, departure.frame[14..].to_vec())).collect();
    assert_eq!((given.len(), given), (6, expected));
    assert_eq!(Ecn::from_bits(wire.right.sent()[5].frame[1]), Ecn::Ce);
}

#[derive(Default)]
struct Fussy {
    tried: u64,
    sent: u64,
}

impl Port for Fussy {
    fn receive(&mut self, take: &mut Take<'_>) -> Result<(), PortError> {
        if self.tried == 0 {
            (0..200).for_each(|flow| take(&udp(flow, 100, Ecn::NotEct), &VnetHeader::PLAIN));
        }
        Ok(())
    }

    fn transmit(&mut self, _: &[u8]) -> bool {
        self.tried += 1;
        self.sent += u64::from(!self.tried.is_multiple_of(3));
        !self.tried.is_multiple_of(3)
    }

    fn health(&mut self) -> PortHealth {
        PortHealth::default()
    }
}

#[test]
fn refused_frames_of_a_batch_are_counted_and_the_rest_is_sent() {
    let mut datapath = datapath_of(tail_drop(10), ONE_BYTE_PER_US, ROOMY);
    let mut wire = Wire { left: Fussy { tried: 1, ..Fussy::default() }, right: Fussy::default() };
    // Nothing is shaped from right to left, so frames leave in batches of 64.
    assert_eq!(datapath.step(&mut wire, Time::ZERO).expect("it does not fail"), 200);
    let totals = datapath.backward.totals();
    assert_eq!((wire.left.tried - 1, wire.left.sent), (200, 133));
    assert_eq!((totals.packets_out, totals.unshaped), (133, 133));
    assert_eq!(totals.lost[Loss::Refused as usize], 67);
    assert!(datapath.backward.is_balanced() && datapath.backward.packets_inside() == 0);
}

#[derive(Default)]
struct Noting {
    arrivals: Vec<Vec<u8>>,
    time: Time,
    left_us: Vec<u64>,
}

impl Port for Noting {
    fn receive(&mut self, take: &mut Take<'_>) -> Result<(), PortError> {
        self.arrivals.drain(..).for_each(|frame| take(&frame, &VnetHeader::PLAIN));
        Ok(())
    }

    fn transmit(&mut self, _: &[u8]) -> bool {
        self.left_us.push(self.time.ns() / 1000);
        true
    }

    fn leaves_at(&mut self, time: Time) {
        self.time = time;
    }

    fn health(&mut self) -> PortHealth {
        PortHealth::default()
    }
}

#[test]
fn a_late_caller_catches_up_with_each_departure_at_its_due_time() {
    let mut datapath = datapath_of(tail_drop(10), ONE_BYTE_PER_US, ROOMY);
    let mut wire: Wire<Noting> = Wire { left: Noting::default(), right: Noting::default() };
    for at_us in [0, 10_000] {
        let now = Time::from_ns(at_us * 1000);
        datapath.catch_up(&mut wire, now);
        wire.left.arrivals = vec![udp(1, 100, Ecn::NotEct); 3];
        datapath.step(&mut wire, now).expect("it does not fail");
    }
    datapath.catch_up(&mut wire, Time::from_ns(20_000_000));
    assert_eq!(wire.right.left_us, [100, 200, 300, 10_100, 10_200, 10_300]);
}

#[test]
fn the_opposite_direction_is_not_shaped() {
    let mut datapath = datapath_of(tail_drop(1), 8, ROOMY);
    let frames: Vec<_> = (0..50).map(|us| at_us(us, udp(1, 1500, Ecn::NotEct))).collect();
    let mut wire = Wire { left: MemoryPort::new(vec![]), right: MemoryPort::new(frames) };
    run(&mut datapath, &mut wire, Time::MAX);
    assert_eq!(times_us(wire.left.sent()), (0..50).collect::<Vec<u64>>());
}

fn any_arrival() -> impl Strategy<Value = (u64, Vec<u8>, VnetHeader)> {
    let frame = prop_oneof![
        2 => prop::collection::vec(any::<u8>(), 0..200),
        4 => (0u16..4, 28usize..1504).prop_map(|(flow, len)| udp(flow, len, Ecn::Ect0)),
        1 => Just(arp()),
        1 => (1usize..40, 1u16..1460).prop_map(|(count, size)| super_packet(count, size).frame),
        1 => (0usize..400, 30usize..400).prop_map(|(cut, len)| {
            let frame = udp(1, len, Ecn::Ect1);
            frame[..cut.min(frame.len())].to_vec()
        }),
    ];
    let vnet = prop_oneof![
        3 => Just(VnetHeader::PLAIN),
        1 => (any::<[u8; 2]>(), any::<[u16; 4]>()).prop_map(|([flags, gso_type], [a, b, c, d])| VnetHeader {
            flags, gso_type, hdr_len: a, gso_size: b, csum_start: c, csum_offset: d,
        }),
        1 => (1u16..1460).prop_map(|size| VnetHeader { gso_size: size, ..super_packet(1, 1).vnet }),
    ];
    (0u64..2_000, frame, vnet)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_packet_is_accounted_for_under_any_arrivals(
        arrivals in prop::collection::vec(any_arrival(), 0..80),
        capacity in 1u32..20,
        frames in 1u32..40,
        stops in prop::collection::vec(0u64..200_000, 0..4),
    ) {
        let pool = PoolSize { frames, frame_bytes: 1518 };
        let queue = Queue::new(Limit::packets(capacity), Fcfs, Signalling).with_ecn(EcnPolicy::Mark);
        let mut datapath = datapath_of(Box::new(queue), 8 * ONE_BYTE_PER_US, pool);
        let mut at = Time::ZERO;
        let arrivals: Vec<_> = arrivals.into_iter().map(|(gap_us, frame, vnet)| {
            at += Duration::from_us(gap_us);
            Arrival { at, frame, vnet }
        }).collect();
        let count = arrivals.len() as u64;
        let mut wire = Wire { left: MemoryPort::new(arrivals), right: MemoryPort::new(vec![]) };
        let mut stops = stops;
        stops.sort_unstable();
        for until in stops.into_iter().map(|us| Time::from_ns(us * 1000)).chain([Time::MAX]) {
            run(&mut datapath, &mut wire, until);
            prop_assert!(datapath.forward.is_balanced(), "{:?}", datapath.forward.totals());
        }
        let totals = datapath.forward.totals();
        prop_assert_eq!(totals.frames_received, count);
        prop_assert!(totals.packets_in >= count);
        prop_assert_eq!(datapath.forward.packets_inside(), 0);
        prop_assert_eq!(totals.packets_out, wire.right.sent().len() as u64);
    }
}
