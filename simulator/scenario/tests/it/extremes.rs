//! Every scenario that passes the check can be run. At the bounds of rates, delays, sizes and
//! buffers, records are plausible.

use fairwire_core::units::Amount;
use fairwire_metrics::record::RunRecord;
use fairwire_scenario::{Overrides, Scenario, parse, run_all};
use proptest::prelude::*;
use std::sync::atomic::AtomicBool;

#[derive(Clone, Debug)]
struct Extremes {
    rate_power: u32,
    cbr_power: u32,
    delay_ns: u64,
    buffer: Amount,
    segment_bytes: u32,
    packet_bytes: u32,
    tcp_flows: u32,
    dither: f64,
    tie_rule: &'static str,
}

fn extremes() -> impl Strategy<Value = Extremes> {
    let buffer =
        prop_oneof![(1u32..2000).prop_map(Amount::Packets), (1u64..200_000).prop_map(Amount::Bytes),];
    let delay_ns = prop_oneof![Just(0), Just(1), Just(10_000_000), Just(3_600_000_000_000)];
    let segment_bytes = prop_oneof![Just(1u32), Just(512), Just(1460), Just(65_495)];
    let packet_bytes = prop_oneof![Just(29u32), Just(512), Just(65_535)];
    let dither = prop_oneof![Just(0.0), Just(0.5), Just(1.0)];
    let tie_rule = prop_oneof![Just("random"), Just("fifo")];
    let sizes = (segment_bytes, packet_bytes, 1u32..4, dither, tie_rule);
    (0u32..=12, 0u32..=12, delay_ns, buffer, sizes).prop_map(
        |(
            rate_power,
            cbr_power,
            delay_ns,
            buffer,
            (segment_bytes, packet_bytes, tcp_flows, dither, tie_rule),
        )| Extremes {
            rate_power,
            cbr_power,
            delay_ns,
            buffer: match buffer {
                // A buffer smaller than the largest packet would be refused.
                Amount::Bytes(bytes) => {
                    Amount::Bytes(bytes.max((segment_bytes + 40).max(packet_bytes).into()))
                }
                other => other,
            },
            segment_bytes,
            packet_bytes,
            tcp_flows,
            dither,
            tie_rule,
        },
    )
}

impl Extremes {
    fn duration_ns(&self) -> u64 {
        let fastest = 10f64.powi(self.rate_power.max(self.cbr_power).cast_signed());
        let smallest = f64::from(self.packet_bytes.min(self.segment_bytes + 40));
        ((2000.0 * 8.0 * smallest / fastest * 1e9) as u64).clamp(1000, 1_000_000_000_000_000)
    }

    fn scenario(&self) -> Scenario {
        let duration = self.duration_ns();
        let text = format!(
            r#"
            format = 2
            name = "extremes"
            duration = "{duration} ns"
            warm_up = "{warm_up} ns"
            seeds = 1
            tie_rule = "{tie_rule}"
            disciplines = ["tail-drop", "red", "faba"]
            [link]
            rate = "{rate} bit/s"
            delay = "{delay_ns} ns"
            buffer = "{buffer}"
            [[flow]]
            group = "tcp"
            count = {tcp_flows}
            source = "bulk"
            tcp = {{ profile = "ns2-2002", segment = "{segment_bytes} B" }}
            access = {{ rate = "{rate} bit/s", delay = "{delay_ns} ns" }}
            [[flow]]
            group = "udp"
            source = {{ cbr = {{ rate = "{cbr} bit/s", packet = "{packet_bytes} B", dither = {dither:?} }} }}
            access = {{ rate = "1 Tbit/s", delay = "{delay_ns} ns" }}
            "#,
            warm_up = duration / 5,
            rate = 10u64.pow(self.rate_power),
            cbr = 10u64.pow(self.cbr_power),
            delay_ns = self.delay_ns,
            buffer = self.buffer,
            tcp_flows = self.tcp_flows,
            segment_bytes = self.segment_bytes,
            packet_bytes = self.packet_bytes,
            dither = self.dither,
            tie_rule = self.tie_rule,
        );
        parse("extremes.toml", &text, &Overrides::default()).expect("all of it is allowed")
    }
}

fn is_sane(run: &RunRecord, flows: usize) -> bool {
    let link = &run.links[0];
    let fairness = &run.fairness;
    let sojourn = link.sojourn.as_ref().expect("the simulator measures it");
    run.flows.len() == flows
        && (0.0..=1.0).contains(&link.utilization)
        && (0.0..=1.0 + 1e-9).contains(&fairness.jain)
        && run
            .flows
            .iter()
            .all(|flow| flow.throughput_bps.is_finite() && flow.throughput_bps >= flow.goodput_bps)
        && [sojourn.mean_s, sojourn.p99_s, link.backlog.mean_packets]
            .iter()
            .all(|x| x.is_finite() && *x >= 0.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn allowed_extremes_can_be_run(extremes in extremes()) {
        let outcome = run_all(&extremes.scenario(), 1, &|_| {}, &AtomicBool::new(false)).expect("it was checked");
        prop_assert_eq!(outcome.runs.len(), 3);
        prop_assert!(!outcome.interrupted);
        for run in &outcome.runs {
            prop_assert!(is_sane(run, extremes.tcp_flows as usize + 1), "{:?}", run);
        }
    }
}

#[test]
fn stopped_runs_are_reported_as_stopped_without_unfinished_ones() {
    let text = include_str!("../../../../scenarios/selfish-flow.toml");
    let scenario = parse("selfish-flow.toml", text, &Overrides::default()).unwrap();
    let outcome = run_all(&scenario, 2, &|_| {}, &AtomicBool::new(true)).unwrap();
    assert!(outcome.interrupted && outcome.runs.is_empty());
}

#[test]
fn progress_reaches_the_end_and_never_passes_it() {
    let text = include_str!("../../../../scenarios/selfish-flow.toml");
    let set = vec!["duration=30 s".to_string(), "seeds=[1, 2]".to_string()];
    let scenario = parse("selfish-flow.toml", text, &Overrides { set, ..Overrides::default() }).unwrap();
    let reported = std::sync::Mutex::new(Vec::new());
    run_all(&scenario, 2, &|fraction| reported.lock().unwrap().push(fraction), &AtomicBool::new(false))
        .unwrap();
    let reported = reported.into_inner().unwrap();
    assert!(reported.iter().all(|fraction| (0.0..=1.0).contains(fraction)));
    assert!(reported.iter().copied().fold(0.0, f64::max) > 1.0 - 1e-9, "{reported:?}");
}

#[test]
fn more_jobs_than_runs_start_no_more_threads_than_runs() {
    let text = include_str!("../../../../scenarios/selfish-flow.toml");
    let set = vec!["duration=2 s".into(), "warm_up=1 s".into(), "seeds=[1, 2]".into()];
    let scenario = parse("selfish-flow.toml", text, &Overrides { set, ..Overrides::default() }).unwrap();
    let threads = std::sync::Mutex::new(std::collections::HashSet::new());
    let progress = |_| {
        threads.lock().unwrap().insert(std::thread::current().id());
    };
    let outcome = run_all(&scenario, 65_535, &progress, &AtomicBool::new(false)).unwrap();
    assert_eq!(outcome.runs.len(), 2 * scenario.spec().disciplines.len());
    assert!(threads.into_inner().unwrap().len() <= outcome.runs.len());
}
