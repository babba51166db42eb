//! Controllers on a path: their equilibria, and their bounds for any input.

use crate::pipe;

use fairwire_core::{Duration, Rng, Seed, Time};
use fairwire_tcp::congestion::{
    Acked, Bbr, Bbr3, Bbr3Parameters, Bbr3State, BbrGiven, BbrParameters, BbrState, Bic, BicParameters,
    Congested, Control, Cubic, CubicParameters, Dctcp, DctcpParameters, Ledbat, LedbatParameters, Prague,
    PragueParameters, RateSample, Start, Vegas, VegasParameters, Westwood, WestwoodParameters,
};
use pipe::Pipe;

fn states(pipe: &mut Pipe, bbr: &mut Bbr, until_s: f64) -> Vec<(f64, BbrState)> {
    let mut states = vec![(pipe.now_s, bbr.state())];
    while pipe.now_s < until_s {
        pipe.step(bbr);
        if states.last().is_none_or(|last| last.1 != bbr.state()) {
            states.push((pipe.now_s, bbr.state()));
        }
    }
    states
}

const PATHS: [(f64, f64); 4] = [(1000.0, 0.05), (200.0, 0.1), (10_000.0, 0.02), (50.0, 0.01)];

#[test]
fn bbr_leaves_startup_three_rounds_after_the_rate_stopped_to_grow() {
    for (rate, propagation_s) in PATHS {
        let (mut pipe, mut bbr) =
            (Pipe::new(rate, propagation_s), Bbr::new(BbrParameters::default(), &Start::of(10)));
        let mut known_in = None;
        while bbr.state() == BbrState::Startup {
            pipe.step(&mut bbr);
            // Above rate / 1.25, the estimate can no longer rise by a quarter. Startup counts a
            // smaller rise as no growth.
            if bbr.bottleneck_rate() > rate / 1.25 && known_in.is_none() {
                known_in = Some(pipe.rounds);
            }
        }
        // The baseline is set within a round.
        let rounds = pipe.rounds - known_in.expect("the rate is found before startup is left");
        assert!((3..=4).contains(&rounds), "{rate} {propagation_s}: {rounds}");
    }
}

#[test]
fn bbr_drains_before_it_probes_and_measures_the_empty_path_every_ten_seconds() {
    use BbrState::{Drain, ProbeBw, ProbeRtt, Startup};
    for (rate, propagation_s) in PATHS {
        let (mut pipe, mut bbr) =
            (Pipe::new(rate, propagation_s), Bbr::new(BbrParameters::default(), &Start::of(10)));
        let seen = states(&mut pipe, &mut bbr, 25.0);
        let names: Vec<_> = seen.iter().map(|s| s.1).collect();
        // Only the first three states are checked, because ProbeRTT need not come fourth. On the
        // shortest path, four segments exceed the bandwidth-delay product, so RTprop is always
        // observed.
        assert_eq!(names[..3], [Startup, Drain, ProbeBw], "{seen:?}");
        for pair in seen.windows(2).filter(|pair| pair[0].1 == ProbeRtt) {
            let lasted_s = pair[1].0 - pair[0].0;
            // ProbeRTT waits until at most four segments are in flight. It then lasts 200 ms or a
            // round trip, whichever is longer.
            let longest_s = 0.2 + 4.0 * (propagation_s + 5.0 / rate) + 0.05;
            assert!((0.2..longest_s).contains(&lasted_s), "{rate} {propagation_s}: {lasted_s}");
        }
        for (a, b) in seen.iter().zip(&seen[1..]).skip(2).filter(|(a, _)| a.1 == ProbeBw) {
            // RTprop is last observed in the first cycle. Then a phase at 5/4 leaves a queue of
            // four segments: three quanta and one segment. The queue grows at rate / 4, so four
            // segments take 16 / rate. ProbeRTT begins ten seconds after the observation.
            let first_cycle_s = 10.0 * (propagation_s + 1.0 / rate) + 16.0 / rate;
            assert!(b.0 - a.0 <= 10.0 + first_cycle_s, "{seen:?}");
        }
    }
}

