//! A gateway's measurements at one instant, for `status`, `top`, OpenMetrics and programs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of [`Snapshot`]'s format.
pub const SNAPSHOT_VERSION: u32 = 1;

/// A gateway at one instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Snapshot {
    /// The version of this format.
    pub version: u32,
    /// The gateway's name.
    pub name: String,
    /// Seconds since forwarding began.
    pub uptime_s: f64,
    /// The present fairness, as a sentence.
    #[serde(default)]
    pub fairness: String,
    /// The number of new configurations applied.
    pub reloads: u64,
    /// Events since the start, counted by type.
    #[serde(default)]
    pub changes: BTreeMap<String, u64>,
    /// The latest events, newest first: at most 8.
    #[serde(default)]
    pub last_changes: Vec<Change>,
    /// Subscriber data that is left out while other data contradicts it. Each line has one entry
    /// and its position.
    #[serde(default)]
    pub left_out: Vec<String>,
    /// The direction from the outside to the inside, then the reverse.
    pub ways: Vec<WaySnapshot>,
    /// The two ports, inside first.
    pub ports: Vec<PortSnapshot>,
    /// Packets in the capture ring.
    pub captured: u64,
    /// Drops, marks and losses that the ring missed because it was being copied.
    #[serde(default)]
    pub capture_missed: u64,
    /// The resource use of the gateway's process; absent if the system does not report it.
    #[serde(default)]
    pub process: Option<ProcessSnapshot>,
    /// The gateway's state as an edge of a DiffServ domain; absent if the gateway is no edge.
    #[serde(default)]
    pub edge: Option<EdgeSnapshot>,
}

/// An event and its time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Seconds since 1970.
    pub at_s: u64,
    /// The type, such as `reload` or `interface-down`.
    pub kind: String,
    /// The description, in one or a few lines.
    pub text: String,
}

/// A gateway's state as one or two edges of a DiffServ domain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EdgeSnapshot {
    /// Its classes.
    pub classes: Vec<EdgeClassSnapshot>,
    /// Reports sent to the far edge.
    pub reports_sent: u64,
    /// Bytes of sent reports, without UDP and IP headers.
    pub report_bytes_sent: u64,
    /// Reports that could not be sent.
    pub reports_unsent: u64,
    /// Reports of the far edge that were accepted.
    pub reports_received: u64,
    /// Refused datagrams, by reason.
    pub reports_refused: BTreeMap<String, u64>,
    /// Seconds since the last accepted report; absent before the first report.
    pub heard_s_ago: Option<f64>,
}

/// A class at an edge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EdgeClassSnapshot {
    /// Its name.
    pub class: String,
    /// The rate up to which the class's packets are green on entry, bit/s; absent if fixed.
    pub target_bps: Option<f64>,
    /// The estimated fraction of packets with a congestion mark, 0 to 1, among the class's
    /// in-profile packets that leave the domain.
    pub estimate: Option<f64>,
    /// The request of the last report: `keep`, `increase` or `decrease`.
    pub request: Option<String>,
}

/// The processor time and memory of the gateway's process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessSnapshot {
    /// Processor time of all threads, in seconds.
    pub cpu_s: f64,
    /// The seconds of `cpu_s` used by forwarding threads: the main thread, which uses at most one
    /// processor, and threads that only send.
    pub forwarding_cpu_s: f64,
    /// Memory in use, in bytes.
    pub resident_bytes: u64,
    /// Memory allocated, in use or not, in bytes.
    pub virtual_bytes: u64,
    /// Threads.
    pub threads: u64,
    /// The start of the process, in seconds since 1970, to a hundredth.
    pub started_s: f64,
}

