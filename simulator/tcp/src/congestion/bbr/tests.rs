use super::super::RateSample;
use super::*;
use fairwire_core::units::Size;

/// The parameters of the draft.
const PLAIN: BbrParameters = BbrParameters {
    given: BbrGiven {
        first_phase: 2,
        draws_phase: false,
        pacing_margin: 0.0,
        allows_for_clumps: false,
        rounds_up: false,
    },
    seed: 0,
};

fn plain(given: BbrGiven) -> BbrParameters {
    BbrParameters { given, ..PLAIN }
}

/// At 1000 segments per second (0.8 Mbit/s), a quantum is one segment.
const SEGMENT: Size = Size(100);

fn ack(at_ms: u64, newly: u32, in_flight: u32, per_second: f64) -> Acked {
    Acked {
        now: Time::from_ns(at_ms * 1_000_000),
        newly,
        growth: newly,
        marked: 0,
        lost: 0,
        in_flight,
        rtt: Some(Duration::from_ms(100)),
        ends_round: true,
        rate: Some(RateSample {
            per_second,
            is_limited_by_application: false,
            delivered: at_ms as u32, // each acknowledgement ends a round
            delivered_before: at_ms as u32,
        }),
        is_window_used: true,
        max_window: 1e9,
    }
}

fn sent_before(at_ms: u64, newly: u32, in_flight: u32) -> Acked {
    let ack = ack(at_ms, newly, in_flight, 1000.0);
    Acked { rate: ack.rate.map(|rate| RateSample { delivered_before: 0, ..rate }), ..ack }
}

fn congested(in_flight: u32) -> Congested {
    Congested { now: Time::ZERO, in_use: f64::from(in_flight), in_flight }
}

/// BBR after start-up, with 1000 segments per second and a round trip of 100 ms.
fn filled(parameters: BbrParameters) -> Bbr {
    let mut bbr = Bbr::new(parameters, &Start { segment: SEGMENT, ..Start::of(10) });
    for round in 0..5 {
        bbr.acked(&ack(100 * round, 100, 300, 1000.0));
    }
    assert_eq!(bbr.state(), BbrState::Drain);
    bbr.acked(&ack(500, 100, 200, 1000.0));
    assert_eq!(bbr.state(), BbrState::ProbeBw);
    bbr
}

#[test]
fn the_round_trip_of_the_opening_is_the_minimum_for_ten_seconds() {
    let mut bbr = Bbr::new(PLAIN, &Start { segment: SEGMENT, ..Start::of(10) });
    bbr.opened(Duration::from_ms(99), Time::ZERO);
    assert_eq!(bbr.pace(), Some(HIGH_GAIN * 10.0 / 0.099), "the first window is paced");
    for round in 1..=100 {
        bbr.acked(&ack(100 * round, 100, 100, 1000.0));
    }
    assert_eq!((bbr.propagation(), bbr.state()), (Some(Duration::from_ms(99)), BbrState::ProbeBw));
    bbr.acked(&ack(10_001, 100, 100, 1000.0));
    assert_eq!((bbr.propagation(), bbr.state()), (Some(Duration::from_ms(100)), BbrState::ProbeRtt));
}

#[test]
fn its_state_is_as_small_as_documented() {
    assert_eq!(size_of::<Bbr>(), 352);
}

#[test]
fn the_first_pace_is_of_the_initial_window_and_the_first_round_trip() {
    let mut bbr = Bbr::new(PLAIN, &Start { segment: SEGMENT, ..Start::of(10) });
    assert!((bbr.pace().unwrap() - 2.885 * 10.0 / 0.001).abs() < 10.0);
    bbr.acked(&Acked { rate: None, ..ack(20_000, 1, 10, 0.0) }); // a flow that begins after 20 s has nothing expired
    assert_eq!(bbr.state(), BbrState::Startup);
    assert!((bbr.pace().unwrap() - 288.5).abs() < 0.1);
}

#[test]
fn the_window_is_twice_the_product_and_three_quanta() {
    let mut bbr = filled(PLAIN);
    for i in 0..3 {
        bbr.acked(&ack(500 + i, 100, 200, 1000.0));
    }
    assert_eq!(bbr.window(), 203.0);
    assert_eq!(bbr.pace(), Some(1000.0)); // phase 2
}

