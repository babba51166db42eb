//! A gateway's configuration as written.

use super::wire::WireSpec;
use fairwire_catalogue::{Choice, Parameters};
use fairwire_core::units::{Amount, Size};
use fairwire_core::{Duration, Rate};
use fairwire_datapath::class_book::Burst;
use fairwire_datapath::classify::Dscp;
use fairwire_laws::autorate;
use fairwire_laws::spec::Quantity;
use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserializer, IntoDeserializer as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

pub(super) const FORMAT: u32 = 2;

/// A gateway.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The version of this format: 2.
    pub format: u32,
    /// The name of this gateway: letters, digits, `-` and `_`. It names the default socket of
    /// `status`, `top` and `reload`.
    pub name: String,
    /// The two interfaces that the gateway connects.
    pub wire: WireSpec,
    /// The direction from the outside to the inside. If absent, it is not shaped.
    pub download: Option<DirectionSpec>,
    /// The direction from the inside to the outside. If absent, it is not shaped.
    pub upload: Option<DirectionSpec>,
    /// Parameters of disciplines by name, for both directions.
    #[serde(default)]
    pub discipline: Parameters,
    /// The tree of classes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub class: Vec<ClassSpec>,
    /// The subscribers: leaves of the tree.
    pub subscribers: Option<SubscribersSpec>,
    /// The edge of a DiffServ domain where uploads enter it. Default: none.
    pub ingress: Option<IngressSpec>,
    /// The edge of a DiffServ domain where downloads leave it. Default: none.
    pub egress: Option<EgressSpec>,
    /// The gateway's telemetry.
    #[serde(default)]
    pub telemetry: TelemetrySpec,
    /// Limits, and the behaviour when things go wrong.
    #[serde(default)]
    pub safety: SafetySpec,
}

/// One direction through the gateway.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DirectionSpec {
    /// The link's rate, a little below the rate of the true bottleneck, so packets queue in the
    /// gateway.
    pub rate: Quantity<Rate>,
    /// The settings by which the rate follows an outside line that varies: `min`, `max`, `target`,
    /// `keep`, `recover`, `probe`, `window`, `idle`. The key `rate` applies at the start and while
    /// the line is idle. Default: the rate is constant.
    pub autorate: Option<autorate::Spec>,
    /// The framing that the link adds.
    #[serde(default)]
    pub framing: FramingSpec,
    /// The discipline: its name, or a table with the name and parameters. These parameters override
    /// those of `[discipline.<name>]`. Default: `fq-codel` if hosts share first and then their
    /// flows, else `faba`. With classes or subscribers: `hfaba`, or `classful` if any of them has a
    /// rate.
    pub discipline: Option<Choice>,
    /// The source of parameters that are not given. Default: `link`.
    pub defaults: Option<DefaultsChoice>,
    /// With `classful`: the discipline of each class without classes below it, given like
    /// `discipline`. Default: `fq-codel`, with fewer queues if there are many classes.
    pub leaf: Option<Choice>,
    /// The limit of waiting packets. Default: 50 ms, and at least 20 full packets.
    pub buffer: Option<Quantity<Amount>>,
    /// The rate at which non-IP packets (ARP, STP, LLDP, PPPoE sessions without IP, MPLS, MACsec)
    /// bypass the discipline. Packets above this rate are lost as `not-ip`. This rate is included
    /// in `rate`. Default: a hundredth of `rate`, at least 64 kbit/s.
    pub not_ip: Option<Quantity<Rate>>,
    /// The rate at which network control packets bypass the discipline (hellos of routers, BFD,
    /// VRRP, ARP, neighbour discovery, DHCP, IGMP, MLD). IP packets above this rate do not bypass
    /// the discipline. This rate is included in `rate`. Default: a fiftieth of `rate`, at least 128
    /// kbit/s and at most a quarter of `rate`.
    pub control: Option<Quantity<Rate>>,
    /// The definition of a flow, or two levels such as `["inside", "5-tuple"]`: hosts share first,
    /// then the flows of each host. With `classful`, this holds in each leaf. Default with
    /// subscribers: `5-tuple` with `classful`, else `subscriber`. Default without subscribers:
    /// `["inside", "5-tuple"]`. If the discipline or its leaf supports only one level, the default
    /// is `5-tuple` with `classful`, else `inside`. If a class has `each`, the default is
    /// `["inside", "5-tuple"]`, or `inside` if the leaf supports only one level.
    pub flows: Option<FlowsSpec>,
    /// The treatment of the differentiated-services codepoint (DSCP). Default: `keep`.
    pub dscp: Option<DscpChoice>,
}