#[test]
fn bbr_fills_a_pipe_to_within_5_percent_with_little_queue() {
    for (rate, propagation_s) in PATHS {
        for first_phase in [Some(0), Some(2), None] {
            let given = BbrGiven {
                first_phase: first_phase.unwrap_or(2),
                draws_phase: first_phase.is_none(),
                ..BbrGiven::default()
            };
            let (mut pipe, mut bbr) =
                (Pipe::new(rate, propagation_s), Bbr::new(BbrParameters { given, seed: 3 }, &Start::of(10)));
            pipe.run_until(5.0, &mut bbr);
            let (from, delivered) = (pipe.now_s, pipe.delivered);
            let (mut waited_s, mut segments) = (0.0, 0.0);
            while pipe.now_s < 35.0 {
                pipe.step(&mut bbr);
                (waited_s, segments) = (waited_s + pipe.queueing_s, segments + 1.0);
            }
            let used = (pipe.delivered - delivered) as f64 / (pipe.now_s - from) / rate;
            assert!((0.95..=1.001).contains(&used), "{rate} {propagation_s} {first_phase:?}: {used}");
            assert!((bbr.bottleneck_rate() / rate - 1.0).abs() < 0.05, "{}", bbr.bottleneck_rate());
            // A phase at 5/4 queues a quarter of the bandwidth-delay product and three quanta.
            // Transmission and rounding add a segment each.
            let most_s = 0.25 * (propagation_s + 1.0 / rate) + 5.0 / rate;
            assert!(waited_s / segments < most_s, "{rate} {propagation_s}: {} {most_s}", waited_s / segments);
        }
    }
}

#[test]
fn bbr_finds_a_path_that_became_slower_or_faster() {
    for factor in [0.5, 2.0] {
        let (mut pipe, mut bbr) =
            (Pipe::new(1000.0, 0.05), Bbr::new(BbrParameters::default(), &Start::of(10)));
        pipe.run_until(5.0, &mut bbr);
        pipe.rate *= factor;
        pipe.run_until(9.0, &mut bbr);
        assert!(
            (bbr.bottleneck_rate() / pipe.rate - 1.0).abs() < 0.05,
            "{factor}: {}",
            bbr.bottleneck_rate()
        );
    }
}

#[test]
fn bbr3_fills_a_pipe_to_within_5_percent_with_little_queue() {
    for (rate, propagation_s) in PATHS {
        let (mut pipe, mut bbr) =
            (Pipe::new(rate, propagation_s), Bbr3::new(Bbr3Parameters::default(), &Start::of(10)));
        pipe.run_until(5.0, &mut bbr);
        let (from, delivered) = (pipe.now_s, pipe.delivered);
        let (mut waited_s, mut segments, mut states) = (0.0, 0.0, Vec::new());
        while pipe.now_s < 35.0 {
            pipe.step(&mut bbr);
            (waited_s, segments) = (waited_s + pipe.queueing_s, segments + 1.0);
            if !states.contains(&bbr.state()) {
                states.push(bbr.state());
            }
        }
        let used = (pipe.delivered - delivered) as f64 / (pipe.now_s - from) / rate;
        assert!((0.95..=1.001).contains(&used), "{rate} {propagation_s}: {used}");
        assert!((bbr.bottleneck_rate() / rate - 1.0).abs() < 0.05, "{}", bbr.bottleneck_rate());
        // A probe sends at 5/4 for three rounds without growth, so it queues three quarters of the
        // bandwidth-delay product. BBR drains the queue at 9/10, and mostly cruises.
        let most_s = 0.5 * propagation_s + 8.0 / rate;
        assert!(waited_s / segments < most_s, "{rate} {propagation_s}: {} {most_s}", waited_s / segments);
        assert!(bbr.long_term_bound().is_infinite(), "nothing was lost");
        for state in [Bbr3State::Up, Bbr3State::Down, Bbr3State::Cruise, Bbr3State::Refill] {
            assert!(states.contains(&state), "{rate} {propagation_s}: {states:?}");
        }
    }
}

