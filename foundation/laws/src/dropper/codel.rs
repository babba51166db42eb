//! CoDel: controlled delay.
//!
//! # What it does
//! Measures each packet's wait when it leaves. After an entire interval in which no packet waited
//! less than the target, it drops a packet. The next drop follows after an interval divided by the
//! square root of the number of drops. Drops stop when a packet again waits less than the target.
//!
//! # Why
//! A queue that drains within a round trip is a useful cushion; one that never drains is only
//! delay. The minimum wait within an interval distinguishes the two at any link rate and buffer
//! size.
//!
//! # State and cost
//! 40 bytes; O(1) per packet, a square root per signal.
//!
//! # Source (section, equation)
//! RFC 8289, section 5; K. Nichols and V. Jacobson, "Controlling queue delay", ACM Queue 10(5),
//! 2012.
//!
//! # Where we differ
//! - As in Linux, a mark may replace a drop. A marked packet is sent, so at most one signal is
//!   given per packet sent.
//! - If several drops are due at one instant, they hit the next packets to leave, in the
//!   scheduler's order.
//!
//! # Example
//! ```toml
//! [discipline.codel]
//! target = "5 ms"
//! interval = "100 ms"
//! ecn = "mark"
//! ```

use crate::about::{About, Family};
use crate::dropper::law::{Law, OneQueue};
use crate::error::{BadParameter, Of as _};
use crate::part::Part;
use crate::queueing::{CheckedQueue, Marking};
use crate::site::Site;
use crate::spec::{EcnChoice, Quantity};
use crate::timer::rescheduled;
use alloc::boxed::Box;
use fairwire_core::units::Size;
use fairwire_core::{Backlog, Cause, Discipline, Duration, EcnPolicy, Packet, Probe, Time, Unit, Verdict};
use fairwire_parameters::{parameters, word};

/// The catalogue entry.
pub const ABOUT: About = About {
    family: Family::ActiveQueueManagement,
    summary: "drops on departure while the least wait of an interval stays above a target",
    state: "40 bytes",
    cost: "O(1)",
    marks: true,
    source: "RFC 8289, section 5",
};

const NAME: &str = "codel";

/// Parameters of `codel`.
#[parameters(gated)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The buffer, the response to signals, and the order of service.
    #[parameter(flatten)]
    pub queue: Marking,
    /// The parameters that CoDel has wherever it is used.
    #[parameter(flatten)]
    pub control: Control,
}

/// CoDel's parameters for each queue that it controls.
#[parameters(gated, public, checked = CheckedControl, group)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Control {
    /// The permitted wait.
    #[parameter(default = "5 ms", min = "1 us", max = "1 h", source = "RFC 8289, sections 4 and 5.3.")]
    pub target: Option<Quantity<Duration>>,
    /// The time for which the wait may exceed the target: a round trip of the slower senders.
    #[parameter(default = "100 ms", min = "1 us", max = "1 h", source = "RFC 8289, sections 4 and 5.3.")]
    pub interval: Option<Quantity<Duration>>,
    /// The backlog, without the departing packet, up to which no signal is given.
    #[parameter(
        unset = "1514 B, or the typical packet if that is longer",
        max = "1 GiB",
        source = "RFC 8289, section 5.3, \"maxpacket\": 512 there, with the advice to use the interface's MTU."
    )]
    pub mtu: Option<Quantity<Size>>,
    /// The wait above which ECN-capable packets are marked.
    ///
    /// This needs `ecn = "mark"`, and does not depend on CoDel's signals.
    #[parameter(unset = "none", min = "1 us", max = "1 h", source = "Linux; for DCTCP and the like.")]
    pub ce_threshold: Option<Quantity<Duration>>,
    /// The precision of CoDel's arithmetic.
    ///
    /// Times and 1/sqrt(count) are either exact, or as coarse as in Linux.
    #[parameter(default = Arithmetic::Exact)]
    pub arithmetic: Option<Arithmetic>,
}

impl Part for Spec {}

/// The precision of CoDel's arithmetic.
#[word(gated)]
pub enum Arithmetic {
    /// As in RFC 8289, in nanoseconds.
    #[default]
    Exact,
    /// As in Linux, with times in units of 1.024 us. Each signal computes 1/sqrt(count) by one step
    /// of Newton's method from the previous root, in 16 bits. From count 1 to count 2, the step
    /// gives 0.5 instead of 0.707.
    Linux,
}

impl Control {
    pub(crate) fn terms(
        &self,
        discipline: &'static str,
        ecn: EcnChoice,
        site: &Site<'_>,
    ) -> Result<Terms, BadParameter> {
        let control = self.checked().of(discipline)?;
        let mtu = control.mtu.map_or(site.packet_bytes.max(1514).into(), |mtu| mtu.0);
        Ok(Terms { control: control.rounded(), mtu, ecn: ecn.into(), rules: Rules::Rfc })
    }
}

