//! Time series of the link, on each stage with real senders in real time.

use super::*;
use fairwire_core::Duration;
use fairwire_experiment::Watch;
use fairwire_scenario::SampleRow;
use fairwire_stages::gateway::Gateway;
use fairwire_stages::kernel::Kernel;
use std::collections::BTreeMap;

/// Samples with their times. The key is kind, name, measure and unit.
#[derive(Default)]
pub(super) struct Sampled(BTreeMap<String, Vec<(Duration, f64)>>);

impl Watch for Sampled {
    fn reached(&mut self, _: f64) {}
    fn every(&self) -> Option<Duration> {
        Some(Duration::from_ms(100))
    }
    fn sample(&mut self, at: Duration, row: SampleRow<'_>) {
        let SampleRow { kind, name, measure, unit, value } = row;
        self.0.entry(format!("{kind} {name} {measure} {unit}")).or_default().push((at, value));
    }
}

impl Sampled {
    fn of(&self, what: &str) -> &[(Duration, f64)] {
        self.0.get(what).map_or(&[], Vec::as_slice)
    }

    /// The mean of a rate between two times, in seconds.
    pub(super) fn mean(&self, what: &str, from: f64, to: f64) -> f64 {
        let mut before = 0.0;
        let pieces = self.of(what).iter().map(|(at, value)| {
            let since = std::mem::replace(&mut before, at.seconds());
            (since.max(from)..at.seconds().min(to), value)
        });
        pieces.map(|(piece, value)| (piece.end - piece.start).max(0.0) * value).sum::<f64>() / (to - from)
    }

    fn sum(&self, what: &str) -> f64 {
        self.of(what).iter().map(|(_, value)| value).sum()
    }
}

pub(super) fn a_link_is_sampled_as_it_is_counted() {
    let scenario = contest("tail-drop", &[]);
    let plan = Plan { scenario: &scenario, discipline: 0 };
    let stages: [&dyn Stage; 3] = [LAB, &Gateway, &Kernel];
    for stage in stages {
        if let Err(why) = stage.can_run(&plan) {
            fairwire_testing::skipped_for_want_of_a_peer(format_args!("series of {}: {why}", stage.name()));
            continue;
        }
        let mut sampled = Sampled::default();
        let record =
            stage.run(&plan, 1, &mut sampled, &NEVER).expect("it is held").expect("it is not stopped");
        check(stage.name(), &record, &sampled);
    }
}

fn check(stage: &str, record: &RunRecord, sampled: &Sampled) {
    let backlog = sampled.of("link bottleneck backlog packets");
    // A busy machine may skip some of the sixty samples.
    assert!(backlog.len() > 30, "{stage}: {} samples", backlog.len());
    let is_filled = backlog.iter().any(|(_, packets)| *packets > 390.0);
    assert!(is_filled && backlog.iter().all(|(_, packets)| *packets <= 780.0), "{stage}: {backlog:?}");
    let bytes = sampled.of("link bottleneck backlog B");
    assert!(bytes.iter().any(|(_, bytes)| *bytes > 390.0 * 100.0), "{stage}: {bytes:?}");
    // The record and the samples both cover the entire run.
    let drops: u64 = record.links[0].drops.values().sum();
    let of_link = sampled.of("link bottleneck drops packets");
    let link = sampled.sum("link bottleneck drops packets");
    assert!((link - drops as f64).abs() <= 0.02 * drops as f64 + 20.0, "{stage}: {link} of {drops}");
    let groups = sampled.sum("group tcp drops packets") + sampled.sum("group udp drops packets");
    // A gateway rounds each flow's drops by up to half a packet. The kernel stage notices a drop up
    // to 344 ms (780 packets) late, so the last five samples may contain unnoticed drops.
    let rounded = if stage == "gateway" { 0.5 * record.flows.len() as f64 } else { 0.0 };
    let late =
        if stage == "kernel" { of_link.iter().rev().take(5).map(|(_, drops)| drops).sum() } else { 0.0 };
    // On the kernel stage, two packets may be observed in another order than they were queued. One
    // then counts as dropped until its flow's next drop.
    let strange = if stage == "kernel" { record.flows.len() as f64 } else { 0.0 };
    let range = link - rounded - late..=link + rounded + strange;
    assert!(range.contains(&groups), "{stage}: {groups} of {link}");
    // The link carries 10 Mbit/s. The tolerance is for a stage that answers late.
    let egress = |at: usize| {
        let of = |group: &str| sampled.of(&format!("group {group} egress bit/s"))[at].1;
        of("tcp") + of("udp")
    };
    let late: Vec<f64> = (backlog.len() / 2..backlog.len() - 1).map(egress).collect();
    let mean = late.iter().sum::<f64>() / late.len() as f64;
    assert!((8.5e6..10.3e6).contains(&mean), "{stage}: {mean}");
    // A late sample may contain bytes of the next interval, so five samples are summed.
    let rows = sampled.of("group tcp egress bit/s");
    assert!(late.windows(5).all(|five| five.iter().sum::<f64>() < 5.0 * 12e6), "{stage}: {rows:?}");
}