#[test]
fn a_window_that_is_rounded_up_is_even_and_two_segments_larger_while_it_probes() {
    for (phase, expected) in [(2, 204.0), (0, 206.0)] {
        let mut bbr = filled(plain(BbrGiven { first_phase: phase, rounds_up: true, ..PLAIN.given }));
        for i in 0..3 {
            bbr.acked(&ack(500 + i, 100, 100, 1000.0));
        }
        assert_eq!(bbr.window(), expected, "203 in phase {phase}");
    }
}

#[test]
fn the_cycle_probes_drains_and_cruises() {
    let mut bbr = filled(plain(BbrGiven { first_phase: 7, ..PLAIN.given }));
    let mut paces = Vec::new();
    for round in 0..9 {
        // Gain 5/4 lasts until 125 + 3 segments are in flight. Gain 3/4 would end early with 100 +
        // 3 or fewer segments in flight.
        bbr.acked(&ack(610 + 101 * round, 100, 128, 1000.0));
        paces.push(bbr.pace().unwrap());
    }
    assert_eq!(paces, [1250.0, 750.0, 1000.0, 1000.0, 1000.0, 1000.0, 1000.0, 1000.0, 1250.0]);
}

#[test]
fn a_probing_phase_lasts_until_enough_is_in_flight_or_a_loss() {
    let mut bbr = filled(plain(BbrGiven { first_phase: 0, ..PLAIN.given }));
    for round in 0..3 {
        bbr.acked(&ack(700 + 100 * round, 10, 127, 1000.0));
        assert_eq!(bbr.pace(), Some(1250.0));
    }
    bbr.lost(&congested(120));
    bbr.acked(&ack(1001, 10, 120, 1000.0));
    assert_eq!(bbr.pace(), Some(750.0));
    bbr.acked(&ack(1002, 10, 103, 1000.0)); // the queue is empty
    assert_eq!(bbr.pace(), Some(1000.0));
}

#[test]
fn a_seed_draws_every_phase_except_draining() {
    let mut drawn = [0; 8];
    for seed in 0..700 {
        let given = BbrGiven { draws_phase: true, ..PLAIN.given };
        drawn[usize::from(filled(BbrParameters { given, seed }).phase)] += 1;
    }
    assert_eq!(drawn[1], 0);
    // Each phase except phase 1 is expected 100 times. The bounds are 4 standard deviations of 9.3
    // away.
    assert!(drawn.iter().enumerate().all(|(i, &n)| i == 1 || (63..=137).contains(&n)), "{drawn:?}");
}

#[test]
fn after_a_loss_packets_are_conserved_for_a_round_and_the_window_returns() {
    let mut bbr = filled(PLAIN);
    for _ in 0..3 {
        bbr.acked(&ack(501, 100, 200, 1000.0));
    }
    bbr.lost(&congested(150));
    assert_eq!(bbr.window(), 151.0);
    bbr.acked(&sent_before(510, 50, 150));
    assert_eq!(bbr.window(), 151.0);
    bbr.acked(&sent_before(520, 100, 150));
    assert_eq!(bbr.window(), 151.0);
    bbr.acked(&ack(530, 10, 150, 1000.0)); // for segments sent after the loss
    assert_eq!(bbr.window(), 161.0);
    bbr.acked(&Acked { lost: 7, ..sent_before(540, 10, 150) });
    assert_eq!(bbr.window(), 164.0); // lost segments are subtracted, and delivered ones added
    bbr.recovered(Time::ZERO);
    assert_eq!(bbr.window(), 203.0);
}

#[test]
fn a_timeout_begins_with_one_segment_and_marks_do_nothing() {
    let mut bbr = filled(PLAIN);
    for _ in 0..3 {
        bbr.acked(&ack(501, 100, 200, 1000.0));
    }
    let before = (bbr.window(), bbr.pace());
    bbr.marked(&congested(150));
    assert_eq!((bbr.window(), bbr.pace()), before);
    bbr.timed_out(&congested(150));
    assert_eq!(bbr.window(), 1.0);
    bbr.acked(&ack(600, 1, 1, 1000.0));
    assert_eq!(bbr.window(), 4.0);
    bbr.acked(&ack(610, 149, 150, 1000.0)); // everything in flight
    assert_eq!(bbr.window(), 153.0);
    bbr.acked(&ack(620, 1, 150, 1000.0));
    assert_eq!(bbr.window(), 203.0); // the earlier window, bounded by the model
    bbr.timed_out(&congested(150));
    bbr.recovered(Time::ZERO);
    assert_eq!(bbr.window(), 203.0);
}

