//! The contents of a scenario file, as entered.

use crate::aggregate_spec::AggregateSpec;
use crate::agree::AgreeSpec;
use crate::compared::Compared;
use crate::delays::Delays;
use crate::generated::{NetworkChoice, PatternChoice};
use crate::impair::ImpairSpec;
use crate::lesson::LessonSpec;
use crate::links::{LinkSpec, Links, ReturnSpec};
use crate::output::OutputSpec;
use crate::source::SourceChoice;
use crate::source::group::GroupTable;
use crate::tcp::TcpSpec;
use crate::values::{Seeds, Start};
use fairwire_catalogue::Parameters;
use fairwire_catalogue::marker::MarkerParameters;
use fairwire_core::units::Size;
use fairwire_core::{Duration, Rate};
use fairwire_laws::spec::Quantity;
use fairwire_parameters::Whole;
use fairwire_sim::OnTime;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use std::fmt;

pub(crate) const FORMAT: u32 = 2;

/// A scenario: a link or a network of links, the flows that share it, and the compared disciplines.
///
/// Quantities are strings with a unit, such as "10 Mbit/s" or "780 packets".
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "fairwire scenario")]
pub struct Spec {
    /// The version of this format: 2.
    pub format: u32,
    /// A short name, used in results.
    pub name: String,
    /// A title of one line, for people.
    #[serde(default)]
    pub title: String,
    /// Length of each run, warm-up included.
    pub duration: Quantity<Duration>,
    /// The unmeasured time at the start. Default: nothing.
    #[serde(default = "no_time")]
    pub warm_up: Quantity<Duration>,
    /// The seeds to run under. Default: "1..=10".
    #[serde(default)]
    pub seeds: Seeds,
    /// The order of simultaneous events. Default: "random".
    #[serde(default)]
    pub tie_rule: TieRuleSpec,
    /// The disciplines compared, each by its name in the catalogue, or as a table if it has its own
    /// label or parameters.
    pub disciplines: Vec<Compared>,
    /// The shared link, `[link]`; or the links of a network, each `[[link]]`. Required, unless
    /// there is a `network`.
    pub link: Option<Links>,
    /// A generated network instead of `link`: `[network.fat-tree]`.
    pub network: Option<NetworkChoice>,
    /// The return direction of the shared link, if it has a queue; only with `[link]`. Default: a
    /// similar link, never congested.
    #[serde(rename = "return")]
    pub return_link: Option<ReturnSpec>,
    /// The names of the nodes that links connect; only with `[[link]]`.
    #[serde(default)]
    pub nodes: Vec<String>,
    /// Parameters of disciplines, for example `[discipline.red]`. Omitted parameters have the
    /// default of the discipline's paper.
    #[serde(default)]
    pub discipline: Parameters,
    /// Parameters of markers, for example `[marker.token-bucket]`. They apply wherever the marker
    /// is named. Omitted parameters have their default.
    #[serde(default)]
    pub marker: MarkerParameters,
    /// The flows.
    pub flow: Vec<FlowSpec>,
    /// Contracts of groups of flows, enforced at the edge.
    #[serde(default)]
    pub aggregate: Vec<AggregateSpec>,
    /// Outputs in addition to the report. The options of `fairwire run` with the same names have
    /// the same effect. Default: none.
    #[serde(default)]
    pub output: OutputSpec,
    /// Expected results. If one is missed, the exit code is 3.
    #[serde(default)]
    pub expect: Vec<ExpectSpec>,
    /// The required agreement between stages, if `--on` gives several stages. If they disagree, the
    /// exit code is 3. Default: each group's "fraction" within 0.03, "utilization" within 0.05,
    /// "goodput_bps" within 10 %.
    #[serde(default)]
    pub agree: Vec<AgreeSpec>,
    /// The lesson of the scenario, which `fairwire play` shows. Default: none.
    pub lesson: Option<LessonSpec>,
}

impl Spec {
    /// The link that all flows share, if there is one.
    pub fn shared_link(&self) -> Option<&LinkSpec> {
        self.link.as_ref().and_then(Links::shared)
    }

