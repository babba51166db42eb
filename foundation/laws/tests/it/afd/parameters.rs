//! What may be typed for the four forms of AFD, and what follows when nothing is.

use super::site;
use fairwire_catalogue::{self as catalogue, Parameters, build};
use fairwire_core::Duration;
use fairwire_core::units::Amount;
use fairwire_laws::dropper::afd::{Shared, ft, nft, sb};
use fairwire_laws::spec::Measure;

#[test]
fn what_is_not_allowed_is_refused() {
    let site = site(Amount::Packets(40));
    for (name, given, message) in [
        ("afd-sb", "samples = 0", "`samples` of `afd-sb` is 0; allowed: a whole number from 1 to 1048576"),
        ("afd-sb", "sampling = 1.5", "`sampling` of `afd-sb` is 1.5; allowed: a number above 0, at most 1"),
        ("afd-ft", "set_size = 65", "`set_size` of `afd-ft` is 65; allowed: a whole number from 1 to 64"),
        (
            "afd-ft",
            "beta = 1.5",
            "`beta` of `afd-ft` is 1.5; allowed: a number from alpha, which is 1.7, to 1001",
        ),
        ("afd-nft", "reuse = 0.0", "`reuse` of `afd-nft` is 0; allowed: a number above 0, at most 1"),
        (
            "afd-nft",
            "q_target = '41 packets'",
            "`q_target` of `afd-nft` is 41 packets; allowed: at most the buffer, which is 40 packets",
        ),
        (
            "afd-nft",
            "weights = { 1 = 0.0 }",
            "`weights` of `afd-nft` is a weight of 0 for class 1; allowed: weights from 0.000001 to 1000000",
        ),
        (
            "afd-nft",
            "interval = '0 s'",
            "`interval` of `afd-nft` is 0 ns; allowed: a time from 1 us to 1 min",
        ),
        ("afd-sb", "mark_limit = -0.1", "`mark_limit` of `afd-sb` is -0.1; allowed: a number from 0 to 1"),
        (
            "afd-exact",
            "age_period = '0 s'",
            "`age_period` of `afd-exact` is 0 ns; allowed: a time from 1 us to 1 min",
        ),
        (
            "afd-exact",
            "elephant_threshold = '5 GiB'",
            "`elephant_threshold` of `afd-exact` is 5 GiB; allowed: what counts as at most 4294967295 packets or bytes",
        ),
        (
            "afd-exact",
            "max_flows = 0",
            "`max_flows` of `afd-exact` is 0; allowed: a whole number from 1 to 16777216",
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
        let config = sb::Spec::default().check(&site(Amount::Packets(packets))).expect("allowed");
        config.common.control
    };
    assert_eq!((control(40).target, control(400).target), (10.0, 50.0));
    assert_eq!((control(40).alpha, control(40).beta), (1.7, 1.8));
    assert_eq!(control(400).interval.ns() * 160, 1_000_000_000);
    assert_eq!(control(40).interval, Duration::from_us(1600)); // 40 packets leave in 32 ms
    let bytes = sb::Spec { measure: Some(Measure::Bytes), ..sb::Spec::default() };
    let bytes = |packets| bytes.check(&site(Amount::Packets(packets))).expect("allowed");
    assert_eq!((bytes(40).common.control.target, bytes(400).common.control.target), (10_000.0, 50_000.0));
    assert_eq!((bytes(40).sampling.samples, bytes(40).sampling.typical), (1000, 1000));
    let nft = nft::Spec::default().check(&site(Amount::Packets(40))).expect("allowed");
    assert_eq!((nft.sampling.probability, nft.set_size, nft.reuse), (0.2, 5, 0.06));
    // A gain that is typed moves the other along.
    let typed = ft::Spec { shared: Shared { alpha: Some(0.5), ..Shared::default() }, ..ft::Spec::default() };
    assert_eq!(typed.check(&site(Amount::Packets(40))).expect("allowed").common.control.beta, 0.6);
}

const ALL_OF_IT: &str = r#"
[fred]
buffer = "100 packets"
ecn = "mark"
scheduler = "fcfs"
measure = "bytes"
min_threshold = "20 ms"
max_threshold = "60 kB"
max_probability = 0.1
weight = 0.01
min_q = "3 packets"
many_flow_support = false

[afd-nft]
buffer = "64 KiB"
ecn = "mark"
mark_limit = 0.25
scheduler = { fcfs = { per = "class" } }
measure = "bytes"
weights = { 1 = 2.0, 7 = 0.5 }
q_target = "5 ms"
alpha = 0.5
beta = 0.55
interval = "2.5 ms"
samples = 4000
sampling = 1
set_size = 8
reuse = 0.1

[etrap]
"#;

const EXACT: &str = r#"
[afd-exact]
measure = "packets"
interval = "1 ms"
age_period = "100 ms"
elephant_threshold = "64 KiB"
age_threshold = "2 packets"
max_flows = 100
"#;

#[test]
fn everything_that_can_be_typed_is_read_built_and_written_back() {
    let text = ALL_OF_IT.replace("[etrap]", EXACT);
    let typed: Parameters = toml::from_str(&text).expect("well-formed");
    for name in ["fred", "afd-sb", "afd-ft", "afd-nft", "afd-exact", "etrap"] {
        build(name, &typed, &site(Amount::Packets(300))).expect("allowed");
    }
    let written = toml::to_string(&typed).expect("plain data");
    assert_eq!(toml::from_str::<Parameters>(&written).expect("what we write"), typed);
    // An alias names the discipline, not its table.
    assert!(toml::from_str::<Parameters>(ALL_OF_IT).is_err());
}
