mod quic;

use super::*;
use etherparse::{PacketBuilder, TcpOptionElement};
use fairwire_wire::headers::parse;

fn at(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

#[derive(Clone, Copy)]
struct Written {
    sequence: u32,
    acknowledged: u32,
    stamps: Option<(u32, u32)>,
    bytes: usize,
    is_syn: bool,
}

const PLAIN: Written = Written { sequence: 1000, acknowledged: 1, stamps: None, bytes: 100, is_syn: false };

fn frame(way: Way, client: u16, written: Written) -> Vec<u8> {
    let (server, host) = ([198, 51, 100, 1], [10, 0, 0, 7]);
    let (from, to, ports) = match way {
        Way::Download => (server, host, (443, client)),
        Way::Upload => (host, server, (client, 443)),
    };
    let mut builder = PacketBuilder::ethernet2([2; 6], [4; 6])
        .ipv4(from, to, 64)
        .tcp(ports.0, ports.1, written.sequence, 1000)
        .ack(written.acknowledged);
    if let Some((value, echo)) = written.stamps {
        builder = builder
            .options(&[
                TcpOptionElement::Noop,
                TcpOptionElement::Noop,
                TcpOptionElement::Timestamp(value, echo),
            ])
            .expect("it fits");
    }
    if written.is_syn {
        builder = builder.syn();
    }
    let mut frame = Vec::new();
    builder.write(&mut frame, &vec![7; written.bytes]).expect("a vector takes everything");
    frame
}

fn comes_in_parts(trips: &mut Trips, way: Way, client: u16, written: Written, part: u32, us: u64) -> Ticket {
    let frame = frame(way, client, written);
    trips.of(way).arrives(&frame, &parse(&frame), part, 0, at(us))
}

fn comes(trips: &mut Trips, way: Way, written: Written, us: u64) -> Ticket {
    comes_in_parts(trips, way, 5000, written, 0, us)
}

fn answer(acknowledged: u32, stamps: Option<(u32, u32)>) -> Written {
    Written { sequence: 1, acknowledged, stamps, bytes: 0, is_syn: false }
}

fn counted(trips: &Trips, way: Way) -> (u64, u64) {
    let count = trips.way(way).classes.all()[0];
    (count.trips, count.sum_us)
}

fn again(trips: &Trips, way: Way) -> u64 {
    assert_eq!(trips.way(way).classes.all()[0].retransmitted, trips.way(way).count.retransmitted);
    trips.way(way).count.retransmitted
}

use Way::{Download, Upload};

#[test]
fn a_trip_lasts_from_departure_to_the_first_exact_echo() {
    let mut trips = Trips::new(1);
    let sent = |value| Written { stamps: Some((value, 9)), ..PLAIN };
    let ticket = comes(&mut trips, Download, sent(50), 0);
    assert_ne!(ticket, 0);
    // The trip begins when the segment leaves our queue.
    trips.of(Download).leaves(ticket, at(4000));
    assert_eq!(comes(&mut trips, Upload, answer(1000, Some((9, 49))), 5000), 0);
    assert_eq!(counted(&trips, Download), (0, 0), "an older echo is of another segment");
    comes(&mut trips, Upload, answer(1100, Some((10, 50))), 11_000);
    comes(&mut trips, Upload, answer(1100, Some((10, 50))), 12_000);
    assert_eq!(counted(&trips, Download), (1, 7000), "the second echo counts no more");
    assert_eq!(counted(&trips, Upload), (0, 0));
    assert_eq!(trips.way(Download).round_trips.window(at(12_000)).max_s, 0.007);
}

#[test]
fn only_the_first_segment_of_a_timestamp_is_timed_one_at_a_time() {
    let mut trips = Trips::new(1);
    let sent = |number: u32, value| Written { sequence: number * 100, stamps: Some((value, 9)), ..PLAIN };
    let first = comes(&mut trips, Download, sent(1, 50), 0);
    trips.of(Download).leaves(first, at(10));
    assert_eq!(comes(&mut trips, Download, sent(2, 50), 20), 0);
    assert_eq!(comes(&mut trips, Download, sent(3, 51), 30), 0, "the first is on its way");
    // One answer acknowledges segments 1 and 2.
    comes(&mut trips, Upload, answer(300, Some((10, 50))), 5010);
    assert_eq!(counted(&trips, Download), (1, 5000));
    assert_eq!(comes(&mut trips, Download, sent(4, 51), 5020), 0, "51 was seen before");
    assert_ne!(comes(&mut trips, Download, sent(5, 52), 5030), 0);
}

#[test]
fn without_timestamps_acknowledgements_time_only_first_transmissions() {
    let mut trips = Trips::new(1);
    let ticket = comes(&mut trips, Download, PLAIN, 0);
    trips.of(Download).leaves(ticket, at(100));
    comes(&mut trips, Upload, answer(1099, None), 1000);
    assert_eq!(counted(&trips, Download), (0, 0));
    comes(&mut trips, Upload, answer(1100, None), 3100);
    assert_eq!(counted(&trips, Download), (1, 3000));
    // The answer may be to either copy of a retransmitted segment.
    let next = Written { sequence: 1100, ..PLAIN };
    let ticket = comes(&mut trips, Download, next, 4000);
    trips.of(Download).leaves(ticket, at(4000));
    assert_eq!(comes(&mut trips, Download, next, 5000), 0);
    comes(&mut trips, Upload, answer(1200, None), 6000);
    assert_eq!(counted(&trips, Download), (1, 3000));
    assert_eq!(again(&trips, Download), 1);
}

#[test]
fn a_handshake_measures_both_parts_of_the_path() {
    let mut trips = Trips::new(1);
    let syn = Written { sequence: 7, stamps: Some((70, 0)), bytes: 0, is_syn: true, acknowledged: 0 };
    let ticket = comes(&mut trips, Upload, syn, 0);
    trips.of(Upload).leaves(ticket, at(10));
    let answered = Written { sequence: 900, stamps: Some((40, 70)), acknowledged: 8, ..syn };
    let ticket = comes(&mut trips, Download, answered, 20_010);
    trips.of(Download).leaves(ticket, at(20_030));
    comes(&mut trips, Upload, answer(901, Some((90, 40))), 23_030);
    assert_eq!((counted(&trips, Upload), counted(&trips, Download)), ((1, 20_000), (1, 3000)));
}

#[test]
fn retransmissions_are_distinguished_from_overtaken_segments() {
    let mut trips = Trips::new(1);
    let sent = |sequence, value| Written { sequence, stamps: Some((value, 9)), ..PLAIN };
    for (sequence, value, so_far) in [
        (1000, 50, 0),
        (1200, 52, 0), // one was lost before the gateway, or is late
        (1100, 51, 0), // late: its timestamp is older
        (1300, 53, 0),
        (1200, 54, 1), // retransmitted
        (1300, 54, 2), // retransmitted within the same tick
        (1400, 54, 2),
    ] {
        comes(&mut trips, Download, sent(sequence, value), 0);
        assert_eq!(again(&trips, Download), so_far, "{sequence}");
    }
    assert_eq!(trips.way(Download).count.segments, 7);
    // A SYN that opens a new connection is no retransmission.
    let syn = Written { sequence: 10, bytes: 0, is_syn: true, ..PLAIN };
    comes(&mut trips, Download, syn, 0);
    assert_eq!(again(&trips, Download), 2);
    comes(&mut trips, Download, syn, 0);
    assert_eq!(again(&trips, Download), 3);
}

#[test]
fn numbers_wrap_around() {
    let mut trips = Trips::new(1);
    let sent = |sequence, value| Written { sequence, stamps: Some((value, 9)), ..PLAIN };
    let ticket = comes(&mut trips, Download, sent(u32::MAX - 49, u32::MAX), 0);
    trips.of(Download).leaves(ticket, at(0));
    comes(&mut trips, Upload, answer(50, Some((1, u32::MAX))), 1000);
    let ticket = comes(&mut trips, Download, sent(50, 0), 1000);
    trips.of(Download).leaves(ticket, at(1000));
    comes(&mut trips, Upload, answer(150, Some((1, 0))), 3000);
    assert_eq!((counted(&trips, Download), again(&trips, Download)), ((2, 3000), 0));
    comes(&mut trips, Download, sent(u32::MAX - 49, 1), 3000);
    assert_eq!(again(&trips, Download), 1);
}

#[test]
fn a_super_packet_times_its_first_part_and_counts_all_parts() {
    let mut trips = Trips::new(1);
    let large = Written { bytes: 250, ..PLAIN };
    let ticket = comes_in_parts(&mut trips, Download, 5000, large, 100, 0);
    trips.of(Download).leaves(ticket, at(0));
    comes(&mut trips, Upload, answer(1100, None), 700);
    assert_eq!(counted(&trips, Download), (1, 700));
    assert_eq!(trips.way(Download).count.segments, 3);
    comes_in_parts(&mut trips, Download, 5000, Written { sequence: 1100, bytes: 250, ..PLAIN }, 100, 800);
    assert_eq!(again(&trips, Download), 2, "150 bytes of it were sent before");
}

#[test]
fn a_dropped_segment_does_not_prevent_timing_the_next() {
    let mut trips = Trips::new(1);
    let dropped = comes(&mut trips, Download, PLAIN, 0);
    assert_ne!(dropped, 0);
    // An answer to a retransmitted segment is ambiguous.
    assert_eq!(comes(&mut trips, Download, PLAIN, 100), 0);
    let next = Written { sequence: 1100, ..PLAIN };
    let ticket = comes(&mut trips, Download, next, 200);
    assert_ne!(ticket, 0);
    trips.of(Download).leaves(dropped, at(250));
    comes(&mut trips, Upload, answer(1200, None), 300);
    assert_eq!(counted(&trips, Download), (0, 0), "only the departure of its own segment begins a trip");
    trips.of(Download).leaves(ticket, at(400));
    comes(&mut trips, Upload, answer(1200, None), 1400);
    assert_eq!(counted(&trips, Download), (1, 1000));
}

#[test]
fn a_flood_of_conversations_displaces_none_that_is_answered() {
    let mut trips = Trips { table: Table::new(64), ways: [(); 2].map(|()| WayTrips::new(1)), listener: None };
    let sent = |number: u32| Written { sequence: number * 100, stamps: Some((number, 9)), ..PLAIN };
    let up = |number: u32| Written { sequence: number * 10, bytes: 10, stamps: Some((9, number)), ..PLAIN };
    for (number, ms) in (1..).zip((0..10_000).step_by(100)) {
        let ticket = comes(&mut trips, Download, sent(number), ms * 1000);
        trips.of(Download).leaves(ticket, at(ms * 1000));
        comes(&mut trips, Upload, up(number), ms * 1000 + 500);
        for flood in 0..1000u64 {
            let client = 6000 + ((ms * 10 + flood) % 50_000) as u16;
            let syn = Written { is_syn: true, bytes: 0, ..PLAIN };
            comes_in_parts(&mut trips, Upload, client, syn, 0, ms * 1000 + 600 + flood);
        }
    }
    assert_eq!(counted(&trips, Download), (100, 50_000));
}

#[test]
fn forged_answers_and_noise_change_no_other_conversation() {
    let mut trips = Trips::new(2);
    let mut random = fairwire_core::Seed(3).stream("noise");
    for us in 0..20_000 {
        let mut draw = || random.next_u64() as u32;
        let written = Written {
            sequence: draw(),
            acknowledged: draw(),
            stamps: (draw() % 2 == 0).then(|| (draw() % 8, draw() % 8)),
            bytes: draw() as usize % 3,
            is_syn: draw() % 5 == 0,
        };
        let way = if draw() % 2 == 0 { Download } else { Upload };
        let ticket = comes_in_parts(&mut trips, way, 1 + draw() as u16 % 4, written, 0, us);
        trips.of(way).leaves(ticket.max(draw() % 10_000_000 * u32::from(ticket == 0)), at(us));
    }
    for way in Way::ALL {
        let window = trips.way(way).round_trips.window(at(20_000));
        assert!(window.max_s <= 0.02, "no trip is longer than what there was of time: {}", window.max_s);
    }
}

#[test]
fn trips_of_released_data_reach_the_rate_follower_but_no_count() {
    let mut trips = Trips::new(1);
    let syn = Written { sequence: 0, stamps: Some((100, 0)), bytes: 0, is_syn: true, ..PLAIN };
    let ack = |value| answer(2000, Some((value, 40)));
    let data = |sequence, echo| Written { sequence, stamps: Some((41, echo)), ..PLAIN };
    let ticket = comes(&mut trips, Upload, syn, 0);
    trips.of(Upload).leaves(ticket, at(0));
    comes(&mut trips, Download, Written { acknowledged: 1, ..syn }, 5);
    let of_syn = counted(&trips, Upload);
    assert_eq!(of_syn, (1, 5));
    assert_eq!(comes(&mut trips, Upload, ack(101), 10), 0, "no listener");
    let (listener, heard) = std::sync::mpsc::sync_channel(1);
    trips.listen(Some(listener));
    let ticket = comes(&mut trips, Upload, ack(102), 1000);
    assert_ne!(ticket, 0);
    assert_eq!(comes(&mut trips, Upload, ack(102), 1100), 0, "one at a time");
    trips.of(Upload).leaves(ticket, at(2000));
    comes(&mut trips, Download, data(2000, 101), 3000);
    assert!(heard.try_recv().is_err(), "an older echo");
    comes(&mut trips, Download, data(2100, 102), 22_000);
    let (trip, when) = heard.try_recv().expect("it is released");
    assert_eq!((trip.time, when), (Duration::from_ms(20), at(22_000)));
    assert_eq!(counted(&trips, Upload), of_syn, "it is no round trip that is shown");
    // Data that arrives more than two seconds after its acknowledgement is not timed.
    let ticket = comes(&mut trips, Upload, ack(103), 30_000);
    trips.of(Upload).leaves(ticket, at(30_000));
    comes(&mut trips, Download, data(2200, 103), 2_030_001);
    assert!(heard.try_recv().is_err());
    // A segment with payload is timed even while an acknowledgement is being timed.
    let ticket = comes(&mut trips, Upload, ack(104), 3_000_000);
    trips.of(Upload).leaves(ticket, at(3_000_000));
    let request = Written { sequence: 1, acknowledged: 2300, stamps: Some((105, 41)), ..PLAIN };
    let ticket = comes(&mut trips, Upload, request, 3_001_000);
    assert_ne!(ticket, 0);
    trips.of(Upload).leaves(ticket, at(3_001_000));
    comes(&mut trips, Download, data(2300, 105), 3_011_000);
    assert_eq!(heard.try_recv().expect("it is answered").0.time, Duration::from_ms(10));
    assert_eq!(counted(&trips, Upload), (2, 10_005));
}

/// An acknowledgement leaves at 10 ms, and its answer arrives at 50 ms. The segment before the
/// answer arrives at `before_us`.
fn heard_after(before_us: u64) -> RoundTrip {
    let (listener, heard) = std::sync::mpsc::sync_channel(8);
    let mut trips = Trips::new(1);
    trips.listen(Some(listener));
    let data = |sequence, echo| Written { sequence, stamps: Some((40, echo)), bytes: 1000, ..PLAIN };
    let ticket = comes(&mut trips, Upload, Written { stamps: Some((100, 39)), ..PLAIN }, 0);
    trips.of(Upload).leaves(ticket, at(0));
    comes(&mut trips, Download, data(2000, 100), 10);
    heard.try_recv().expect("the request is answered");
    let ticket = comes(&mut trips, Upload, answer(3000, Some((101, 40))), 10_000);
    trips.of(Upload).leaves(ticket, at(10_000));
    comes(&mut trips, Download, data(3000, 100), before_us);
    comes(&mut trips, Download, data(4000, 101), 50_000);
    heard.try_recv().expect("it is answered").0
}

#[test]
fn silence_before_an_answer_may_be_time_of_the_other_end() {
    // `least` ends with the segment before the answer.
    let trip = heard_after(49_000);
    assert_eq!((trip.time, trip.least), (Duration::from_ms(40), Duration::from_ms(39)));
    assert!(trip.bytes > 2000, "both segments: {}", trip.bytes);
    // A segment at 9 ms precedes the trip, so `least` is zero.
    assert_eq!(heard_after(12_000).least, Duration::from_ms(2));
    let silent = heard_after(9_000);
    assert_eq!((silent.time, silent.least), (Duration::from_ms(40), Duration::ZERO));
}
