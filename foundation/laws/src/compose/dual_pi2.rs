//! DualPI2: two coupled queues for low latency, low loss and scalable throughput.
//!
//! # What it does
//! Packets of L4S senders, identified by ECT(1) or CE, wait in one queue and all others in the
//! classic queue. A PI controller adjusts a base probability p' to keep the delay of the classic
//! queue at a target. Classic packets are signalled with p' squared. L4S packets are signalled with
//! k times p', or by a step (or ramp) on their own queue's delay, whichever is more. The L4S queue
//! is nearly always served first.
//!
//! # Why
//! A classic sender's rate falls with the square root of the number of its signals. A scalable
//! sender's rate falls with the number itself. So both get the same rate if the probability for
//! classic senders is squared. Scalable senders need very little queue, which a separate queue
//! provides.
//!
//! # State and cost
//! 910 bytes, plus the slots of two buffers, each for the entire limit. O(1) per packet.
//!
//! # Source (section, equation)
//! RFC 9332, section 2 and appendix A.
//!
//! # Where we differ
//! - p' follows the longer of the two queues' delays, as in Linux and in appendix A.2. Appendix A.1
//!   uses only the classic queue's delay, so unresponsive L4S senders can fill the buffer.
//! - The buffer is filled to the last byte. The RFC's pseudo-code refuses an arrival if less than
//!   the longest packet would fit.
//! - There is no timer: an update is made by the first call after it was due.
//! - Weighted round robin counts bytes. While both queues are backlogged, a classic packet is due
//!   whenever the classic queue would otherwise fall behind its share.
//! - Probabilities above 1 count as 1. When k p' reaches 1 both queues drop with p' squared, and
//!   all remaining L4S packets are marked (appendix A.2).
//! - Signals are distributed by the RFC's deterministic counters.
//! - The last waiting packet is sent even if a drop is due, so a drop never makes the link idle.
//! - As in the L4S team's kernels, the step applies to L4S packets that met two others in their
//!   queue (`min_qlen_step`; Linux 6.17 has 0). Waiting for one packet is no congestion. Appendix
//!   A.1 has Th_len of one packet, counted at departure.
//!
//! # Example
//! ```toml
//! [discipline.dualpi2]
//! target = "15 ms"
//! step = "1 ms"
//! ```

use crate::about::{About, Family};
use crate::error::{BadParameter, Of as _};
use crate::memory;
use crate::part::Part;
use crate::role;
use crate::site::Site;
use crate::spec::{EcnChoice, Quantity};
use crate::timer::rescheduled;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::any::Any;
use fairwire_core::units::Amount;
use fairwire_core::{
    Backlog, Buffer, Cause, Control, Discipline, Duration, Ecn, EcnPolicy, Limit, Needs, Packet, Probe,
    Queues, Room, Signals, Time, Unit,
};
use fairwire_parameters::{parameters, word};

/// The catalogue entry.
pub const ABOUT: About = About {
    family: Family::ActiveQueueManagement,
    summary: "a queue for scalable senders beside one for classic ones, their signals coupled",
    state: "910 bytes, and the slots of a second buffer",
    cost: "O(1)",
    marks: true,
    source: "RFC 9332, appendix A",
};

const NAME: &str = "dualpi2";

