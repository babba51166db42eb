//! What stands in a scenario file, as typed.

use crate::compared::Compared;
use crate::values::{Seeds, Start};
use fairwire_core::units::{Amount, Size};
use fairwire_core::{Duration, Rate};
use fairwire_disciplines::Parameters;
use fairwire_disciplines::spec::Quantity;
use schemars::JsonSchema;
use serde::Deserialize;

/// The version of the scenario format.
pub const FORMAT: u32 = 1;

/// A scenario: one link, the flows that share it, and the disciplines to compare.
///
/// Quantities are strings with a unit: "10 Mbit/s", "5 ms", "512 B", "780 packets".
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "fairwire scenario")]
pub struct Spec {
    /// The version of this format: 1.
    pub format: u32,
    /// A short name, used in results.
    pub name: String,
    /// One line for people.
    #[serde(default)]
    pub title: String,
    /// Length of each run, warm-up included.
    pub duration: Quantity<Duration>,
    /// What is not measured, at the start. Default: nothing.
    #[serde(default = "no_time")]
    pub warm_up: Quantity<Duration>,
    /// The seeds to run under. Default: "1..=10".
    #[serde(default)]
    pub seeds: Seeds,
    /// The order of events at the same instant. Default: "random".
    #[serde(default)]
    pub tie_rule: TieRuleSpec,
    /// The disciplines compared, by their names in the catalogue; a table where one has a label or parameters of its own.
    pub disciplines: Vec<Compared>,
    /// The link that they share.
    pub link: LinkSpec,
    /// Parameters of disciplines, for example `[discipline.red]`. What is not there has the default of its paper.
    #[serde(default)]
    pub discipline: Parameters,
    /// The flows.
    pub flow: Vec<FlowSpec>,
    /// What must come out; a miss is exit code 3.
    #[serde(default)]
    pub expect: Vec<ExpectSpec>,
}

/// The order of events at the same instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TieRuleSpec {
    /// Random, from the seed: no flow is favoured by where it stands in the file.
    #[default]
    Random,
    /// First scheduled, first handled, as in ns-2.
    Fifo,
}

/// The shared link.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Its rate.
    pub rate: Quantity<Rate>,
    /// Its propagation delay, one way.
    pub delay: Quantity<Duration>,
    /// How much may wait: packets, bytes, or time at the link's rate.
    pub buffer: Quantity<Amount>,
}

/// A group of like flows.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// The group's name: letters, digits, `-` and `_`.
    pub group: String,
    /// How many flows. Default: 1.
    #[serde(default = "one")]
    pub count: u32,
    /// What sends.
    pub source: SourceKind,
    /// Each flow's own link into the shared one, and a like one out of it.
    pub access: AccessSpec,
    /// When each flow starts: a time, or a range in which it draws its own. Default: "0 s".
    #[serde(default)]
    pub start: Start,
    /// The class of its packets, for disciplines that share between classes, hosts or subscribers. Default: 0.
    pub class: Option<u32>,
    /// The differentiated-services codepoint of its packets, 0 to 63. Default: 0.
    pub dscp: Option<u8>,
    /// Constants of the TCP; only for `source = "bulk"`.
    pub tcp: Option<TcpSpec>,
    /// Bits per second on the wire; only for `source = "cbr"`.
    pub rate: Option<Quantity<Rate>>,
    /// Bytes on the wire per packet; only for `source = "cbr"`. Default: "512 B".
    pub packet: Option<Quantity<Size>>,
    /// Header bytes among them, which are no goodput; only for `source = "cbr"`. Default: "28 B", IPv4 and UDP.
    pub header: Option<Quantity<Size>>,
    /// Each gap between packets is scaled by a factor uniform in [1 - dither, 1 + dither]; only for `source = "cbr"`.
    /// Default: 0.
    pub dither: Option<f64>,
}

/// What sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// A NewReno TCP with endless data.
    Bulk,
    /// Constant bit rate over UDP.
    Cbr,
}

/// A link of one flow's own, never congested by others.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessSpec {
    /// Its rate.
    pub rate: Quantity<Rate>,
    /// Its propagation delay, one way.
    pub delay: Quantity<Duration>,
}

/// Constants of a TCP. What is absent is the profile's.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TcpSpec {
    /// The bundle of constants to start from. Default: "ns2-2002".
    pub profile: Option<ProfileSpec>,
    /// Payload of a full segment. Default: "512 B".
    pub segment: Option<Quantity<Size>>,
    /// Headers of a data segment, and the size of an ACK. Default: "40 B", IPv4 and TCP.
    pub header: Option<Quantity<Size>>,
    /// Receiver window in segments. Default: no limit.
    pub window: Option<u32>,
    /// Initial congestion window in segments.
    pub initial_window: Option<u32>,
    /// Is a SYN exchanged first?
    pub handshake: Option<bool>,
    /// Clock granularity of round-trip measurements; "0 s" for exact ones.
    pub tick: Option<Quantity<Duration>>,
    /// Shortest retransmission timeout.
    pub min_rto: Option<Quantity<Duration>>,
    /// Longest retransmission timeout.
    pub max_rto: Option<Quantity<Duration>>,
    /// Retransmission timeout before the first measurement.
    pub initial_rto: Option<Quantity<Duration>>,
    /// Is a new segment sent on each of the first two duplicate ACKs (RFC 3042)?
    pub limited_transmit: Option<bool>,
}

/// A bundle of TCP constants as simulators of an era had them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum ProfileSpec {
    /// ns-2 as of 2002: shortest timeout 1 s.
    #[default]
    #[serde(rename = "ns2-2002")]
    Ns2In2002,
    /// ns-2 as of 2006: shortest timeout 0.2 s.
    #[serde(rename = "ns2-2006")]
    Ns2In2006,
}

/// What must come out, on the mean over the seeds.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectSpec {
    /// Under which discipline, by its label or its name. Default: under each one compared.
    pub discipline: Option<String>,
    /// The measure, such as "share.tcp" or "jain".
    pub measure: String,
    /// At least this.
    pub min: Option<f64>,
    /// At most this.
    pub max: Option<f64>,
    /// Why this is expected: a source, for people.
    #[serde(default)]
    pub because: String,
}

fn one() -> u32 {
    1
}

fn no_time() -> Quantity<Duration> {
    Quantity(Duration::ZERO)
}
