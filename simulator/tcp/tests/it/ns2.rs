//! With each loss recovery, one flow performs as in ns-2 2.35, drop for drop.
//!
//! The figures are the output of `ns proof/bench/one-flow.tcl BUFFER WINDOW RECOVERY`.

use crate::path;

use fairwire_core::{Duration, Seed, Time};
use fairwire_tcp::{Config, Profile, Recovery};
use path::Path;

/// An access link is ten times as fast as the queued link, so an arrival may coincide with the end
/// of a transmission. In ns-2, the rounding of floats then decides which packet a small buffer
/// drops. The observed effect is at most 0.08 % of the packets. Without such a coincidence the
/// results are the same bit for bit.
const TOLERANCE: f64 = 1e-3;

fn simulated(recovery: Recovery, buffer: usize, window: Option<u32>) -> (f64, u64, u32) {
    let config = Config { recovery, window, ..Config::new(Profile::Ns2In2002, 512) };
    let mut path = Path::new(&config, buffer);
    path.start();
    path.run_until(Time::ZERO + Duration::from_secs(20));
    let before = (path.delivered, path.drops);
    path.sender.forget_loss_counts();
    path.run_until(Time::ZERO + Duration::from_secs(100));
    let timeouts = path.sender.loss_counts().timeouts;
    ((path.delivered - before.0) as f64 * 552.0 * 8.0 / 80.0, path.drops - before.1, timeouts)
}

/// The timer runs out only for Reno with several losses in a window.
fn compare(recovery: Recovery, rows: &[(usize, Option<u32>, f64, u64)]) {
    for &(buffer, window, expected_bps, expected_drops) in rows {
        let (bps, drops, timeouts) = simulated(recovery, buffer, window);
        assert_eq!(drops, expected_drops, "buffer {buffer}, window {window:?}");
        let expected_timeouts = if (recovery, window) == (Recovery::Reno, Some(100)) { 19 } else { 0 };
        assert_eq!(timeouts, expected_timeouts, "buffer {buffer}, window {window:?}");
        assert!((bps / expected_bps - 1.0).abs() < TOLERANCE, "buffer {buffer}, window {window:?}: {bps}");
    }
}

#[test]
fn tahoe_has_the_losses_of_ns2() {
    compare(
        Recovery::Tahoe,
        &[
            (2, None, 4_617_424.8, 216),
            (5, None, 5_497_257.6, 310),
            (20, None, 8_257_533.6, 42),
            (40, None, 9_062_073.6, 32),
            (80, None, 9_591_772.8, 19),
            (20, Some(100), 8_256_540.0, 42),
            (20, Some(8), 1_084_569.6, 0),
        ],
    );
}

#[test]
fn reno_has_the_losses_of_ns2() {
    compare(
        Recovery::Reno,
        &[
            (2, None, 7_680_859.2, 60),
            (5, None, 7_911_429.6, 58),
            (20, None, 8_979_218.4, 47),
            (40, None, 9_680_258.4, 35),
            (80, None, 9_999_976.8, 20),
            (20, Some(100), 4_909_764.0, 380),
            (20, Some(8), 1_084_569.6, 0),
        ],
    );
}

#[test]
fn newreno_has_the_losses_of_ns2() {
    compare(
        Recovery::NewReno,
        &[
            (2, None, 7_678_485.6, 60),
            (5, None, 7_915_017.6, 58),
            (20, None, 8_976_458.4, 47),
            (40, None, 9_689_366.4, 34),
            (80, None, 9_999_976.8, 20),
            (20, Some(100), 5_753_109.6, 441),
            (20, Some(8), 1_084_569.6, 0),
        ],
    );
}

#[test]
fn sack_has_the_losses_of_ns2() {
    compare(
        Recovery::Sack,
        &[
            (2, None, 7_681_411.2, 60),
            (5, None, 7_907_344.8, 58),
            (20, None, 8_970_276.0, 46),
            (40, None, 9_689_366.4, 34),
            (80, None, 10_000_032.0, 20),
            (20, Some(100), 7_339_336.8, 570),
            (20, Some(8), 1_084_569.6, 0),
        ],
    );
}

/// Returns the number of packets sent. For ns-2's number, see the trace of `ns
/// proof/bench/few-losses.tcl 100000 "NUMBERS" Newreno drop 200 0.2`. NUMBERS are the packets in
/// `lost`.
fn sent_under_losses(probability: f64, seed: u64) -> usize {
    let mut rng = Seed(seed).stream("loss");
    let lost: Vec<u64> = (0..60_000).filter(|_| rng.chance(probability)).collect();
    let config = Config::new(Profile::Ns2In2006, 512);
    let mut path = Path::new(&config, 1_000_000).losing(&lost);
    path.start();
    path.run_until(Time::ZERO + Duration::from_secs(200));
    path.sent.len()
}

#[test]
fn a_flow_under_random_losses_sends_as_many_packets_as_in_ns2() {
    // Seeds 3, 11 and 12 lose their first SYN. At a loss of 25 %, the timer repeatedly backs off to
    // its maximum.
    for (probability, seed, in_ns2) in [
        (0.08, 3, 17_701),
        (0.08, 11, 17_574),
        (0.08, 14, 17_333),
        (0.25, 3, 1482),
        (0.25, 11, 835),
        (0.25, 12, 340),
        (0.25, 14, 1158),
        (0.25, 18, 2184),
    ] {
        assert_eq!(sent_under_losses(probability, seed), in_ns2, "{probability}, seed {seed}");
    }
}