/// Parameters of `dualpi2`.
#[parameters(gated, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The total size of both queues.
    #[parameter(is = role::BUFFER, unset = "the site's")]
    pub buffer: Option<Quantity<Amount>>,
    /// Whether a signal drops or marks ECN-capable packets.
    ///
    /// With `drop`, both queues drop, and L4S senders lose the benefit of L4S.
    #[parameter(is = role::ECN, default = EcnChoice::Mark)]
    pub ecn: Option<EcnChoice>,
    /// The target delay of the classic queue.
    #[parameter(default = "15 ms", min = "1 us", max = "1 h", source = "RFC 9332, appendix A.1.")]
    pub target: Option<Quantity<Duration>>,
    /// Time between updates.
    #[parameter(
        unset = "the lesser of `target` and a third of `rtt_max`",
        min = "1 us",
        max = "1 h",
        source = "RFC 9332, appendix A.1; 16 ms in Linux."
    )]
    pub update: Option<Quantity<Duration>>,
    /// The longest round trip for which the controller is stable.
    ///
    /// The defaults of `update`, `alpha` and `beta` follow from it.
    #[parameter(default = "100 ms", min = "1 us", max = "1 h", source = "RFC 9332, appendix A.1.")]
    pub rtt_max: Option<Quantity<Duration>>,
    /// The change of p' per update, for each second of delay above the target.
    #[parameter(
        unset = "0.1 update / rtt_max^2",
        min = 0.0,
        max = 1e9,
        unit = "Hz",
        source = "RFC 9332, appendix A.1: 0.15 and 3 by these formulas. Linux has 0.16 and 3.2."
    )]
    pub alpha: Option<f64>,
    /// The change of p' per update, for each second by which the delay grew.
    #[parameter(
        unset = "0.3 / rtt_max",
        min = 0.0,
        max = 1e9,
        unit = "Hz",
        source = "RFC 9332, appendix A.1: 0.15 and 3 by these formulas. Linux has 0.16 and 3.2."
    )]
    pub beta: Option<f64>,
    /// The coupling factor k.
    #[parameter(
        default = 2.0,
        above = 0.0,
        max = 100.0,
        unit = "1",
        source = "RFC 9332, section 2.1 and appendix C."
    )]
    pub coupling: Option<f64>,
    /// The delay above which L4S packets are marked by their own queue.
    #[parameter(default = "1 ms", min = "1 us", max = "1 h", source = "Linux.")]
    pub step: Option<Quantity<Duration>>,
    /// The range of delays above `step` in which the probability of a mark rises from 0 to 1.
    #[parameter(
        default = "0 ms",
        max = "1 h",
        source = "RFC 9332's example, appendix A.1, has 800 us and 400 us."
    )]
    pub ramp: Option<Quantity<Duration>>,
    /// The step applies only to L4S packets that found at least this many others in their queue on
    /// arrival.
    ///
    /// Packets in transmission do not count. With 0 the step applies to all.
    #[parameter(default = 2, max = 1_000_000, unit = "packets", source = "L4S team; 0 in Linux 6.17.")]
    pub min_qlen_step: Option<u32>,
    /// The rule by which the L4S queue is nearly always served first.
    #[parameter(default = Serve::Wrr)]
    pub serve: Option<Serve>,
    /// With `wrr`, the minimum share of a backlogged classic queue.
    #[parameter(
        default = 0.1,
        above = 0.0,
        max = 1.0,
        unit = "1",
        source = "Linux; the RFC leaves it open."
    )]
    pub classic_share: Option<f64>,
    /// With `time-shifted`, the head start of L4S packets.
    ///
    /// The default is several times the target, so a classic packet goes first only if it would
    /// otherwise starve.
    #[parameter(default = "50 ms", min = "1 us", max = "1 h", source = "Ours.")]
    pub time_shift: Option<Quantity<Duration>>,
}

impl Part for Spec {
    /// A second buffer.
    fn table_bytes(&self, packets: u64) -> u64 {
        packets * memory::SLOT
    }
}

/// The rule by which the L4S queue is nearly always served first.
#[word(gated)]
pub enum Serve {
    /// Weighted round robin: the classic queue has a small share.
    #[default]
    Wrr,
    /// The packet that waited longest is first, and L4S packets count as having waited `time_shift`
    /// longer.
    TimeShifted,
}

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The total size of both queues.
    pub limit: Limit,
    /// The response to a signal.
    pub ecn: EcnPolicy,
    /// The target delay of the classic queue.
    pub target: Duration,
    /// Time between updates.
    pub update: Duration,
    /// The change of p' per update, for each second of delay above the target.
    pub alpha: f64,
    /// The change of p' per update, for each second by which the delay grew.
    pub beta: f64,
    /// k.
    pub coupling: f64,
    /// The delay above which L4S packets are marked by their own queue.
    pub step: Duration,
    /// The range of delays above `step` in which the probability of a mark rises from 0 to 1.
    pub ramp: Duration,
    /// The step applies only to packets that found at least this many others in the L4S queue.
    pub min_qlen_step: u32,
    /// The rule by which the L4S queue is nearly always served first.
    pub serve: Serve,
    /// The minimum share of a backlogged classic queue.
    pub classic_share: f64,
    /// The head start of L4S packets.
    pub time_shift: Duration,
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<Config, BadParameter> {
        let given = self.checked().of(NAME)?;
        let target = given.target;
        let rtt_max = given.rtt_max;
        let third = Duration::from_ns((rtt_max.ns() / 3).max(1000));
        let update = given.update.unwrap_or(target.min(third));
        let alpha = 0.1 * update.secs() / (rtt_max.secs() * rtt_max.secs());
        Ok(Config {
            limit: site.room(NAME, self.buffer)?.limit,
            ecn: given.ecn.into(),
            target,
            update,
            alpha: given.alpha.unwrap_or(alpha),
            beta: given.beta.unwrap_or(0.3 / rtt_max.secs()),
            coupling: given.coupling,
            step: given.step,
            ramp: given.ramp,
            min_qlen_step: given.min_qlen_step,
            serve: given.serve,
            classic_share: given.classic_share,
            time_shift: given.time_shift,
        })
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        Ok(Box::new(DualPi2::new(self.check(site)?)))
    }
}

