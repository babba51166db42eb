//! Shares do not depend on round trips modulo a packet's transmission time (S. Floyd and V.
//! Jacobson, "On traffic phase effects in packet-switched gateways", 1992).

use fairwire_scenario::{Overrides, parse, run_all};
use std::sync::atomic::AtomicBool;

/// The fraction of the goodput that two far CUBIC flows get against eight near flows, under
/// tail-drop. A packet takes 0.12 ms.
fn far_fraction([far_us, near_us]: [u32; 2], seeds: u32) -> f64 {
    let (far_us, near_us) = (40_000 + far_us, 20_400 + near_us);
    let text = format!(
        r#"
format = 2
name = "phase"
duration = "40 s"
warm_up = "10 s"
seeds = "1..={seeds}"
disciplines = ["tail-drop"]
[link]
rate = "100 Mbit/s"
delay = "0 s"
buffer = "450 packets"
[[flow]]
group = "far"
count = 2
source = "bulk"
rtt = "{far_us} us"
access = {{ rate = "10 Gbit/s" }}
tcp = {{ profile = "modern" }}
start = "0 s..1 s"
[[flow]]
group = "near"
count = 8
source = "bulk"
rtt = "{near_us} us"
access = {{ rate = "10 Gbit/s" }}
tcp = {{ profile = "modern" }}
start = "0 s..1 s"
"#
    );
    let scenario = parse("phase.toml", &text, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
    let outcome = run_all(&scenario, 2, &|_| {}, &AtomicBool::new(false)).unwrap();
    let flows = || outcome.runs.iter().flat_map(|run| &run.flows);
    let sum = |is_far: bool| -> f64 {
        flows().filter(|flow| (&*flow.group == "far") == is_far).map(|flow| flow.goodput_bps).sum()
    };
    sum(true) / (sum(true) + sum(false))
}

#[test]
fn tiny_changes_of_a_round_trip_do_not_overturn_shares() {
    // Offsets of the near flows require more seeds. The ratio would be up to 1.7 if processing took
    // at most one packet's transmission time.
    for (offsets, seeds) in [(&[[0, 0], [30, 0], [60, 0], [90, 0]][..], 4), (&[[0, 20], [0, 45], [0, 70]], 8)]
    {
        let fractions: Vec<f64> = offsets.iter().map(|&more| far_fraction(more, seeds)).collect();
        let (least, most) = fractions.iter().fold((1.0_f64, 0.0_f64), |(l, m), &f| (l.min(f), m.max(f)));
        assert!(most / least < 1.5, "{offsets:?}: {fractions:?}");
        // The bound is between two results: 0.09 from a kernel's TCP (three seeds), and 0.05 from
        // simulated hosts that take no time.
        assert!(least > 0.065, "{offsets:?}: {fractions:?}");
    }
}
