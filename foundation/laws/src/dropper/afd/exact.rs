//! AFD with exact rates of fast flows: the elephant trap of deployed switches.
//!
//! # What it does
//! Counts the traffic of every flow. A flow that has sent enough is an elephant, and is dropped
//! with probability d_i = max(0, 1 - m_fair / m_i) as in AFD. Here m_i is the traffic of flow i in
//! a period, and m_fair is the fair amount. Other flows, the mice, are never dropped early. A flow
//! that sends next to nothing for a period is forgotten.
//!
//! # Why
//! The few elephants fit in a table small enough for exact rates in hardware. Short flows are
//! spared.
//!
//! # State and cost
//! 24 bytes for each of `max_flows`, and 8 to 16 bytes for its index entry. O(1): one look-up per
//! arrival, and one step of a hand that circles the table and removes idle flows.
//!
//! # Source (section, equation)
//! The drop law and the controller: R. Pan, L. Breslau, B. Prabhakar and S. Shenker, "Approximate
//! fair allocation of link bandwidth", IEEE Micro 23(1), 2003. The table: public documentation of
//! AFD and ETRAP on Cisco Nexus 9000 switches.
//!
//! # Where we differ
//! - The vendor does not document how counts become rates. Ours is the rate over a sliding period:
//!   the current period's amount, plus the previous period's amount times the fraction of the
//!   current period that remains.
//! - If the table is full, a new flow replaces a random flow, provided that flow is a mouse. A flow
//!   without a place is not dropped early.
//! - m_fair is at least 0, and starts at its maximum: the amount that the link sends in a period,
//!   divided by the least weight.
//! - The paper drops; `ecn = "mark"` marks ECN-capable packets instead.
//! - The controller has no timer: it catches up when a packet enters or leaves.
//!
//! # Example
//! ```toml
//! [discipline.afd-exact]
//! age_period = "200 ms"
//! elephant_threshold = "64 KiB"
//! ```

use crate::about::{About, Family};
use crate::dropper::afd::{self, Afd, INTERVAL, Meter};
use crate::error::{BadParameter, Of as _, Parameter};
use crate::memory;
use crate::part::Part;
use crate::queueing::{CheckedQueue, Queueing};
use crate::role;
use crate::site::Site;
use crate::spec::{Measure, Quantity};
use alloc::boxed::Box;
use alloc::format;
use fairwire_core::units::{Amount, Level};
use fairwire_core::{Discipline, Duration, FlowTable, Packet, Probe, Rng, Time, Unit};
use fairwire_parameters::parameters;

/// The catalogue entry.
pub const ABOUT: About = About {
    family: Family::FairDropping,
    summary: "drops flows that have sent much down to the fair rate, by their exact rates; spares short flows",
    state: "24 bytes and an index entry per flow, bounded by `max_flows`",
    cost: "O(1)",
    marks: true,
    source: "Pan, Breslau, Prabhakar, Shenker 2003; Cisco Nexus 9000 documentation (ETRAP)",
};

const NAME: &str = "afd-exact";

/// Parameters of `afd-exact`.
#[parameters(gated, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The buffer, the response to signals, and the order of service.
    #[parameter(flatten)]
    pub queue: Queueing,
    /// The parameters that all forms of AFD share.
    #[parameter(flatten)]
    pub shared: afd::Shared,
    /// The unit in which flows and the queue are counted.
    ///
    /// Packets or bytes. The vendor counts bytes.
    #[parameter(is = role::MEASURE, default = Measure::Bytes)]
    pub measure: Option<Measure>,
    /// The period in which rates are measured.
    ///
    /// An idle flow is forgotten after a period. The vendor's profiles have 20 us, 50 us and 100
    /// us, for links of at least 10 Gbit/s.
    #[parameter(
        unset = "what the link takes to send 1000 typical packets",
        min = "1 us",
        max = "1 min",
        source = "Ours keeps counts as large as in AFD's sample of 1000, so that `alpha` and `beta` fit."
    )]
    pub age_period: Option<Quantity<Duration>>,
    /// The amount after which a flow is an elephant.
    ///
    /// The vendor's threshold is 1 MB. The 100 ms are ours, for slow links.
    #[parameter(unset = "1 MB or what the link sends in 100 ms, whichever is less")]
    pub elephant_threshold: Option<Quantity<Level>>,
    /// A flow that sent less than this in an entire period is forgotten.
    ///
    /// The default is the vendor's.
    #[parameter(unset = "500 bytes")]
    pub age_threshold: Option<Quantity<Level>>,
    /// The maximum number of flows in the table.
    ///
    /// Mice are included.
    #[parameter(default = 4096, min = 1, max = 16_777_216, unit = "flows", source = "Ours.")]
    pub max_flows: Option<u32>,
}

