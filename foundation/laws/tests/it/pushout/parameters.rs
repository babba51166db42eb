//! The allowed parameters.

use super::site;
use fairwire_core::units::Amount;
use fairwire_laws::dropper::{choke, lqd, lqd_binned, rnd};
use fairwire_laws::spec::Measure;

#[test]
fn queues_use_the_measure_of_the_buffer_unless_given() {
    let checked = |text: &str, buffer| {
        let config = toml::from_str::<lqd::Spec>(text).expect("well-formed").check(&site(buffer));
        config.map(|(_, config)| (config.measure, config.pool)).expect("allowed")
    };
    assert_eq!(checked("", Amount::Packets(40)), (Measure::Packets, 40.0));
    assert_eq!(checked("", Amount::Bytes(10_240)), (Measure::Bytes, 10_240.0));
    assert_eq!(checked("measure = 'bytes'", Amount::Packets(40)), (Measure::Bytes, 20_480.0));
    assert_eq!(checked("measure = 'packets'", Amount::Bytes(10_240)), (Measure::Packets, 20.0));
}

#[test]
fn more_than_255_different_weights_are_refused() {
    let weights = |most: u32| {
        let each: Vec<String> = (1..=most).map(|class| format!("{class} = {}.5", class % 1000)).collect();
        format!("scheduler = {{ fcfs = {{ weights = {{ {} }} }} }}", each.join(", "))
    };
    let at = site(Amount::Packets(40));
    let lqd = |most| toml::from_str::<lqd::Spec>(&weights(most)).expect("well-formed").check(&at);
    let rnd = |most| toml::from_str::<rnd::Spec>(&weights(most)).expect("well-formed").check(&at);
    assert!(lqd(255).is_ok() && rnd(255).is_ok());
    let message = "`scheduler.fcfs.weights` of `lqd` is a table of 257 different weights; allowed: at most 256 different ones, the 1 of classes not listed among them";
    assert_eq!(lqd(256).unwrap_err().to_string(), message);
    assert_eq!(rnd(256).unwrap_err().to_string(), message.replace("lqd", "rnd"));
    // Disciplines that keep no order by weight accept any number of weights.
    let binned = toml::from_str::<lqd_binned::Spec>(&weights(256)).expect("well-formed");
    assert!(binned.check(&at).is_ok());
}

#[test]
fn parameters_that_contradict_each_other_are_refused() {
    let site = site(Amount::Packets(40));
    for (text, message) in [
        (
            "draws = 2\nregions = 8",
            "`draws` of `choke` is 2; allowed: no `draws` along with `regions`, which sets them",
        ),
        (
            "min_threshold = '30 packets'",
            "`min_threshold` of `choke` is 30 packets; allowed: less than max_threshold, which is 20 packets",
        ),
    ] {
        let spec: choke::Spec = toml::from_str(text).expect("well-formed");
        assert_eq!(spec.check(&site).unwrap_err().to_string(), message);
    }
}
