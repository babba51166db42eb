//! COBALT: CoDel and BLUE, alternated.
//!
//! # What it does
//! CoDel gives its signals at departure. Once the wait is short again, CoDel's count of signals
//! falls in steps, at the times when signals would be due. In addition, BLUE keeps a drop
//! probability that grows when the buffer overflows and shrinks when the queue runs empty.
//!
//! With `ecn` CoDel's signals mark ECN-capable packets; BLUE always drops.
//!
//! # Why
//! CoDel's rate of signals grows slowly, so an unresponsive sender still fills the buffer. BLUE
//! reacts to that overflow. In CoDel the count jumps when signalling restarts; here it moves up and
//! down in steps.
//!
//! # State and cost
//! 32 bytes; O(1) per packet.
//!
//! # Source (section, equation)
//! J. Palmei and others, "Design and evaluation of COBALT queue discipline", IEEE LANMAN 2019; T.
//! Hoiland-Jorgensen, D. Taht and J. Morton, "Piece of CAKE", IEEE LANMAN 2018; RFC 8289 for CoDel.
//! The parameters' values are those of Linux's `sch_cake`.
//!
//! # Where we differ
//! - For one of many queues, as in [`cake_like`](crate::compose::cake_like), a signal also needs a
//!   wait longer than the time to send two packets of each backlogged queue. CAKE requires this
//!   wait only in its `ingress` mode, and counts only bulky queues.
//! - A drop of BLUE counts as `forced`: a mark could not replace it.
//! - The last packet of a queue is always sent.
//! - A queue counts as empty when its last packet has left, or when the link polls and finds it
//!   empty. In CAKE a queue counts as empty if it has no packet at its turn.
//! - One packet lowers the count by at most 1024; the next step is then due at once.
//!
//! # Example
//! ```toml
//! [discipline.cobalt]
//! interval = "100 ms"
//! increase = 0.004
//! ```

use crate::about::{About, Family};
use crate::dropper::law::{Law, OneQueue};
use crate::error::{BadParameter, Of as _};
use crate::part::Part;
use crate::queueing::{CheckedQueue, Marking};
use crate::site::Site;
use crate::spec::{EcnChoice, Quantity};
use alloc::boxed::Box;
use fairwire_core::units::Size;
use fairwire_core::{
    Backlog, Cause, Discipline, Duration, EcnPolicy, Packet, Probe, Rng, Time, Unit, Verdict,
};
use fairwire_parameters::parameters;

/// The catalogue entry.
pub const ABOUT: About = About {
    family: Family::ActiveQueueManagement,
    summary: "CoDel against standing queues, and BLUE against senders that do not listen",
    state: "32 bytes",
    cost: "O(1)",
    marks: true,
    source: "Palmei and others 2019; CAKE",
};

const NAME: &str = "cobalt";

/// Parameters of `cobalt`.
#[parameters(gated, public, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The buffer, the response to signals, and the order of service.
    #[parameter(flatten)]
    pub queue: Marking,
    /// The parameters that COBALT has wherever it is used.
    #[parameter(flatten)]
    pub control: Control,
    /// The increase of BLUE's probability at an overflow.
    ///
    /// The probability changes at most once per `target`, as in CAKE.
    #[parameter(default = 1.0 / 256.0, min = 0.0, max = 1.0, unit = "1")]
    pub increase: Option<f64>,
    /// The decrease of BLUE's probability when a queue runs empty.
    ///
    /// The probability changes at most once per `target`, as in CAKE.
    #[parameter(default = 1.0 / 4096.0, min = 0.0, max = 1.0, unit = "1")]
    pub decrease: Option<f64>,
}

