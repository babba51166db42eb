//! Where disciplines work in these tests, and how they are built of what is typed for them.

use fairwire_catalogue::{Parameters, build};
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Rate, Seed};
use fairwire_laws::Site;

/// A link of 10 Mbit/s, with typical packets of 512 bytes.
pub(crate) fn site(buffer: Amount) -> Site<'static> {
    Site {
        rate: Rate::from_bps(10_000_000).expect("not zero"),
        buffer,
        packet_bytes: 512,
        seed: Seed(1),
        stream: "link",
    }
}

/// The discipline called `name`, with `typed` in its table: `built("red", "gentle = false", &site)`.
pub(crate) fn built(name: &str, typed: &str, site: &Site<'_>) -> Box<dyn Discipline> {
    let typed = format!("[{name:?}]\n{typed}");
    let parameters: Parameters = toml::from_str(&typed).unwrap_or_else(|error| panic!("{typed}: {error}"));
    build(name, &parameters, site).unwrap_or_else(|error| panic!("{typed}: {error}"))
}