/// The source of discipline parameters that are not given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DefaultsChoice {
    /// Defaults for a real shared link. Fair droppers count bytes, and drop nothing while few bytes
    /// wait. Some disciplines mark ECN-capable packets. Fast links serve a flow's packets in
    /// trains.
    #[default]
    Link,
    /// Defaults of the reference pages, as in a scenario and in the simulator.
    Reference,
}

/// The treatment of the differentiated-services codepoint (DSCP) of sent packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DscpChoice {
    /// It stays.
    #[default]
    Keep,
    /// The codepoint is cleared, so no router behind the gateway treats packets by a codepoint that
    /// strangers wrote. A `match` by `dscp` uses the original codepoint.
    Wash,
    /// The codepoint becomes AF11 (green), AF12 (yellow) or AF13 (red), by the packet's colour (RFC
    /// 2597).
    Af1,
    /// The codepoint becomes AF21, AF22 or AF23, by the packet's colour.
    Af2,
    /// The codepoint becomes AF31, AF32 or AF33, by the packet's colour.
    Af3,
    /// The codepoint becomes AF41, AF42 or AF43, by the packet's colour.
    Af4,
}

impl DscpChoice {
    /// The corresponding rewriting of codepoints.
    pub fn rewriting(self) -> Dscp {
        match self {
            DscpChoice::Keep => Dscp::Keep,
            DscpChoice::Wash => Dscp::Wash,
            DscpChoice::Af1 => Dscp::Assured(1),
            DscpChoice::Af2 => Dscp::Assured(2),
            DscpChoice::Af3 => Dscp::Assured(3),
            DscpChoice::Af4 => Dscp::Assured(4),
        }
    }
}

/// The framing that the link adds.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FramingSpec {
    /// Bytes added to the Ethernet frame without check sequence; a negative number subtracts bytes.
    /// The default 24 is Ethernet's check sequence (4), preamble (8) and gap (12). With -14, only
    /// the IP packet counts.
    pub overhead_bytes: Option<i32>,
    /// The fewest bytes that a frame counts as, including its overhead. Default: 84 B with the
    /// default overhead, else 1 B.
    pub minimum: Option<Quantity<Size>>,
    /// Are frames carried in ATM cells (ADSL), which take 53 bytes for each 48? Default: false.
    #[serde(default)]
    pub atm: bool,
}

/// The definition of a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum FlowsSpec {
    /// A word.
    Named(FlowsChoice),
    /// Two levels: the flows that share first, and `5-tuple`.
    Levels(Vec<FlowsSpec>),
    /// The network of the inside host, given by leading bits of its address.
    Prefix {
        /// Leading bits of an IPv4 address, 1 to 32.
        ipv4: u8,
        /// Leading bits of an IPv6 address, 1 to 128.
        ipv6: u8,
    },
}

impl<'de> Deserialize<'de> for FlowsSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FlowsReader)
    }
}

/// Reads a [`FlowsSpec`], with separate errors for each of its forms.
struct FlowsReader;

