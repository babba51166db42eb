//! The records of a simulated or live run.
//!
//! The JSON form of [`Report`] is public. Within one [`SCHEMA_VERSION`], fields are only added.

use crate::flow_name::FlowName;
use crate::judge::Verdict;
use crate::row::row;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The version of the result schema.
pub const SCHEMA_VERSION: u32 = 3;

/// Everything that one command measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// The version of this schema.
    pub schema_version: u32,
    /// The run's inputs, for repeating it.
    pub manifest: Manifest,
    /// One record per discipline, stage and seed, in that order.
    pub runs: Vec<RunRecord>,
    /// Means over the seeds, one entry per discipline and stage.
    pub summary: Vec<Summary>,
    /// Paired differences between disciplines, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub differences: Vec<Difference>,
    /// Percentiles of delays, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub delays: Vec<DelayRecord>,
    /// The agreement of each stage with the first one, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub agreement: Vec<Agreement>,
}

/// The run's inputs, for repeating it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// The version of fairwire.
    pub fairwire_version: String,
    /// A hash of the simulating code: builds with the same hash give the same results. Absent for a
    /// live contest.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub engine: String,
    /// The command as it was typed; absent if there was none.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub command: String,
    /// Simulated, or live on this machine's kernel.
    pub mode: Mode,
    /// The scenario's name.
    pub scenario: String,
    /// SHA-256 of the effective scenario (after `--set`), hexadecimal. Empty for a live contest.
    pub scenario_sha256: String,
    /// The effective scenario in TOML, after `--set` and the selection of disciplines and seeds.
    /// Absent for a live contest.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub scenario_toml: String,
    /// Every `--set`, as typed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub set: Vec<String>,
    /// Notes, one per line: likely mistakes, and values that the results depend on but the scenario
    /// does not state.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<String>,
    /// The disciplines compared, by label or else by name, in the given order.
    pub disciplines: Vec<String>,
    /// The seeds requested.
    pub seeds: Vec<u64>,
    /// The stages used, in the given order; absent if only the simulator was used.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub stages: Vec<String>,
    /// The order of simultaneous events. Empty for a live contest.
    pub tie_rule: String,
    /// Length of a run in seconds, including the warm-up.
    pub duration_s: f64,
    /// Seconds at the start that are not measured.
    pub warm_up_s: f64,
    /// Was the run interrupted before all seeds had finished?
    pub interrupted: bool,
}

/// The origin of the packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The packet simulator.
    Simulated,
    /// Real sockets and real frames.
    Live,
}

/// One discipline under one seed (simulated) or one repetition (live).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRecord {
    /// The discipline's name in the catalogue, or its label in the scenario.
    pub discipline: String,
    /// The stage, such as `sim` or `lab`; absent if all runs used the simulator.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub stage: String,
    /// The seed; for a live contest the number of the repetition.
    pub seed: u64,
    /// The results of each flow.
    pub flows: Vec<FlowRecord>,
    /// The results of each queued link.
    pub links: Vec<LinkRecord>,
    /// The durations of transfers, by group; absent without transfers.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub transfers: Vec<TransferRecord>,
    /// The results of each aggregate; absent without aggregates.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub aggregates: Vec<AggregateRecord>,
    /// The fairness among the flows.
    pub fairness: Fairness,
    /// Starts and stops, if any flow has a `stop` or `on`. Rates, shares and Jain's indices then
    /// cover only the time in which a flow was on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub presence: Option<PresenceRecord>,
    /// Events that the simulator handled, including the warm-up; absent for a live contest.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub events: Option<u64>,
}

