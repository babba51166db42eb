//! Strict priority: bands, each a discipline, where an earlier band always goes first.
//!
//! # What it does
//! Puts each arrival into a band, by its class, its differentiated-services codepoint or its colour, and sends from the first
//! band that has something to send.
//!
//! # Why
//! Voice and routing protocols wait for nobody. A band that is not held in check starves those below it, so put a
//! [`shaper`](super::shaper) into it.
//!
//! # State and cost
//! A byte per class number up to the highest listed; O(bands) per packet.
//! Its own signals are never early, as the list says; those of the disciplines inside may be.
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
//!   { of = [46], discipline = "shaper", parameters = { shaper = { rate = "1 Mbit/s" } } },
//!   { discipline = "red" },
//! ]
//! ```

use super::nested::{Nested, check_slots, name_or, part_of};
use crate::catalogue::{About, Family};
use crate::error::{BadParameter, BuildError, Of as _, Parameter};
use crate::parameters::Parameters;
use crate::part::Part;
use crate::site::Site;
use crate::spec::{EcnChoice, MOST_CLASSES, Quantity};
use fairwire_core::units::Amount;
use fairwire_core::weight::reweigh_both;
use fairwire_core::{Backlog, Discipline, NotReweighed, Packet, Probe, Signals, Time, Unit, Weight};
use fairwire_parameters::parameters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the catalogue tells of it.
pub const ABOUT: About = About {
    family: Family::Composition,
    summary: "strict priority between bands, each a discipline",
    state: "one byte per class number, and that of the disciplines inside",
    cost: "O(bands), and the cost of the disciplines inside",
    marks: false,
    source: "RFC 3290, section 7.1.2",
};

const NAME: &str = "prio";

/// The most bands: each is asked in turn.
pub const MOST_BANDS: usize = 64;

/// Parameters of `prio`.
#[parameters(checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// How much may wait in all bands, in equal parts for those that have no buffer of their own.
    #[parameter(unset = "the site's")]
    pub buffer: Option<Quantity<Amount>>,
    /// The ECN policy of the disciplines inside, unless their own parameters have one.
    #[parameter(default = EcnChoice::Drop)]
    pub ecn: Option<EcnChoice>,
    /// What decides on the band.
    ///
    /// `class`, `dscp` or `color`.
    #[parameter(default = By::Class)]
    pub by: Option<By>,
    /// The bands, the most urgent first.
    ///
    /// Each has `of`, the list of classes, codepoints or colours that it takes; `buffer`; `discipline` (`tail-drop`) and
    /// `parameters`, as in `shaper`.
    #[parameter(unset = "one of `tail-drop`", unit = "list")]
    pub band: Option<Vec<Band>>,
    /// The band of what no band lists, from 1.
    #[parameter(unset = "the last", unit = "number")]
    pub default_band: Option<u32>,
}

impl Part for Spec {}

/// What decides on the band.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The class that the classifier put the packet in.
    #[default]
    Class,
    /// The differentiated-services codepoint, from 0 to 63.
    Dscp,
    /// The drop precedence that a marker gave: 0 green, 1 yellow, 2 red.
    Color,
}

/// One band, as typed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Band {
    /// The classes, codepoints or colours that it takes. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<Vec<u32>>,
    /// How much may wait in it. Default: an equal part of the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Quantity<Amount>>,
    /// The name of its discipline. Default: `tail-drop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discipline: Option<String>,
    /// Parameters of its discipline, under its name. Default: its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Box<Parameters>>,
}

/// A checked [`Spec`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// What decides on the band.
    pub by: By,
    /// The band of each value that `by` looks at, from 0; higher values are of the default band.
    pub band_of: Box<[u8]>,
    /// The band of what no band lists, from 0.
    pub default_band: u8,
}

