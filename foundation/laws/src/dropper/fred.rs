//! FRED: flow random early drop.
//!
//! # What it does
//! RED that counts the queued packets of each backlogged flow. A packet that would give its flow
//! more than `min_threshold` queued is dropped, and the flow gets a strike. A flow with more than
//! one strike may have no more queued than the average flow. Random drops occur between two
//! thresholds of the average queue, as in RED. They only affect flows with at least `min_q` packets
//! queued, and at least as many as the average flow.
//!
//! With `ecn = "mark"` only random early signals mark ECN-capable packets. Other drops remain
//! drops, as their flows did not respond. (The paper always drops.) With a `scheduler`, each of its
//! queues is a flow.
//!
//! # Why
//! RED drops from flows in proportion to their traffic, whether they respond or not. FRED protects
//! flows with few queued packets and restrains unresponsive ones.
//!
//! # State and cost
//! A count of strikes (4 bytes) for each packet that the buffer has room for. O(1).
//!
//! # Source (section, equation)
//! D. Lin and R. Morris, "Dynamics of random early detection", SIGCOMM 1997: the listing of the
//! algorithm, with its support for many flows.
//!
//! # Where we differ
//! - The paper was not available. The listing and its constants follow public implementations,
//!   J-Sim's `FRED.java` (2002) and a Linux module. The listing labels three rules: A (a flow may
//!   have two packets), B (no flow may have more than twice the average flow's) and C (drop all).
//! - Above the upper threshold, both implementations apply all three rules. C then drops every
//!   arrival, and A and B decide only which flow gets a strike. `many_flow_support` is ours: true
//!   omits C.
//! - Random drops are spread over arrivals as in RED's paper of 1993; if the formula passes 1, the
//!   drop is certain.
//! - In bytes, the random drop ignores the packet's length, because flows are judged by bytes
//!   already.
//!
//! # Example
//! ```toml
//! [discipline.fred]
//! min_threshold = "40 packets"
//! many_flow_support = false
//! ```

use crate::about::{About, Family};
use crate::dropper::red::{Ramp, Spreading};
use crate::error::{BadParameter, Of as _, Parameter};
use crate::part::Part;
use crate::queueing::{CheckedQueue, Queueing};
use crate::site::{Room, Site};
use crate::spec::{Measure, Quantity};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec;
use fairwire_core::units::{Amount, Level};
use fairwire_core::{
    Buffer, Cause, Discipline, Dropper, FlowKey, Left, Limit, Needs, Packet, Probe, Rate, Rng, Time, Unit,
    Verdict,
};
use fairwire_parameters::parameters;

/// This discipline's catalogue entry.
pub const ABOUT: About = About {
    family: Family::FairDropping,
    summary: "RED that spares flows with little waiting, and holds down those that do not listen",
    state: "4 bytes per packet of buffer",
    cost: "O(1)",
    marks: true,
    source: "Lin and Morris 1997, the listing",
};

const NAME: &str = "fred";

/// Parameters of `fred`.
#[parameters(gated, public, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The buffer, the response to signals, and the order of service.
    #[parameter(flatten)]
    pub queue: Queueing,
    /// The unit in which queues are counted.
    ///
    /// In bytes, one packet in FRED's rules is the site's typical packet.
    #[parameter(default = Measure::Packets, source = "The paper has packets.")]
    pub measure: Option<Measure>,
    /// The average queue below which there are no random drops.
    ///
    /// This is also the maximum backlog of a flow.
    #[parameter(
        unset = "a quarter of the buffer",
        source = "Lin and Morris: the smaller of this and the path's bandwidth-delay product, which a queue does not know."
    )]
    pub min_threshold: Option<Quantity<Level>>,
    /// The average queue above which there are no random drops.
    ///
    /// It must exceed `min_threshold`.
    #[parameter(unset = "twice `min_threshold`", source = "Lin and Morris.")]
    pub max_threshold: Option<Quantity<Level>>,
    /// The probability of a random drop as the average approaches the upper threshold.
    #[parameter(default = 0.02, above = 0.0, max = 1.0, unit = "1", source = "Lin and Morris.")]
    pub max_probability: Option<f64>,
    /// w_q: the weight of the current queue when an arrival or departure updates the average.
    #[parameter(default = 0.002, above = 0.0, max = 1.0, unit = "1", source = "Lin and Morris.")]
    pub weight: Option<f64>,
    /// The backlog below which a flow has no random drops.
    #[parameter(
        unset = "4 packets, or 2 where the buffer has room for less than 50",
        source = "Lin and Morris have 2 for small and 4 for large buffers; where large begins is ours."
    )]
    pub min_q: Option<Quantity<Level>>,
    /// Whether a flow may have two packets queued while the average is above the upper threshold.
    ///
    /// If false, all arrivals are dropped then. In both cases, a flow with two packets queued, or
    /// with more than twice the average flow's backlog, loses its arrival and gets a strike.
    #[parameter(default = true)]
    pub many_flow_support: Option<bool>,
}