#[test]
fn rates_measured_while_little_is_sent_do_not_lower_the_model() {
    let mut bbr = filled(PLAIN);
    let longer =
        |at_ms, in_flight| Acked { rtt: Some(Duration::from_ms(150)), ..ack(at_ms, 1, in_flight, 40.0) };
    bbr.acked(&longer(10_502, 100));
    assert_eq!((bbr.state(), bbr.window()), (BbrState::ProbeRtt, 4.0));
    let mut rounds = 0;
    while bbr.state() == BbrState::ProbeRtt {
        bbr.acked(&longer(10_510 + 10 * rounds, 4));
        rounds += 1;
    }
    assert!((20..30).contains(&rounds), "{rounds}"); // more than the length of the filter
    bbr.acked(&longer(11_000, 4)); // for segments sent meanwhile
    assert_eq!(bbr.bottleneck_rate(), 1000.0);
    assert_eq!(bbr.propagation(), Some(Duration::from_ms(150)));
    assert!(bbr.window() > 100.0, "{}", bbr.window());
}

#[test]
fn rounds_end_by_delivery_without_cumulative_progress() {
    let mut bbr = Bbr::new(PLAIN, &Start { segment: SEGMENT, ..Start::of(10) });
    for at_ms in 0..5 {
        // Each acknowledgement covers segments sent after the previous acknowledgement arrived, so
        // it ends a round. Three rounds without growth end `Startup`.
        bbr.acked(&Acked { ends_round: false, ..ack(100 * at_ms, 100, 300, 1000.0) });
    }
    assert_eq!(bbr.state(), BbrState::Drain);
    let mut bbr = Bbr::new(PLAIN, &Start { segment: SEGMENT, ..Start::of(10) });
    for at_ms in 1..9 {
        bbr.acked(&sent_before(at_ms, 10, 300)); // all sent at once: one round, whatever the sender reports
    }
    assert_eq!(bbr.state(), BbrState::Startup);
}

#[test]
fn a_quantum_is_one_segment_then_two_then_a_millisecond_up_to_64_kib() {
    // With a payload of 1448 bytes, the rates are 0.9, 11.6, 116 and 11 600 Mbit/s.
    for (per_second, quantum) in [(80.0, 1.0), (1000.0, 2.0), (10_000.0, 10.0), (1e6, 65_536.0 / 1448.0)] {
        let mut bbr = Bbr::new(PLAIN, &Start::of(10));
        for round in 0..6 {
            let in_flight = (per_second / 10.0) as u32;
            bbr.acked(&ack(100 * round, in_flight, in_flight, per_second));
        }
        assert_eq!(bbr.state(), BbrState::ProbeBw, "{per_second}");
        assert!((bbr.quantum - quantum).abs() < 1e-9, "{} {quantum}", bbr.quantum);
        assert!((bbr.in_flight_at(1.0) - per_second / 10.0 - 3.0 * quantum).abs() < 1e-6);
    }
}

#[test]
fn the_pace_stays_below_the_model_by_the_margin() {
    let mut bbr = filled(plain(BbrGiven { pacing_margin: 0.01, ..PLAIN.given }));
    bbr.acked(&ack(501, 100, 200, 1000.0));
    assert_eq!(bbr.pace(), Some(990.0));
}

#[test]
fn clumped_acknowledgements_widen_the_window_by_their_excess() {
    let mut bbr = filled(plain(BbrGiven { allows_for_clumps: true, ..PLAIN.given }));
    for clump in 1..20 {
        bbr.acked(&ack(1000 * clump, 30, 200, 1000.0)); // 30 at once, although a second explains 1000
    }
    assert_eq!(bbr.window(), 203.0 + 30.0);
    for clump in 1..5 {
        bbr.acked(&ack(20_000 + 1000 * clump, 5000, 200, 1000.0));
    }
    assert_eq!(bbr.window(), 203.0 + 100.0); // at most the segments of 100 ms
}

#[test]
fn an_application_that_sends_little_does_not_make_the_pipe_look_full() {
    let mut bbr = Bbr::new(PLAIN, &Start { segment: SEGMENT, ..Start::of(10) });
    for round in 0..20 {
        let (delivered, delivered_before) = (5 * round as u32, 5 * round as u32);
        let rate =
            RateSample { per_second: 50.0, is_limited_by_application: true, delivered, delivered_before };
        bbr.acked(&Acked { rate: Some(rate), ..ack(100 * round, 5, 5, 0.0) });
    }
    assert_eq!(bbr.state(), BbrState::Startup);
}
