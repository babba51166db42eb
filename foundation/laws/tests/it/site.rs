//! The site of disciplines, and their construction from settings.

use fairwire_catalogue::{Parameters, build};
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Rate, Seed};
use fairwire_laws::Site;

pub(crate) fn site(buffer: Amount) -> Site<'static> {
    Site {
        rate: Rate::from_bps(10_000_000).expect("not zero"),
        buffer,
        packet_bytes: 512,
        seed: Seed(1),
        stream: "link",
    }
}

/// Settings, parsed once, from which a discipline is built any number of times.
pub(crate) struct Typed {
    pub(crate) name: String,
    pub(crate) typed: String,
    parameters: Parameters,
}

impl Typed {
    pub(crate) fn new(name: &str, typed: &str) -> Typed {
        let parameters = toml::from_str(&format!("[{name:?}]\n{typed}"))
            .unwrap_or_else(|error| panic!("{name}: {typed}: {error}"));
        Typed { name: name.into(), typed: typed.into(), parameters }
    }

    pub(crate) fn built(&self, site: &Site<'_>) -> Box<dyn Discipline> {
        build(&self.name, &self.parameters, site)
            .unwrap_or_else(|error| panic!("{}: {}: {error}", self.name, self.typed))
    }
}

pub(crate) fn built(name: &str, typed: &str, site: &Site<'_>) -> Box<dyn Discipline> {
    Typed::new(name, typed).built(site)
}