row! {
/// The results of one flow, measured after the warm-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowRecord {
    /// Unique name, such as `tcp.3`.
    pub name: FlowName,
    /// The group in the scenario, such as `tcp`.
    pub group: Arc<str>,
    /// The kind of source, such as `bulk newreno` or `cbr`.
    pub kind: Arc<str>,
    /// The rate that an unresponsive source offers or a user requests, bit/s on the wire; absent
    /// for a greedy source.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub offered_bps: Option<f64>,
    /// Throughput, bit/s, including headers. Simulated: data that reached the receiver in order and
    /// once. Live: data that left the bottleneck for the receiver.
    pub throughput_bps: f64,
    /// Payload that reached the receiver in order and once, bit/s.
    pub goodput_bps: f64,
    /// Packets that the source sent.
    pub packets_sent: u64,
    /// Packets dropped on the path.
    pub packets_dropped: u64,
    /// Packets marked on the path.
    pub packets_marked: u64,
    /// Packets lost on wires rather than dropped by a discipline; absent if no wire has faults.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub packets_lost: Option<u64>,
    /// TCP's retransmission timeouts, including the handshake's; absent for other sources and for a
    /// live contest.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeouts: Option<u64>,
    /// Losses that TCP detected outside recovery; absent if `timeouts` is absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub loss_episodes: Option<u64>,
    /// The number of loss episodes with a timeout; absent if `timeouts` is absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timeout_episodes: Option<u64>,
    /// The start, in seconds after the start of the run; drawn if the scenario has a range. Absent
    /// outside the simulator.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start_s: Option<f64>,
    /// The propagation delay of each of the flow's two access links, in seconds; drawn if the
    /// scenario has a range. Absent outside the simulator.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub access_delay_s: Option<f64>,
    /// The round-trip time of a data packet and its acknowledgement in an empty network, seconds:
    /// propagation and transmission over all links. Absent for a source without acknowledgements,
    /// if a link's rate changes, and outside the simulator.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub base_rtt_s: Option<f64>,
    /// The max-min fair share of the throughput, bit/s, including headers. Absent for a flow that
    /// is never on while measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fair_bps: Option<f64>,
    /// Bytes of payload that reached the receiver in order and once; absent outside the simulator.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub delivered_bytes: Option<u64>,
}
}

/// The durations of one kind of event in one group, such as transfers. Only events that ended after
/// the warm-up count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TransferRecord {
    /// The group.
    pub group: String,
    /// The type of event. A `transfer` lasts from the request to the arrival of the last segment. A
    /// `page` lasts until the last sender knows that everything has arrived. Calls have `frame`,
    /// `late_frame`, `lost_frame` and `freeze`; videos have `startup`, `stall`, `play` and
    /// `switch`.
    pub kind: String,
    /// The number of completed events. Calls and videos may have none; all times are then 0.
    pub completed: u64,
    /// Their durations.
    #[serde(flatten)]
    pub times: Times,
    /// The durations divided by the minimum duration of an isolated transfer, as in
    /// [`CompletedRecord`]; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slowdown: Option<Slowdown>,
    /// The events' total duration as a fraction of the measured time of all flows in the group.
    /// Only for `freeze`, `startup`, `stall` and `play`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub part: Option<f64>,
    /// The payload divided by the duration, bit/s; for `play`, the mean bitrate of a video.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bps: Option<f64>,
    /// The results by size, for the classes with completed transfers.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sizes: Vec<SizeRecord>,
}

/// The transfers of one group with payloads in one size class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SizeRecord {
    /// The class by payload: `to_10kB` up to 10 000 bytes, then `to_100kB` up to 100 000, `to_1MB`,
    /// and `over_1MB`.
    pub size: String,
    /// The number of completed transfers.
    pub completed: u64,
    /// Their durations.
    #[serde(flatten)]
    pub times: Times,
    /// The durations divided by the minimum duration of an isolated transfer; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slowdown: Option<Slowdown>,
}

/// Completion times, seconds. Percentile p is the time that p % of the transfers did not exceed,
/// with an error of at most 0.4 %.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Times {
    /// Mean time, seconds.
    pub mean_s: f64,
    /// Median.
    pub p50_s: f64,
    /// 95th percentile.
    pub p95_s: f64,
    /// 99th percentile.
    pub p99_s: f64,
    /// Longest.
    pub max_s: f64,
    /// 90th percentile; absent from records of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub p90_s: Option<f64>,
    /// 99.9th percentile; absent from records of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub p99_9_s: Option<f64>,
}

/// Slowdowns: durations divided by minimum durations. For percentiles, see [`Times`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slowdown {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p99_9: f64,
    /// Largest.
    pub max: f64,
}

