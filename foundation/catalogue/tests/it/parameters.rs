//! User input is read, refused with the position of a mistake, written back, and described by a
//! schema.

use fairwire_catalogue::{self as catalogue, Parameters, Site, build};
use fairwire_core::units::{Amount, Level, Size};
use fairwire_core::{Duration, Rate, Seed};
use fairwire_parameters::{Quantity, Written};
use serde_json::json;

const ALL_OF_IT: &str = r#"
[tail-drop]
buffer = "64 KiB"
ecn = "mark"

[red]
buffer = "780 packets"
ecn = "drop"
measure = "bytes"
min_threshold = "20 ms"
max_threshold = "100 ms"
max_probability = 1
weight = 0.002
gentle = true
wait = false
idle_rule = "floyd1993"
spare_short_queue = false
mark_limit = 0.1
mean_packet = "500 B"

[faba]
buffer = "100 ms"
ecn = "mark"
alpha = 1.5
lambda1 = 0.5
lambda2 = 0.25
max_probability = 0.02
beta_rule = "literal-floor"
beta_max = 16
idle_refill = false
max_flows = 100

[rio]
above_max = "mark"
"#;

fn read(text: &str) -> Result<Parameters, toml::de::Error> {
    toml::from_str(text)
}

fn site() -> Site<'static> {
    Site {
        rate: Rate::from_bps(10_000_000).expect("not zero"),
        buffer: Amount::Packets(780),
        packet_bytes: 512,
        seed: Seed(1),
        stream: "link/parameters",
    }
}

#[test]
fn every_valid_parameter_is_read_built_and_written_back() {
    let typed = read(ALL_OF_IT).expect("all right");
    for entry in catalogue::all() {
        build(entry.name, &typed, &site()).expect("all allowed");
    }
    let written = toml::to_string(&typed).expect("plain data");
    assert_eq!(read(&written).expect("what we write"), typed);
    assert_eq!(toml::to_string(&Parameters::default()).expect("plain data"), "");
}

#[test]
fn a_mistake_is_reported_with_its_location_and_the_allowed_values() {
    for (text, at, message) in [
        ("[rde]\n", "rde", "unknown field `rde`, expected one of `tail-drop`"),
        ("[red]\ngentel = true", "gentel", "unknown field `gentel`, expected one of `buffer`, `ecn`"),
        ("[red]\nbuffer = '780'", "'780'", "`780` has no unit; allowed: an amount of queue above zero"),
        ("[red]\nbuffer = 780", "780", "expected a string such as \"780 packets\""),
        ("[faba]\nbeta_rule = 'sigma'", "'sigma'", "unknown variant `sigma`, expected one of `abs`"),
        ("[faba]\necn = 'ignore'", "'ignore'", "unknown variant `ignore`, expected `drop` or `mark`"),
        ("[faba]\nbeta_max = -1", "-1", "invalid value"),
        ("[hfaba]\nclass = [{ id = 1, wieght = 2.0 }]", "wieght", "unknown field `wieght`"),
        ("[etrap]\n", "etrap", "unknown field `etrap`"), // an alias names the discipline, not its table
    ] {
        let error = read(text).expect_err(text);
        assert!(error.message().contains(message), "{text}: {error}");
        let span = error.span().unwrap_or_else(|| panic!("{text}: no place"));
        assert_eq!(&text[span], at, "{text}");
    }
}

#[test]
fn the_schema_agrees_with_the_reader() {
    let schema = serde_json::to_value(schemars::schema_for!(Parameters)).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a right schema");
    let typed: serde_json::Value =
        serde_json::to_value(read(ALL_OF_IT).expect("all right")).expect("plain data");
    assert!(validator.is_valid(&typed));
    for wrong in [
        json!({"rde": {}}),
        json!({"red": {"gentel": true}}),
        json!({"red": {"buffer": 780}}),
        json!({"red": {"buffer": "780"}}),
        json!({"red": {"buffer": "-1 packets"}}),
        json!({"faba": {"beta_rule": "sigma"}}),
    ] {
        assert!(!validator.is_valid(&wrong), "{wrong}");
        assert!(serde_json::from_value::<Parameters>(wrong.clone()).is_err(), "{wrong}");
    }
}

fn assert_agree<T: Written>(texts: &[&str]) {
    let schema = serde_json::to_value(schemars::schema_for!(Quantity<T>)).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a right schema");
    for text in texts.iter().chain(T::EXAMPLES) {
        assert_eq!(validator.is_valid(&json!(text)), text.parse::<T>().is_ok(), "{} `{text}`", T::NAME);
    }
    assert!(T::EXAMPLES.iter().all(|text| text.parse::<T>().is_ok()));
}

#[test]
fn patterns_agree_with_the_readers_of_quantities() {
    let units = [
        "", "bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", "bps", "kbps", "Mbps", "Gbps", "Tbps", "B/s",
        "kB/s", "MB/s", "GB/s", "TB/s", "ns", "us", "µs", "ms", "s", "min", "h", "d", "B", "kB", "MB", "GB",
        "KB", "KiB", "MiB", "GiB", "TiB", "packet", "packets", "pkt", "pkts",
    ];
    let numbers = [
        "3", "+3", " 3", "3.5", "3.0", "3.", ".5", "30_000", "-3", "-0", "", ".", "3.5.1", "1e3", "2.5E+2",
        "1e", "three",
    ];
    let texts: Vec<String> =
        units.iter().flat_map(|unit| numbers.map(|number| format!("{number} {unit}"))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    assert_agree::<Rate>(&texts);
    assert_agree::<Duration>(&texts);
    assert_agree::<Size>(&texts);
    assert_agree::<Amount>(&texts);
    assert_agree::<Level>(&texts);
}

#[test]
fn an_alias_builds_the_same_discipline_with_the_same_parameters() {
    let typed = read("[tail-drop]\nbuffer = '3 packets'").expect("all right");
    for name in ["tail-drop", "drop-tail", "fifo"] {
        let mut queue = build(name, &typed, &site()).expect("allowed");
        for frame in 0..5 {
            let packet = fairwire_core::Packet::new(frame, 512, 1.into(), fairwire_core::Time::ZERO);
            queue.enqueue(packet, fairwire_core::Time::ZERO, &mut fairwire_core::Ignore);
        }
        assert_eq!(queue.backlog().packets, 3);
    }
}

#[test]
fn a_build_error_names_the_bad_parameter() {
    let typed = read("[red]\nweight = 2").expect("well-formed");
    let Err(fairwire_catalogue::BuildError::Parameter(bad)) = build("red", &typed, &site()) else {
        panic!("a weight of 2 was allowed")
    };
    assert_eq!((bad.discipline, &*bad.parameter, bad.given.as_str()), ("red", "weight", "2"));
}