/// The checked parameters of CoDel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// The parameters, with times rounded to the precision of `arithmetic`.
    pub control: CheckedControl,
    /// The backlog, in bytes and without the departing packet, up to which no signal is given.
    pub mtu: u64,
    /// Whether ECN-capable packets are marked.
    pub ecn: EcnPolicy,
    /// The rules of one queue among many. A single queue follows [`Rules::Rfc`].
    pub rules: Rules,
}

/// The rules of CoDel for one queue among many.
#[word(gated)]
pub enum Rules {
    /// As in RFC 8290: CoDel sees only the queue that it controls.
    #[default]
    Rfc,
    /// As in Linux: the backlog of all queues is compared with the MTU. Packets dropped by overflow
    /// count as signals. An empty queue ends signalling only when polled.
    Linux,
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<(CheckedQueue, Terms), BadParameter> {
        let queue = self.queue.check(NAME, site)?;
        let terms = self.control.terms(NAME, queue.ecn, site)?;
        Ok((queue, terms))
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, terms) = self.check(site)?;
        Ok(queue.serve(OneQueue::<Codel>::new(terms)))
    }
}

/// CoDel's state for one queue. See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct Codel {
    /// The earliest time of a signal; `None` while the wait is below the target, or the backlog is
    /// at most [`Terms::mtu`].
    due: Option<Time>,
    next: Time,
    count: u32,
    last_count: u32,
    /// The latest approximation of 1/sqrt(count) by Newton's method, in units of 2^-16. Only
    /// [`Arithmetic::Linux`] uses it.
    root: u16,
    phase: Phase,
}

/// CoDel's state between two packets. After a drop, the RFC's loop inspects the next packet. Here a
/// separate call inspects that packet, so the last two phases record the drop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Calm,
    Signalling,
    /// The first packet was dropped. The next packet is sent, and signalling begins.
    Begun,
    /// A packet was dropped and counted. The next packet decides whether signalling continues.
    Dropped,
}

impl Codel {
    /// CoDel's count of signals. The drop rate is proportional to its square root.
    pub fn count(&self) -> u32 {
        self.count
    }

    pub(crate) fn is_signalling(&self) -> bool {
        self.phase != Phase::Calm
    }

    #[inline]
    fn is_above(&mut self, terms: &Terms, sojourn: Duration, queue: Backlog, now: Time) -> bool {
        if sojourn < terms.control.target || queue.bytes <= terms.mtu {
            self.due = None;
            return false;
        }
        now >= *self.due.get_or_insert(now + terms.control.interval)
    }

    /// Gives `packet` the signal that is due. A mark also schedules the next signal. After a drop,
    /// the next departure schedules it.
    #[inline]
    fn signal(&mut self, terms: &Terms, packet: &Packet, now: Time) -> Verdict {
        let (begins, marks) = (self.phase == Phase::Calm, terms.marks(packet));
        match (begins, marks) {
            (true, true) => self.begin(terms, now),
            (true, false) => self.phase = Phase::Begun,
            (false, true) => {
                self.count_one();
                self.schedule(terms);
            }
            (false, false) => {
                self.count_one();
                self.phase = Phase::Dropped;
            }
        }
        Verdict::Signal(Cause::Early)
    }

    /// Begins signalling: near the previous drop rate after a short pause, otherwise from a count
    /// of 1.
    fn begin(&mut self, terms: &Terms, now: Time) {
        let delta = self.count - self.last_count;
        let is_recent = now.since(self.next) < terms.control.interval * 16;
        if delta > 1 && is_recent {
            self.count = delta;
            self.root = newton(self.root, delta);
        } else {
            (self.count, self.root) = (1, u16::MAX);
        }
        self.last_count = self.count;
        self.next = now + self.gap(terms);
        self.phase = Phase::Signalling;
    }

    fn gap(&self, terms: &Terms) -> Duration {
        let interval = terms.control.interval.ns();
        Duration::from_ns(match terms.control.arithmetic {
            // A square root is rounded exactly on every machine (IEEE 754).
            Arithmetic::Exact => (interval as f64 / libm::sqrt(f64::from(self.count))) as u64,
            Arithmetic::Linux => (((interval >> UNIT) * u64::from(self.root)) >> 16) << UNIT,
        })
    }

    fn count_one(&mut self) {
        self.count = self.count.saturating_add(1);
        self.root = newton(self.root, self.count);
    }

    /// Schedules the next signal. The count already includes the signal just given.
    fn schedule(&mut self, terms: &Terms) {
        self.next += self.gap(terms);
        self.phase = Phase::Signalling;
    }
}

/// The exponent of Linux's unit of time, 2^10 ns.
const UNIT: u32 = 10;

