//! The elephant trap.

use super::site;
use fairwire_core::units::{Amount, Level};
use fairwire_core::{Duration, Packet, Rng, Seed, Time};
use fairwire_laws::dropper::afd::Meter;
use fairwire_laws::dropper::afd::exact::{Elephants, Spec, Trap};
use fairwire_laws::spec::{Measure, Quantity};
use proptest::prelude::*;
use std::collections::HashMap;

const TRAP: Trap = Trap {
    age_period: Duration::from_ns(100),
    elephant_threshold: 1000.0,
    age_threshold: 50.0,
    max_flows: 8,
    most: 10_000.0,
};

fn arrival(elephants: &mut Elephants, rng: &mut Rng, flow: u64, size: u32, now: u64) -> f64 {
    let now = Time::from_ns(now);
    elephants.arrival(&Packet::new(0, size, flow.into(), now), size, now, rng)
}

#[test]
fn a_mouse_has_no_rate_until_it_is_an_elephant() {
    let (mut trap, mut rng) = (Elephants::new(TRAP), Seed(1).stream("exact"));
    assert_eq!(arrival(&mut trap, &mut rng, 1, 400, 0), 0.0);
    assert_eq!(arrival(&mut trap, &mut rng, 1, 400, 10), 0.0);
    assert_eq!(trap.elephants(), 0);
    assert_eq!(arrival(&mut trap, &mut rng, 1, 400, 20), 1200.0);
    assert_eq!(trap.elephants(), 1);
}

#[test]
fn the_rate_is_that_of_a_sliding_period() {
    let (mut trap, mut rng) = (Elephants::new(TRAP), Seed(1).stream("exact"));
    assert_eq!(arrival(&mut trap, &mut rng, 1, 1000, 0), 1000.0);
    // At 125 ns, three quarters of the last period's bytes count; at 250 ns, half. 1e-9 allows for
    // rounding.
    assert!((arrival(&mut trap, &mut rng, 1, 600, 125) - (600.0 + 750.0)).abs() < 1e-9);
    assert!((arrival(&mut trap, &mut rng, 1, 100, 250) - (100.0 + 300.0)).abs() < 1e-9);
    assert_eq!(arrival(&mut trap, &mut rng, 1, 100, 400), 0.0, "and it is a stranger again");
}

#[test]
fn a_steady_flow_has_its_rate_at_any_time() {
    let (mut trap, mut rng) = (Elephants::new(TRAP), Seed(1).stream("exact"));
    for n in 0..10_000u64 {
        let rate = arrival(&mut trap, &mut rng, 1, 100, n * 7);
        // A period of 100 ns has 1428.6 bytes on average. The tolerance allows for a packet at
        // either end.
        assert!(n < 30 || (rate - 1428.6).abs() < 200.0, "{n}: {rate}");
    }
}

#[test]
fn slow_senders_are_forgotten_and_fast_senders_are_kept() {
    let (mut trap, mut rng) = (Elephants::new(TRAP), Seed(1).stream("exact"));
    for flow in 1..=2 {
        arrival(&mut trap, &mut rng, flow, 1000, 0);
    }
    for n in 0..20 {
        arrival(&mut trap, &mut rng, 1, 60, n * 50);
        if n % 4 == 0 {
            arrival(&mut trap, &mut rng, 2, 40, n * 50);
        }
    }
    assert_eq!((trap.flows(), trap.elephants()), (2, 1), "flow 2 is there as a mouse");
    // The trap inspects its whole table every few packets, and removes idle flows.
    for n in 0..20 {
        arrival(&mut trap, &mut rng, 3, 60, 10_000 + n * 50);
    }
    assert_eq!((trap.flows(), trap.elephants()), (1, 1), "flow 3 alone");
}

#[test]
fn a_full_table_of_elephants_admits_no_flow_and_drops_no_new_one() {
    let (mut trap, mut rng) = (Elephants::new(TRAP), Seed(1).stream("exact"));
    for flow in 0..8 {
        arrival(&mut trap, &mut rng, flow, 1000, 0);
    }
    for _ in 0..100 {
        assert_eq!(arrival(&mut trap, &mut rng, 9, 5000, 50), 0.0);
    }
    assert_eq!(trap.elephants(), 8);
}

