//! The properties of a source, its traffic, and its location.

use crate::fault::{Fault, missing, refused};
use crate::law::{LawSpec, Random};
use core::fmt::{Debug, Display};
use fairwire_core::units::Size;
use fairwire_core::{Duration, Ecn, Rate};
use fairwire_document::Problem;
use fairwire_laws::spec::Quantity;
use fairwire_metrics::Kind;
use fairwire_parameters::{Given, OutOfRange};
use fairwire_sim::app::{Law, Load, Offered, Traffic};
use fairwire_sim::endpoint::Endpoints;
use std::sync::Arc;

/// The default packet size of a datagram source, bytes.
pub(crate) const PACKET: u32 = 512;
/// The size of IPv4 and UDP headers, bytes (RFC 791, RFC 768).
const HEADER: u32 = 28;
/// The shortest time between packets. A shorter time means over a million packets a second, which
/// indicates a wrong unit.
pub(super) const MIN_GAP: Duration = Duration::from_us(1);
/// The longest time between packets. With a longer time, a run would have no packets.
const MAX_GAP: Duration = Duration::from_secs(1_000_000);
/// The maximum number of connections. A browser opens six, and each connection needs as much memory
/// as a flow.
const MAX_CONNECTIONS: u16 = 1024;

/// The properties of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// The description in one line.
    pub what: &'static str,
    /// Does the source send over TCP?
    pub is_tcp: bool,
    /// Does the other end send packets too, so that a return path is needed?
    pub is_answered: bool,
    /// The default header bytes of datagrams.
    pub header_bytes: u32,
    /// The events whose durations the source records, as named in measures.
    pub timed: &'static [Kind],
    /// The parameters of an example, as entered. Empty if the source has no required parameters.
    pub example: &'static str,
}

impl About {
    /// A datagram source over UDP, without special properties.
    pub const fn datagrams(what: &'static str) -> Self {
        About { what, is_tcp: false, is_answered: false, header_bytes: HEADER, timed: &[], example: "" }
    }

    /// A user of TCP, without special properties.
    pub const fn tcp(what: &'static str) -> Self {
        About { is_tcp: true, ..About::endpoints(what) }
    }

    /// A protocol over UDP with two ends, without special properties.
    pub const fn endpoints(what: &'static str) -> Self {
        About { is_answered: true, ..About::datagrams(what) }
    }
}

/// The traffic that a source offers to the network.
#[derive(Clone, Debug, PartialEq)]
pub enum Offer {
    /// Datagrams.
    Datagrams {
        /// The generator of the datagrams.
        traffic: Traffic,
        /// A typical packet on the wire, bytes.
        packet_bytes: u32,
    },
    /// Datagrams at a constant rate.
    Constant {
        /// On the wire.
        rate: Rate,
        /// The size of each packet on the wire, bytes.
        packet_bytes: u32,
        /// Each gap is scaled by a factor uniform in [1 - dither, 1 + dither].
        dither: f64,
    },
    /// Unlimited data for one TCP.
    Endless,
    /// Data over TCP, as one user generates it.
    Tcp(Load),
    /// A protocol with two ends.
    Endpoints {
        /// Creates both ends of each flow.
        endpoints: Endpoints,
        /// A typical packet on the wire, bytes.
        packet_bytes: u32,
    },
}

/// The parameters of a source, declared with `#[parameters]`.
pub trait SourceSpec: Given {
    /// The traffic that the source offers in a group of flows; an error if a parameter is not allowed there.
    fn offers(&self, at: At<'_>) -> Result<Offer, NoOffer>;

    /// The ECN codepoint of the source's datagrams, except datagrams that have their own codepoint.
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
}

/// The reason why a source offers nothing: a parameter is out of bounds, or makes no sense in the
/// group.
#[derive(Debug)]
pub struct NoOffer(Why);

#[derive(Debug)]
enum Why {
    OutOfRange(OutOfRange),
    Refused(Fault),
}

impl From<OutOfRange> for NoOffer {
    fn from(fault: OutOfRange) -> Self {
        NoOffer(Why::OutOfRange(fault))
    }
}

impl NoOffer {
    pub(super) fn placed(self, at: At<'_>) -> Fault {
        match self.0 {
            Why::OutOfRange(OutOfRange { name, given, allowed }) => {
                refused(at.key_path(name), given, "that is out of range", allowed)
            }
            Why::Refused(fault) => fault,
        }
    }
}

/// The location of a source, and the properties of the group that the source needs.
#[derive(Clone, Copy)]
pub struct At<'a> {
    pub(super) path: &'a str,
    /// Its name.
    pub(super) key: &'static str,
    pub(super) header: u32,
    pub(super) access: Quantity<Rate>,
    pub(super) capture: &'a dyn Fn(&str) -> Arc<[Offered]>,
}