/// The maximum number of missed updates that one call makes up for. With the defaults they span 15
/// s, in which p' could fall from 1 to 0 twice.
const MAX_UPDATES: u64 = 1024;

/// Two coupled queues. See the [module](self).
#[derive(Debug)]
pub struct DualPi2 {
    config: Config,
    scalable: SubQueue,
    classic: SubQueue,
    /// p'.
    base: f64,
    /// The longer queue's delay at the last update, in seconds.
    last_delay: f64,
    next_update: Time,
    /// The bytes by which the classic queue is behind its share while both queues are backlogged.
    behind: f64,
}

#[derive(Debug)]
struct SubQueue {
    buffer: Buffer,
    /// The numbers of the waiting packets to which the step does not apply, because they found too
    /// few others on arrival. At most `min_qlen_step` numbers.
    few: VecDeque<u64>,
    came: u64,
    left: Tally,
    /// The sum of the signal probabilities of all packets so far, minus the number of signals
    /// given.
    owed: f64,
    /// As `owed`, for drops under overload.
    drops_owed: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    sent: u64,
    marked: u64,
    dropped: u64,
    latest_wait: Duration,
}

impl SubQueue {
    fn new(limit: Limit, few: u32) -> Self {
        SubQueue {
            buffer: Buffer::with(limit, Needs::ORDER, Queues::PerFlow),
            few: VecDeque::with_capacity(few.min(limit.max_packets()) as usize),
            came: 0,
            left: Tally::default(),
            owed: 0.0,
            drops_owed: 0.0,
        }
    }

    fn push(&mut self, packet: Packet, few: u32) {
        if self.buffer.len() < few {
            self.few.push_back(self.came);
        }
        self.came += 1;
        self.buffer.push(packet);
    }

    fn head_arrived(&self) -> Option<Time> {
        self.buffer.oldest().map(|key| self.buffer.packet(key).arrived)
    }

    fn delay(&self, now: Time) -> Duration {
        self.head_arrived().map_or(Duration::ZERO, |arrived| now.since(arrived))
    }

    /// Removes the packet that leaves next. Returns the packet, and whether the step applies to it.
    fn pop(&mut self) -> Option<(Packet, bool)> {
        let key = self.buffer.oldest()?;
        let number = self.came - u64::from(self.buffer.len());
        let met_few = self.few.pop_front_if(|few| *few == number).is_some();
        Some((self.buffer.remove(key), !met_few))
    }
}

fn recurs(owed: &mut f64, probability: f64) -> bool {
    *owed += probability.min(1.0);
    let is_due = *owed > 1.0 || probability >= 1.0;
    if is_due {
        *owed = (*owed - 1.0).max(0.0);
    }
    is_due
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    Sent,
    Signalled(Cause),
    Dropped,
}

impl DualPi2 {
    /// Starts with two empty queues.
    pub fn new(config: Config) -> Self {
        DualPi2 {
            config,
            scalable: SubQueue::new(config.limit, config.min_qlen_step),
            classic: SubQueue::new(config.limit, 0),
            base: 0.0,
            last_delay: 0.0,
            next_update: Time::ZERO,
            behind: 0.0,
        }
    }

    /// The base probability p', from 0 to 1.
    pub fn base(&self) -> f64 {
        self.base
    }

    pub(crate) fn classic_probability(&self) -> f64 {
        self.base * self.base
    }

    pub(crate) fn coupled_probability(&self) -> f64 {
        (self.config.coupling * self.base).min(1.0)
    }