/// A transfer or a page that was completed after the warm-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompletedRecord {
    /// The discipline's label, or its name if it has no label.
    pub discipline: String,
    /// The seed.
    pub seed: u64,
    /// The group.
    pub group: String,
    /// The flow (one user) of the transfer, such as `web.3`.
    pub flow: FlowName,
    /// `transfer` or `page`, as in [`TransferRecord`].
    pub kind: String,
    /// The time of the request, seconds after the start of the run.
    pub start_s: f64,
    /// Its duration, seconds.
    pub seconds: f64,
    /// Bytes of payload; empty for a protocol of another crate.
    pub bytes: Option<u64>,
    /// The duration divided by the minimum duration of an isolated transfer, in which the first
    /// segment crosses all links and the others follow at the slowest link's rate. Handshake and
    /// window growth count as slowdown. Absent for a page, for a protocol of another crate, and if
    /// a link's rate changes.
    pub slowdown: Option<f64>,
}

/// The results of one aggregate under its contract, measured after the warm-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AggregateRecord {
    /// Its name.
    pub name: String,
    /// Its groups.
    pub groups: Vec<String>,
    /// The contracted rate, bit/s.
    pub contract_bps: f64,
    /// The rate up to which packets were in profile, averaged over time, bit/s. Absent if this rate
    /// is the contracted rate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target_bps: Option<f64>,
    /// The sum of the throughputs of the aggregate's flows.
    pub throughput_bps: f64,
    /// The aggregate's share of the link's rate, in proportion to the contracted rates on the link,
    /// bit/s; over several links, the smallest share.
    pub fair_share_bps: f64,
    /// The throughput divided by the fair share; 1 is fair.
    pub gain: f64,
    /// Packets that entered the network.
    pub packets: u64,
    /// Those in profile.
    pub in_profile: u64,
    /// Packets in profile that left the network.
    pub in_profile_received: u64,
    /// Packets in profile that left the network with a mark.
    pub in_profile_marked: u64,
}

/// The results of one queued link, measured after the warm-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkRecord {
    /// The link's name.
    pub name: String,
    /// The rate, bit/s; the mean if it changes.
    pub rate_bps: f64,
    /// The fraction of the time in which the link was sending, 0 to 1.
    pub utilization: f64,
    /// Packets offered to the link's discipline.
    pub packets_in: u64,
    /// Packets sent.
    pub packets_out: u64,
    /// Drops by cause.
    pub drops: BTreeMap<String, u64>,
    /// Marks by cause.
    pub marks: BTreeMap<String, u64>,
    /// The waiting times of the packets sent, without transmission; absent if not measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sojourn: Option<Sojourn>,
    /// The backlog.
    pub backlog: BacklogRecord,
    /// The faults of the link's wire on packets that the link had sent; absent without faults.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wire: Option<WireRecord>,
}

/// The faults of a wire after the warm-up, on packets that [`LinkRecord::packets_out`] counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WireRecord {
    /// Packets lost.
    pub lost: u64,
    /// Packets held back for others to overtake.
    pub held_back: u64,
    /// Packets that arrived twice.
    pub duplicated: u64,
}

/// Waiting times of packets, in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sojourn {
    /// Mean.
    pub mean_s: f64,
    /// Median.
    pub p50_s: f64,
    /// 90th percentile.
    pub p90_s: f64,
    /// 95th percentile; absent if no packet was sent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub p95_s: Option<f64>,
    /// 99th percentile.
    pub p99_s: f64,
    /// Longest.
    pub max_s: f64,
}

/// The backlog.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BacklogRecord {
    /// Packets, averaged over time.
    pub mean_packets: f64,
    /// Bytes, averaged over time.
    pub mean_bytes: f64,
    /// Maximum packets; absent if not measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_packets: Option<u64>,
}

/// Throughputs compared with the max-min allocation of the flows' offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fairness {
    /// Jain's index of all flows' ratios of throughput to max-min share: 1/n to 1; 1 is fair.
    pub jain: f64,
    /// Jain's index of the throughputs of all flows, regardless of demand: 1/n to 1.
    pub jain_throughput: f64,
    /// The worst-off flow's throughput over its max-min share: 1 is fair, 0 is starved.
    pub worst_share: f64,
    /// Each group's throughput divided by its max-min share; absent for a group that is never on
    /// while measured.
    pub group_share: BTreeMap<String, f64>,
    /// Each group's fraction of all data delivered; absent if the group's share is absent.
    pub group_fraction: BTreeMap<String, f64>,
}