#[test]
fn bbr3_finds_a_path_that_became_slower_or_faster() {
    for factor in [0.5, 2.0] {
        let (mut pipe, mut bbr) =
            (Pipe::new(1000.0, 0.05), Bbr3::new(Bbr3Parameters::default(), &Start::of(10)));
        pipe.run_until(5.0, &mut bbr);
        pipe.rate *= factor;
        // The old rate leaves the filter after three cycles of at most 4.5 s: 3 s before the probe,
        // five rounds of 0.2 s, and 0.5 s of ProbeRTT.
        pipe.run_until(5.0 + 3.0 * 4.5, &mut bbr);
        let found = bbr.bottleneck_rate() / pipe.rate;
        assert!((found - 1.0).abs() < 0.05, "{factor}: {found}");
    }
}

#[test]
fn a_lone_vegas_flow_queues_between_alpha_and_beta_segments() {
    for (rate, propagation_s) in PATHS {
        for (alpha, beta) in [(2.0, 4.0), (1.0, 3.0), (10.0, 20.0)] {
            let parameters = VegasParameters { alpha, beta, ..Default::default() };
            let (mut pipe, mut vegas) =
                (Pipe::new(rate, propagation_s), Vegas::new(parameters, &Start::of(10)));
            pipe.run_until(60.0, &mut vegas);
            let from = vegas.window();
            let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
            while pipe.now_s < 70.0 {
                pipe.step(&mut vegas);
                least = least.min(pipe.queueing_s * rate);
                most = most.max(pipe.queueing_s * rate);
            }
            assert_eq!(vegas.window(), from, "it has settled");
            // The queue excludes the departing segment, so `least` may be below `alpha` by 1.
            // Rounding widens both bounds by half a segment.
            assert!(
                least > alpha - 1.5 && most < beta + 0.5,
                "{rate} {propagation_s} {alpha} {beta}: {least} to {most}"
            );
        }
    }
}

#[test]
fn ledbat_holds_its_queueing_delay() {
    for (rate, propagation_s, target_ms) in [(200.0, 0.05, 100), (1000.0, 0.02, 100), (1000.0, 0.1, 25)] {
        let target = Duration::from_ms(target_ms);
        let mut ledbat = Ledbat::new(LedbatParameters { target, ..Default::default() }, &Start::of(2));
        let mut pipe = Pipe::new(rate, propagation_s);
        pipe.run_until(100.0, &mut ledbat);
        let (mut waited_s, mut segments) = (0.0, 0.0);
        while pipe.now_s < 200.0 {
            pipe.step(&mut ledbat);
            (waited_s, segments) = (waited_s + pipe.queueing_s, segments + 1.0);
        }
        // The integer window and the minimum of four samples each shift the delay by up to one
        // segment.
        let error_s = (waited_s / segments - target.secs()).abs();
        assert!(error_s < 2.0 / rate, "{rate} {propagation_s}: {error_s}");
    }
}

#[test]
fn dctcp_keeps_the_queue_near_the_marking_threshold_and_the_link_busy() {
    // Alizadeh and others (2010), section 3.4: the link never idles if the marking threshold K
    // exceeds (rate x RTT) / 7, here 100 / 7 segments.
    let (mut pipe, mut dctcp) =
        (Pipe::new(10_000.0, 0.01), Dctcp::new(DctcpParameters::default(), &Start::of(10)));
    pipe.mark_at = 20.0;
    pipe.run_until(5.0, &mut dctcp);
    let (from, delivered, mut longest_s) = (pipe.now_s, pipe.delivered, 0.0_f64);
    while pipe.now_s < 15.0 {
        pipe.step(&mut dctcp);
        longest_s = longest_s.max(pipe.queueing_s);
    }
    let used = (pipe.delivered - delivered) as f64 / (pipe.now_s - from) / pipe.rate;
    assert!(used > 0.995, "{used}");
    // Growth before the marks arrive adds a segment to K, and rounding adds another.
    assert!((20.0..24.0).contains(&(longest_s * pipe.rate)), "{}", longest_s * pipe.rate);
}