/// One direction through the gateway.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaySnapshot {
    /// `download` or `upload`.
    pub way: String,
    /// The discipline's name in the catalogue; empty if the direction is not shaped.
    pub discipline: String,
    /// The rate of the link, bit/s; 0 if the direction is not shaped.
    pub rate_bps: u64,
    /// Totals since the start, across reloads.
    pub totals: TotalsSnapshot,
    /// Waiting packets.
    pub backlog_packets: u64,
    /// Waiting bytes, as counted on the link.
    pub backlog_bytes: u64,
    /// The waits of packets that left during the last second, in seconds.
    pub sojourn: SojournSnapshot,
    /// The waits of packets that left since the start, across reloads.
    #[serde(default)]
    pub sojourn_histogram: SojournHistogram,
    /// TCP and QUIC round trips that ended during the last second, in seconds. A trip begins and
    /// ends at this direction's outgoing port, so it excludes waits in the gateway.
    #[serde(default)]
    pub round_trip: SojournSnapshot,
    /// Round trips of TCP and QUIC since the start, in seconds, across reloads.
    #[serde(default)]
    pub round_trip_histogram: SojournHistogram,
    /// TCP segments with payload, SYN or FIN that arrived since the start.
    #[serde(default)]
    pub tcp_segments: u64,
    /// The retransmissions among `tcp_segments`.
    #[serde(default)]
    pub retransmitted: u64,
    /// Bit/s sent during the last second, as counted on the link.
    pub throughput_bps: f64,
    /// The used share of the link during the last second, 0 to 1.
    pub utilization: f64,
    /// Gauges of the discipline, by name. The unit follows the last `_` of the name.
    pub gauges: BTreeMap<String, f64>,
    /// Jain's index over the flows that wanted more than they got during the last second; 1 without
    /// such flows.
    pub jain: f64,
    /// The flows with the highest throughput during the last second, in descending order.
    pub flows: Vec<FlowSnapshot>,
    /// Flows that sent during the last second.
    pub active_flows: u64,
    /// Active flows that wanted more than they got.
    #[serde(default)]
    pub wanting_flows: u64,
    /// All classes, or those with the highest throughput during the last second.
    pub classes: Vec<ClassSnapshot>,
    /// The number of classes.
    #[serde(default)]
    pub class_count: u64,
    /// Classes of the configuration that got at least 98 % of their ceiling during the last second.
    #[serde(default)]
    pub classes_at_ceiling: u64,
    /// Subscribers that got at least 98 % of their ceiling.
    #[serde(default)]
    pub subscribers_at_ceiling: u64,
    /// The largest deviation of a class from its fair share of the link during the last second, in
    /// percentage points. Counts only classes that wanted more than they got.
    pub worst_share_error_points: f64,
    /// At most three senders that lost at least a fifth of their traffic during the last second,
    /// each with its lost fraction, 0 to 1. Senders are classes or, without classes, flows.
    /// `others` are flows not counted individually.
    #[serde(default)]
    pub starving: BTreeMap<String, f64>,
    /// Bit/s that recently crossed the interfaces but bypassed the gateway; 0 below a twentieth of
    /// the rate.
    #[serde(default)]
    pub bypass_bps: f64,
}

/// The fates of all packets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TotalsSnapshot {
    /// Packets that arrived. A super-packet counts as its parts.
    pub packets_in: u64,
    /// Bytes that arrived, as counted on the link.
    pub bytes_in: u64,
    /// Packets sent on.
    pub packets_out: u64,
    /// Bytes sent on, as counted on the link.
    pub bytes_out: u64,
    /// Packets sent on that bypassed the discipline because they are not IP.
    pub unshaped: u64,
    /// Packets whose DSCP was cleared.
    pub washed: u64,
    /// Drops by the discipline, by cause.
    pub dropped: BTreeMap<String, u64>,
    /// Marks, by cause.
    pub marked: BTreeMap<String, u64>,
    /// Packets that the gateway lost, by type.
    pub lost: BTreeMap<String, u64>,
    /// Packets inside now.
    pub inside: u64,
}

impl TotalsSnapshot {
    /// The number of arrived packets, and the number of packets sent on, dropped, lost or inside.
    /// The two numbers should be equal.
    pub fn balance(&self) -> (u64, u64) {
        let gone: u64 = self.dropped.values().chain(self.lost.values()).sum();
        (self.packets_in, self.packets_out + gone + self.inside)
    }
}

/// Waits in the queue, or round trips, in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SojournSnapshot {
    /// The mean.
    pub mean_s: f64,
    /// The median.
    pub p50_s: f64,
    /// The 95th percentile.
    pub p95_s: f64,
    /// The 99th percentile.
    pub p99_s: f64,
    /// The longest.
    pub max_s: f64,
}