/// The parameters shared with [`cake_like`](crate::compose::cake_like).
#[parameters(gated, public, checked = CheckedControl, group)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Control {
    /// The permitted wait.
    ///
    /// It is never less than the time to send four packets of `mtu`, or two of each backlogged
    /// queue if that is longer. The default is CAKE's.
    #[parameter(default = "5 ms", min = "1 us", max = "1 h")]
    pub target: Option<Quantity<Duration>>,
    /// The time for which the wait may exceed the target.
    ///
    /// The default is CAKE's.
    #[parameter(default = "100 ms", min = "1 us", max = "1 h")]
    pub interval: Option<Quantity<Duration>>,
    /// The length of the longest packet.
    ///
    /// The permitted wait is at least the time to send four such packets, as in CAKE.
    #[parameter(unset = "1514 B, or the typical packet if that is longer", max = "1 GiB")]
    pub mtu: Option<Quantity<Size>>,
}

impl Part for Spec {}

impl Control {
    /// Checks the parameters for `discipline`, which uses COBALT. `steps` has the increase and
    /// decrease of BLUE's probability.
    pub(crate) fn terms(
        &self,
        discipline: &'static str,
        ecn: EcnChoice,
        steps: Checked,
        site: &Site<'_>,
    ) -> Result<Terms, BadParameter> {
        let control = self.checked().of(discipline)?;
        let mtu = control.mtu.map_or(site.packet_bytes.max(1514).into(), |mtu| mtu.0);
        let four_packets = site.rate.time_to_send(4 * mtu);
        Ok(Terms { control, four_packets, steps, ecn: ecn.into(), allows_round: true })
    }
}

/// The checked parameters of COBALT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// CoDel's part.
    pub control: CheckedControl,
    /// The time to send four of the longest packets. A shorter wait never causes a signal of CoDel.
    pub four_packets: Duration,
    /// The increase and the decrease of BLUE's probability.
    pub steps: Checked,
    /// Whether ECN-capable packets are marked.
    pub ecn: EcnPolicy,
    /// Whether, with many queues, the permitted wait is at least the time to send two packets of
    /// each backlogged queue.
    pub allows_round: bool,
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<(CheckedQueue, Terms), BadParameter> {
        let queue = self.queue.check(NAME, site)?;
        let steps = self.checked().of(NAME)?;
        let terms = self.control.terms(NAME, queue.ecn, steps, site)?;
        Ok((queue, terms))
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, terms) = self.check(site)?;
        Ok(queue.serve(OneQueue::<Cobalt>::new(Common::new(terms, site.rng(NAME)))))
    }
}

/// The state that all queues under COBALT share.
#[derive(Debug)]
pub struct Common {
    /// The parameters.
    pub terms: Terms,
    /// The random numbers that decide BLUE's drops.
    pub rng: Rng,
    /// The number of backlogged queues; 0 if there is only one queue, or `allows_round` is false.
    pub backlogged: u32,
}

impl Common {
    /// The shared state of empty queues.
    pub fn new(terms: Terms, rng: Rng) -> Self {
        Common { terms, rng, backlogged: 0 }
    }
}

/// The maximum number of steps by which one departure lowers CoDel's count.
const MAX_STEPS: u32 = 1024;

/// COBALT's state for one queue. See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct Cobalt {
    /// BLUE's probability.
    probability: f64,
    /// The time of the probability's last change.
    changed: Time,
    /// The time of the next signal, or of the next decrease of `count`.
    next: Time,
    /// CoDel's count of signals, which falls in steps while no signals are needed.
    count: u32,
    is_signalling: bool,
}

impl Cobalt {
    /// BLUE's probability, from 0 to 1.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// CoDel's count.
    pub fn count(&self) -> u32 {
        self.count
    }

    fn advance(&mut self, terms: &Terms) {
        self.next += terms.gap(self.count);
    }

    fn change(&mut self, terms: &Terms, by: f64, now: Time) {
        if now.since(self.changed) > terms.control.target {
            self.probability = (self.probability + by).clamp(0.0, 1.0);
            self.changed = now;
        }
    }

