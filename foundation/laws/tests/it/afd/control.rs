//! The controller of m_fair, and the rule for drops.

use fairwire_core::{Duration, Time};
use fairwire_laws::dropper::afd::{Control, FairShare, drop_probability};
use proptest::prelude::*;

const CONTROL: Control = Control { target: 50.0, alpha: 1.7, beta: 1.8, interval: Duration::from_us(6250) };

#[test]
fn the_drop_law_gives_the_flows_of_figure_6_their_shares() {
    // The counts of flows that send 50, 100, 200, 400 and 600 kbit/s. All flows together send 13.5
    // Mbit/s and have 1000 samples. The fair rate is 325 kbit/s.
    let counts = [3.704, 7.407, 14.815, 29.630, 44.444];
    let expected = [0.0, 0.0, 0.0, 0.1875, 0.4583];
    for (count, expected) in counts.into_iter().zip(expected) {
        let p = drop_probability(count, 24.07);
        // m_fair is given to four figures, so `p` is exact to 2e-4.
        assert!((p - expected).abs() < 2e-4, "{count}: {p}");
    }
}

#[test]
fn no_flow_is_dropped_at_the_fair_count_and_every_one_above_a_fair_count_of_zero() {
    assert_eq!(drop_probability(24.0, 24.0), 0.0);
    assert_eq!(drop_probability(0.0, 0.0), 0.0);
    assert_eq!(drop_probability(1.0, 0.0), 1.0);
}

/// m_fair by the paper's formula, one step at a time.
struct Timer {
    m_fair: f64,
    q_before: f64,
    ticks: u64,
}

impl Timer {
    fn run(&mut self, until_ns: u64, q: f64, b: f64) {
        while (self.ticks + 1) * 6_250_000 <= until_ns {
            self.ticks += 1;
            self.m_fair += 1.7 * (self.q_before - 50.0);
            self.m_fair -= 1.8 * (q - 50.0);
            self.m_fair = self.m_fair.min(b).max(0.0);
            self.q_before = q;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_controller_without_a_timer_does_the_same_steps(
        events in prop::collection::vec((0..30_000_000u64, 0..120u32), 1..300)
    ) {
        let mut fair = FairShare::new(CONTROL, 1000.0);
        let mut timer = Timer { m_fair: 1000.0, q_before: 0.0, ticks: 0 };
        let mut now = 0;
        for (wait, queue) in events {
            now += wait;
            let queue = f64::from(queue);
            fair.catch_up(Time::from_ns(now), queue, 1000.0);
            timer.run(now, queue, 1000.0);
            // Sums of up to 1500 terms of about 200 have rounding errors below 1e-9.
            prop_assert!((fair.value() - timer.m_fair).abs() < 1e-9, "{} {}", fair.value(), timer.m_fair);
            prop_assert!((0.0..=1000.0).contains(&fair.value()));
        }
    }
}

#[test]
fn a_long_pause_costs_one_step_and_ends_at_the_bound() {
    let mut fair = FairShare::new(CONTROL, 1000.0);
    // Each of the 160 steps subtracts at least (beta - alpha) x (queue - target) = 25, in total
    // more than the maximum of 1000.
    fair.catch_up(Time::from_ns(1_000_000_000), 300.0, 1000.0);
    assert_eq!(fair.value(), 0.0);
    fair.catch_up(Time::from_ns(1_006_250_000), 0.0, 1000.0);
    assert!((fair.value() - (1.7 * 250.0 + 1.8 * 50.0)).abs() < 1e-9, "{}", fair.value());
    fair.catch_up(Time::from_ns(u64::MAX - 1), 0.0, 1000.0);
    assert_eq!(fair.value(), 1000.0);
    fair.catch_up(Time::MAX, 0.0, 1000.0);
    assert_eq!(fair.value(), 1000.0);
}
