//! The measurements of a gateway at one instant: the one record that `status`, `top`, OpenMetrics
//! and programs read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of this record's form.
pub const SNAPSHOT_VERSION: u32 = 1;

/// A gateway at one instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Snapshot {
    /// The version of this form.
    pub version: u32,
    /// The gateway's name.
    pub name: String,
    /// Seconds since it began to forward.
    pub uptime_s: f64,
    /// How fair it is now, a sentence for people.
    #[serde(default)]
    pub fairness: String,
    /// Times that a new configuration was put in place.
    pub reloads: u64,
    /// What happened since the start: how often, by kind.
    #[serde(default)]
    pub changes: BTreeMap<String, u64>,
    /// The last of it, newest first: at most 8.
    #[serde(default)]
    pub last_changes: Vec<Change>,
    /// What is left out of the subscribers since it contradicts something else, and where: a line
    /// each. It is here until it is gone.
    #[serde(default)]
    pub left_out: Vec<String>,
    /// From the outside to the inside, then back.
    pub ways: Vec<WaySnapshot>,
    /// The two ports, inside first.
    pub ports: Vec<PortSnapshot>,
    /// Packets in the capture ring.
    pub captured: u64,
    /// Drops, marks and losses that the capture ring missed because it was being copied.
    #[serde(default)]
    pub capture_missed: u64,
    /// The use of the gateway's process; nothing if the machine does not report it.
    #[serde(default)]
    pub process: Option<ProcessSnapshot>,
    /// What it does as an edge of a DiffServ domain; nothing if it is none.
    #[serde(default)]
    pub edge: Option<EdgeSnapshot>,
}

/// What happened, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Seconds since 1970.
    pub at_s: u64,
    /// Its kind, such as `reload` or `interface-down`.
    pub kind: String,
    /// What, in a line or a few.
    pub text: String,
}

/// An edge of a DiffServ domain, or two.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EdgeSnapshot {
    /// Its classes.
    pub classes: Vec<EdgeClassSnapshot>,
    /// Reports sent to the far edge.
    pub reports_sent: u64,
    /// Their bytes, without headers of UDP and IP.
    pub report_bytes_sent: u64,
    /// Reports that could not be sent.
    pub reports_unsent: u64,
    /// Reports of the far edge that were taken.
    pub reports_received: u64,
    /// Datagrams that were refused, by reason.
    pub reports_refused: BTreeMap<String, u64>,
    /// Seconds since the last report that was taken; nothing before the first.
    pub heard_s_ago: Option<f64>,
}

/// A class at an edge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EdgeClassSnapshot {
    /// Its name.
    pub class: String,
    /// The rate up to which its packets are green where they enter, bit/s; nothing where it is
    /// fixed.
    pub target_bps: Option<f64>,
    /// The part of its packets in profile that are marked where they leave, 0 to 1.
    pub estimate: Option<f64>,
    /// What the last report requested: `keep`, `increase` or `decrease`.
    pub request: Option<String>,
}

/// The processor time and memory of the gateway's process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessSnapshot {
    /// Processor time of all its threads, seconds.
    pub cpu_s: f64,
    /// Of this, of the threads that forward, seconds: of one, which is one processor at most, and
    /// of those that only send.
    pub forwarding_cpu_s: f64,
    /// Memory in use, bytes.
    pub resident_bytes: u64,
    /// Memory allocated, in use or not, bytes.
    pub virtual_bytes: u64,
    /// Threads.
    pub threads: u64,
    /// The time of its start, seconds since 1970, to a hundredth.
    pub started_s: f64,
}