/// A histogram of waits, or of round trips, since the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SojournHistogram {
    /// The upper bounds of all buckets except the last, which is unbounded, in seconds.
    pub bounds_s: Vec<f64>,
    /// The number of waits or round trips in each bucket.
    pub counts: Vec<u64>,
    /// The sum of all waits or round trips, in seconds.
    pub sum_s: f64,
}

/// A gateway's counts since its start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CountsSnapshot {
    /// The version of this format.
    pub version: u32,
    /// The gateway's name.
    pub name: String,
    /// Seconds since forwarding began.
    pub uptime_s: f64,
    /// The direction from the outside to the inside, then the reverse.
    pub ways: Vec<WayCounts>,
    /// The two ports, inside first.
    pub ports: Vec<PortSnapshot>,
}

/// The counts of one direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WayCounts {
    /// `download` or `upload`.
    pub way: String,
    /// Totals since the start, across reloads.
    pub totals: TotalsSnapshot,
    /// Waiting packets.
    pub backlog_packets: u64,
    /// Waiting bytes, as counted on the link.
    #[serde(default)]
    pub backlog_bytes: u64,
    /// The waits of packets that left since the start, across reloads, in sixteen buckets per
    /// doubling.
    pub waits: SojournHistogram,
    /// Flows that are counted individually.
    pub flow_count: u64,
    /// The counted flows that sent the most bytes, in descending order: at most the requested
    /// number.
    pub flows: Vec<FlowCounts>,
}

/// Counts of a flow since the flow got an account. The counts restart after a silence in which
/// another flow took over the account, and after a reload that redefines flows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowCounts {
    /// The flow's key or name, as in [`FlowSnapshot::flow`].
    pub flow: String,
    /// The time when the counters were copied, in seconds since forwarding began: at most half a
    /// second ago, or longer with thousands of flows.
    pub at_s: f64,
    /// Packets that arrived.
    pub packets_in: u64,
    /// Bytes that arrived, as counted on the link.
    pub bytes_in: u64,
    /// Packets sent on.
    pub packets_out: u64,
    /// Their bytes.
    pub bytes_out: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets marked.
    pub marked: u64,
}

/// A flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowSnapshot {
    /// The flow's key, such as `tcp 10.0.0.1:4000 -> 10.0.0.2:80`, or its name if flows are defined
    /// otherwise, such as by host.
    pub flow: String,
    /// Bit/s offered.
    pub offered_bps: f64,
    /// Bit/s sent on.
    pub throughput_bps: f64,
    /// Packets dropped per second.
    pub drops_per_s: f64,
    /// Packets marked per second.
    pub marks_per_s: f64,
}

/// A class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClassSnapshot {
    /// Its name.
    pub class: String,
    /// The parent; empty under the root.
    pub parent: String,
    /// The weight among siblings.
    pub weight: f64,
    /// Bit/s offered.
    pub offered_bps: f64,
    /// Bit/s sent on.
    pub throughput_bps: f64,
    /// The class's share of the link's throughput under weighted max-min fairness, bit/s.
    pub fair_bps: f64,
    /// Packets dropped per second.
    pub drops_per_s: f64,
    /// Packets marked per second.
    pub marks_per_s: f64,
    /// Bytes sent on since the start.
    pub bytes_out: u64,
    /// Packets dropped since the start.
    pub dropped: u64,
    /// The class's smoothed TCP round trip beyond this direction's outgoing port, in seconds; 0
    /// before the first trip.
    #[serde(default)]
    pub round_trip_s: f64,
    /// Round trips since the start.
    #[serde(default)]
    pub round_trips: u64,
    /// The sum of round trips, in seconds.
    #[serde(default)]
    pub round_trips_sum_s: f64,
    /// Retransmitted segments since the start.
    #[serde(default)]
    pub retransmitted: u64,
    /// Retransmitted segments per second.
    #[serde(default)]
    pub retransmits_per_s: f64,
}

/// A port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PortSnapshot {
    /// The interface.
    pub interface: String,
    /// Frames that the kernel dropped because they were not fetched in time.
    pub overflows: u64,
    /// Frames too long to be taken in.
    pub truncated: u64,
    /// The number of outages of the interface.
    pub outages: u64,
    /// Is the interface up, as far as known?
    pub is_up: bool,
}
