//! Integration tests of the catalogue: one binary, to link everything only once.

mod bounds;
mod fields;
mod fuzz;
mod late;
mod markers;
mod nesting;
mod parameters;
mod queue;
mod reference;
mod refused;
mod text;

use fairwire_catalogue::{BuildError, Parameters, Site, build};
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Rate, Seed};

fn site() -> Site<'static> {
    Site {
        rate: Rate::from_bps(10_000_000).expect("not zero"),
        buffer: Amount::Packets(40),
        packet_bytes: 1000,
        seed: Seed(1),
        stream: "link",
    }
}

fn built(name: &str, typed: &str) -> Result<Box<dyn Discipline>, BuildError> {
    let parameters: Parameters = toml::from_str(typed).unwrap_or_else(|error| panic!("{typed}: {error}"));
    build(name, &parameters, &site())
}

/// Builds a discipline, as in `discipline("red", "[red]\ngentle = false")`.
fn discipline(name: &str, typed: &str) -> Box<dyn Discipline> {
    built(name, typed).unwrap_or_else(|error| panic!("{typed}: {error}"))
}

fn refusal(name: &str, typed: &str) -> String {
    built(name, typed).err().unwrap_or_else(|| panic!("{typed}: allowed")).to_string()
}
