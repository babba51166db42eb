//! The view of a link in an interval, for simulated and real links.

use serde::{Deserialize, Serialize};

/// The state of a link over an interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkView {
    /// The link's name: a discipline, or a direction.
    pub name: String,
    /// The link's mean rate over the interval, bit/s; zero if unlimited.
    pub rate_bps: f64,
    /// The rate of the traffic that left the link, bit/s.
    pub sent_bps: f64,
    /// Packets in the queue at the end.
    pub backlog_packets: u64,
    /// Bytes in the queue at the end.
    pub backlog_bytes: u64,
    /// The median wait before transmission, in seconds, of packets that left in the interval or, on
    /// a real link, in the last second.
    pub wait_p50_s: f64,
    /// The 99th percentile of these waits, in seconds.
    pub wait_p99_s: f64,
    /// Packets that the link's queue dropped, since the start.
    pub dropped: u64,
    /// Packets that the link's queue marked, since the start, if known.
    pub marked: Option<u64>,
    /// Packets lost behind the link's queue or for lack of a buffer, since the start.
    pub lost: u64,
    /// The flows with the highest rates, highest first.
    pub flows: Vec<FlowView>,
}

/// The state of a flow over the same interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowView {
    /// Its name.
    pub name: String,
    /// The rate at which the flow's traffic left the link, bit/s.
    pub bps: f64,
    /// The flow's max-min fair share, bit/s, if known.
    pub fair_bps: Option<f64>,
    /// The flow's dropped packets since the start.
    pub dropped: u64,
    /// The flow's congestion window, segments, if known.
    pub window: Option<f64>,
}

/// All links at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// Time since the start, seconds.
    pub at_s: f64,
    /// The links, in the order of their disciplines or directions.
    pub links: Vec<LinkView>,
}
