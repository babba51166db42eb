//! The state of all runs, and their samples since the previous frame.

/// The state of every run.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// The simulated time, seconds.
    pub now_s: f64,
    /// Have all runs ended?
    pub is_over: bool,
    /// The runs, in the order of their disciplines.
    pub sides: Vec<SideFrame>,
}

/// The state of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SideFrame {
    /// The samples since the last frame, at intervals of [`SAMPLE`](crate::SAMPLE).
    pub samples: Vec<Sample>,
    /// The mean rates of each flow over the last second.
    pub levels: Vec<Level>,
}

/// The measurements of an interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Its end, seconds.
    pub at_s: f64,
    /// Packets queued at the end of the interval.
    pub waiting_packets: f64,
    /// Bytes queued at the end of the interval.
    pub waiting_bytes: f64,
    /// The link's mean rate over the interval, bit/s.
    pub link_bps: f64,
    /// The mean queueing delay of the packets that left, seconds. All three delays are NaN if no
    /// packet left.
    pub wait_mean_s: f64,
    /// The median of the queueing delays, seconds.
    pub wait_p50_s: f64,
    /// The 99th percentile of the queueing delays, seconds.
    pub wait_p99_s: f64,
    /// Packets dropped, indexed by cause.
    pub dropped: Vec<f64>,
    /// Per flow.
    pub flows: Vec<FlowSample>,
}

/// The measurements of a flow in an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowSample {
    /// The flow's rate after the last link with a queue on its path, bit/s on the wire.
    pub rate_bps: f64,
    /// The rate that the flow offers to the first queue, bit/s on the wire.
    pub offered_bps: f64,
    /// Its packets dropped.
    pub dropped: f64,
    /// The sum of the congestion windows of the flow's connections, segments; NaN if none has one.
    pub window: f64,
}

/// A flow's demand, rate and fair share over the last second, bit/s. The demand and the rate are
/// means; the fair share is computed from the means of all flows and of the link's rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Level {
    /// The rate that the flow offers, or infinity for TCP.
    pub demand_bps: f64,
    /// The rate delivered.
    pub delivered_bps: f64,
    /// The flow's max-min fair share; NaN unless the scenario has exactly one link.
    pub share_bps: f64,
}

/// The number of values that a [`Sample`] has before the values of causes and flows.
pub(crate) const FIXED: usize = 7;
/// The number of values that a [`Sample`] has for each flow.
pub(crate) const OF_FLOW: usize = 4;

impl Frame {
    /// Encodes the frame as 64-bit floating-point numbers, least significant byte first:
    ///
    /// - the time, then 1 if all runs have ended or else 0, then the number of sides;
    /// - for each side, the number of flows, of causes and of samples. The three rates of each
    ///   flow's [`Level`] follow, then the values of each [`Sample`] in the order of its fields.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut numbers = vec![self.now_s, f64::from(u8::from(self.is_over)), self.sides.len() as f64];
        for side in &self.sides {
            let causes = side.samples.first().map_or(0, |sample| sample.dropped.len());
            numbers.extend([side.levels.len() as f64, causes as f64, side.samples.len() as f64]);
            for level in &side.levels {
                numbers.extend([level.demand_bps, level.delivered_bps, level.share_bps]);
            }
            side.samples.iter().for_each(|sample| sample.write(&mut numbers));
        }
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }
}

impl Sample {
    fn write(&self, numbers: &mut Vec<f64>) {
        let fixed: [f64; FIXED] = [
            self.at_s,
            self.waiting_packets,
            self.waiting_bytes,
            self.link_bps,
            self.wait_mean_s,
            self.wait_p50_s,
            self.wait_p99_s,
        ];
        numbers.extend(fixed);
        numbers.extend(&self.dropped);
        for flow in &self.flows {
            let fields: [f64; OF_FLOW] = [flow.rate_bps, flow.offered_bps, flow.dropped, flow.window];
            numbers.extend(fields);
        }
    }
}
