//! What is said of the disciplines is complete, and its examples work.

use fairwire_core::units::Amount;
use fairwire_core::{Rate, Seed};
use fairwire_disciplines::catalogue::{self, Entry};
use fairwire_disciplines::page::Page;
use fairwire_disciplines::{Parameters, Site, build};

fn page(entry: &Entry) -> Page {
    entry.page().unwrap_or_else(|error| panic!("{error}"))
}

#[derive(serde::Deserialize)]
struct Scenario {
    discipline: Parameters,
}

#[test]
fn every_example_is_read_and_built() {
    for entry in catalogue::all() {
        let example = page(entry).example;
        let Scenario { discipline } =
            toml::from_str(&example).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        let site = Site {
            rate: Rate::from_bps(10_000_000).expect("not zero"),
            buffer: Amount::Packets(780),
            packet_bytes: 512,
            seed: Seed(1),
            stream: "link/reference",
        };
        build(entry.name, &discipline, &site).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
        let shown = toml::to_string(&discipline).expect("plain data");
        assert!(shown.contains(entry.name), "the example of {} does not set it: {example}", entry.name);
    }
}
