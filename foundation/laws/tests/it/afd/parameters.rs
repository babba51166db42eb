//! The allowed parameters and defaults of AFD's four forms.

use super::site;
use fairwire_catalogue::{self as catalogue};
use fairwire_core::Duration;
use fairwire_core::units::Amount;
use fairwire_laws::dropper::afd::{Samples, Shared, ft, nft, sb};
use fairwire_laws::spec::Measure;

#[test]
fn parameters_that_contradict_each_other_are_refused() {
    let site = site(Amount::Packets(40));
    for (name, given, message) in [
        (
            "afd-ft",
            "beta = 1.5",
            "`beta` of `afd-ft` is 1.5; allowed: a number from alpha, which is 1.7, to 1001",
        ),
        (
            "afd-nft",
            "q_target = '41 packets'",
            "`q_target` of `afd-nft` is 41 packets; allowed: at most the buffer, which is 40 packets",
        ),
        (
            "afd-exact",
            "elephant_threshold = '5 GiB'",
            "`elephant_threshold` of `afd-exact` is 5 GiB; allowed: what counts as at most 4294967295 packets or bytes",
        ),
    ] {
        let given = toml::from_str(&format!("[{name}]\n{given}")).expect("of the right type");
        let refused = catalogue::check(name, &given, &site).expect_err("not allowed");
        assert_eq!(refused.to_string(), message);
    }
}

#[test]
fn defaults_follow_the_buffer_and_the_measure() {
    let control = |packets| {
        let config = sb::Spec::default().check(&site(Amount::Packets(packets))).expect("allowed").1;
        config.common.control
    };
    assert_eq!((control(40).target, control(400).target), (10.0, 50.0));
    assert_eq!((control(40).alpha, control(40).beta), (1.7, 1.8));
    assert_eq!(control(400).interval.ns() * 160, 1_000_000_000);
    assert_eq!(control(40).interval, Duration::from_us(1600)); // 40 packets leave in 32 ms
    let samples = Samples { measure: Some(Measure::Bytes), ..Samples::default() };
    let bytes = sb::Spec { samples };
    let bytes = |packets| bytes.check(&site(Amount::Packets(packets))).expect("allowed").1;
    assert_eq!((bytes(40).common.control.target, bytes(400).common.control.target), (10_000.0, 50_000.0));
    assert_eq!((bytes(40).sampling.samples, bytes(40).sampling.typical), (1000, 1000));
    let nft = nft::Spec::default().check(&site(Amount::Packets(40))).expect("allowed").1;
    assert_eq!((nft.sampling.probability, nft.set_size, nft.reuse), (0.2, 5, 0.06));
    // A given gain also changes the default of the other gain.
    let shared = Shared { alpha: Some(0.5), ..Shared::default() };
    let samples = Samples { shared, ..Samples::default() };
    let typed = ft::Spec { samples, ..ft::Spec::default() };
    assert_eq!(typed.check(&site(Amount::Packets(40))).expect("allowed").1.common.control.beta, 0.6);
}