#[test]
fn prague_keeps_a_queue_of_a_millisecond() {
    let (mut pipe, mut prague) =
        (Pipe::new(10_000.0, 0.01), Prague::new(PragueParameters::default(), &Start::of(10)));
    pipe.mark_at = 10.0; // 1 ms
    pipe.run_until(8.0, &mut prague); // after its 500 rounds
    let (from, delivered, mut longest_s) = (pipe.now_s, pipe.delivered, 0.0_f64);
    while pipe.now_s < 20.0 {
        pipe.step(&mut prague);
        longest_s = longest_s.max(pipe.queueing_s);
    }
    let used = (pipe.delivered - delivered) as f64 / (pipe.now_s - from) / pipe.rate;
    assert!(used > 0.9, "{used}");
    assert!(longest_s < 0.0015, "{longest_s}");
}

/// The mean rate of a Prague flow whose segments are marked with probability `chance`.
fn marked_rate(rtt_ms: u64, chance: f64, virtual_rtt: Duration) -> f64 {
    let parameters = PragueParameters { independent_after: 0, virtual_rtt, ..Default::default() };
    let mut prague = Prague::new(parameters, &Start::of(10));
    let mut rng = Seed(rtt_ms).stream("marks");
    let rounds = 400_000 / rtt_ms; // 400 s
    let mut sent = 0;
    for round in 0..rounds {
        let window = prague.window() as u32;
        for i in 0..window {
            prague.acked(&Acked {
                now: Time::from_ns(1_000_000 * rtt_ms * (round + 1)),
                newly: 1,
                growth: 1,
                marked: u32::from(rng.chance(chance)),
                lost: 0,
                in_flight: window,
                rtt: Some(Duration::from_ms(rtt_ms)),
                ends_round: i == 0,
                rate: None,
                is_window_used: true,
                max_window: 1e9,
            });
        }
        sent += u64::from(window);
    }
    sent as f64 / (rounds * rtt_ms) as f64 * 1e3
}

#[test]
fn lasting_prague_flows_of_5_and_25_ms_send_alike_under_equal_marking() {
    let virtual_rtt = Duration::from_ms(25);
    let ratio = marked_rate(5, 0.02, virtual_rtt) / marked_rate(25, 0.02, virtual_rtt);
    // Integer windows slow the 5 ms flow by 8 % more than the 25 ms flow, so the bound is 10 %.
    assert!((ratio - 1.0).abs() < 0.1, "{ratio}");
    let dependent = marked_rate(5, 0.02, Duration::ZERO) / marked_rate(25, 0.02, Duration::ZERO);
    assert!(dependent > 4.0, "{dependent}"); // 5 in the fluid
}

fn all(seed: u64) -> Vec<(&'static str, Box<dyn Control>)> {
    let hystart = seed.is_multiple_of(2);
    let given = BbrGiven { draws_phase: true, ..BbrGiven::default() };
    let independent_after = (seed % 100) as u32;
    vec![
        ("bbr", Box::new(Bbr::new(BbrParameters { given, seed }, &Start::of(10)))),
        ("bbr3", Box::new(Bbr3::new(Bbr3Parameters { seed, ..Default::default() }, &Start::of(10)))),
        (
            "bic",
            Box::new(Bic::new(
                BicParameters { scales_by_acks: hystart, ..Default::default() },
                &Start::of(10),
            )),
        ),
        (
            "vegas",
            Box::new(Vegas::new(
                VegasParameters { over_least: hystart, ..Default::default() },
                &Start::of(10),
            )),
        ),
        ("westwood", Box::new(Westwood::new(WestwoodParameters::default(), &Start::of(10)))),
        ("cubic", Box::new(Cubic::new(CubicParameters { hystart, ..Default::default() }, &Start::of(10)))),
        ("dctcp", Box::new(Dctcp::new(DctcpParameters::default(), &Start::of(10)))),
        ("ledbat", Box::new(Ledbat::new(LedbatParameters::default(), &Start::of(2)))),
        (
            "prague",
            Box::new(Prague::new(
                PragueParameters { independent_after, ..Default::default() },
                &Start::of(10),
            )),
        ),
    ]
}