/// One step of Newton's method for 1/sqrt(count) from `root`: r (3 - count r^2) / 2, rounded down
/// to 2^-16. Overflows may raise `count` far above the count that belongs to `root`. The step would
/// then be negative, but wraps around in 64 unsigned bits, as in Linux. A result of 0 remains until
/// a new phase begins.
fn newton(root: u16, count: u32) -> u16 {
    let square = u64::from(root) * u64::from(root); // 2^32 are 1
    let rest = (3_u64 << 32).wrapping_sub(square * u64::from(count));
    let root = u64::from(root) << 16;
    ((root.wrapping_mul(rest >> 2) >> 31) >> 16) as u16
}

impl CheckedControl {
    fn counted(&self, at: Time) -> Time {
        match self.arithmetic {
            Arithmetic::Exact => at,
            Arithmetic::Linux => Time::from_ns(at.ns() >> UNIT << UNIT),
        }
    }

    fn rounded(self) -> Self {
        let counted = |time: Duration| self.counted(Time::ZERO + time).since(Time::ZERO);
        CheckedControl {
            target: counted(self.target),
            interval: counted(self.interval),
            ce_threshold: self.ce_threshold.map(counted),
            ..self
        }
    }
}

impl Terms {
    fn marks(&self, packet: &Packet) -> bool {
        self.ecn == EcnPolicy::Mark && packet.ecn.is_capable()
    }
}

impl Law for Codel {
    type Common = Terms;

    #[inline]
    fn on_departure(&mut self, terms: &mut Terms, packet: &Packet, queue: Backlog, now: Time) -> Verdict {
        let now = terms.control.counted(now);
        let sojourn = now.since(terms.control.counted(packet.arrived));
        let is_above = self.is_above(terms, sojourn, queue, now);
        match self.phase {
            Phase::Begun => self.begin(terms, now),
            Phase::Calm if is_above => return self.signal(terms, packet, now),
            Phase::Calm => {}
            _ if !is_above => self.phase = Phase::Calm,
            phase => {
                if phase == Phase::Dropped {
                    self.schedule(terms);
                }
                if now >= self.next {
                    return self.signal(terms, packet, now);
                }
            }
        }
        match terms.control.ce_threshold {
            Some(threshold) if sojourn > threshold && terms.marks(packet) => Verdict::Signal(Cause::Forced),
            _ => Verdict::Pass,
        }
    }

    fn overflowed(&mut self, terms: &mut Terms, _: Backlog, _: Time) {
        if terms.rules == Rules::Linux {
            self.count = self.count.saturating_add(1);
        }
    }

    fn emptied(&mut self, terms: &mut Terms, now: Time) {
        match (terms.rules, self.phase) {
            (Rules::Linux, Phase::Calm | Phase::Signalling) => return, // what comes next may be in time for the next signal
            (Rules::Linux, Phase::Begun) => self.begin(terms, terms.control.counted(now)),
            _ => self.phase = Phase::Calm,
        }
        self.due = None;
    }

    fn polled_empty(&mut self, terms: &mut Terms, _: Time) {
        self.phase = Phase::Calm;
        // If an overflow has emptied the queue, `emptied` was not called. By the RFC's rules, `due`
        // is reset now; Linux keeps it.
        if terms.rules == Rules::Rfc {
            self.due = None;
        }
    }

    fn retune(laws: &mut [Self], terms: &mut Terms, fresh: &Terms, now: Time) -> bool {
        if terms.control.arithmetic != fresh.control.arithmetic {
            return false; // times are kept as finely as they are counted
        }
        let (before, after) = (terms.control.interval, fresh.control.interval);
        for law in laws.iter_mut().filter(|_| before != after) {
            law.due = law.due.map(|due| rescheduled(due, before, after, now));
            law.next = law.next.min(now + after);
        }
        *terms = *fresh;
        true
    }

    fn inspect(&self, _: &Terms, probe: &mut dyn Probe) {
        probe.gauge("signalling", Unit::One, f64::from(u8::from(self.is_signalling())));
        probe.gauge("signals_in_phase", Unit::One, f64::from(self.count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newton_step_from_near_the_root_comes_nearer() {
        let two = newton(u16::MAX, 2);
        assert_eq!((newton(u16::MAX, 1), two), (u16::MAX, 32_769)); // 0.5 for 1/sqrt(2)
        assert_eq!(newton(newton(two, 2), 2), 45_440); // after 0.625, 0.6934 of 0.7071
    }

    #[test]
    fn a_step_that_would_end_below_zero_wraps_around() {
        // Each `next` was computed independently, in 64-bit integers that wrap around.
        for (root, count, next) in
            [(u16::MAX, 65, 95), (u16::MAX, 66, 32_865), (8_000, 200, 79), (11_965, 90, 0)]
        {
            assert_eq!(newton(root, count), next, "from {root} with {count}");
        }
        assert_eq!(newton(0, 7), 0);
    }
}