impl At<'_> {
    pub(super) fn missing(self, key: &str, note: &str) -> NoOffer {
        NoOffer(Why::Refused(missing(self.key_path(""), key, note)))
    }

    pub(super) fn refuse(
        self,
        key: &str,
        given: impl ToString,
        why: impl Into<String>,
        allowed: impl Into<String>,
    ) -> NoOffer {
        NoOffer(Why::Refused(refused(self.key_path(key), given, why, allowed)))
    }

    /// The error for a mistake that involves several values. Its location is `key` or, if `key` is
    /// empty, the source.
    pub(super) fn invalid(self, key: &str, why: impl Display, allowed: impl Display) -> NoOffer {
        let path = self.key_path(key);
        let problem = Problem::BadValue { key: path.clone(), message: format!("{why}; allowed: {allowed}") };
        NoOffer(Why::Refused(Fault { path, problem }))
    }

    fn key_path(self, key: &str) -> String {
        let dot = if key.is_empty() { "" } else { "." };
        format!("{}.source.{}{dot}{key}", self.path, self.key)
    }

    pub(super) fn law<Q: Random>(
        self,
        key: &str,
        given: Option<&LawSpec<Q>>,
        default: Law,
    ) -> Result<Law, NoOffer> {
        let is_bounded = given.is_some_and(|law| law.min.is_some() || law.max.is_some());
        let bounds = if is_bounded { "; `min` at most `max`" } else { "" };
        let allowed = format!("one law, such as {{ exponential = \"{}\" }}{bounds}", Q::EXAMPLES[0]);
        given.map_or(Ok(default), |spec| spec.law().map_err(|why| self.invalid(key, why, allowed)))
    }

    pub(super) fn gap(self, key: &str, gap: Duration) -> Result<Duration, NoOffer> {
        let allowed = format!("{MIN_GAP} to {MAX_GAP}");
        let why = if gap < MIN_GAP { "a run would then take days" } else { "no run lasts that long" };
        if (MIN_GAP..=MAX_GAP).contains(&gap) { Ok(gap) } else { Err(self.refuse(key, gap, why, allowed)) }
    }

    pub(super) fn packet(self, packet: Size) -> Result<u32, NoOffer> {
        if bytes(packet) > self.header {
            return Ok(bytes(packet));
        }
        let why = format!("its headers alone have {} B", self.header);
        let allowed = format!("{} B to 65535 B", self.header.saturating_add(1));
        Err(self.refuse("packet", packet, why, allowed))
    }

    pub(super) fn connections(self, connections: u16) -> Result<u16, NoOffer> {
        if (1..=MAX_CONNECTIONS).contains(&connections) {
            return Ok(connections);
        }
        let why = if connections == 0 {
            "without a connection nothing is fetched"
        } else {
            "each connection takes as much memory as a flow"
        };
        Err(self.refuse("connections", connections, why, format!("1 to {MAX_CONNECTIONS}")))
    }

    /// Refuses a source that is faster than the flow's access link, where its packets would pile up
    /// without limit.
    pub(super) fn carried(self, key: &str, bps: f64) -> Result<(), NoOffer> {
        let most = self.access;
        if bps <= most.0.bps() as f64 {
            return Ok(());
        }
        let mean = format!("{:.1} Mbit/s", bps / 1e6);
        let why =
            format!("the mean rate is then {mean}, and the flow's own link, `access`, sends only {most}");
        Err(self.refuse(key, "given", why, format!("a mean rate of at most {most}")))
    }
}

pub(super) fn whole_bytes(bytes: f64) -> u32 {
    bytes.clamp(1.0, 65_535.0) as u32
}

/// A size in bytes. A size beyond 32 bits becomes the maximum, which is also too large for a
/// packet.
pub(crate) fn bytes(size: Size) -> u32 {
    u32::try_from(size.0).unwrap_or(u32::MAX)
}

pub(crate) fn bytes_or(size: Option<Quantity<Size>>, default: u32) -> u32 {
    size.map_or(default, |size| bytes(size.0))
}
