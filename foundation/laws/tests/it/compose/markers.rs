//! Markers against straight-line transcriptions of their RFCs.

use super::rate;
use fairwire_core::{Duration, Marker, Packet, Rng, Seed, Time};
use fairwire_laws::marker::{sr_tcm, token_bucket, tr_tcm, tsw2cm, tsw3cm};

/// The tokens that arrive in `now` ns, one per byte.
fn ticks(bps: u64, now: u64) -> u128 {
    u128::from(now) * u128::from(bps) / 8_000_000_000
}

/// Bursty arrivals at about 8 Mbit/s: time in ns, length, and previous colour.
fn arrivals(seed: u64) -> Vec<(u64, u32, u8)> {
    let mut rng = Seed(seed).stream("arrivals");
    let mut now = 0;
    (0..3000)
        .map(|_| {
            let pause = if rng.chance(0.01) { 30_000_000 } else { 1_500_000 };
            now += u64::from(rng.below(pause));
            (now, 40 + rng.below(1461), rng.below(3) as u8)
        })
        .collect()
}

fn colors(marker: &mut dyn Marker, arrivals: &[(u64, u32, u8)]) -> Vec<u8> {
    let color = |&(now, len, before)| {
        let at = Time::from_ns(now);
        let mut packet = Packet { color: before, ..Packet::new(0, len, 0.into(), at) };
        marker.color(&mut packet, at);
        packet.color
    };
    arrivals.iter().map(color).collect()
}

fn assert_all_met(colors: &[u8], met: u8) {
    for color in 0..met {
        let n = colors.iter().filter(|&&given| given == color).count();
        assert!(n > 100, "colour {color} was given {n} times only");
    }
}

#[test]
fn the_token_bucket_marks_as_a_ticking_bucket_does() {
    for seed in 0..4 {
        let arrivals = arrivals(seed);
        let config = token_bucket::Config { rate: rate("4321 kbit/s"), burst: 9000 };
        let given = colors(&mut token_bucket::TokenBucket::new(config), &arrivals);
        let (mut tokens, mut came) = (9000, 0);
        let expected: Vec<u8> = arrivals
            .iter()
            .map(|&(now, len, _)| {
                for _ in came..ticks(4_321_000, now) {
                    if tokens < 9000 {
                        tokens += 1;
                    }
                }
                came = ticks(4_321_000, now);
                if tokens >= len {
                    tokens -= len;
                    return 0;
                }
                1
            })
            .collect();
        assert_eq!(given, expected);
        assert_all_met(&given, 2);
    }
}

#[test]
fn green_bytes_never_exceed_rate_and_burst() {
    let arrivals = arrivals(9);
    let config = token_bucket::Config { rate: rate("3 Mbit/s"), burst: 5000 };
    let given = colors(&mut token_bucket::TokenBucket::new(config), &arrivals);
    let green: Vec<(u64, u64)> =
        arrivals.iter().zip(&given).filter(|(_, c)| **c == 0).map(|(a, _)| (a.0, u64::from(a.1))).collect();
    for (i, (from, _)) in green.iter().enumerate() {
        let mut sum = 0;
        for (to, len) in &green[i..] {
            sum += len;
            // Fractions of a token add at most a byte.
            assert!(u128::from(sum) <= 5000 + ticks(3_000_000, to - from) + 1);
        }
    }
}

/// The colours by RFC 2697, sections 3 and 4.
fn sr_tcm_by_rfc(c: sr_tcm::Config, arrivals: &[(u64, u32, u8)]) -> Vec<u8> {
    let (mut tc, mut te, mut came) = (c.committed_burst, c.excess_burst, 0);
    let mut given = Vec::new();
    for &(now, len, before) in arrivals {
        let b = u64::from(len);
        for _ in came..ticks(c.rate.bps(), now) {
            if tc < c.committed_burst {
                tc += 1;
            } else if te < c.excess_burst {
                te += 1;
            }
        }
        came = ticks(c.rate.bps(), now);
        let (green, yellow) = if c.aware { (before == 0, before == 0 || before == 1) } else { (true, true) };
        given.push(if green && tc >= b {
            tc -= b;
            0
        } else if yellow && te >= b {
            te -= b;
            1
        } else {
            2
        });
    }
    given
}

#[test]
fn the_single_rate_marker_decides_as_rfc_2697_does() {
    for (seed, aware) in [(1, false), (2, true), (3, false), (4, true)] {
        for (committed_burst, excess_burst) in [(6000, 9000), (0, 20_000), (12_000, 0)] {
            let config = sr_tcm::Config { rate: rate("4321 kbit/s"), committed_burst, excess_burst, aware };
            let given = colors(&mut sr_tcm::SrTcm::new(config), &arrivals(seed));
            assert_eq!(given, sr_tcm_by_rfc(config, &arrivals(seed)));
            if committed_burst == 6000 {
                assert_all_met(&given, 3);
            }
        }
    }
}