    /// True if marking every L4S packet is not enough for the load.
    fn is_overloaded(&self) -> bool {
        self.config.coupling * self.base >= 1.0
    }

    /// Makes the updates due by `now`. Callers change a queue only afterwards, so each update sees
    /// the queues as they were when it fell due.
    #[inline]
    fn advance(&mut self, now: Time) {
        if now >= self.next_update {
            self.make_updates(now);
        }
    }

    fn make_updates(&mut self, now: Time) {
        if self.next_update == Time::ZERO {
            self.next_update = now + self.config.update;
            return;
        }
        let due = now.since(self.next_update).ns() / self.config.update.ns() + 1;
        for i in 0..due.min(MAX_UPDATES) {
            let delay = self.longer_delay(self.next_update + self.config.update * i).secs();
            if self.backlog().is_empty() && self.last_delay == 0.0 && self.base == 0.0 {
                break; // at rest: further updates change nothing
            }
            let Config { alpha, beta, target, .. } = self.config;
            let change = alpha * (delay - target.secs()) + beta * (delay - self.last_delay);
            self.base = (self.base + change).clamp(0.0, 1.0);
            self.last_delay = delay;
        }
        self.next_update += self.config.update * due;
    }

    /// The longer of the two queues' delays. p' follows it so that packets of unresponsive L4S
    /// senders are dropped: marks alone do not keep these senders' queue short.
    fn longer_delay(&self, now: Time) -> Duration {
        self.classic.delay(now).max(self.scalable.delay(now))
    }

    fn native_probability(&self, delay: Duration) -> f64 {
        let Config { step, ramp, .. } = self.config;
        if delay < step {
            0.0
        } else if delay >= step + ramp {
            1.0
        } else {
            (delay - step).secs() / ramp.secs()
        }
    }

    fn serves_scalable(&self) -> Option<bool> {
        let (scalable, classic) = (self.scalable.head_arrived(), self.classic.head_arrived());
        match (scalable, classic) {
            (None, None) => None,
            (Some(_), None) => Some(true),
            (None, Some(_)) => Some(false),
            (Some(scalable), Some(classic)) => Some(match self.config.serve {
                Serve::Wrr => self.behind <= 0.0,
                Serve::TimeShifted => scalable <= classic + self.config.time_shift,
            }),
        }
    }

    fn account(&mut self, is_scalable: bool, len: u32, wait: Duration) {
        let left = &mut self.side(is_scalable).left;
        (left.sent, left.latest_wait) = (left.sent + 1, wait);
        if self.scalable.buffer.is_empty() || self.classic.buffer.is_empty() {
            self.behind = 0.0;
            return;
        }
        let (share, len) = (self.config.classic_share, f64::from(len));
        self.behind += if is_scalable { share * len } else { (share - 1.0) * len };
    }

    fn side(&mut self, is_scalable: bool) -> &mut SubQueue {
        if is_scalable { &mut self.scalable } else { &mut self.classic }
    }

    fn scalable_fate(&mut self, delay: Duration, steps: bool) -> Exit {
        if self.is_overloaded() {
            let probability = self.classic_probability();
            return match recurs(&mut self.scalable.drops_owed, probability) {
                true => Exit::Dropped,
                false => Exit::Signalled(Cause::Early), // k p' is 1 or more
            };
        }
        let native = if steps { self.native_probability(delay) } else { 0.0 };
        let probability = native.max(self.coupled_probability());
        match recurs(&mut self.scalable.owed, probability) {
            true => Exit::Signalled(Cause::Early),
            false => Exit::Sent,
        }
    }

    fn classic_fate(&mut self) -> Exit {
        let probability = self.classic_probability();
        match recurs(&mut self.classic.owed, probability) {
            true if self.is_overloaded() => Exit::Dropped,
            true => Exit::Signalled(Cause::Early),
            false => Exit::Sent,
        }
    }
}