    fn step_back(&mut self, terms: &Terms, now: Time) {
        let mut steps = 0;
        while self.count > 0 && now >= self.next {
            self.count -= 1;
            self.advance(terms);
            steps += 1;
            if steps == MAX_STEPS {
                self.next = now;
                return;
            }
        }
    }

    #[inline]
    fn is_due(&mut self, terms: &Terms, sojourn: Duration, queues: u32, now: Time) -> bool {
        let is_due = self.count > 0 && now >= self.next;
        let is_above = sojourn > terms.control.target && sojourn > terms.least_standing(queues);
        if is_above && !self.is_signalling {
            self.next = now + terms.gap(self.count);
        }
        self.is_signalling = is_above;
        if !is_above {
            self.step_back(terms, now);
            return false;
        }
        self.count = self.count.max(1);
        if is_due {
            self.count = self.count.saturating_add(1);
            self.advance(terms);
        }
        is_due
    }
}

impl Terms {
    /// The minimum permitted wait: the time to send four packets, or two packets of each of
    /// `queues` backlogged queues if that is longer. A shorter wait may come from the other queues'
    /// turns alone.
    #[inline]
    fn least_standing(&self, queues: u32) -> Duration {
        self.four_packets.max(Duration::from_ns(self.four_packets.ns() / 2 * u64::from(queues)))
    }

    fn gap(&self, count: u32) -> Duration {
        Duration::from_ns((self.control.interval.ns() as f64 / libm::sqrt(f64::from(count.max(1)))) as u64)
    }
}

impl Law for Cobalt {
    type Common = Common;

    #[inline]
    fn share(common: &mut Common, queues: u32) {
        common.backlogged = if common.terms.allows_round { queues } else { 0 };
    }

    #[inline]
    fn on_departure(&mut self, common: &mut Common, packet: &Packet, queue: Backlog, now: Time) -> Verdict {
        let terms = &common.terms;
        let is_due = self.is_due(terms, now.since(packet.arrived), common.backlogged, now);
        let is_hit = self.probability > 0.0 && common.rng.chance(self.probability);
        let marks = terms.ecn == EcnPolicy::Mark && packet.ecn.is_capable();
        if self.count == 0 {
            self.next = now + terms.control.interval;
        } else if now > self.next && !is_hit && (!is_due || marks) {
            self.next = now; // nothing was dropped, so the schedule does not run behind
        }
        let is_last = queue.is_empty();
        if is_hit && !is_last {
            Verdict::Drop(Cause::Forced)
        } else if is_due && (marks || !is_last) {
            Verdict::Signal(Cause::Early)
        } else {
            Verdict::Pass
        }
    }

    fn overflowed(&mut self, common: &mut Common, _: Backlog, now: Time) {
        self.change(&common.terms, common.terms.steps.increase, now);
        self.is_signalling = true;
        self.next = now;
        self.count = self.count.max(1);
    }

    fn emptied(&mut self, common: &mut Common, now: Time) {
        if self.probability > 0.0 {
            self.change(&common.terms, -common.terms.steps.decrease, now);
        }
        self.is_signalling = false;
        if self.count > 0 && now >= self.next {
            self.count -= 1;
            self.advance(&common.terms);
        }
    }

    fn retune(laws: &mut [Self], common: &mut Common, fresh: &Common, now: Time) -> bool {
        let interval = fresh.terms.control.interval;
        for law in laws.iter_mut().filter(|_| common.terms.control.interval != interval) {
            law.next = law.next.min(now + interval);
        }
        common.terms = fresh.terms;
        true
    }

    fn inspect(&self, _: &Common, probe: &mut dyn Probe) {
        probe.gauge("overflow_probability", Unit::One, self.probability);
        probe.gauge("signalling", Unit::One, f64::from(u8::from(self.is_signalling)));
        probe.gauge("signals_in_phase", Unit::One, f64::from(self.count));
    }
}