/// The colours by RFC 2698, sections 3 and 4.
fn tr_tcm_by_rfc(c: tr_tcm::Config, arrivals: &[(u64, u32, u8)]) -> Vec<u8> {
    let (mut tp, mut tc) = (c.peak_burst, c.committed_burst);
    let (mut peak_came, mut committed_came) = (0, 0);
    let mut given = Vec::new();
    for &(now, len, before) in arrivals {
        let b = u64::from(len);
        for _ in peak_came..ticks(c.peak_rate.bps(), now) {
            tp = if tp < c.peak_burst { tp + 1 } else { tp };
        }
        for _ in committed_came..ticks(c.rate.bps(), now) {
            tc = if tc < c.committed_burst { tc + 1 } else { tc };
        }
        peak_came = ticks(c.peak_rate.bps(), now);
        committed_came = ticks(c.rate.bps(), now);
        let before = if c.aware { before } else { 0 };
        if before == 2 || tp < b {
            given.push(2);
        } else if before == 1 || tc < b {
            given.push(1);
            tp -= b;
        } else {
            given.push(0);
            tp -= b;
            tc -= b;
        }
    }
    given
}

#[test]
fn the_two_rate_marker_decides_as_rfc_2698_does() {
    for (seed, aware) in [(1, false), (2, true), (3, false), (4, true)] {
        let config = tr_tcm::Config {
            rate: rate("2 Mbit/s"),
            peak_rate: rate("5 Mbit/s"),
            committed_burst: 6000,
            peak_burst: 7000,
            aware,
        };
        let given = colors(&mut tr_tcm::TrTcm::new(config), &arrivals(seed));
        assert_eq!(given, tr_tcm_by_rfc(config, &arrivals(seed)));
        assert_all_met(&given, 3);
    }
}

/// The rate estimator of RFC 2859, figure 2.
struct Window {
    avg_rate: f64,
    t_front: f64,
    interval: f64,
}

impl Window {
    fn update(&mut self, pkt_size: u32, now: u64) -> f64 {
        let elapsed = (now - self.t_front as u64) as f64 * 1e-9;
        let bytes_in_window = self.avg_rate * self.interval;
        let new_bytes = bytes_in_window + f64::from(pkt_size);
        self.avg_rate = new_bytes / (elapsed + self.interval);
        self.t_front = now as f64;
        self.avg_rate
    }
}

/// The colours by RFC 2859, figure 3. An infinite `ptr` gives the two-colour marker.
fn tsw_by_rfc(ctr: f64, ptr: f64, window: Duration, rng: &mut Rng, arrivals: &[(u64, u32, u8)]) -> Vec<u8> {
    let mut estimator = Window { avg_rate: ctr, t_front: 0.0, interval: window.secs() };
    let color = |&(now, len, _): &(u64, u32, u8)| {
        let avg = estimator.update(len, now);
        if avg <= ctr {
            return 0;
        }
        let u = rng.uniform();
        if avg <= ptr {
            let p0 = (avg - ctr) / avg;
            return if u < p0 { 1 } else { 0 };
        }
        let p1 = (avg - ptr) / avg;
        let p2 = (ptr - ctr) / avg;
        if u < p1 {
            2
        } else if u < p1 + p2 {
            1
        } else {
            0
        }
    };
    arrivals.iter().map(color).collect()
}

#[test]
fn the_time_sliding_window_markers_decide_as_rfc_2859_does() {
    for seed in 0..4 {
        let (arrivals, window) = (arrivals(seed), Duration::from_ms(20));
        let config = tsw3cm::Config { rate: rate("4 Mbit/s"), peak_rate: rate("6 Mbit/s"), window };
        let mut marker = tsw3cm::Tsw3cm::new(config, Seed(seed).stream("tsw"));
        let given = colors(&mut marker, &arrivals);
        let mut rng = Seed(seed).stream("tsw");
        assert_eq!(given, tsw_by_rfc(500e3, 750e3, window, &mut rng, &arrivals));
        assert_all_met(&given, 3);

        let config = tsw2cm::Config { rate: rate("4 Mbit/s"), window };
        let given = colors(&mut tsw2cm::Tsw2cm::new(config, Seed(seed).stream("tsw")), &arrivals);
        let mut rng = Seed(seed).stream("tsw");
        assert_eq!(given, tsw_by_rfc(500e3, f64::INFINITY, window, &mut rng, &arrivals));
        assert_all_met(&given, 2);
    }
}

#[test]
fn at_twice_the_target_rate_half_of_the_packets_are_out() {
    let config = tsw2cm::Config { rate: rate("4 Mbit/s"), window: Duration::from_secs(1) };
    let mut marker = tsw2cm::Tsw2cm::new(config, Seed(1).stream("tsw"));
    let steady: Vec<(u64, u32, u8)> = (0..30_000).map(|i| (i * 1_000_000, 1000, 0)).collect();
    let given = colors(&mut marker, &steady);
    let out = given[10_000..].iter().filter(|&&color| color == 1).count();
    // Each of 20000 packets is out of profile with probability 1/2. The bounds allow about five
    // standard deviations of 71 packets.
    assert!((9_650..=10_350).contains(&out), "{out}");
}