/// One way through the gateway.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaySnapshot {
    /// `download` or `upload`.
    pub way: String,
    /// The discipline in use, by its name in the catalogue; empty if the direction is not shaped.
    pub discipline: String,
    /// The rate of the link, bit/s; 0 if the direction is not shaped.
    pub rate_bps: u64,
    /// Totals since the start, over all reloads.
    pub totals: TotalsSnapshot,
    /// Packets that wait.
    pub backlog_packets: u64,
    /// Bytes that wait, as counted on the link.
    pub backlog_bytes: u64,
    /// The waits of packets that left during the last second, seconds.
    pub sojourn: SojournSnapshot,
    /// The waits of packets that left since the start, over all reloads.
    #[serde(default)]
    pub sojourn_histogram: SojournHistogram,
    /// Round trips of TCP and QUIC that ended during the last second, from the port by which this
    /// way leaves to the hosts beyond and back, seconds. Waits in the gateway are no part of them.
    #[serde(default)]
    pub round_trip: SojournSnapshot,
    /// The same since the start, over all reloads.
    #[serde(default)]
    pub round_trip_histogram: SojournHistogram,
    /// TCP segments with payload, SYN or FIN that came since the start.
    #[serde(default)]
    pub tcp_segments: u64,
    /// Of these, segments that were sent again.
    #[serde(default)]
    pub retransmitted: u64,
    /// Bit/s that left during the last second, as counted on the link.
    pub throughput_bps: f64,
    /// The part of the link in use during the last second, 0 to 1.
    pub utilization: f64,
    /// Gauges of the discipline, each with its unit after the last `_`.
    pub gauges: BTreeMap<String, f64>,
    /// Jain's index over the flows that wanted more than they got during the last second; 1 if
    /// there are none.
    pub jain: f64,
    /// The flows that got most during the last second, most first.
    pub flows: Vec<FlowSnapshot>,
    /// Flows that sent during the last second.
    pub active_flows: u64,
    /// Of these, flows that wanted more than they got.
    #[serde(default)]
    pub wanting_flows: u64,
    /// Classes: all, or those that got most during the last second.
    pub classes: Vec<ClassSnapshot>,
    /// Classes that there are.
    #[serde(default)]
    pub class_count: u64,
    /// Classes of the configuration that got at least 98 % of their ceilings during the last
    /// second.
    #[serde(default)]
    pub classes_at_ceiling: u64,
    /// Subscribers that did.
    #[serde(default)]
    pub subscribers_at_ceiling: u64,
    /// The largest difference of a class between its share and its fair share of the link during
    /// the last second, in percentage points. Only classes that wanted more than they got count.
    pub worst_share_error_points: f64,
    /// Who lost at least a fifth of what it sent during the last second, by name, and the lost part,
    /// 0 to 1: at most three classes, or flows where there are no classes, or `others`.
    #[serde(default)]
    pub starving: BTreeMap<String, f64>,
    /// Bit/s that crossed the interfaces and not the gateway lately; 0 where that is less than a
    /// twentieth of the rate.
    #[serde(default)]
    pub bypass_bps: f64,
}

/// Where every packet went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TotalsSnapshot {
    /// Packets that came in, wire-size.
    pub packets_in: u64,
    /// Bytes that came in, as counted on the link.
    pub bytes_in: u64,
    /// Packets sent on.
    pub packets_out: u64,
    /// Bytes sent on, as counted on the link.
    pub bytes_out: u64,
    /// Of these, packets that bypassed the discipline: what is not IP.
    pub unshaped: u64,
    /// Packets that came in with a DSCP, which was cleared.
    pub washed: u64,
    /// Drops by the discipline, by cause.
    pub dropped: BTreeMap<String, u64>,
    /// Marks, by cause.
    pub marked: BTreeMap<String, u64>,
    /// Losses of the gateway itself, by kind.
    pub lost: BTreeMap<String, u64>,
    /// Packets inside now.
    pub inside: u64,
}

impl TotalsSnapshot {
    /// Packets that came in, and those that have their place: sent on, dropped, lost or inside.
    /// They are as many.
    pub fn balance(&self) -> (u64, u64) {
        let gone: u64 = self.dropped.values().chain(self.lost.values()).sum();
        (self.packets_in, self.packets_out + gone + self.inside)
    }
}