impl Discipline for DualPi2 {
    #[inline]
    fn offer(&mut self, packet: Packet, room: Room, now: Time, signals: &mut dyn Signals) {
        if room == Room::Full {
            return signals.dropped(packet, Cause::Overflow); // it pushes none out
        }
        let Backlog { packets, bytes } = self.backlog();
        let limit = self.config.limit;
        if u64::from(packet.len) > limit.max_bytes() {
            return signals.dropped(packet, Cause::Oversize);
        }
        self.advance(now);
        if packets >= limit.max_packets() || bytes + u64::from(packet.len) > limit.max_bytes() {
            return signals.dropped(packet, Cause::Overflow);
        }
        match packet.ecn {
            Ecn::Ect1 | Ecn::Ce => self.scalable.push(packet, self.config.min_qlen_step),
            Ecn::NotEct | Ecn::Ect0 => self.classic.push(packet, 0),
        }
    }

    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        self.advance(now);
        while let Some(is_scalable) = self.serves_scalable() {
            let popped = self.side(is_scalable).pop();
            let (mut packet, steps) = popped.expect("the queue that is served is not empty");
            let wait = now.since(packet.arrived);
            let fate = if is_scalable { self.scalable_fate(wait, steps) } else { self.classic_fate() };
            let is_last = self.backlog().is_empty();
            match fate {
                Exit::Signalled(cause) if self.config.ecn == EcnPolicy::Mark && packet.ecn.is_capable() => {
                    packet.ecn = Ecn::Ce;
                    self.side(is_scalable).left.marked += 1;
                    signals.marked(&packet, cause);
                }
                Exit::Signalled(cause) if !is_last => {
                    self.side(is_scalable).left.dropped += 1;
                    signals.dropped(packet, cause);
                    continue;
                }
                Exit::Dropped if !is_last => {
                    self.side(is_scalable).left.dropped += 1;
                    signals.dropped(packet, Cause::Forced);
                    continue;
                }
                Exit::Sent | Exit::Signalled(_) | Exit::Dropped => {}
            }
            self.account(is_scalable, packet.len, wait);
            return Some(packet);
        }
        None
    }

    fn ready_at(&self) -> Option<Time> {
        (!self.backlog().is_empty()).then_some(Time::ZERO)
    }

    fn backlog(&self) -> Backlog {
        let (scalable, classic) = (self.scalable.buffer.backlog(), self.classic.buffer.backlog());
        Backlog { packets: scalable.packets + classic.packets, bytes: scalable.bytes + classic.bytes }
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        for (part, side) in [("l4s", &self.scalable), ("classic", &self.classic)] {
            probe.enter(part);
            probe.gauge("backlog_packets", Unit::Packets, f64::from(side.buffer.len()));
            probe.gauge("backlog_bytes", Unit::Bytes, side.buffer.bytes() as f64);
            probe.gauge("latest_wait", Unit::Seconds, side.left.latest_wait.secs());
            probe.gauge("sent_packets", Unit::Packets, side.left.sent as f64);
            probe.gauge("marked_packets", Unit::Packets, side.left.marked as f64);
            probe.gauge("dropped_packets", Unit::Packets, side.left.dropped as f64);
            probe.leave();
        }
        probe.gauge("base_probability", Unit::One, self.base);
        probe.gauge("classic_probability", Unit::One, self.classic_probability());
        probe.gauge("coupled_probability", Unit::One, self.coupled_probability());
        probe.gauge("longer_delay", Unit::Seconds, self.last_delay);
    }

    fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
        self.behind = 0.0;
        loop {
            let side = match (self.scalable.head_arrived(), self.classic.head_arrived()) {
                (Some(scalable), Some(classic)) if scalable <= classic => &mut self.scalable,
                (Some(_), None) => &mut self.scalable,
                (_, Some(_)) => &mut self.classic,
                (None, None) => return,
            };
            take(side.pop().expect("something arrived there").0);
        }
    }
}

impl Control for DualPi2 {
    fn inside(&mut self, _: Option<u32>, _: &mut dyn FnMut(&mut dyn Discipline)) {}

    fn retune(&mut self, fresh: &dyn Discipline, now: Time) -> bool {
        let Some(fresh) = (fresh as &dyn Any).downcast_ref::<Self>() else { return false };
        let takes = self.scalable.buffer.retune(&fresh.scalable.buffer)
            && self.classic.buffer.retune(&fresh.classic.buffer);
        if takes {
            if self.next_update > Time::ZERO {
                let (before, after) = (self.config.update, fresh.config.update);
                self.next_update = rescheduled(self.next_update, before, after, now);
            }
            self.scalable.few.reserve(fresh.scalable.few.capacity());
            self.config = fresh.config;
        }
        takes
    }
}