impl Part for Spec {
    fn table_bytes(&self, _packets: u64) -> u64 {
        memory::count(self.max_flows, 4096) * memory::BUCKET
    }
}

/// A checked [`Spec`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The parameters that all forms of AFD share.
    pub common: afd::Config,
    /// The rules for detecting and measuring elephants.
    pub trap: Trap,
}

/// The rules for detecting and measuring elephants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trap {
    /// The period in which rates are measured.
    pub age_period: Duration,
    /// The amount after which a flow is an elephant, in packets or bytes.
    pub elephant_threshold: f64,
    /// The minimum amount, in packets or bytes: a flow that sent less in an entire period is
    /// forgotten.
    pub age_threshold: f64,
    /// The maximum number of flows in the table.
    pub max_flows: u32,
    /// The amount that the link sends in a period, in packets or bytes.
    pub most: f64,
}

const MAX_COUNTED: f64 = u32::MAX as f64;

impl Config {
    /// The dropper.
    pub fn dropper(&self, rng: Rng) -> Afd<Elephants> {
        Afd::new(&self.common, Elephants::new(self.trap), rng)
    }
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<(CheckedQueue, Config), BadParameter> {
        let given = self.checked().of(NAME)?;
        let queue = self.queue.check(NAME, site)?;
        let of_1000_packets = || site.rate.time_to_send(1000 * u64::from(site.packet_bytes));
        let shortened = || of_1000_packets().clamp(Duration::from_us(1), Duration::from_secs(60));
        let age_period = given.age_period.unwrap_or_else(shortened);
        let half = Duration::from_ns((age_period.ns() / 2).max(1000));
        let (room, shared, measure) = (queue.room, &self.shared, given.measure);
        let common =
            afd::Given { name: NAME, room, measure, shared, longest: half.min(INTERVAL) }.check(site)?;
        let counted = |level: Level| measure.counted(level, site);
        let elephant_threshold = self.elephant_threshold.map_or_else(
            || {
                counted(Amount::Bytes(1_000_000).into())
                    .min(counted(Amount::Time(Duration::from_ms(100)).into()))
            },
            |typed| counted(typed.0),
        );
        if let Some(typed) = self.elephant_threshold.filter(|_| elephant_threshold > MAX_COUNTED) {
            let allowed = format!("what counts as at most {MAX_COUNTED} packets or bytes");
            return Err(Parameter::of(NAME, "elephant_threshold").refuse(typed, allowed));
        }
        let trap = Trap {
            age_period,
            elephant_threshold,
            age_threshold: counted(self.age_threshold.map_or(Amount::Bytes(500).into(), |typed| typed.0)),
            max_flows: given.max_flows,
            most: counted(Amount::Time(age_period).into()).max(1.0),
        };
        Ok((queue, Config { common, trap }))
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, config) = self.check(site)?;
        Ok(queue.serve(config.dropper(site.rng(NAME))))
    }
}

/// The traffic of one flow, in packets or bytes. Counts saturate.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    /// The amount since the flow entered the table.
    total: u32,
    /// The amount in the period numbered `period`.
    this: u32,
    last: u32,
    period: u32,
}

impl Sent {
    #[inline]
    fn turn(&mut self, period: u32) {
        let passed = period.wrapping_sub(self.period);
        if passed > 0 {
            self.last = if passed == 1 { self.this } else { 0 };
            self.this = 0;
            self.period = period;
        }
    }