impl Part for Spec {}

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The size of the buffer.
    pub limit: Limit,
    /// The parameters as given, or their defaults.
    pub given: Checked,
    /// The thresholds, and the probability of a random drop between them.
    pub ramp: Ramp,
    /// The backlog below which a flow has no random drops.
    pub min_q: f64,
    /// A typical packet on the wire, in bytes.
    pub packet_bytes: u32,
    /// The link's rate, for the decay of the average over idle time.
    pub rate: Rate,
}

/// In a buffer of at least this number of packets, `min_q` is 4 packets by default; otherwise 2.
const LARGE_BUFFER: f64 = 50.0;

/// A flow with more strikes may queue no more than the average flow.
const STRIKES: u32 = 1;

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<(CheckedQueue, Config), BadParameter> {
        let given = self.checked().of(NAME)?;
        let queue = self.queue.check(NAME, site)?;
        let min_q = Amount::Packets(if queue.room.packets < LARGE_BUFFER { 2 } else { 4 });
        let config = Config {
            limit: queue.room.limit,
            given,
            ramp: self.ramp(&given, &queue.room, site)?,
            min_q: given.measure.counted(self.min_q.map_or(min_q.into(), |typed| typed.0), site),
            packet_bytes: site.packet_bytes,
            rate: site.rate,
        };
        Ok((queue, config))
    }

    fn ramp(&self, given: &Checked, room: &Room, site: &Site<'_>) -> Result<Ramp, BadParameter> {
        let counted = |level: Level| given.measure.counted(level, site);
        let min = self.min_threshold.map_or(counted(room.amount.into()) / 4.0, |typed| counted(typed.0));
        let max = self.max_threshold.map_or(2.0 * min, |typed| counted(typed.0));
        if let Some(typed) = self.max_threshold.filter(|_| max <= min) {
            let allowed = format!("more than min_threshold, which is {min} {}", given.measure);
            return Err(Parameter::of(NAME, "max_threshold").refuse(typed, allowed));
        }
        Ok(Ramp { min, max, max_probability: given.max_probability, gentle: false })
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, config) = self.check(site)?;
        Ok(queue.serve(Fred::new(config, site.rng(NAME))))
    }
}

/// The dropper of [FRED](self).
#[derive(Debug)]
pub struct Fred {
    config: Config,
    rng: Rng,
    average: f64,
    average_flow: f64,
    /// Arrivals since the last random drop; `None` while the average is below the lower threshold.
    count: Option<u64>,
    empty_since: Time,
    /// The number of backlogged flows, updated when a packet enters or leaves.
    active: u32,
    /// By [`FlowKey::index`].
    strikes: Box<[u32]>,
}

impl Fred {
    /// A FRED that draws from `rng`.
    pub fn new(config: Config, rng: Rng) -> Self {
        Fred {
            config,
            rng,
            average: 0.0,
            average_flow: packet_size(&config),
            count: None,
            empty_since: Time::ZERO,
            active: 0,
            strikes: vec![0; config.limit.max_packets() as usize].into(),
        }
    }

    /// The average queue, in packets or bytes as configured.
    pub fn average(&self) -> f64 {
        self.average
    }

    /// avgcq: the average backlog of a flow, in packets or bytes; at least a packet, unless the
    /// queue is empty.
    pub fn average_flow(&self) -> f64 {
        self.average_flow
    }

    /// The strikes of a backlogged flow.
    pub fn strikes(&self, flow: FlowKey) -> u32 {
        self.strikes[flow.index()]
    }

    #[inline]
    fn update_average(&mut self, queue: f64, flows: u32) {
        let w = self.config.given.weight;
        self.average = (1.0 - w) * self.average + w * queue;
        self.share(flows);
    }

