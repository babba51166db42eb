//! A web client. What is absent is of the web browsing model of 3GPP2 C.R1002.

use super::at::{About, At, Offer, Source};
use crate::fault::Fault;
use crate::law::{LawSpec, Objects};
use fairwire_core::Duration;
use fairwire_core::units::Size;
use fairwire_sim::app::{Load, Web};
use schemars::JsonSchema;
use serde::Deserialize;

/// What is told of it.
pub(super) const ABOUT: About = About { timed: &["transfer", "page"], ..About::tcp("A web client.") };

/// A web client. What is absent is of the web browsing model of 3GPP2 C.R1002.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebSpec {
    /// Bytes of a page's first object. Default: lognormal, mean 10 710, deviation 25 032, from 100 bytes to 2 MB.
    pub first: Option<LawSpec<Size>>,
    /// Time from the first object's arrival to the requests for those in it. Default: exponential, 0.13 s.
    pub parsing: Option<LawSpec<Duration>>,
    /// How many objects are in it. Default: Pareto of mean 22 and shape 1.1, cut at 55, less 2.
    pub objects: Option<LawSpec<Objects>>,
    /// Bytes of each of them. Default: lognormal, mean 7758, deviation 126 168, from 50 bytes to 2 MB.
    pub object: Option<LawSpec<Size>>,
    /// Time from a page's end to the next page. Default: exponential, 30 s.
    pub reading: Option<LawSpec<Duration>>,
    /// Parallel connections. Default: 6.
    pub connections: Option<u16>,
    /// Does a connection carry one object after the other (HTTP/1.1), rather than one (HTTP/1.0)? Default: yes.
    pub persistent: Option<bool>,
}

impl Source for WebSpec {
    fn offers(&self, at: At<'_>) -> Result<Offer, Fault> {
        let default = Web::default();
        Ok(Offer::Tcp(Load::Web(Box::new(Web {
            first_bytes: at.law("first", self.first.as_ref(), default.first_bytes)?,
            parsing: at.law("parsing", self.parsing.as_ref(), default.parsing)?,
            objects: at.law("objects", self.objects.as_ref(), default.objects)?,
            object_bytes: at.law("object", self.object.as_ref(), default.object_bytes)?,
            reading: at.law("reading", self.reading.as_ref(), default.reading)?,
            connections: at.connections(self.connections, default.connections)?,
            is_persistent: self.persistent.unwrap_or(default.is_persistent),
        }))))
    }
}