    #[inline]
    fn add(&mut self, size: u32) {
        self.total = self.total.saturating_add(size);
        self.this = self.this.saturating_add(size);
    }
}

/// The elephant trap: a table of flows with their recent traffic.
#[derive(Debug)]
pub struct Elephants {
    trap: Trap,
    flows: FlowTable<Sent>,
    period: u32,
    began: Time,
    /// Periods per nanosecond.
    per_ns: f64,
    hand: usize,
}

impl Elephants {
    /// An empty trap, whose first period begins at time zero.
    pub fn new(trap: Trap) -> Self {
        let flows = FlowTable::new(trap.max_flows as usize);
        let per_ns = 1.0 / trap.age_period.ns() as f64;
        Elephants { trap, flows, period: 0, began: Time::ZERO, per_ns, hand: 0 }
    }

    /// The number of flows in the table, mice included.
    pub fn flows(&self) -> usize {
        self.flows.len()
    }

    /// The number of elephants in the table. O(N); for tests and gauges only.
    pub fn elephants(&self) -> usize {
        self.flows.iter().filter(|(_, sent)| self.is_elephant(sent)).count()
    }

    /// Bytes of memory, all allocated at construction.
    pub fn memory(&self) -> usize {
        self.flows.memory()
    }

    fn is_elephant(&self, sent: &Sent) -> bool {
        f64::from(sent.total) >= self.trap.elephant_threshold
    }

    #[cold]
    fn turn(&mut self, now: Time) {
        let passed = now.since(self.began).ns() / self.trap.age_period.ns();
        // Only nearby periods are compared, so the low bits suffice.
        self.period = self.period.wrapping_add(passed as u32);
        self.began += self.trap.age_period * passed;
    }

    /// Moves the hand one step backwards. Removes the flow there if it was present for the entire
    /// last period but sent next to nothing.
    #[inline]
    fn step(&mut self) {
        let next = if self.hand == 0 { self.flows.len() } else { self.hand };
        let Some(place) = next.checked_sub(1) else { return };
        self.hand = place;
        let sent = self.flows.value_mut(place);
        sent.turn(self.period);
        // A flow that sent before the last period began was in the table throughout that period.
        let was_here = sent.total > sent.this.saturating_add(sent.last);
        if was_here && f64::from(sent.last) < self.trap.age_threshold {
            self.flows.remove(place);
        }
    }

    fn admit(&mut self, packet: &Packet, rng: &mut Rng) -> Option<usize> {
        if self.flows.is_full() {
            let unlucky = rng.below(self.flows.len() as u32) as usize;
            if self.is_elephant(self.flows.value(unlucky)) {
                return None;
            }
            self.flows.remove(unlucky);
        }
        Some(self.flows.insert(packet.flow, Sent { period: self.period, ..Sent::default() }))
    }
}

impl Meter for Elephants {
    #[inline]
    fn arrival(&mut self, packet: &Packet, size: u32, now: Time, rng: &mut Rng) -> f64 {
        if now >= self.began + self.trap.age_period {
            self.turn(now);
        }
        self.step();
        let Some(place) = self.flows.find(packet.flow).or_else(|| self.admit(packet, rng)) else {
            return 0.0;
        };
        let sent = self.flows.value_mut(place);
        sent.turn(self.period);
        sent.add(size);
        let sent = *sent;
        if !self.is_elephant(&sent) {
            return 0.0;
        }
        let passed = now.since(self.began).ns() as f64 * self.per_ns;
        f64::from(sent.this) + f64::from(sent.last) * (1.0 - passed)
    }

    #[inline]
    fn most(&self) -> f64 {
        self.trap.most
    }

    fn retune(&mut self, fresh: &Self) -> bool {
        let takes = self.trap.max_flows == fresh.trap.max_flows;
        if takes {
            (self.trap, self.per_ns) = (fresh.trap, fresh.per_ns);
        }
        takes
    }

    fn inspect(&self, _: Unit, probe: &mut dyn Probe) {
        probe.gauge("flows", Unit::Flows, self.flows() as f64);
        probe.gauge("elephants", Unit::Flows, self.elephants() as f64);
    }
}