impl<'de> Visitor<'de> for FlowsReader {
    type Value = FlowsSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a word in quotes such as \"inside\", a prefix such as `{ ipv4 = 24, ipv6 = 56 }`, or two levels \
             such as [\"inside\", \"5-tuple\"]",
        )
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<FlowsSpec, E> {
        FlowsChoice::deserialize(word.into_deserializer()).map(FlowsSpec::Named)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, levels: A) -> Result<FlowsSpec, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(levels)).map(FlowsSpec::Levels)
    }

    fn visit_map<A: MapAccess<'de>>(self, prefix: A) -> Result<FlowsSpec, A::Error> {
        let PrefixSpec { ipv4, ipv6 } = PrefixSpec::deserialize(MapAccessDeserializer::new(prefix))?;
        Ok(FlowsSpec::Prefix { ipv4, ipv6 })
    }
}

/// The table of [`FlowsSpec::Prefix`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PrefixSpec {
    ipv4: u8,
    ipv6: u8,
}

/// The definition of a flow, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowsChoice {
    /// A conversation: addresses, ports and protocol.
    #[serde(rename = "5-tuple")]
    FiveTuple,
    /// The sending host.
    Source,
    /// The receiving host.
    Destination,
    /// The inside host, by its address. It receives downloads and sends uploads.
    Inside,
    /// The inside host, by its Ethernet address, even if it has several IP addresses. All hosts
    /// behind a router are one flow.
    Mac,
    /// The outside host.
    Outside,
    /// The subscriber, or the inside host if no subscriber claims the packet.
    Subscriber,
    /// The VLAN.
    Vlan,
    /// The differentiated-services codepoint.
    Dscp,
}

/// A class of the tree.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassSpec {
    /// The class's name. The class `unclaimed` has the packets that no subscriber or class claims.
    /// Unless listed, it is under the root, with weight 1 and no bounds.
    pub name: String,
    /// The name of the parent class. Default: the root.
    pub parent: Option<String>,
    /// The weight of the class among its siblings, from 1e-6 to 1e6. Default: 1.
    pub weight: Option<f64>,
    /// With `classful`: the discipline of this class, or of all classes below it that name no
    /// discipline. It is a name, or a table with the name and its parameters. Default: the
    /// discipline of the parent class; for classes under the root, the discipline of the direction.
    pub leaf: Option<Choice>,
    /// The bounds from the outside to the inside.
    #[serde(default)]
    pub download: BoundsSpec,
    /// The bounds from the inside to the outside.
    #[serde(default)]
    pub upload: BoundsSpec,
    /// The packets of this class, unless a subscriber claims them. A packet belongs to the first
    /// listed class that matches. Only for classes without children and subscribers.
    #[serde(default, rename = "match")]
    pub matches: MatchSpec,
}

/// The guarantee and the ceiling of a class. Only with the discipline `classful`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoundsSpec {
    /// The rate that the class can always have. Default: nothing.
    pub guaranteed: Option<Quantity<Rate>>,
    /// The rate that the class never exceeds, except in a burst. Default: none.
    pub ceiling: Option<Quantity<Rate>>,
    /// The burst beyond the ceiling after a pause, such as `40 Mbit/s for 10 s`. Default: nothing.
    pub burst: Option<BurstText>,
    /// The rate that no host of the class exceeds. Only for classes without children and
    /// subscribers. A keyed hash assigns hosts to 256 leaves, so two hosts may share a leaf.
    /// Default: none.
    pub each: Option<Quantity<Rate>>,
}

/// The packets that match every given key. A packet matches a key if it matches any of the key's
/// values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatchSpec {
    /// Codepoints, 0 to 63, or their names: `EF`, `AF41`, `CS1`, `LE`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dscp: Vec<DscpSpec>,
    /// Outer VLAN numbers, 1 to 4094.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vlan: Vec<u16>,
    /// Prefixes of the inside host, such as `10.1.0.0/16` or `2001:db8::/48`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<String>,
    /// Prefixes of the outside host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<String>,
    /// Protocols: `tcp`, `udp`, `icmp`, `icmpv6`, `sctp`, `gre`, `esp`, or numbers in quotes.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub protocol: OneOrMany,
    /// Ports of the inside host: `443`, `10000-20000`, or `!443` for all others. Fragments have no
    /// ports, so they match no class that lists ports.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub inside_ports: OneOrMany,
    /// Ports of the outside host, written like `inside_ports`.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub outside_ports: OneOrMany,
}

