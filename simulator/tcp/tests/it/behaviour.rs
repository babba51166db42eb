//! Complete flows on a path.

use crate::path;

use fairwire_core::{Duration, Ecn, Time, rng};
use fairwire_tcp::congestion::{
    BbrParameters, ControlConfig, Controller, CubicParameters, DctcpParameters, LedbatParameters,
    PragueParameters,
};
use fairwire_tcp::{Config, EcnMode, Profile, Recovery, Sender};
use path::Path;
use std::sync::Arc;

const MODERN: Profile = Profile::Modern;

/// The number of 552-byte segments per second on a link of 10 Mbit/s.
const LINK_PER_SECOND: f64 = 10e6 / (552.0 * 8.0);

fn at(s: u64) -> Time {
    Time::ZERO + Duration::from_secs(s)
}

fn modern(control: ControlConfig) -> Config {
    Config { control, ..Config::new(MODERN, 512) }
}

fn utilization(path: &mut Path<'_>) -> f64 {
    path.start();
    path.run_until(at(10));
    let before = path.delivered;
    path.run_until(at(30));
    (path.delivered - before) as f64 / 20.0 / LINK_PER_SECOND
}

#[test]
fn every_controller_fills_a_link_with_a_bandwidth_delay_product_of_buffer() {
    for control in [
        ControlConfig::Reno,
        ControlConfig::Cubic(CubicParameters::default()),
        ControlConfig::Bbr(BbrParameters::default()),
        ControlConfig::Ledbat(LedbatParameters::default()),
    ] {
        for recovery in [Recovery::NewReno, Recovery::Sack] {
            if matches!(control, ControlConfig::Bbr(_)) && recovery == Recovery::NewReno {
                continue; // without SACK the losses of its start-up need the timer repeatedly
            }
            let config = Config { recovery, ..modern(control.clone()) };
            let got = utilization(&mut Path::new(&config, 74)); // 10 Mbit/s x 32.6 ms
            assert!(got > 0.95 && got <= 1.001, "{control:?} {recovery:?}: {got}");
        }
    }
}

#[test]
fn controllers_that_count_marks_hold_a_shallow_queue_without_loss() {
    for (control, ecn) in [
        (ControlConfig::Dctcp(DctcpParameters::default()), EcnMode::Ect0),
        (ControlConfig::Prague(PragueParameters::default()), EcnMode::Ect1),
    ] {
        let config = Config { ecn, ..modern(control.clone()) };
        let mut path = Path::new(&config, 200).marking_above(20);
        let got = utilization(&mut path);
        assert!(got > 0.95 && got <= 1.001, "{control:?}: {got}");
        assert!(path.marks > 100, "{control:?}: {}", path.marks);
        assert!(path.sent.iter().all(|(_, segment)| !segment.cwr), "counted marks need no answer");
    }
}

#[test]
fn a_controller_learns_the_marked_fraction_despite_losses_and_delays() {
    for recovery in [Recovery::NewReno, Recovery::Sack] {
        let control = ControlConfig::Dctcp(DctcpParameters::default());
        let config = Config { recovery, ecn: EcnMode::Ect0, ..modern(control) };
        let mut path = Path::new(&config, 1000)
            .marking(|n| rng::mix(n).is_multiple_of(5))
            .fate(|n, _| if n % 1000 == 999 { vec![] } else { vec![Duration::ZERO] })
            .ack_fate(|n| if n.is_multiple_of(7) { vec![] } else { vec![Duration::ZERO] });
        path.start();
        path.run_until(at(10));
        let (mut sum, mut count) = (0.0, 0);
        while path.now < at(60) {
            path.run_until(path.now + Duration::from_ms(30));
            if let Controller::Dctcp(dctcp) = path.sender.controller() {
                (sum, count) = (sum + dctcp.alpha(), count + 1);
            }
        }
        let alpha = sum / f64::from(count);
        // The marked share of a round varies by 0.1, and the mean over 1600 rounds by 0.002. The
        // bound is five times 0.002.
        assert!((alpha - 0.2).abs() < 0.01, "{recovery:?}: {alpha}");
    }
}

#[test]
fn an_echo_is_answered_once_per_window_and_the_answer_stops_it() {
    let config = Config { ecn: EcnMode::Ect0, window: Some(64), ..modern(ControlConfig::Reno) };
    let mut path = Path::new(&config, 1000).marking(|n| (200..230).contains(&n));
    path.start();
    let mut reductions = Vec::new();
    let mut before = path.sender.window();
    for ms in 0..1000 {
        path.run_until(Time::ZERO + Duration::from_ms(ms));
        let window = path.sender.window();
        if window < before {
            reductions.push((before, window));
        }
        before = window;
    }
    assert_eq!(path.marks, 30);
    assert_eq!(reductions, [(64.0, 32.0)]);
    assert_eq!(path.sent.iter().filter(|(_, segment)| segment.cwr).count(), 1);
    assert!(path.sent.iter().all(|(_, segment)| !segment.is_retransmission));
}