/// Starts and stops of flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PresenceRecord {
    /// The time that each flow was on while measured, seconds, in the order of `flows`.
    pub active_s: Vec<f64>,
    /// Starts and stops while measured, in order of time. If changes × flows exceeds 20 million,
    /// nearby changes are merged.
    pub changes: Vec<ChangeRecord>,
}

/// Flows that start or stop at one instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeRecord {
    /// The time, seconds after the start of the run.
    pub at_s: f64,
    /// The groups with a flow that starts.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub starts: Vec<String>,
    /// The groups with a flow that stops.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub stops: Vec<String>,
    /// Seconds until every flow whose max-min share rose had reached 90 % of its new share. The
    /// rate is measured over a tenth of a second, or twenty packets of 1500 B if those take longer.
    /// Absent if a flow did not reach 90 % before the next change, or if no share rose.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reached_s: Option<f64>,
}

/// Means over the runs of one discipline on one stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// The discipline.
    pub discipline: String,
    /// The stage; absent if all runs used the simulator.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub stage: String,
    /// The number of runs.
    pub runs: u64,
    /// One entry per measure, such as `share.tcp` or `jain`.
    pub measures: BTreeMap<String, Estimate>,
}

impl Summary {
    /// The label for people: `faba`, or `faba on lab`.
    pub fn label(&self) -> String {
        if self.stage.is_empty() {
            self.discipline.clone()
        } else {
            format!("{} on {}", self.discipline, self.stage)
        }
    }
}

/// The agreement of one stage with another under one discipline, in one measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Agreement {
    /// The discipline.
    pub discipline: String,
    /// The stage.
    pub stage: String,
    /// The stage with which `stage` is compared.
    pub against: String,
    /// The measure, such as `fraction.tcp`.
    pub measure: String,
    /// The mean on `stage` minus the mean on `against`.
    pub difference: f64,
    /// Half the width of the difference's 95 % interval (Welch); absent if a stage has fewer than
    /// two runs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub half_width_95: Option<f64>,
    /// The allowed difference; absent if the difference is only reported.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub allowed: Option<f64>,
    /// The verdict; absent if no allowed difference is specified. The verdict is unclear if the
    /// mean is outside the allowed difference but the interval reaches inside.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verdict: Option<Verdict>,
    /// Why the difference may exceed `allowed`; absent if no reason is recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub known: Option<String>,
}

impl Agreement {
    /// True if a reason is recorded although the difference is within `allowed`.
    pub fn is_needless(&self) -> bool {
        self.known.is_some() && self.verdict == Some(Verdict::Holds)
    }
}

/// The difference of two disciplines, over their common seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// The discipline from which `second` is subtracted.
    pub first: String,
    /// The discipline that is subtracted.
    pub second: String,
    /// The number of pairs of runs.
    pub runs: u64,
    /// First minus second: one entry per common measure.
    pub measures: BTreeMap<String, Estimate>,
}

/// The distribution of a delay in one run, after the warm-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DelayRecord {
    /// The discipline.
    pub discipline: String,
    /// The seed.
    pub seed: u64,
    /// `queueing` (waiting at a link, without transmission) or `one-way` (from source to receiver).
    pub kind: String,
    /// The name of the link or of the flow.
    pub of: String,
    /// Packets counted.
    pub packets: u64,
    /// Mean, seconds.
    pub mean_s: f64,
    /// Percentages of the packets, each with the delay that this percentage did not exceed, exact
    /// to 0.4 %.
    pub percentiles: Vec<Percentile>,
}

/// One percentile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Percentile {
    /// Percent of the packets.
    pub percent: f64,
    /// Seconds.
    pub delay_s: f64,
}

/// A mean with its 95 % confidence interval over runs (Student's t).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half the width of the 95 % interval; absent with fewer than two runs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub half_width_95: Option<f64>,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}