    /// Sets the `count` of each group that has a pattern but no `count`: one flow per pair of
    /// hosts.
    pub(crate) fn dealt(mut self) -> Self {
        let Some((hosts, _)) = self.network.as_ref().and_then(|network| network.nodes()) else { return self };
        for FlowSpec { count, pattern, .. } in &mut self.flow {
            if let (None, Some(pattern)) = (&count, pattern) {
                *count = Some(u32::try_from(pattern.count(hosts)).unwrap_or(u32::MAX));
            }
        }
        self
    }
}

/// The order of simultaneous events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TieRuleSpec {
    /// Random, depending on the seed. No flow is favoured by its position in the file.
    #[default]
    Random,
    /// First scheduled, first handled, as in ns-2.
    Fifo,
}

/// A group of similar flows.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct FlowSpec {
    /// The group's name: letters, digits, `-` and `_`.
    pub group: String,
    /// The number of flows. Default: 1, or with a `pattern` one for each pair of hosts.
    #[serde(default, deserialize_with = "count")]
    pub count: Option<u32>,
    /// The source: a name, or a table with the source's name and its parameters.
    pub source: SourceChoice,
    /// The direction over the shared link. "reverse" is the link's return direction, and requires
    /// `[return]`. Only with `[link]`. Default: "forward".
    pub direction: Option<DirectionSpec>,
    /// The node where the flow enters the network. Only with `[[link]]` or `network`, and required
    /// there unless there is a `pattern`.
    pub from: Option<String>,
    /// The node where the flow leaves the network. Required if `from` is required.
    pub to: Option<String>,
    /// The nodes that the flow passes, in order, with shortest paths between them. ACKs pass the
    /// nodes in reverse. Default: none.
    #[serde(default)]
    pub via: Vec<String>,
    /// The sending and receiving hosts of a `network`, instead of `from` and `to`.
    pub pattern: Option<PatternChoice>,
    /// Each flow's access link into the network. A similar link leads out of the network.
    pub access: AccessSpec,
    /// Each flow's round-trip time without queueing, instead of `access.delay`: a time, a range of
    /// random times, or a list assigned in turn. The access links add the time that remains after
    /// the delays of the other links.
    pub rtt: Option<Delays>,
    /// The start of each flow: a time, or a range of random times. Default: "0 s".
    pub start: Option<Start>,
    /// The time at which each flow stops. It then sends nothing new, but TCP retransmits lost data.
    /// A time after the run's end means the run's end. If any group has this key or `on`, rates,
    /// shares and Jain's index cover the time in which each flow is on. Default: the end of the
    /// run.
    pub stop: Option<Quantity<Duration>>,
    /// The intervals in which each flow is on, in order, instead of `start` and `stop`: `[["0 s",
    /// "10 s"], ["20 s", "30 s"]]`. Each interval begins with new connections.
    pub on: Option<Vec<Times>>,
    /// The class of the packets, for disciplines that share between classes, hosts or subscribers.
    /// Default: 0.
    pub class: Option<u32>,
    /// The differentiated-services codepoint of the packets, 0 to 63. Default: 0.
    pub dscp: Option<u8>,
    /// The aggregate that the group joins, by name. Default: none; the packets are in profile.
    pub aggregate: Option<String>,
    /// The constants of the TCP; only for sources that use TCP.
    pub tcp: Option<TcpSpec>,
    /// The header bytes of each packet, which are not goodput; only for sources without TCP.
    /// Default: "28 B" (IPv4 and UDP); for `voip` and `call`, "40 B" (with RTP).
    pub header: Option<Quantity<Size>>,
}

/// The times at which a flow turns on and off.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<Quantity<Duration>>")]
#[schemars(with = "[Quantity<Duration>; 2]")]
pub struct Times(pub [Quantity<Duration>; 2]);

impl TryFrom<Vec<Quantity<Duration>>> for Times {
    type Error = String;

    fn try_from(given: Vec<Quantity<Duration>>) -> Result<Self, String> {
        let wrong =
            |given: Vec<_>| format!("{} times; allowed: two, such as `[\"0 s\", \"10 s\"]`", given.len());
        given.try_into().map(Times).map_err(wrong)
    }
}

/// A flow is late if it misses more than 1/`LATE` of the measured time.
const LATE: u64 = 2;

