//! What the sources other than bulk and constant rate take, as typed.

use crate::law::{LawSpec, Objects, Packets};
use fairwire_core::units::Size;
use fairwire_core::{Duration, Rate};
use fairwire_laws::spec::Quantity;
use schemars::JsonSchema;
use serde::Deserialize;

/// Bursts at a constant rate, with pauses between.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOffSpec {
    /// Bits per second on the wire within a burst.
    pub rate: Quantity<Rate>,
    /// Bytes on the wire per packet. Default: "512 B".
    pub packet: Option<Quantity<Size>>,
    /// Packets per burst, before rounding to whole ones, at least one.
    pub burst: LawSpec<Packets>,
    /// Time between bursts.
    pub idle: LawSpec<Duration>,
}

/// A Poisson process of packets.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoissonSpec {
    /// Mean time between packets.
    pub mean_gap: Quantity<Duration>,
    /// Bytes on the wire per packet. Default: 512 each.
    pub size: Option<LawSpec<Size>>,
}

/// One direction of a telephone call.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VoipSpec {
    /// Time between packets of a talk spurt. Default: "20 ms".
    pub frame: Option<Quantity<Duration>>,
    /// Bytes of speech per packet. Default: "160 B", G.711.
    pub payload: Option<Quantity<Size>>,
    /// Is there a packet per period all the time, as without silence suppression? Default: no.
    #[serde(default)]
    pub continuous: bool,
    /// How long a talk spurt lasts. Default: exponential, 1.004 s (ITU-T P.59).
    pub spurt: Option<LawSpec<Duration>>,
    /// How long a silence lasts. Default: exponential, 1.587 s (ITU-T P.59).
    pub silence: Option<LawSpec<Duration>>,
}

/// A stream of video frames.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VideoSpec {
    /// Time between frames. Default: a thirtieth of a second.
    pub frame: Option<Quantity<Duration>>,
    /// Frames from one I-frame to the next. Default: 30.
    pub group: Option<u32>,
    /// Bytes of an I-frame, without packet headers. Default: lognormal, mean 45 455 bytes, deviation 30 % of it.
    pub i_frame: Option<LawSpec<Size>>,
    /// Bytes of another frame, likewise. Default: lognormal, mean 11 364 bytes, deviation 30 % of it.
    pub p_frame: Option<LawSpec<Size>>,
    /// Bytes on the wire of a full packet. Default: "1200 B".
    pub packet: Option<Quantity<Size>>,
    /// Are the packets of a frame spread evenly until the next, rather than sent back to back? Default: no.
    #[serde(default)]
    pub paced: bool,
}

/// A capture, played again.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplaySpec {
    /// A pcap or pcapng file; its path is from the scenario's folder.
    pub file: String,
    /// How many times faster than captured. Default: 1.
    pub speed: Option<f64>,
    /// Does it begin again at the end? Default: no.
    #[serde(default)]
    pub repeats: bool,
}

/// Files, each over a connection of its own.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransfersSpec {
    /// Bytes per file, sent in whole segments.
    pub size: LawSpec<Size>,
    /// Each begins so long after the one before is through; either this or `mean_gap`.
    pub think: Option<LawSpec<Duration>>,
    /// They begin at random times, by a Poisson process with this mean gap, whatever became of those before.
    pub mean_gap: Option<Quantity<Duration>>,
    /// Most at once; a further one waits. Only with `mean_gap`. Default: 32.
    pub connections: Option<u16>,
}

/// Bursts of segments, with pauses between.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BurstsSpec {
    /// Segments per burst, before rounding to whole ones, at least one. Default: Pareto, mean 15, shape 1.5.
    pub burst: Option<LawSpec<Packets>>,
    /// Time from a burst's delivery to the next burst. Default: exponential, 1 s.
    pub idle: Option<LawSpec<Duration>>,
    /// Is each burst a new connection? Default: no.
    #[serde(default)]
    pub renews: bool,
}

/// Keystrokes.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TelnetSpec {
    /// Mean time between segments. Default: "5 ms".
    pub mean_gap: Option<Quantity<Duration>>,
}

/// One endless transfer after the other.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SequenceSpec {
    /// How long each lasts. Default: "5 s".
    pub lasts: Option<Quantity<Duration>>,
}

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
