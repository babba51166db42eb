//! Table 2 of the AFD paper: the constants of the seven groups of TCP flows of `mixed.toml`,
//! measured on our controllers.
//!
//! The changes of the window at 10 and 40 segments determine the constants of `w += c1 / w^K` per
//! acknowledgement and `w -= c2 w^L` per loss.

use super::made::Made;
use crate::library;
use fairwire_core::Time;
use fairwire_scenario::{Delays, FlowSpec, Overrides, Scenario, parse};
use fairwire_tcp::Config;
use fairwire_tcp::congestion::{Acked, Congested, Control, Controller, Reno, Start};

const SERIES: &str = "our TCP";
/// The group that the paper calls normal.
const NORMAL: usize = 5;

fn acked() -> Acked {
    Acked {
        now: Time::ZERO,
        newly: 1,
        growth: 1,
        marked: 0,
        lost: 0,
        in_flight: 1,
        rtt: None,
        ends_round: false,
        rate: None,
        is_window_used: true,
        max_window: 1e9,
    }
}

fn congested(in_use: f64) -> Congested {
    Congested { now: Time::ZERO, in_use, in_flight: in_use as u32 }
}

fn avoiding(config: &Config, window: f64) -> Controller {
    let mut control = Controller::new(config);
    control.lost(&congested(2.0 * window));
    control
}

fn gain(config: &Config, window: f64) -> f64 {
    let mut control = avoiding(config, window);
    control.acked(&acked());
    control.window() - window
}

fn loss(config: &Config, window: f64) -> f64 {
    let mut control = avoiding(config, window);
    control.lost(&congested(window));
    window - control.window()
}

/// The factor and the exponent of a power law that is `at_10` at 10 and `at_40` at 40.
fn power_law(at_10: f64, at_40: f64) -> (f64, f64) {
    let exponent = libm::log(at_40 / at_10) / libm::log(4.0);
    (at_10 / libm::pow(10.0, exponent), exponent)
}

/// The maximum difference between the windows of `config` and of NewReno, segments, over 2000
/// events. Every hundredth event is a loss; the others are acknowledgements.
fn gap_to_reno(config: &Config) -> f64 {
    let mut one = Controller::new(config);
    let mut other = Reno::new(&Start::of(config.initial_window));
    let mut most: f64 = 0.0;
    for number in 1..=2000 {
        if number % 100 == 0 {
            let in_use = other.window();
            one.lost(&congested(one.window()));
            other.lost(&congested(in_use));
        } else {
            one.acked(&acked());
            other.acked(&acked());
        }
        most = most.max((one.window() - other.window()).abs());
    }
    most
}

fn round_trip_ms(scenario: &Scenario, flow: &FlowSpec) -> Option<f64> {
    let (Some(Delays::Fixed(access)), Some(link)) = (&flow.access.delay, scenario.spec().shared_link())
    else {
        return None;
    };
    Some(2000.0 * (2.0 * access.secs() + link.delay?.0.secs()))
}

pub(super) fn make(_: u64) -> Made {
    let mut made = Made::default();
    let folder = library::embedded().into_iter().find(|folder| folder.name == "2003-pan-afd");
    let text = folder.and_then(|folder| folder.files.get("mixed.toml").cloned()).unwrap_or_default();
    // Without the scenario nothing is measured, so no claim holds.
    let Ok(scenario) = parse("mixed.toml", &text, &Overrides::default()) else { return made };
    for (group, flow) in scenario.spec().flow.iter().enumerate() {
        let Some(config) = flow.tcp.as_ref().map(|tcp| tcp.config()) else { continue };
        let (x, at) = (group as f64, format!("group {group}"));
        let (c1, k) = power_law(gain(&config, 10.0), gain(&config, 40.0));
        let (c2, l) = power_law(loss(&config, 10.0), loss(&config, 40.0));
        for (name, value) in [("c1", c1), ("c2", c2), ("k", 0.0 - k), ("l", l)] {
            made.number(SERIES, x, &at, name, value);
        }
        if let Some(rtt) = round_trip_ms(&scenario, flow) {
            made.number(SERIES, x, &at, "rtt", rtt);
        }
        if group == NORMAL {
            made.number(SERIES, x, &at, "reno_gap", gap_to_reno(&config));
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_groups_match_table_2() {
        let printed = [
            ("c1", [1.0, 0.75, 2.0, 1.5, 1.0, 1.0, 1.0], 0.005),
            ("c2", [0.9, 0.31, 0.5, 1.0, 0.5, 0.5, 0.5], 0.005),
            ("k", [1.0, 1.0, 1.0, 2.0, 0.0, 1.0, 1.0], 0.005),
            ("l", [1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0], 0.005),
            ("rtt", [25.0, 25.0, 25.0, 25.0, 25.0, 25.0, 100.0], 0.5),
        ];
        let made = make(1);
        for (name, values, last_digit) in printed {
            let ours: Vec<f64> = made.numbers.iter().filter(|n| n.name == name).map(|n| n.value).collect();
            assert_eq!(ours.len(), values.len(), "{name}");
            let is_near = |(ours, printed): (&f64, f64)| (ours - printed).abs() < last_digit;
            assert!(ours.iter().zip(values).all(is_near), "{name}: {ours:?}");
        }
    }

    #[test]
    fn a_power_law_is_found_from_two_of_its_points() {
        let (factor, exponent) = power_law(0.75 / 10.0, 0.75 / 40.0);
        assert!((factor - 0.75).abs() < 1e-12 && (exponent + 1.0).abs() < 1e-12, "{factor} {exponent}");
    }

    #[test]
    fn a_controller_other_than_reno_is_detected() {
        let scenario = made_of("c1 = 1.0, c2 = 0.5, k = 1.0, l = 1.0");
        assert!(gap_to_reno(&scenario) < 1e-9);
        let other = made_of("c1 = 1.0, c2 = 0.4, k = 1.0, l = 1.0");
        assert!(gap_to_reno(&other) > 1.0);
    }

    fn made_of(binomial: &str) -> Config {
        let text = format!(
            "format = 2\nname = 'one'\nduration = '1 s'\ndisciplines = ['tail-drop']\n\
             [link]\nrate = '1 Mbit/s'\ndelay = '1 ms'\nbuffer = '9 packets'\n\
             [[flow]]\ngroup = 'g'\nsource = 'bulk'\naccess = {{ rate = '1 Mbit/s', delay = '1 ms' }}\n\
             tcp = {{ control = {{ binomial = {{ {binomial} }} }} }}\n"
        );
        let scenario = parse("one.toml", &text, &Overrides::default()).expect("it is right");
        scenario.spec().flow[0].tcp.as_ref().expect("it was given").config()
    }
}