/// A word or a number, or a list of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "this is neither a text in quotes nor a number nor a list of these")]
pub enum OneOrMany {
    /// One.
    One(NumberOrWord),
    /// A list.
    Many(Vec<NumberOrWord>),
}

/// A number, or a text in quotes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "this is neither a text in quotes nor a number from 0 to 65535")]
pub enum NumberOrWord {
    /// A number.
    Number(u16),
    /// A text.
    Word(String),
}

impl Default for OneOrMany {
    fn default() -> Self {
        OneOrMany::Many(Vec::new())
    }
}

impl OneOrMany {
    /// Is nothing given?
    pub fn is_empty(&self) -> bool {
        matches!(self, OneOrMany::Many(items) if items.is_empty())
    }

    /// Each value as a text, with the end of its path: empty, or an index such as `.0`.
    pub fn texts(&self) -> Vec<(String, String)> {
        let text = |item: &NumberOrWord| match item {
            NumberOrWord::Number(number) => number.to_string(),
            NumberOrWord::Word(word) => word.clone(),
        };
        match self {
            OneOrMany::One(item) => vec![(String::new(), text(item))],
            OneOrMany::Many(items) => {
                items.iter().enumerate().map(|(at, item)| (format!(".{at}"), text(item))).collect()
            }
        }
    }
}

/// A codepoint: its number or its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "this is not a codepoint; allowed: a whole number from 0 to 63, or a name in quotes such as \"EF\""
)]
pub enum DscpSpec {
    /// 0 to 63.
    Number(u8),
    /// Such as `EF`.
    Name(String),
}

/// The subscribers.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubscribersSpec {
    /// A CSV file next to the configuration, with a line of column names: `name`, and at least one
    /// of `addresses`, `leased`, `vlan`, `pppoe` and `mac`. `addresses` and `leased` have prefixes,
    /// separated by spaces. Optional columns: `inner_vlan`, `class` (the parent class; default: the
    /// root), `weight`, `suspended`, `download_guaranteed`, `download_ceiling`, `download_burst`,
    /// and the same three for `upload`.
    pub file: PathBuf,
    /// The columns that must match an upload's sender. Default: `"strict"`.
    pub bind: Option<BindSpec>,
}

/// The columns that must match an upload's sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BindSpec {
    /// All columns. An upload from a subscriber's address is lost as `spoofed` if its `mac`,
    /// `vlan`, `inner_vlan` or `pppoe` does not agree with the subscriber. A value does not agree
    /// if it belongs to another subscriber. A missing value does not agree if the subscriber's row
    /// has a value.
    Strict,
    /// No column. If the sender's address belongs to a subscriber, the address alone decides.
    Loose,
}

/// The edge of a DiffServ domain where uploads enter it. This edge takes reports from the edge
/// where uploads leave.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IngressSpec {
    /// The UDP address for received reports, such as `192.0.2.1:9830`.
    pub listen: String,
    /// A file with the key that both edges share: at least 16 bytes, such as 32 random letters.
    pub key_file: PathBuf,
}

/// The edge where downloads leave a DiffServ domain. It estimates how many in-profile packets are
/// marked on the path, and reports to the edge where downloads enter.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EgressSpec {
    /// The UDP address to which reports are sent, such as `192.0.2.1:9830`.
    pub report_to: String,
    /// A file with the key that both edges share: at least 16 bytes, such as 32 random letters.
    pub key_file: PathBuf,
}