    /// Decays the average over idle time: one update with an empty queue per packet that the link
    /// could have sent.
    #[cold]
    fn decay(&mut self, now: Time) {
        let packets_per_second = self.config.rate.packets_per_second(self.config.packet_bytes);
        let packets = packets_per_second * now.since(self.empty_since).secs();
        self.average *= libm::pow(1.0 - self.config.given.weight, packets);
        self.empty_since = now;
        self.share(0);
    }

    #[inline]
    fn share(&mut self, flows: u32) {
        self.average_flow = match flows {
            0 => self.average,
            flows => (self.average / f64::from(flows)).max(packet_size(&self.config)),
        };
    }

    #[inline]
    fn is_over(&self, waiting: f64, strikes: u32) -> bool {
        let many = self.average >= self.config.ramp.max;
        let most = if many { 2.0 * packet_size(&self.config) } else { self.config.ramp.min };
        waiting >= most
            || (many && waiting > 2.0 * self.average_flow)
            || (waiting >= self.average_flow && strikes > STRIKES)
    }

    #[inline]
    fn judge(&mut self, waiting: f64) -> Verdict {
        let Config { ramp, min_q, given, .. } = self.config;
        if self.average < ramp.min {
            self.count = None;
            return Verdict::Pass;
        }
        if self.average >= ramp.max {
            if given.many_flow_support {
                return Verdict::Pass;
            }
            self.count = Some(0);
            return Verdict::Drop(Cause::Forced);
        }
        let count = self.count.map_or(0, |count| count + 1);
        self.count = Some(count);
        if waiting < min_q.max(self.average_flow) {
            return Verdict::Pass;
        }
        let p = Spreading::AtMost.probability(ramp.probability(self.average), count);
        if p > 0.0 && (p >= 1.0 || self.rng.chance(p)) {
            self.count = Some(0);
            return Verdict::Signal(Cause::Early);
        }
        Verdict::Pass
    }
}

#[inline]
fn packet_size(config: &Config) -> f64 {
    config.given.measure.size(config.packet_bytes).into()
}

impl Dropper for Fred {
    fn needs(&self) -> Needs {
        Needs::FLOWS
    }

    #[inline]
    fn on_arrival(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Verdict {
        if buffer.is_empty() {
            self.decay(now);
        }
        let flow = buffer.flow(packet);
        let backlog = flow.map(|flow| buffer.flow_backlog(flow)).unwrap_or_default();
        let waiting = self.config.given.measure.of(backlog);
        let strikes = flow.map_or(0, |flow| self.strikes(flow));
        if self.is_over(waiting, strikes) {
            if let Some(flow) = flow {
                let strikes = &mut self.strikes[flow.index()];
                *strikes = strikes.saturating_add(1);
            }
            return Verdict::Drop(Cause::Forced);
        }
        self.judge(waiting)
    }

    #[inline]
    fn on_departure(&mut self, _: &Packet, _: Left, buffer: &Buffer, now: Time) -> Verdict {
        // `active` still counts the packet's flow, as in the listing.
        self.update_average(self.config.given.measure.of(buffer.backlog()), self.active);
        self.active = buffer.backlogged_flows();
        if buffer.is_empty() {
            self.empty_since = now;
        }
        Verdict::Pass
    }

    #[inline]
    fn tracked(&mut self, _: &Packet, _: FlowKey, inside: bool, buffer: &Buffer) {
        if !inside {
            return;
        }
        let flow = buffer.flow_of(buffer.newest().expect("a packet has just come in"));
        if buffer.flow_backlog(flow).packets == 1 {
            self.strikes[flow.index()] = 0; // of another flow, which had this place before
        }
        self.active = buffer.backlogged_flows();
        self.update_average(self.config.given.measure.of(buffer.backlog()), self.active);
    }

    fn retune(&mut self, fresh: &Self, _: Time) -> bool {
        if self.config.given.measure != fresh.config.given.measure {
            return false; // the averages count in the measure
        }
        if fresh.strikes.len() > self.strikes.len() {
            let mut strikes = fresh.strikes.clone();
            strikes[..self.strikes.len()].copy_from_slice(&self.strikes);
            self.strikes = strikes;
        }
        self.config = fresh.config;
        true
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        let unit = self.config.given.measure.unit();
        probe.gauge("average", unit, self.average);
        probe.gauge("average_flow", unit, self.average_flow);
        probe.gauge("probability", Unit::One, self.config.ramp.probability(self.average));
    }
}
