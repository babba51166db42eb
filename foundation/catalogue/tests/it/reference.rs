//! The documentation of the disciplines is complete, and its examples work.

use fairwire_catalogue::page::{BadDocumentation, Page};
use fairwire_catalogue::{self as catalogue, Parameters, Site, build, marker};
use fairwire_core::units::Amount;
use fairwire_core::{Rate, Seed};

/// Each page with the name of the discipline that its example builds.
fn pages() -> Vec<(&'static str, Page)> {
    let disciplines = catalogue::all().iter().map(|entry| (entry.name, entry.page()));
    let markers = marker::all().iter().map(|entry| ("conditioner", Page::of(entry)));
    let read = |page: Result<Page, BadDocumentation>| page.unwrap_or_else(|error| panic!("{error}"));
    disciplines.chain(markers).map(|(name, page)| (name, read(page))).collect()
}

#[derive(serde::Deserialize)]
struct Scenario {
    discipline: Parameters,
}

#[test]
fn every_example_is_read_and_built() {
    for (name, page) in pages() {
        let Page { name: of, example, .. } = page;
        let Scenario { discipline } =
            toml::from_str(&example).unwrap_or_else(|error| panic!("{of}: {error}"));
        let site = Site {
            rate: Rate::from_bps(10_000_000).expect("not zero"),
            buffer: Amount::Packets(780),
            packet_bytes: 512,
            seed: Seed(1),
            stream: "link/reference",
        };
        build(name, &discipline, &site).unwrap_or_else(|error| panic!("{of}: {error}"));
        let shown = toml::to_string(&discipline).expect("plain data");
        assert!(shown.contains(of), "the example of {of} does not set it: {example}");
    }
}

#[test]
fn the_example_of_a_bare_scheduler_is_read() {
    let code = include_str!("../../../laws/src/scheduler/drr_plus_plus.rs");
    let (_, example) = code.split_once("//! ```toml\n").expect("it has one");
    let example = example.split("//! ```").next().unwrap_or_default().replace("//! ", "");
    toml::from_str::<Scenario>(&example).unwrap_or_else(|error| panic!("{example}: {error}"));
}