impl Spec {
    /// Checks what was typed against the site, the disciplines inside included.
    pub fn check(&self, site: &Site<'_>) -> Result<Config, BuildError> {
        let given = self.checked().of(NAME)?;
        let bands = self.bands();
        if bands.is_empty() || bands.len() > MOST_BANDS {
            let allowed = format!("from 1 to {MOST_BANDS} bands");
            return Err(parameter("band").refuse(format_args!("{} bands", bands.len()), allowed).into());
        }
        let last = bands.len() as u32;
        let default_band =
            parameter("default_band").count(self.default_band.unwrap_or(last), last)? as u8 - 1;
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

    /// The disciplines inside, and where they work.
    pub(crate) fn placed<'a>(&'a self, site: &Site<'a>) -> Vec<(Nested<'a>, Site<'a>)> {
        let whole = self.buffer.map_or(site.buffer, |buffer| buffer.0);
        let sharing = self.bands().iter().filter(|band| band.buffer.is_none()).count();
        let part = part_of(whole, sharing, site.packet_bytes);
        let placed = |(place, band): (usize, &'a Band)| {
            let name = name_or(&band.discipline, "tail-drop");
            let parameters = band.parameters.as_deref();
            let (typed_as, place) = (parameter("band"), Some(place));
            let nested = Nested { name, parameters, ecn: self.ecn, typed_as, place };
            (nested, Site { buffer: band.buffer.map_or(part, |buffer| buffer.0), ..*site })
        };
        self.bands().iter().enumerate().map(placed).collect()
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BuildError> {
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

static ONE_BAND: [Band; 1] = [Band { of: None, buffer: None, discipline: None, parameters: None }];

fn parameter(name: &'static str) -> Parameter {
    Parameter { discipline: NAME, name }
}

/// The band of each value, up to the highest that is listed.
fn band_of(by: By, bands: &[Band], default_band: u8) -> Result<Box<[u8]>, BadParameter> {
    let (what, end) = match by {
        By::Class => ("class", MOST_CLASSES),
        By::Dscp => ("codepoint", 64),
        By::Color => ("colour", 3),
    };
    let listed = || {
        bands.iter().zip(0u8..).flat_map(|(band, at)| band.of.iter().flatten().map(move |&value| (value, at)))
    };
    let refuse = |at: u8, given, allowed| parameter("band").refuse(given, allowed).of_item(at.into(), "of");
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

/// A band and how it is called in gauges.
struct Labelled {
    label: String,
    inner: Box<dyn Discipline>,
}

/// Sends from the first band that has something to send. See the [module](self).
pub struct Prio {
    config: Config,
    bands: Box<[Labelled]>,
    backlog: Backlog,
    /// A bit for each band that is empty and has not been asked since: some laws need to know that they idle.
    emptied: u64,
}

impl Prio {
    /// Strict priority among `bands`, the most urgent first, which must be empty.
    ///
    /// # Panics
    /// When there are fewer bands than `config` names, or more than [`MOST_BANDS`].
    pub fn new(config: Config, bands: Vec<Box<dyn Discipline>>) -> Self {
        let named = config.band_of.iter().chain([&config.default_band]);
        assert!(named.max().is_some_and(|&band| usize::from(band) < bands.len()), "a band is missing");
        let count = bands.len();
        assert!(count <= MOST_BANDS, "{count} bands are too many");
        let labelled = |(inner, number)| Labelled { label: format!("band {number}"), inner };
        Prio {
            config,
            bands: bands.into_iter().zip(1..).map(labelled).collect(),
            backlog: Backlog::default(),
            emptied: u64::MAX >> (MOST_BANDS - count),
        }
    }

    /// Asks the bands from `first` on that have gone empty: the transmitter came, and found nothing of theirs.
    fn tell_idle(&mut self, first: usize, now: Time, signals: &mut dyn Signals) {
        for (at, Labelled { inner, .. }) in self.bands.iter_mut().enumerate().skip(first) {
            if (self.emptied >> at) & 1 == 1 && inner.backlog().is_empty() {
                let none = inner.dequeue(now, signals);
                assert!(none.is_none(), "an empty discipline gave a packet");
            }
            self.emptied &= !(1 << at);
        }
    }

    #[inline]
    fn band(&self, packet: &Packet) -> usize {
        let value = match self.config.by {
            By::Class => packet.class,
            By::Dscp => u32::from(packet.dscp),
            By::Color => u32::from(packet.color),
        };
        usize::from(self.config.band_of.get(value as usize).copied().unwrap_or(self.config.default_band))
    }
}

impl Discipline for Prio {
    fn enqueue(&mut self, packet: Packet, now: Time, signals: &mut dyn Signals) {
        let at = self.band(&packet);
        let inner = &mut self.bands[at].inner;
        let before = inner.backlog();
        inner.enqueue(packet, now, signals);
        self.backlog = moved(self.backlog, before, inner.backlog());
        if !before.is_empty() && inner.backlog().is_empty() {
            self.emptied |= 1 << at;
        }
    }

    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        // Empty bands are asked too: some laws learn from that that nothing of theirs waited.
        for (at, Labelled { inner, .. }) in self.bands.iter_mut().enumerate() {
            let before = inner.backlog();
            let packet = inner.dequeue(now, signals);
            let after = inner.backlog();
            self.backlog = moved(self.backlog, before, after);
            if packet.is_some() {
                if self.emptied >> at > 1 {
                    self.tell_idle(at + 1, now, signals);
                }
                self.emptied |= u64::from(after.is_empty()) << at;
                return packet;
            }
            self.emptied &= !(1 << at);
        }
        None
    }

    fn ready_at(&self) -> Option<Time> {
        self.bands.iter().filter_map(|band| band.inner.ready_at()).min()
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("backlog_packets", Unit::Packets, f64::from(self.backlog.packets));
        probe.gauge("backlog_bytes", Unit::Bytes, self.backlog.bytes as f64);
        for Labelled { label, inner } in &self.bands {
            probe.enter(label);
            inner.inspect(probe);
            probe.leave();
        }
    }

    /// Band by band, the most urgent first.
    fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
        for (at, Labelled { inner, .. }) in self.bands.iter_mut().enumerate() {
            self.emptied |= u64::from(!inner.backlog().is_empty()) << at;
            inner.drain(take);
        }
        self.backlog = Backlog::default();
    }

    /// In the band of the class, or where the class does not decide on the band, in all that know it. O(bands).
    fn reweigh(&mut self, class: u32, weight: Weight) -> Result<Weight, NotReweighed> {
        if self.config.by == By::Class {
            let band = self.config.band_of.get(class as usize).copied().unwrap_or(self.config.default_band);
            return self.bands[usize::from(band)].inner.reweigh(class, weight);
        }
        reweigh_all(&mut self.bands, class, weight)
    }
}

/// In all of `bands` that know the class, or in none.
fn reweigh_all(bands: &mut [Labelled], class: u32, weight: Weight) -> Result<Weight, NotReweighed> {
    match bands {
        [] => Err(NotReweighed::NoWeights),
        [first, others @ ..] => reweigh_both(
            weight,
            |weight| first.inner.reweigh(class, weight),
            |weight| reweigh_all(others, class, weight),
        ),
    }
}

/// `total` after one of its parts went from `before` to `after`, by whatever was let in, sent, pushed out or dropped.
#[inline]
pub(crate) fn moved(total: Backlog, before: Backlog, after: Backlog) -> Backlog {
    Backlog {
        packets: total.packets + after.packets - before.packets,
        bytes: total.bytes + after.bytes - before.bytes,
    }
}