#[test]
fn data_is_ecn_capable_where_configured_and_neither_a_syn_nor_a_retransmission_is() {
    for (ecn, codepoint) in
        [(EcnMode::Off, Ecn::NotEct), (EcnMode::Ect0, Ecn::Ect0), (EcnMode::Ect1, Ecn::Ect1)]
    {
        let config = Config { ecn, ..modern(ControlConfig::Reno) };
        let mut path = Path::new(&config, 30);
        path.start();
        path.run_until(at(3));
        assert!(path.sent.iter().any(|(_, segment)| segment.is_retransmission));
        for (_, segment) in &path.sent {
            let is_plain = !segment.is_syn && !segment.is_retransmission;
            assert_eq!(segment.ecn, if is_plain { codepoint } else { Ecn::NotEct });
        }
    }
}

#[test]
fn a_loss_does_not_reduce_a_window_already_reduced_by_a_mark() {
    for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let window = Some(32);
        let config = Config { recovery, window, ecn: EcnMode::Ect0, ..modern(ControlConfig::Reno) };
        let mut is_lost = false;
        let mut path = Path::new(&config, 1000).marking(|n| n == 200).fate(move |_, segment| {
            let is_due = segment.seq == 205 && !std::mem::replace(&mut is_lost, segment.seq == 205);
            if is_due { vec![] } else { vec![Duration::ZERO] }
        });
        path.start();
        let mut least = f64::INFINITY;
        for ms in 100..1000 {
            path.run_until(Time::ZERO + Duration::from_ms(ms));
            least = least.min(path.sender.window());
        }
        let again: Vec<u64> =
            path.sent.iter().filter(|(_, s)| s.is_retransmission).map(|(_, s)| s.seq).collect();
        // The receiver's window allows no new segments, so SACK retransmits the last segment as a
        // rescue (RFC 6675, section 4, NextSeg 4).
        let expected: &[u64] = if recovery == Recovery::Sack { &[205, 236] } else { &[205] };
        assert_eq!(again, expected, "{recovery:?}");
        assert_eq!(least, 16.0, "{recovery:?}");
    }
}

#[test]
fn marks_at_a_window_of_one_delay_segments_by_growing_timeouts() {
    let (ecn, window) = (EcnMode::Ect0, Some(30));
    let whole_segments = false; // the test needs a window of 1 and a fraction
    let config = Config { ecn, window, whole_segments, delayed_ack: None, ..modern(ControlConfig::Reno) };
    let mut path = Path::new(&config, 1000).marking(|n| n < 22);
    path.start();
    path.run_until(at(300));
    assert!(path.sent.iter().all(|(_, segment)| !segment.is_retransmission));
    // The first flights are marked. From the 18th segment on, the window is 1.
    let sent: Vec<f64> = path.sent.iter().map(|(at, _)| at.secs()).collect();
    let gaps: Vec<f64> = sent[16..24].windows(2).map(|pair| pair[1] - pair[0]).collect();
    let held: Vec<f64> = gaps.iter().copied().filter(|&gap| gap > 0.1).collect();
    assert!(held.len() >= 2 && held[0] >= 0.2, "{gaps:?}"); // the minimum timeout
    // A first mark at a window between 1 and 2, and a second at 1, cause equal waits. Each later
    // mark doubles the wait. Each wait includes a round trip.
    let growth: Vec<f64> = held.windows(2).map(|pair| (pair[1] / pair[0]).round()).collect();
    assert_eq!(growth, [1.0, 2.0, 2.0], "{held:?}");
    assert!(sent.len() > 100_000 && sent[sent.len() - 1] > 299.0); // then it is over
}

#[test]
fn a_paced_flow_leaves_a_gap_between_any_two_segments() {
    let config = modern(ControlConfig::Bbr(BbrParameters::default()));
    let mut path = Path::new(&config, 200);
    path.start();
    path.run_until(at(10));
    // After start-up the pacing gain is at most 1.25. The test allows a bandwidth estimate 10 %
    // above the link's rate.
    let least_gap = 1.0 / (LINK_PER_SECOND * 1.25 * 1.1);
    let late: Vec<Time> = path.sent.iter().map(|&(at, _)| at).filter(|at| at.secs() > 2.0).collect();
    assert!(late.len() > 10_000);
    for pair in late.windows(2) {
        assert!(pair[1].since(pair[0]).secs() >= least_gap, "{} and {}", pair[0], pair[1]);
    }
}