/// The gateway's telemetry.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TelemetrySpec {
    /// The socket for `status`, `top`, `reload` and programs. Default: `NAME.sock` in the first
    /// folder that applies: systemd's `RUNTIME_DIRECTORY`; `XDG_RUNTIME_DIR`, unless the process is
    /// root; `/run/fairwire`.
    pub socket: Option<PathBuf>,
    /// A group whose members may only read over the socket (`status`, `counts`, `watch`). Default:
    /// none; only the owner may use the socket.
    pub readers: Option<String>,
    /// The address for metrics over HTTP, such as `127.0.0.1:9820`. An address beyond loopback
    /// needs `token_file`. Default: none.
    pub metrics: Option<String>,
    /// Names of this machine that HTTP clients may use, beyond its addresses and `localhost`.
    /// Default: none; with a `token_file`, any name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// A file with the token for readers of metrics and of the page (`Authorization: Bearer …`; the
    /// page has a field for it).
    pub token_file: Option<PathBuf>,
    /// The page for browsers. Default: none.
    pub page: Option<PageSpec>,
    /// The interval between samples of gauges. Default: 10 ms; from 1 ms to 10 s.
    pub interval: Option<Quantity<Duration>>,
    /// The most flows counted individually in each direction; all others are counted together.
    /// Default: 4096; at most 1048576.
    pub flows: Option<u32>,
    /// Drops and marks that the capture ring remembers. Default: 4096; 0 for none; at most 1048576.
    pub captured: Option<u32>,
}

/// The page for browsers.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageSpec {
    /// The page's address, such as `127.0.0.1:9821`; metrics are served there too. An address
    /// beyond loopback needs `telemetry.token_file`.
    pub address: String,
    /// The history's file, in a folder that the gateway's user may write. Default: `NAME.sqlite` in
    /// systemd's `STATE_DIRECTORY`. Without a file, the history ends with the process.
    pub history: Option<PathBuf>,
    /// The most space that the history takes. Default: 64 MiB; from 1 MiB to 16 GiB.
    pub size: Option<Quantity<Size>>,
    /// The age at which the minutes of the history are deleted. Default: 168 h; from 24 h to 8784
    /// h.
    pub keep: Option<Quantity<Duration>>,
    /// The most arrivals of the last minute that are kept for replays, in each direction. An
    /// arrival takes 40 bytes. Default: 262144; 0 for none; at most 4194304.
    pub arrivals: Option<u32>,
}

/// Limits, and the behaviour when things go wrong.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SafetySpec {
    /// The behaviour of the link while this process is dead or stuck. Default: `closed`.
    #[serde(default)]
    pub on_failure: OnFailure,
    /// The silence after which the process is considered stuck. Default: 1 s; from 100 ms to 60 s.
    pub watchdog: Option<Quantity<Duration>>,
    /// Frames that may be in the gateway at once, in each direction. Default: enough for the
    /// buffer.
    pub frames: Option<u32>,
    /// The longest wait for a lost interface, or with `run --wait` for a missing one. Default: for
    /// ever.
    pub patience: Option<Quantity<Duration>>,
    /// The user that a process started by root becomes, after it has opened everything that needs
    /// root. With `root`, the process stays root. Default: `fairwire` if there is such a user, else
    /// the user with number 65534.
    pub user: Option<String>,
}

/// The behaviour of the link while the process is dead or stuck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// Nothing passes until the gateway is back, as without a watchdog.
    #[default]
    Closed,
    /// A watchdog bridges the two interfaces in the kernel, unshaped, until the gateway is back. On
    /// a router, the kernel forwards unshaped once the process is dead.
    Open,
}

/// A burst beyond a class's ceiling after a pause, as text such as `40 Mbit/s for 10 s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", rename = "Burst")]
pub struct BurstText(pub Burst);

impl TryFrom<String> for BurstText {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(BurstText)
    }
}

impl From<BurstText> for String {
    fn from(BurstText(burst): BurstText) -> String {
        burst.to_string()
    }
}
