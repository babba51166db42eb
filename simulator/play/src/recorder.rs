//! The observer of a run. It keeps samples until a frame takes them.

use crate::frame::{FlowSample, Level, Sample};
use crate::player::SAMPLE;
use fairwire_core::{Cause, Duration, Time};
use fairwire_metrics::max_min::{Claim, max_min};
use fairwire_scenario::{Content, Observer, PacketEvent, View, What};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of samples in one second, over which rates are averaged.
const WINDOW: usize = 100;

/// A flow, named as in its record. Several connections may form one flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FlowAbout {
    pub(crate) name: String,
    pub(crate) group: String,
    pub(crate) is_tcp: bool,
}

#[derive(Default)]
pub(crate) struct Recorded {
    pub(crate) now: Time,
    pub(crate) samples: Vec<Sample>,
    /// The flows.
    pub(crate) flows: Vec<FlowAbout>,
    pub(crate) links: usize,
    flow_of: Vec<usize>,
    /// Drops at the first link since the last sample, by cause.
    dropped: [u64; Cause::ALL.len()],
    offered: Vec<u64>,
    /// The last second.
    recent: VecDeque<Moment>,
}

struct Moment {
    link_bps: f64,
    offered: Vec<f64>,
    left: Vec<f64>,
}

pub(crate) struct Recorder(pub(crate) Arc<Mutex<Recorded>>);

impl Recorder {
    fn seen(&self) -> MutexGuard<'_, Recorded> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Recorder {
    fn interval(&self) -> Option<Duration> {
        Some(SAMPLE)
    }
    fn wants_packets(&self) -> bool {
        true
    }
    fn started(&mut self, view: &View<'_>) {
        self.seen().begin(view);
    }
    fn sample(&mut self, view: &View<'_>) {
        self.seen().sample(view);
    }
    fn packet(&mut self, event: &PacketEvent) {
        self.seen().packet(event);
    }
    /// Samples the time since the last sample, unless the run ends with a sample.
    fn finished(&mut self, view: &View<'_>) {
        let mut seen = self.seen();
        if seen.now < view.now() {
            seen.sample(view);
        }
    }
}

impl Recorded {
    fn begin(&mut self, view: &View<'_>) {
        self.links = view.links().count();
        for flow in view.flows() {
            let name = flow.name().to_string();
            if self.flows.last().is_none_or(|last| last.name != name) {
                self.flows.push(FlowAbout { name, group: flow.group.into(), is_tcp: flow.is_tcp });
            }
            self.flow_of.push(self.flows.len() - 1);
        }
        self.offered = vec![0; self.flows.len()];
    }

    fn packet(&mut self, event: &PacketEvent) {
        // Only the first link counts. Acknowledgements on this link do not count as offered bytes.
        if event.link != Some(0) {
            return;
        }
        match event.what {
            What::Arrive if !matches!(event.content, Content::Ack { .. }) => {
                self.offered[self.flow_of[event.flow as usize]] += u64::from(event.wire_bytes);
            }
            What::Drop(cause) => self.dropped[cause as usize] += 1,
            What::Arrive | What::Depart | What::Lost | What::Mark(_) | What::Deliver => {}
        }
    }

    fn sample(&mut self, view: &View<'_>) {
        let before = std::mem::replace(&mut self.now, view.now());
        let interval_s = self.now.since(before).secs();
        let flows = self.flow_samples(view, interval_s);
        let (packets, bytes, link_bps) = view.links().next().map_or((0, 0, 0.0), |link| {
            (link.backlog.packets, link.backlog.bytes, link.bits(before, self.now) / interval_s)
        });
        let offered = flows.iter().map(|flow| flow.offered_bps).collect();
        let left = flows.iter().map(|flow| flow.rate_bps).collect();
        self.recent.push_back(Moment { link_bps, offered, left });
        if self.recent.len() > WINDOW {
            self.recent.pop_front();
        }
        let dropped = std::mem::take(&mut self.dropped);
        let [wait_mean_s, wait_p50_s, wait_p99_s] = waits(view);
        self.samples.push(Sample {
            at_s: self.now.since(Time::ZERO).secs(),
            waiting_packets: f64::from(packets),
            waiting_bytes: bytes as f64,
            link_bps,
            wait_mean_s,
            wait_p50_s,
            wait_p99_s,
            dropped: dropped.iter().map(|count| *count as f64).collect(),
            flows,
        });
    }

    fn flow_samples(&mut self, view: &View<'_>, interval_s: f64) -> Vec<FlowSample> {
        let offered = self.offered.iter_mut().map(std::mem::take);
        let mut flows: Vec<FlowSample> = offered
            .map(|bytes| FlowSample {
                rate_bps: 0.0,
                offered_bps: bytes as f64 * 8.0 / interval_s,
                dropped: 0.0,
                window: f64::NAN,
            })
            .collect();
        for (connection, &at) in view.flows().zip(&self.flow_of) {
            let flow = &mut flows[at];
            flow.rate_bps += connection.left_bytes as f64 * 8.0 / interval_s;
            flow.dropped += connection.dropped as f64;
            if let Some(window) = connection.window {
                flow.window = window.cwnd + if flow.window.is_nan() { 0.0 } else { flow.window };
            }
        }
        flows
    }

    pub(crate) fn levels(&self) -> Vec<Level> {
        let count = self.recent.len().max(1) as f64;
        let mean = |of: &dyn Fn(&Moment) -> f64| self.recent.iter().map(of).sum::<f64>() / count;
        let capacity = mean(&|moment| moment.link_bps);
        let levels: Vec<Level> = (self.flows.iter().enumerate())
            .map(|(at, flow)| {
                let offered = mean(&|moment| moment.offered[at]);
                let demand_bps = if flow.is_tcp { f64::INFINITY } else { offered };
                Level { demand_bps, delivered_bps: mean(&|moment| moment.left[at]), share_bps: f64::NAN }
            })
            .collect();
        if self.links != 1 {
            return levels;
        }
        let claims: Vec<Claim> = levels.iter().map(|level| Claim::up_to(level.demand_bps)).collect();
        let shares = max_min(&claims, capacity);
        levels.into_iter().zip(shares).map(|(level, share_bps)| Level { share_bps, ..level }).collect()
    }
}

/// The mean, the median and the 99th percentile of the waits at the first link since the last
/// sample, in seconds.
fn waits(view: &View<'_>) -> [f64; 3] {
    let mut waits: Vec<Duration> =
        view.waits().iter().filter(|wait| wait.link == 0).map(|wait| wait.wait).collect();
    if waits.is_empty() {
        return [f64::NAN; 3];
    }
    waits.sort_unstable();
    let at = |part: f64| waits[((waits.len() as f64 * part).ceil() as usize).clamp(1, waits.len()) - 1];
    let sum: f64 = waits.iter().map(|wait| wait.secs()).sum();
    [sum / waits.len() as f64, at(0.5).secs(), at(0.99).secs()]
}
