//! What is seen of a link in an interval: the same of a simulated one and of a real one.

use serde::{Deserialize, Serialize};

/// A link over an interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkView {
    /// What it is called: a discipline, or a direction.
    pub name: String,
    /// Its rate, bit/s, in the mean of the interval. Zero where it has no bound.
    pub rate_bps: f64,
    /// What left it, bit/s.
    pub sent_bps: f64,
    /// Packets that wait at the end.
    pub backlog_packets: u64,
    /// Their bytes.
    pub backlog_bytes: u64,
    /// The median of the waits of what left, seconds, until each began to leave; on a real link of the
    /// last second.
    pub wait_p50_s: f64,
    /// The 99th percentile of them.
    pub wait_p99_s: f64,
    /// Packets that its queue dropped, since the start.
    pub dropped: u64,
    /// Packets that its queue marked, since the start, where that is known.
    pub marked: Option<u64>,
    /// Packets that were lost behind its queue, or for want of a buffer, since the start.
    pub lost: u64,
    /// The flows that got most, most first.
    pub flows: Vec<FlowView>,
}

/// A flow over the same interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowView {
    /// Its name.
    pub name: String,
    /// What of it left the link, bit/s.
    pub bps: f64,
    /// Its max-min fair share, bit/s, where that is known.
    pub fair_bps: Option<f64>,
    /// What it was dropped of, packets since the start.
    pub dropped: u64,
    /// Its congestion window, segments, where that is known.
    pub window: Option<f64>,
}

/// All links at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// Since the start, seconds.
    pub at_s: f64,
    /// In their order.
    pub links: Vec<LinkView>,
}