#[test]
fn a_full_table_gives_a_mouses_place_to_a_new_flow() {
    let (mut trap, mut rng) = (Elephants::new(TRAP), Seed(1).stream("exact"));
    for flow in 0..7 {
        arrival(&mut trap, &mut rng, flow, 1000, 0);
    }
    arrival(&mut trap, &mut rng, 7, 100, 0);
    let admitted = (0..100).any(|_| arrival(&mut trap, &mut rng, 8, 1000, 50) > 0.0);
    assert!(admitted, "one draw in eight finds the mouse");
    assert_eq!(trap.elephants(), 8);
}

#[test]
fn a_flow_takes_32_bytes_in_the_default_table() {
    let config = Spec::default().check(&site(Amount::Packets(300))).expect("allowed").1;
    assert_eq!(config.trap.max_flows, 4096);
    assert_eq!(Elephants::new(config.trap).memory(), 32 * 4096);
}

#[test]
fn defaults_follow_the_link_and_the_measure() {
    let site = site(Amount::Packets(100)); // 10 Mbit/s and packets of 1000 bytes: 0.8 ms each
    let check = |measure| Spec { measure, ..Spec::default() }.check(&site).expect("allowed").1;
    let bytes = check(None);
    assert_eq!(bytes.common.measure, Measure::Bytes);
    assert_eq!(bytes.trap.age_period, Duration::from_ms(800));
    assert_eq!(bytes.common.control.interval, Duration::from_us(4000));
    assert_eq!((bytes.trap.elephant_threshold, bytes.trap.age_threshold), (125_000.0, 500.0));
    assert_eq!((bytes.trap.most, bytes.common.control.target), (1_000_000.0, 25_000.0));
    let packets = check(Some(Measure::Packets));
    assert_eq!((packets.trap.elephant_threshold, packets.trap.age_threshold), (125.0, 0.5));
    let part = |packets| Some(Quantity(Level::Packets(packets)));
    let typed = Spec { elephant_threshold: part(77.5), age_threshold: part(0.5), ..Spec::default() };
    let trap = typed.check(&site).expect("allowed").1.trap;
    assert_eq!((trap.elephant_threshold, trap.age_threshold), (77_500.0, 500.0));
    assert_eq!((packets.trap.most, packets.common.control.target), (1000.0, 25.0));
    let fast = fairwire_core::Rate::from_bps(100_000_000_000).expect("not zero");
    let fast = Spec::default().check(&fairwire_laws::Site { rate: fast, ..site }).expect("allowed").1;
    assert_eq!(fast.trap.age_period, Duration::from_us(80));
    // A twentieth of the buffer's 8 us would be below the minimum interval of 1 us.
    assert_eq!(fast.common.control.interval, Duration::from_us(1));
    assert_eq!(fast.trap.elephant_threshold, 1_000_000.0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn elephants_rates_agree_with_a_plain_list(
        packets in prop::collection::vec((0..6u64, 50..200u32, 0..40u64), 1..300)
    ) {
        // With these thresholds, no flow is forgotten, and each is an elephant.
        let mut trap = Elephants::new(Trap { age_threshold: 0.0, elephant_threshold: 1.0, ..TRAP });
        let (mut rng, mut now, mut sent) = (Seed(1).stream("exact"), 0, HashMap::<(u64, u64), u32>::new());
        for (flow, size, wait) in packets {
            now += wait;
            let period = now / 100;
            *sent.entry((flow, period)).or_default() += size;
            let this = f64::from(sent[&(flow, period)]);
            let last = period.checked_sub(1).and_then(|last| sent.get(&(flow, last)));
            let last = f64::from(last.copied().unwrap_or(0));
            let expected = this + last * (1.0 - (now % 100) as f64 / 100.0);
            let found = arrival(&mut trap, &mut rng, flow, size, now);
            prop_assert!((found - expected).abs() < 1e-9, "{} {}", found, expected);
        }
    }
}
