//! Strict priority between bands, each a discipline.
//!
//! # What it does
//! An arrival's class, differentiated-services codepoint or colour decides its band. The first band
//! that has a packet to send is served.
//!
//! # Why
//! Voice and routing protocols must not wait. An unlimited band starves all later bands, so put a
//! [`shaper`](super::shaper) into it.
//!
//! # State and cost
//! A byte per class number up to the highest listed; O(bands) per packet. Only inner disciplines
//! give early signals.
//!
//! # Source (section, equation)
//! RFC 3290, section 7.1.2: strict priority scheduling.
//!
//! # Where we differ
//! Nothing known.
//!
//! # Example
//! ```toml
//! [discipline.prio]
//! by = "dscp"
//! band = [
//!   { of = [46], discipline = { shaper = { rate = "1 Mbit/s" } } },
//!   { discipline = "red" },
//! ]
//! ```

use crate::choice::Choice;
use crate::nested::{Nested, check_slots, part_of};
use fairwire_core::Discipline;
use fairwire_core::class_tree::MAX_CLASSES;
use fairwire_core::units::Amount;
use fairwire_laws::BadParameter;
use fairwire_laws::Site;
use fairwire_laws::about::{About, Family};
use fairwire_laws::compose::prio::{By, Config, MAX_BANDS, Prio};
use fairwire_laws::error::{Of as _, Parameter};
use fairwire_laws::part::Part;
use fairwire_laws::role;
use fairwire_laws::spec::{EcnChoice, Quantity};
use fairwire_parameters::parameters;

/// The entry of this discipline in the catalogue.
pub const ABOUT: About = About {
    family: Family::Composition,
    summary: "strict priority between bands, each a discipline",
    state: "one byte per class number, and that of the disciplines inside",
    cost: "O(bands), and the cost of the disciplines inside",
    marks: false,
    source: "RFC 3290, section 7.1.2",
};

const NAME: &str = "prio";

static DEFAULT: Choice = Choice::named("tail-drop");

/// Parameters of `prio`.
#[parameters(checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The size of the buffer that all bands without a separate buffer share equally.
    #[parameter(is = role::BUFFER, unset = "the site's")]
    pub buffer: Option<Quantity<Amount>>,
    /// The treatment of ECN-capable packets by the inner disciplines, unless their own parameters
    /// set it.
    #[parameter(is = role::ECN, unset = "their own")]
    pub ecn: Option<EcnChoice>,
    /// The field that decides the band.
    ///
    /// `class`, `dscp` or `color`.
    #[parameter(default = By::Class)]
    pub by: Option<By>,
    /// The bands, the most urgent first.
    #[parameter(unset = "one of `tail-drop`", unit = "list")]
    pub band: Option<Vec<Band>>,
    /// The band for packets whose value is in no `of` list; the first band is 1.
    #[parameter(unset = "the last", unit = "number")]
    pub default_band: Option<u32>,
}

impl Part for Spec {}

/// One band, as given.
#[parameters(name = "prio.band")]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Band {
    /// The classes, codepoints or colours of this band.
    #[parameter(unset = "none", unit = "list")]
    pub of: Option<Vec<u32>>,
    /// The size of the band's buffer.
    #[parameter(unset = "an equal part of the whole")]
    pub buffer: Option<Quantity<Amount>>,
    /// The band's discipline: its name, or a table with its name and its parameters.
    #[parameter(unset = "`tail-drop`", unit = "discipline")]
    pub discipline: Option<Choice>,
}

impl Spec {
    /// Checks the parameters against the site, including the inner disciplines.
    pub fn check(&self, site: &Site<'_>) -> Result<Config, BadParameter> {
        let given = self.checked().of(NAME)?;
        let bands = self.bands();
        if bands.is_empty() || bands.len() > MAX_BANDS {
            let allowed = format!("from 1 to {MAX_BANDS} bands");
            return Err(Parameter::of(NAME, "band").refuse(format_args!("{} bands", bands.len()), allowed));
        }
        let last = bands.len() as u32;
        let default_band =
            Parameter::of(NAME, "default_band").count(self.default_band.unwrap_or(last), last)? as u8 - 1;
        let by = given.by;
        let config = Config { by, band_of: band_of(by, bands, default_band)?, default_band };
        let placed = self.placed(site);
        placed.iter().try_for_each(|(nested, site)| nested.check(site))?;
        check_slots(NAME, &placed)?;
        Ok(config)
    }

    fn bands(&self) -> &[Band] {
        self.band.as_deref().unwrap_or(&ONE_BAND)
    }

    pub(crate) fn placed<'a>(&'a self, site: &Site<'a>) -> Vec<(Nested<'a>, Site<'a>)> {
        let whole = self.buffer.map_or(site.buffer, |buffer| buffer.0);
        let sharing = self.bands().iter().filter(|band| band.buffer.is_none()).count();
        let part = part_of(whole, sharing, site.packet_bytes);
        let placed = |(place, band): (usize, &'a Band)| {
            let choice = band.discipline.as_ref().unwrap_or(&DEFAULT);
            let (typed_as, place) = (Parameter::of(NAME, "band"), Some(place));
            let nested = Nested { choice, ecn: self.ecn, typed_as, place };
            (nested, Site { buffer: band.buffer.map_or(part, |buffer| buffer.0), ..*site })
        };
        self.bands().iter().enumerate().map(placed).collect()
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let config = self.check(site)?;
        let mut bands = Vec::with_capacity(self.bands().len());
        for ((nested, inner_site), number) in self.placed(site).into_iter().zip(1..) {
            let stream = format!("{}/band {number}", site.stream);
            let site = Site { stream: &stream, ..inner_site };
            bands.push(nested.build(&site)?);
        }
        Ok(Box::new(Prio::new(config, bands)))
    }
}

static ONE_BAND: [Band; 1] = [Band { of: None, buffer: None, discipline: None }];

/// The band of each value, up to the highest listed value.
fn band_of(by: By, bands: &[Band], default_band: u8) -> Result<Box<[u8]>, BadParameter> {
    let (what, end) = match by {
        By::Class => ("class", MAX_CLASSES),
        By::Dscp => ("codepoint", 64),
        By::Color => ("colour", 3),
    };
    let listed = || {
        bands.iter().zip(0u8..).flat_map(|(band, at)| band.of.iter().flatten().map(move |&value| (value, at)))
    };
    let refuse =
        |at: u8, given, allowed| Parameter::of(NAME, "band").refuse(given, allowed).of_item(at.into(), "of");
    if let Some((value, at)) = listed().find(|&(value, _)| value >= end) {
        let allowed = format!("numbers from 0 to {}", end - 1);
        return Err(refuse(at, format!("{what} {value}"), allowed));
    }
    let highest = listed().map(|(value, _)| value as usize + 1).max().unwrap_or(0);
    let mut bands: Vec<Option<u8>> = vec![None; highest];
    for (value, at) in listed() {
        if bands[value as usize].replace(at).is_some() {
            return Err(refuse(at, format!("{what} {value} again"), format!("each {what} once")));
        }
    }
    Ok(bands.into_iter().map(|band| band.unwrap_or(default_band)).collect())
}
