//! A web client.

use super::at::{About, At, NoOffer, Offer, SourceSpec};
use crate::law::{LawSpec, Objects};
use fairwire_core::Duration;
use fairwire_core::units::Size;
use fairwire_metrics::Kind;
use fairwire_parameters::parameters;
use fairwire_sim::app::{Load, Web};

pub(super) const ABOUT: About = About { timed: &[Kind::Transfer, Kind::Page], ..About::tcp("A web client.") };

/// A web client. Defaults are from the web browsing model of 3GPP2 C.R1002.
#[parameters(name = "web", checked = Checked)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WebSpec {
    /// Bytes of a page's first object.
    #[parameter(
        unset = "lognormal, mean 10 710 B, deviation 25 032 B, from 100 B to 2 MB",
        unit = "law of sizes",
        source = "3GPP2 C.R1002; NGMN Alliance, 2008."
    )]
    pub first: Option<LawSpec<Size>>,
    /// Time from the first object's arrival to the requests for its embedded objects.
    #[parameter(
        unset = "exponential, 0.13 s",
        unit = "law of times",
        source = "3GPP2 C.R1002; NGMN Alliance, 2008."
    )]
    pub parsing: Option<LawSpec<Duration>>,
    /// The number of objects embedded in the first object.
    #[parameter(
        unset = "Pareto, mean 22, shape 1.1, cut at 55, less 2",
        unit = "law of objects",
        source = "3GPP2 C.R1002; NGMN Alliance, 2008."
    )]
    pub objects: Option<LawSpec<Objects>>,
    /// Bytes of each embedded object.
    #[parameter(
        unset = "lognormal, mean 7758 B, deviation 126 168 B, from 50 B to 2 MB",
        unit = "law of sizes",
        source = "3GPP2 C.R1002; NGMN Alliance, 2008."
    )]
    pub object: Option<LawSpec<Size>>,
    /// Time from the end of a page to the start of the next page.
    #[parameter(
        unset = "exponential, 30 s",
        unit = "law of times",
        source = "3GPP2 C.R1002; NGMN Alliance, 2008."
    )]
    pub reading: Option<LawSpec<Duration>>,
    /// Parallel connections, from 1 to 1024.
    #[parameter(default = 6, unit = "connections", source = "What browsers open to one server.")]
    pub connections: Option<u16>,
    /// Whether a connection carries several objects, one after the other (HTTP/1.1), or only one
    /// (HTTP/1.0).
    #[parameter(default = true)]
    pub persistent: Option<bool>,
}

impl SourceSpec for WebSpec {
    fn offers(&self, at: At<'_>) -> Result<Offer, NoOffer> {
        let default = Web::default();
        let Checked { connections, persistent } = self.checked()?;
        Ok(Offer::Tcp(Load::Web(Box::new(Web {
            first_bytes: at.law("first", self.first.as_ref(), default.first_bytes)?,
            parsing: at.law("parsing", self.parsing.as_ref(), default.parsing)?,
            objects: at.law("objects", self.objects.as_ref(), default.objects)?,
            object_bytes: at.law("object", self.object.as_ref(), default.object_bytes)?,
            reading: at.law("reading", self.reading.as_ref(), default.reading)?,
            connections: at.connections(connections)?,
            is_persistent: persistent,
        }))))
    }
}