#[test]
fn an_application_limited_flow_does_not_underestimate_the_path() {
    let config = Arc::new(modern(ControlConfig::Bbr(BbrParameters::default())));
    let mut path = Path::with(Sender::without_data(&config), &config, 1000);
    let known = |path: &Path<'_>| match path.sender.controller() {
        Controller::Bbr(bbr) => bbr.bottleneck_rate(),
        _ => unreachable!("it is BBR"),
    };
    path.start();
    path.write(5000);
    path.run_until(at(5));
    assert!(path.sender.is_finished());
    let bulk = known(&path);
    assert!((bulk / LINK_PER_SECOND - 1.0).abs() < 0.05, "{bulk}");
    for tenth in 50..100 {
        path.write(1); // ten per second, one round trip each: five times as many rounds as the filter is long
        path.run_until(Time::ZERO + Duration::from_ms(100 * tenth + 100));
    }
    assert_eq!(path.delivered, 5050);
    assert!(known(&path) > 0.95 * LINK_PER_SECOND, "{}", known(&path));
}

#[test]
fn delayed_acknowledgements_come_for_two_segments_or_after_a_timeout() {
    let config = Arc::new(modern(ControlConfig::Reno));
    let mut path = Path::with(Sender::without_data(&config), &config, 1000);
    path.start();
    path.write(1001);
    path.run_until(at(5));
    assert!(path.sender.is_finished());
    assert_eq!(path.acks(), 1 + 500 + 1); // the SYN's, 500 of two segments each, and the last one's
    let finished = |segments: u64| {
        let mut path = Path::with(Sender::without_data(&config), &config, 1000);
        path.start();
        path.write(segments);
        while !path.sender.is_finished() {
            path.run_until(path.now + Duration::from_us(100));
        }
        path.now.secs()
    };
    let waits = finished(1) - finished(2);
    assert!((waits - 0.040).abs() < 0.0006, "{waits}"); // minus the second segment's 0.44 ms
}

#[test]
fn finite_data_is_finished_when_all_of_it_is_acknowledged() {
    let config = Arc::new(Config::new(Profile::Ns2In2002, 512));
    let mut path = Path::with(Sender::without_data(&config), &config, 5);
    path.write(50); // before the connection is open: kept
    path.start();
    assert!(!path.sender.is_finished());
    path.run_until(at(20));
    assert!(path.sender.is_finished());
    assert_eq!((path.delivered, path.sender.deadline()), (50, None));
    path.write(7);
    assert!(!path.sender.is_finished());
    path.run_until(at(30));
    assert_eq!((path.delivered, path.sender.is_finished()), (57, true));
    assert!(!Sender::new(&config).is_finished());
}

#[test]
fn a_pause_beyond_the_timeout_restarts_the_window_and_a_shorter_one_does_not() {
    let config = Arc::new(Config { restart_window: Some(4), ..modern(ControlConfig::Reno) });
    let after_pause = |pause: Duration| {
        let mut path = Path::with(Sender::without_data(&config), &config, 1000);
        path.start();
        path.write(1000);
        path.run_until(at(2));
        assert!(path.sender.window() > 100.0);
        let sent = path.sent.len();
        let last = path.sent[sent - 1].0;
        path = path.at(last + pause);
        path.write(100);
        path.sent.len() - sent
    };
    assert_eq!(after_pause(Duration::from_ms(2500)), 4);
    assert_eq!(after_pause(Duration::from_ms(150)), 100); // shorter than the minimum timeout, 200 ms
}

#[test]
fn an_unused_window_does_not_grow() {
    let config = Arc::new(modern(ControlConfig::Reno));
    let window = |config: &Arc<Config>| {
        let mut path = Path::with(Sender::without_data(config), config, 1000);
        path.start();
        for ms in 1..1000 {
            path.run_until(Time::ZERO + Duration::from_ms(10 * ms));
            path.write(1);
        }
        path.sender.window()
    };
    assert!(window(&config) <= 11.0, "{}", window(&config)); // the initial 10
    let mut as_in_ns2 = (*config).clone();
    as_in_ns2.quirks.grows_unused = true;
    assert!(window(&Arc::new(as_in_ns2)) > 100.0);
}

#[test]
fn exact_round_trip_times_are_those_of_the_path() {
    let config = Config { delayed_ack: None, window: Some(4), ..modern(ControlConfig::Reno) };
    let mut path = Path::new(&config, 1000);
    path.start();
    path.run_until(at(5));
    // Propagation takes 32 ms. A segment and its acknowledgement each cross links of 100, 10 and
    // 100 Mbit/s.
    let alone = 0.032 + 2.0 * 44.16e-6 + 441.6e-6 + 2.0 * 3.2e-6 + 32e-6;
    let rtt = path.sender.rtt().smoothed().expect("measured").secs();
    assert!((rtt - alone).abs() < 1.5e-3, "{rtt} against {alone}"); // at most the three others wait before it
    assert!(rtt >= alone - 1e-6);
}
