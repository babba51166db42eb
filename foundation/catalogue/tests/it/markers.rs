//! Markers are found by name, and read in every form.

use super::site;
use fairwire_catalogue::marker::{self, MarkerChoice, MarkerParameters};

#[test]
fn every_marker_is_found_builds_by_default_and_shows_its_rate() {
    for entry in marker::all() {
        let marker =
            MarkerChoice::find(entry.name).expect("listed").build(&site()).expect("the defaults are allowed");
        let mut contract = None;
        marker.inspect(&mut |name: &str, _, value: f64| {
            if name == "contract_rate" {
                contract = Some(value);
            }
        });
        assert_eq!(contract, Some(5e6), "{}: half of the link's", entry.name);
    }
    let unknown = MarkerChoice::find("tsw4cm").unwrap_err().to_string();
    assert!(unknown.starts_with(
        "there is no marker `tsw4cm`; did you mean `tsw2cm` or `tsw3cm`? allowed: `token-bucket`,"
    ));
}

#[test]
fn markers_refuse_values_out_of_range() {
    for (name, typed, message) in [
        (
            "tr-tcm",
            "[tr-tcm]\nrate = '5 Mbit/s'\npeak_rate = '4 Mbit/s'",
            "`peak_rate` of `tr-tcm` is 4 Mbit/s; allowed: no less than the committed `rate`, which is 5 Mbit/s",
        ),
        (
            "tsw3cm",
            "[tsw3cm]\nrate = '5 Mbit/s'\npeak_rate = '4 Mbit/s'",
            "`peak_rate` of `tsw3cm` is 4 Mbit/s; allowed: no less than the committed `rate`, which is 5 Mbit/s",
        ),
        (
            "sr-tcm",
            "[sr-tcm]\ncommitted_burst = '0 B'\nexcess_burst = '0 B'",
            "`excess_burst` of `sr-tcm` is 0 B; allowed: more than 0 B where committed_burst is 0 B",
        ),
        ("tr-tcm", "[tr-tcm]\npeak_burst = '0 B'", "`peak_burst` of `tr-tcm` is 0 B; allowed: more than 0 B"),
        (
            "token-bucket",
            "[token-bucket]\nburst = '2048 GiB'",
            "`burst` of `token-bucket` is 2048 GiB; allowed: at most 1024 GiB",
        ),
        (
            "adaptive-token-bucket",
            "[adaptive-token-bucket]\nrate = '5 Mbit/s'\nlowest = '6 Mbit/s'",
            "`lowest` of `adaptive-token-bucket` is 6 Mbit/s; allowed: at most the committed `rate`, which is 5 Mbit/s",
        ),
        (
            "adaptive-token-bucket",
            "[adaptive-token-bucket]\nrate = '5 Mbit/s'\nhighest = '4 Mbit/s'",
            "`highest` of `adaptive-token-bucket` is 4 Mbit/s; allowed: no less than the committed `rate`, which is 5 Mbit/s",
        ),
    ] {
        let base: MarkerParameters = toml::from_str(typed).expect("well-formed");
        let error = MarkerChoice::find(name).expect("known").filled(&base).check(&site()).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn a_marker_is_a_name_or_a_table_and_its_own_parameters_come_first() {
    #[derive(Debug, PartialEq, serde::Deserialize, serde::Serialize)]
    struct Edge {
        marker: MarkerChoice,
    }
    let read = |text: &str| toml::from_str::<Edge>(text).map_err(|error| error.to_string());
    let edge = |text: &str| read(text).unwrap_or_else(|error| panic!("{text}: {error}")).marker;
    let base: MarkerParameters =
        toml::from_str("[sr-tcm]\nrate = '2 Mbit/s'\ncommitted_burst = '9 kB'").unwrap();
    let own = edge("marker = { sr-tcm = { rate = '1 Mbit/s' } }");
    let both = edge("marker = { sr-tcm = { rate = '1 Mbit/s', committed_burst = '9 kB' } }");
    assert_eq!(own.clone().filled(&base), both);
    assert_eq!(edge("marker = 'sr-tcm'"), edge("marker = { sr-tcm = {} }"));
    assert_eq!(edge("marker = 'tsw2cm'").filled(&base), edge("marker = 'tsw2cm'"));
    let mut under_contract = own.clone();
    under_contract.default_rate("3 Mbit/s".parse().unwrap());
    assert_eq!(under_contract, own, "its own rate stays");
    for (text, shown) in [
        ("marker = 'sr-tcm'", "marker = \"sr-tcm\"\n"),
        ("marker = { sr-tcm = { rate = '1 Mbit/s' } }", "[marker.sr-tcm]\nrate = \"1 Mbit/s\"\n"),
    ] {
        assert_eq!(toml::to_string(&read(text).unwrap()).unwrap(), shown);
    }
    for (text, message) in [
        ("marker = 'srtcm'", "unknown variant `srtcm`, expected one of `token-bucket`, `sr-tcm`"),
        ("marker = { sr-tcm = {}, tsw2cm = {} }", "`tsw2cm` is a second marker"),
        ("marker = { sr-tcm = { rat = '1 Mbit/s' } }", "unknown field `rat`"),
        ("marker = {}", "no marker is named; allowed: the name of a marker in quotes"),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.contains(message), "{text}: {error}");
    }
}