impl Spec {
    /// The on-times that shares use for the flows of `flow`. Empty if the flows are on from their
    /// start to the end. Late flows have an on-time, because their shares would otherwise include
    /// the time before their start.
    pub(crate) fn on_times(&self, flow: &FlowSpec) -> Vec<OnTime> {
        let (duration, warm_up) = (self.duration.0, self.warm_up.0);
        let on = flow.on_times();
        let misses = flow.starts().latest.ns().saturating_sub(warm_up.ns());
        if !on.is_empty() || misses <= (duration - warm_up).ns() / LATE {
            return on;
        }
        vec![OnTime { from: flow.starts().earliest, until: duration }]
    }
}

impl FlowSpec {
    /// The on-times of the flows; empty if they are on from their start to the end of the run.
    pub fn on_times(&self) -> Vec<OnTime> {
        let stop = self.stop.map(|stop| OnTime { from: self.starts().earliest, until: stop.0 });
        let listed =
            self.on.iter().flatten().map(|Times([from, until])| OnTime { from: from.0, until: until.0 });
        listed.chain(stop).collect()
    }

    /// The start of each flow, if there is no `on`.
    pub(crate) fn starts(&self) -> Start {
        self.start.unwrap_or_default()
    }

    /// The number of simulated flows, if each has one connection: flows times on-times.
    pub(crate) fn each(&self) -> u64 {
        u64::from(self.count()) * self.on.as_ref().map_or(1, |on| on.len().max(1) as u64)
    }

    /// The number of flows.
    pub fn count(&self) -> u32 {
        self.count.unwrap_or(1)
    }
}

impl<'de> Deserialize<'de> for FlowSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Group)
    }
}

struct Group;

impl<'de> Visitor<'de> for Group {
    type Value = FlowSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("struct FlowSpec")
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<FlowSpec, A::Error> {
        FlowSpec::deserialize(MapAccessDeserializer::new(GroupTable(table)))
    }
}

/// The direction over the shared link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DirectionSpec {
    /// Over the link.
    #[default]
    Forward,
    /// Over the return direction.
    Reverse,
}

/// A flow's access link, which other flows never congest.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessSpec {
    /// Its rate.
    pub rate: Quantity<Rate>,
    /// The one-way propagation delay: a time, a range of random times, or a list assigned in turn.
    /// Required without `rtt`.
    pub delay: Option<Delays>,
    /// The faults for data on the access links out of the network. The flows of a group share one
    /// wire.
    pub impair: Option<Box<ImpairSpec>>,
}

/// An expected result, which applies to the mean over the seeds.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectSpec {
    /// The discipline, by its label or its name. Default: each compared discipline.
    pub discipline: Option<String>,
    /// The measure, such as "share.tcp" or "jain".
    pub measure: String,
    /// At least this.
    pub min: Option<f64>,
    /// At most this.
    pub max: Option<f64>,
    /// Another discipline, under which the measure must be higher on the same seeds.
    pub less_than: Option<OtherSpec>,
    /// Another discipline, under which the measure must be lower on the same seeds.
    pub more_than: Option<OtherSpec>,
    /// The reason for the expectation, such as a source.
    #[serde(default)]
    pub because: String,
}

impl ExpectSpec {
    /// The measures that this expectation names.
    pub fn measures(&self) -> impl Iterator<Item = &str> {
        let others = [&self.less_than, &self.more_than].into_iter().flatten();
        let others = others.filter_map(|other| other.measure.as_deref());
        std::iter::once(self.measure.as_str()).chain(others)
    }

    /// The disciplines that this expectation names.
    pub fn disciplines(&self) -> impl Iterator<Item = &String> {
        let others = [&self.less_than, &self.more_than].into_iter().flatten();
        self.discipline.iter().chain(others.map(|other| &other.discipline))
    }
}

/// The reference for a measure: a measure under another discipline.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OtherSpec {
    /// The other discipline, by its label or its name.
    pub discipline: String,
    /// The measure under the other discipline. Default: the same measure.
    pub measure: Option<String>,
    /// The margin by which the measures must differ, in the unit of the measure. Default: 0.
    pub margin: Option<f64>,
}

fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    Whole("from 1 to 1000000").deserialize(deserializer).map(Some)
}

fn no_time() -> Quantity<Duration> {
    Quantity(Duration::ZERO)
}