fn acked_at_random(rng: &mut Rng, now: Time, most: f64) -> Acked {
    let newly = if rng.chance(0.01) { 1 + rng.below(5000) } else { 1 + rng.below(4) };
    let rtt = rng
        .chance(0.8)
        .then(|| Duration::from_ns(if rng.chance(0.01) { 0 } else { rng.next_u64() % 4_000_000_000 }));
    let rate = rng.chance(0.7).then(|| RateSample {
        per_second: if rng.chance(0.05) {
            [0.0, f64::INFINITY][rng.below(2) as usize]
        } else {
            rng.uniform() * 1e6
        },
        is_limited_by_application: rng.chance(0.2),
        delivered: rng.next_u64() as u32,
        delivered_before: rng.next_u64() as u32,
    });
    Acked {
        now,
        newly,
        growth: if rng.chance(0.1) { rng.below(newly + 1) } else { newly },
        marked: if rng.chance(0.2) { rng.below(newly + 1) } else { 0 },
        lost: if rng.chance(0.1) { rng.below(100) } else { 0 },
        in_flight: newly + rng.below(2000) * rng.below(2),
        rtt,
        ends_round: rng.chance(0.1),
        rate,
        is_window_used: rng.chance(0.8),
        max_window: most,
    }
}

#[test]
fn windows_and_paces_stay_within_their_bounds_for_any_input() {
    for seed in 0..20 {
        for (name, mut control) in all(seed) {
            let mut rng = Seed(seed).stream(name);
            let mut now = Time::from_ns(rng.next_u64() % 100_000_000_000);
            let most = f64::from(1 + rng.below(20_000));
            for step in 0..20_000 {
                now += Duration::from_ns(if rng.chance(0.001) {
                    30_000_000_000
                } else {
                    rng.next_u64() % 20_000_000
                });
                let in_use = control.window();
                let congested = Congested { now, in_use, in_flight: rng.below(1 + in_use as u32) };
                match rng.below(200) {
                    0 => control.lost(&congested),
                    1 => control.marked(&congested),
                    2 => control.timed_out(&congested),
                    3 | 4 => control.recovered(now),
                    _ => control.acked(&acked_at_random(&mut rng, now, most)),
                }
                let window = control.window();
                assert!(window >= 1.0 && window.is_finite(), "{name} {seed} {step}: {window}");
                assert!(control.threshold() >= 1.0, "{name} {seed} {step}: {}", control.threshold());
                let pace = control.pace();
                assert!(
                    pace.is_none_or(|pace| pace > 0.0 && pace.is_finite()),
                    "{name} {seed} {step}: {pace:?}"
                );
            }
        }
    }
}

#[test]
fn the_same_feedback_gives_the_same_windows() {
    for (first, second) in all(5).iter_mut().zip(&mut all(5)) {
        let mut rngs = [Seed(1).stream("twice"), Seed(1).stream("twice")];
        for step in 0..5_000 {
            let now = Time::from_ns(5_000_000 * step);
            first.1.acked(&acked_at_random(&mut rngs[0], now, 1e4));
            second.1.acked(&acked_at_random(&mut rngs[1], now, 1e4));
            assert_eq!(first.1.window().to_bits(), second.1.window().to_bits(), "{}", first.0);
        }
    }
}
