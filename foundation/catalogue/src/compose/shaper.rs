//! The shaper: a discipline behind a rate.
//!
//! # What it does
//! Releases packets of the inner discipline at `rate`, and up to `burst` at once after a pause. The
//! shaper works in deficit mode: a packet may leave as soon as all earlier packets are paid for,
//! and is paid for afterwards.
//!
//! # Why
//! The queue forms where it can be managed: in front of a modem, a tunnel or a subscriber's line
//! whose own buffer would otherwise hold it.
//!
//! With `autorate` the rate follows the line behind the shaper, and `rate` is the initial rate.
//! `autorate` needs the round-trip times of the passing traffic. The simulator gives these times to
//! the discipline of a link, but not to inner disciplines. In a gateway, `autorate` is set next to
//! the rate of a direction instead.
//!
//! # State and cost
//! One time and one remainder; O(1) per packet, plus the cost of the inner discipline. The shaper
//! gives no early signals, but the inner discipline may.
//!
//! # Source (section, equation)
//! RFC 3290, section 7.1.2: a non-work-conserving scheduler with a rate profile. The state of the
//! bucket is the time at which all packets sent so far are paid, as in the virtual scheduling
//! algorithm of ITU-T I.371, annex A.
//!
//! # Where we differ
//! In any T seconds, the shaper sends at most `burst` plus `rate` times T, plus one packet. Deficit
//! mode sends that packet before it is paid. Times are rounded to a nanosecond, and the remainder
//! is carried over. The bucket begins to fill at time zero.
//!
//! # Example
//! ```toml
//! [discipline.shaper]
//! rate = "4500 kbit/s"
//! discipline = { red = { gentle = true } }
//! ```

use crate::choice::Choice;
use crate::nested::{Nested, check_slots};
use fairwire_core::units::{Amount, Size};
use fairwire_core::{Discipline, Rate, Transmitter};
use fairwire_laws::about::{About, Family};
use fairwire_laws::autorate;
use fairwire_laws::compose::autorated::Autorated;
use fairwire_laws::compose::shaper::{Shaper, burst_time};
use fairwire_laws::error::Parameter;
use fairwire_laws::part::Part;
use fairwire_laws::role;
use fairwire_laws::spec::{EcnChoice, Quantity};
use fairwire_laws::{BadParameter, Site};
use fairwire_parameters::parameters;

/// The entry of this discipline in the catalogue.
pub const ABOUT: About = About {
    family: Family::Composition,
    summary: "a discipline behind a rate with a burst",
    state: "one time, and that of the discipline inside",
    cost: "O(1), and the cost of the discipline inside",
    marks: false,
    source: "RFC 3290, section 7.1.2; ITU-T I.371, annex A",
};

const NAME: &str = "shaper";

static DEFAULT: Choice = Choice::named("tail-drop");

/// Parameters of `shaper`.
#[parameters]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The size of the inner discipline's buffer.
    ///
    /// A time is converted at the lower of `rate` and the link's rate.
    #[parameter(is = role::BUFFER, unset = "the site's")]
    pub buffer: Option<Quantity<Amount>>,
    /// The treatment of ECN-capable packets by the inner discipline, unless its own parameters set
    /// it.
    #[parameter(is = role::ECN, unset = "its own")]
    pub ecn: Option<EcnChoice>,
    /// The rate.
    ///
    /// It counts bytes on the wire.
    #[parameter(unset = "the link's")]
    pub rate: Option<Quantity<Rate>>,
    /// The amount by which the shaper may fall behind and still catch up.
    ///
    /// The default loses no rate if the host wakes at most 1 ms late.
    #[parameter(
        unset = "what `rate` brings in 1 ms and two packets, of 1514 bytes or typical if that is more",
        unit = "size"
    )]
    pub burst: Option<Quantity<Size>>,
    /// The parameters by which the rate follows the line behind the shaper: `min`, `max`, `target`,
    /// `keep`, `recover`, `probe`, `window`, `idle`.
    #[parameter(unset = "it does not", unit = "table")]
    pub autorate: Option<autorate::Spec>,
    /// The inner discipline: its name, or a table with its name and its parameters.
    #[parameter(unset = "`tail-drop`", unit = "discipline")]
    pub discipline: Option<Choice>,
}

impl Part for Spec {}

impl Spec {
    /// Checks the parameters against the site, including the inner discipline.
    pub fn check(&self, site: &Site<'_>) -> Result<(), BadParameter> {
        self.nested().check(&self.inner_site(site))?;
        self.followed(site)?;
        check_slots(NAME, &self.placed(site))
    }

    fn nested(&self) -> Nested<'_> {
        let choice = self.discipline.as_ref().unwrap_or(&DEFAULT);
        let typed_as = Parameter { discipline: NAME, name: "discipline" };
        Nested { choice, ecn: self.ecn, typed_as, place: None }
    }

    pub(crate) fn placed<'a>(&'a self, site: &Site<'a>) -> Vec<(Nested<'a>, Site<'a>)> {
        vec![(self.nested(), self.inner_site(site))]
    }

    fn inner_site<'a>(&self, site: &Site<'a>) -> Site<'a> {
        let buffer = self.buffer.map_or(site.buffer, |buffer| buffer.0);
        Site { rate: self.shaped_rate(site).min(site.rate), buffer, ..*site }
    }

    fn shaped_rate(&self, site: &Site<'_>) -> Rate {
        self.rate.map_or(site.rate, |rate| rate.0)
    }

    fn followed(&self, site: &Site<'_>) -> Result<Option<autorate::Config>, BadParameter> {
        let check = |spec: &autorate::Spec| spec.check(self.shaped_rate(site));
        self.autorate.as_ref().map(check).transpose().map_err(|bad| bad.inside(NAME))
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        self.check(site)?;
        let inner_site = self.inner_site(site);
        let inner = self.nested().build(&inner_site)?;
        let rate = self.shaped_rate(site);
        let burst = burst_time(self.burst, rate, site.packet_bytes);
        let shaper = Shaper::new(inner, Transmitter::with_catch_up(rate, burst));
        Ok(match self.followed(site)? {
            None => Box::new(shaper),
            Some(config) => Box::new(Autorated::new(shaper, config)),
        })
    }
}
