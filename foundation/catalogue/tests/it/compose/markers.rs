//! Markers against straight-line transcriptions of their RFCs.

use super::{rate, site};
use fairwire_catalogue::marker::{self, MarkerChoice, MarkerParameters};
use fairwire_core::{Duration, Marker, Packet, Rng, Seed, Time};
use fairwire_laws::marker::{sr_tcm, token_bucket, tr_tcm, tsw2cm, tsw3cm};

/// Tokens that came by `now`, ticked one byte at a time: the `n`th comes when `n` bytes at `bps`
/// have passed.
fn ticks(bps: u64, now: u64) -> u128 {
    u128::from(now) * u128::from(bps) / 8_000_000_000
}

/// Bursts and pauses of packets of 40 to 1500 bytes around 8 Mbit/s: arrival in ns, length, colour
/// before.
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

/// The colours that `marker` gives, and how often each.
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
fn the_token_bucket_marks_as_ticked_out() {
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
            // At most a byte more: the part of a token that is left at either end of the interval.
            assert!(u128::from(sum) <= 5000 + ticks(3_000_000, to - from) + 1);
        }
    }
}

/// RFC 2697, sections 3 and 4.
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

/// RFC 2698, sections 3 and 4.
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

/// RFC 2859, figure 2.
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

/// RFC 2859, figure 3; with a peak rate that is never reached, the marker of two colours.
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
    // 10000 of 20000, each out with probability a half after ten windows: +- 5 sd of 71.
    assert!((9_650..=10_350).contains(&out), "{out}");
}

#[test]
fn every_marker_is_found_builds_by_default_and_shows_its_rate() {
    for entry in marker::all() {
        assert_eq!(marker::find(entry.name).map(|found| found.name), Ok(entry.name));
        let marker =
            MarkerChoice::find(entry.name).expect("listed").build(&site()).expect("the defaults are allowed");
        let mut contract = None;
        marker.inspect(&mut |name: &str, _, value: f64| {
            if name == "contract_rate" {
                contract = Some(value);
            }
        });
        assert_eq!(contract, Some(5e6), "{}: half of the link's", entry.name);
    }
    let unknown = marker::find("tsw4cm").unwrap_err().to_string();
    assert!(unknown.starts_with(
        "there is no marker `tsw4cm`; did you mean `tsw2cm` or `tsw3cm`? allowed: `token-bucket`,"
    ));
}

#[test]
fn what_is_not_allowed_is_refused() {
    for (name, typed, message) in [
        (
            "tr-tcm",
            "[tr-tcm]\nrate = '5 Mbit/s'\npeak_rate = '4 Mbit/s'",
            "`peak_rate` of `tr-tcm` is 4 Mbit/s; allowed: no less than rate, which is 5 Mbit/s",
        ),
        (
            "tsw3cm",
            "[tsw3cm]\nrate = '5 Mbit/s'\npeak_rate = '4 Mbit/s'",
            "`peak_rate` of `tsw3cm` is 4 Mbit/s; allowed: no less than rate, which is 5 Mbit/s",
        ),
        (
            "sr-tcm",
            "[sr-tcm]\ncommitted_burst = '0 B'\nexcess_burst = '0 B'",
            "`excess_burst` of `sr-tcm` is 0 B; allowed: more than 0 B where committed_burst is 0 B",
        ),
        ("tr-tcm", "[tr-tcm]\npeak_burst = '0 B'", "`peak_burst` of `tr-tcm` is 0 B; allowed: more than 0 B"),
        ("tsw2cm", "[tsw2cm]\nwindow = '0 s'", "`window` of `tsw2cm` is 0 ns; allowed: a time above zero"),
        (
            "token-bucket",
            "[token-bucket]\nburst = '2048 GiB'",
            "`burst` of `token-bucket` is 2048 GiB; allowed: at most 1024 GiB",
        ),
        (
            "adaptive-token-bucket",
            "[adaptive-token-bucket]\nrate = '5 Mbit/s'\nlowest = '6 Mbit/s'",
            "`lowest` of `adaptive-token-bucket` is 6 Mbit/s; allowed: at most rate, which is 5 Mbit/s",
        ),
        (
            "adaptive-token-bucket",
            "[adaptive-token-bucket]\nrate = '5 Mbit/s'\nhighest = '4 Mbit/s'",
            "`highest` of `adaptive-token-bucket` is 4 Mbit/s; allowed: no less than rate, which is 5 Mbit/s",
        ),
        (
            "adaptive-token-bucket",
            "[adaptive-token-bucket]\ninterval = '0 s'",
            "`interval` of `adaptive-token-bucket` is 0 ns; allowed: a time above zero",
        ),
        (
            "adaptive-token-bucket",
            "[adaptive-token-bucket]\ndelta = 2",
            "`delta` of `adaptive-token-bucket` is 2; allowed: a number above 0, at most 1",
        ),
    ] {
        let base: MarkerParameters = toml::from_str(typed).expect("well-formed");
        let error = MarkerChoice::find(name).expect("known").filled(&base).check(&site()).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn a_marker_is_a_name_or_a_table_and_what_is_said_elsewhere_comes_after_its_own() {
    #[derive(Debug, PartialEq, serde::Deserialize, serde::Serialize)]
    struct Edge {
        marker: MarkerChoice,
    }
    let read = |text: &str| toml::from_str::<Edge>(text).map_err(|error| error.to_string());
    let edge = |text: &str| read(text).unwrap_or_else(|error| panic!("{text}: {error}")).marker;
    let base: MarkerParameters =
        toml::from_str("[sr-tcm]\nrate = '2 Mbit/s'\ncommitted_burst = '9 kB'").unwrap();
    let own = edge("marker = { sr-tcm = { rate = '1 Mbit/s' } }");
    let both = edge("marker = { sr-tcm = { rate = '1 Mbit/s', committed_burst = '9 kB' } }");
    assert_eq!(own.clone().filled(&base), both);
    assert_eq!(edge("marker = 'sr-tcm'"), edge("marker = { sr-tcm = {} }"));
    assert_eq!(edge("marker = 'tsw2cm'").filled(&base), edge("marker = 'tsw2cm'"));
    assert_eq!(own.clone().with_contract(rate("3 Mbit/s")), own, "its own rate stays");
    for (text, shown) in [
        ("marker = 'sr-tcm'", "marker = \"sr-tcm\"\n"),
        ("marker = { sr-tcm = { rate = '1 Mbit/s' } }", "[marker.sr-tcm]\nrate = \"1 Mbit/s\"\n"),
    ] {
        assert_eq!(toml::to_string(&read(text).unwrap()).unwrap(), shown);
    }
    for (text, message) in [
        ("marker = 'srtcm'", "unknown variant `srtcm`, expected one of `token-bucket`, `sr-tcm`"),
        ("marker = { sr-tcm = {}, tsw2cm = {} }", "`tsw2cm` is a second marker"),
        ("marker = { sr-tcm = { rat = '1 Mbit/s' } }", "unknown field `rat`"),
        ("marker = {}", "no marker is named; allowed: its name in quotes"),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.contains(message), "{text}: {error}");
    }
}
