//! Random choices are uniform.

use super::{packet, site};
use fairwire_core::units::Amount;
use fairwire_core::{Buffer, Dropper, Seed, Time, Victim};
use fairwire_laws::dropper::lqd::{self, Lqd};
use fairwire_laws::dropper::rnd;

/// With 2 degrees of freedom, a chi-square above 13.8 has probability 0.001.
fn assert_even(counts: [u32; 3]) {
    let expected = f64::from(counts.iter().sum::<u32>()) / 3.0;
    let chi2: f64 = counts.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
    assert!(chi2 < 13.8, "{counts:?}");
}

/// Counts 9000 victims by flow, for an arrival of flow 9. The buffer holds `lengths[i]` packets of
/// flow `i`.
fn counts(dropper: &mut impl Dropper, lengths: &[u32]) -> Vec<u32> {
    let mut buffer = Buffer::new(fairwire_core::Limit::packets(64));
    let rounds = *lengths.iter().max().expect("some flows");
    for round in 0..rounds {
        for (flow, _) in lengths.iter().enumerate().filter(|&(_, &length)| length > round) {
            let key = buffer.push(packet(0, flow as u64, 100));
            dropper.tracked(buffer.packet(key), buffer.flow_of(key), true, &buffer);
        }
    }
    let mut counts = vec![0; lengths.len()];
    for _ in 0..9000 {
        match dropper.victim(&packet(0, 9, 100), &buffer, Time::ZERO) {
            Victim::Waiting(key) => counts[buffer.packet(key).flow.0 as usize] += 1,
            Victim::Arrival => panic!("something waits"),
        }
    }
    counts
}

const MEASURES: [&str; 2] = ["measure = 'packets'", "measure = 'bytes'"];
/// Gives a class without flows another weight, so the code for weights is used.
const WEIGHTED: &str = "scheduler = { fcfs = { weights = { 77 = 3.0 } } }";
const BUFFER: Amount = Amount::Packets(40);

fn ways() -> impl Iterator<Item = String> {
    MEASURES.into_iter().flat_map(|measure| ["", WEIGHTED].map(|weights| format!("{measure}\n{weights}")))
}

#[test]
fn equally_long_queues_are_equally_likely_victims() {
    for typed in ways() {
        let spec: lqd::Spec = toml::from_str(&typed).expect("well-formed");
        let config = spec.check(&site(BUFFER)).expect("allowed").1;
        let counts = counts(&mut Lqd::new(config, Seed(3).stream("lqd")), &[11, 3, 11, 4, 11]);
        assert_eq!((counts[1], counts[3]), (0, 0));
        assert_even([counts[0], counts[2], counts[4]]);
    }
}

#[test]
fn ties_between_different_weights_are_even_too() {
    // Flows 0, 1, 2 and 9 have shares of 7, 14, 7 and 14. Each waiting queue is 3 packets above its
    // share.
    let typed = "buffer = '42 packets'\nscheduler = { fcfs = { weights = { 1 = 2.0 } } }";
    let spec: lqd::Spec = toml::from_str(typed).expect("well-formed");
    let config = spec.check(&site(BUFFER)).expect("allowed").1;
    let counts = counts(&mut Lqd::new(config, Seed(3).stream("lqd")), &[10, 17, 10]);
    assert_even([counts[0], counts[1], counts[2]]);
}

#[test]
fn queues_above_their_part_are_equally_likely_victims() {
    for typed in ways() {
        let spec: rnd::Spec = toml::from_str(&typed).expect("well-formed");
        let pool = if typed.contains("bytes") { Amount::Bytes(4_000) } else { BUFFER };
        let config = spec.check(&site(pool)).expect("allowed").1;
        // With the arrival's flow, six flows have shares of 6.67 packets.
        let counts = counts(&mut Lqd::random(config, Seed(3).stream("rnd")), &[7, 6, 17, 1, 9]);
        assert_eq!((counts[1], counts[3]), (0, 0), "{typed}");
        assert_even([counts[0], counts[2], counts[4]]);
    }
}

#[test]
fn a_queue_with_exactly_its_part_is_not_above_it() {
    // With the arrival's flow, four flows have shares of 10 packets.
    let config = rnd::Spec::default().check(&site(BUFFER)).expect("allowed").1;
    let counts = counts(&mut Lqd::random(config, Seed(3).stream("rnd")), &[10, 11, 19]);
    assert_eq!(counts[0], 0);
    // Flows 1 and 2 are equally likely victims. The bounds allow 3.3 standard deviations of 47.4.
    assert!((4343..4657).contains(&counts[1]), "{counts:?}");
}