/// Waits in the queue, seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SojournSnapshot {
    /// The mean.
    pub mean_s: f64,
    /// The median.
    pub p50_s: f64,
    /// 95 of 100 waited less.
    pub p95_s: f64,
    /// 99 of 100 waited less.
    pub p99_s: f64,
    /// The longest.
    pub max_s: f64,
}

/// A histogram of waits since the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SojournHistogram {
    /// The upper ends of all buckets but the last, which has none, seconds.
    pub bounds_s: Vec<f64>,
    /// Packets in each bucket.
    pub counts: Vec<u64>,
    /// The sum of all waits, seconds.
    pub sum_s: f64,
}

/// The counts of a gateway since it began, at one instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CountsSnapshot {
    /// The version of this form.
    pub version: u32,
    /// The gateway's name.
    pub name: String,
    /// Seconds since it began to forward.
    pub uptime_s: f64,
    /// From the outside to the inside, then back.
    pub ways: Vec<WayCounts>,
    /// The two ports, inside first.
    pub ports: Vec<PortSnapshot>,
}

/// The counts of one direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WayCounts {
    /// `download` or `upload`.
    pub way: String,
    /// Totals since the start, over all reloads.
    pub totals: TotalsSnapshot,
    /// Packets that wait.
    pub backlog_packets: u64,
    /// Bytes that wait, as counted on the link.
    #[serde(default)]
    pub backlog_bytes: u64,
    /// The waits of packets that left since the start, over all reloads, in sixteen buckets for
    /// each doubling.
    pub waits: SojournHistogram,
    /// Flows that are counted one by one now.
    pub flow_count: u64,
    /// Of these, those that got most, most first: at most the requested number.
    pub flows: Vec<FlowCounts>,
}

/// The counts of a flow since it began to be counted by itself. Counts begin anew after a silence
/// in which another flow took its place, and after a reload that changes what a flow is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowCounts {
    /// Its key, such as `tcp 10.0.0.1:4000 -> 10.0.0.2:80`, or what a flow is here.
    pub flow: String,
    /// The time when its counters were copied, seconds since the gateway began to forward: at most
    /// half a second ago, and more if there are thousands of flows.
    pub at_s: f64,
    /// Packets that came.
    pub packets_in: u64,
    /// Their bytes, as counted on the link.
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
    /// Its key, such as `tcp 10.0.0.1:4000 -> 10.0.0.2:80`, or what a flow is here.
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
    /// The class above it; empty under the root.
    pub parent: String,
    /// Its weight among its siblings.
    pub weight: f64,
    /// Bit/s offered.
    pub offered_bps: f64,
    /// Bit/s sent on.
    pub throughput_bps: f64,
    /// Bit/s that weighted max-min fairness would give it, of what left.
    pub fair_bps: f64,
    /// Packets dropped per second.
    pub drops_per_s: f64,
    /// Packets marked per second.
    pub marks_per_s: f64,
    /// Bytes sent on since the start.
    pub bytes_out: u64,
    /// Packets dropped since the start.
    pub dropped: u64,
    /// The smoothed round trip of its TCP, from the port by which this way leaves to the hosts
    /// beyond and back, seconds; 0 before there was one.
    #[serde(default)]
    pub round_trip_s: f64,
    /// Round trips since the start.
    #[serde(default)]
    pub round_trips: u64,
    /// Their sum, seconds.
    #[serde(default)]
    pub round_trips_sum_s: f64,
    /// Segments of it that were sent again since the start.
    #[serde(default)]
    pub retransmitted: u64,
    /// Segments that were sent again per second.
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
    /// Frames longer than could be taken in.
    pub truncated: u64,
    /// The number of times that the interface went down.
    pub outages: u64,
    /// Is it up, as far as known?
    pub is_up: bool,
}
