//! DualPI2: two coupled queues for low latency, low loss and scalable throughput.
//!
//! # What it does
//! Packets of L4S senders, known by ECT(1) or CE, wait in one queue and all others in a second. A
//! PI controller moves one base probability p' so that the delay of the second, classic queue stays
//! at a target. It does the same for the first queue, should its senders ignore marks. Classic
//! packets are signalled with p' squared, L4S packets with k times p' or by a step (or ramp) on
//! their own queue's delay, whichever is more. The L4S queue is served nearly first.
//!
//! # Why
//! A classic sender's rate falls with the square root of its signals, a scalable sender's with
//! their number: squaring for the one and multiplying for the other gives both the same rate.
//! Scalable senders need very little queue, which a queue of their own lets them have.
//!
//! # State and cost
//! 910 bytes beside the slots of two buffers, each of which could hold the whole limit; O(1) per
//! packet. At most 1024 missed updates are made up for.
//!
//! # Source (section, equation)
//! RFC 9332, section 2 and appendix A.
//!
//! # Where we differ
//! - p' follows the longer of the two queues' delays, as in Linux and in appendix A.2; appendix A.1
//!   has the classic queue's alone. L4S senders that heed marks keep their queue below the target,
//!   and then both are the same. One that does not is held near the target: sending 1.2 or 2 times
//!   the link's rate with no other sender beside it, it waits below 30 ms on average, where it
//!   filled the buffer.
//! - The buffer is filled to the last byte. The RFC's pseudo-code refuses an arrival where less
//!   than the longest packet would find room, so that long packets are not at a disadvantage.
//! - There is no timer: updates are made at the first call after they were due, with the queue as
//!   it was then.
//! - Weighted round robin keeps accounts in bytes: while both queues wait, a classic packet is due
//!   whenever the classic queue's share of the bytes sent would otherwise fall behind. The RFC
//!   leaves the scheduler open.
//! - Probabilities above 1 count as 1. When k p' reaches 1 both queues drop with p' squared, and
//!   what L4S packets are left are all marked (appendix A.2).
//! - Signals are dealt by the RFC's deterministic counters; nothing is drawn.
//! - The last packet that waits is sent even where a drop is due, so that the link never idles for
//!   it.
//! - As in the L4S team's kernels, the step is for L4S packets that met two others in their queue
//!   (`min_qlen_step`; Linux 6.17 has 0): to wait for one packet, 1.2 ms at 10 Mbit/s, is no
//!   congestion. Appendix A.1 has Th_len of one packet, counted where a packet leaves.
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

/// Its description in the catalogue.
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
    /// How much may wait in both queues together.
    #[parameter(is = role::BUFFER, unset = "the site's")]
    pub buffer: Option<Quantity<Amount>>,
    /// Whether a signal drops or marks ECN-capable packets.
    ///
    /// With `drop` signals of both queues are drops; L4S senders then lose what they were promised.
    #[parameter(is = role::ECN, default = EcnChoice::Mark)]
    pub ecn: Option<EcnChoice>,
    /// The delay of the classic queue.
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
    /// Sets `alpha` and `beta`.
    #[parameter(default = "100 ms", min = "1 us", max = "1 h", source = "RFC 9332, appendix A.1.")]
    pub rtt_max: Option<Quantity<Duration>>,
    /// What an update adds per second of delay above the target.
    #[parameter(
        unset = "0.1 update / rtt_max^2",
        min = 0.0,
        max = 1e9,
        unit = "Hz",
        source = "RFC 9332, appendix A.1: 0.15 and 3 by these formulas. Linux has 0.16 and 3.2."
    )]
    pub alpha: Option<f64>,
    /// What an update adds per second by which the delay grew.
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
    /// From this delay on L4S packets are marked by their own queue.
    #[parameter(default = "1 ms", min = "1 us", max = "1 h", source = "Linux.")]
    pub step: Option<Quantity<Duration>>,
    /// Above `step` the probability rises to 1 over this.
    #[parameter(
        default = "0 ms",
        max = "1 h",
        source = "RFC 9332's example, appendix A.1, has 800 us and 400 us."
    )]
    pub ramp: Option<Quantity<Duration>>,
    /// The step is for L4S packets that met as many others in their queue.
    ///
    /// Those in transmission do not count. With 0 it is for all.
    #[parameter(default = 2, max = 1_000_000, unit = "packets", source = "L4S team; 0 in Linux 6.17.")]
    pub min_qlen_step: Option<u32>,
    /// How the L4S queue is served nearly first.
    ///
    /// See `Serve`.
    #[parameter(default = Serve::Wrr)]
    pub serve: Option<Serve>,
    /// With `wrr`, the least share that a backlogged classic queue gets.
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
    /// Several targets, so that a classic packet goes first only where it would starve.
    #[parameter(default = "50 ms", min = "1 us", max = "1 h", source = "Ours.")]
    pub time_shift: Option<Quantity<Duration>>,
}

impl Part for Spec {
    /// A second buffer.
    fn table_bytes(&self, packets: u64) -> u64 {
        packets * memory::SLOT
    }
}

/// How the L4S queue is served nearly first.
#[word(gated)]
pub enum Serve {
    /// Weighted round robin: the classic queue has a small share of its own.
    #[default]
    Wrr,
    /// The packet that waited longest goes first, and L4S packets count as having waited
    /// `time_shift` longer.
    TimeShifted,
}

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// How much may wait in both queues together.
    pub limit: Limit,
    /// What becomes of a signal.
    pub ecn: EcnPolicy,
    /// The delay of the classic queue.
    pub target: Duration,
    /// Time between updates.
    pub update: Duration,
    /// What an update adds per second of delay above the target.
    pub alpha: f64,
    /// What an update adds per second by which the delay grew.
    pub beta: f64,
    /// k.
    pub coupling: f64,
    /// From this delay on L4S packets are marked by their own queue.
    pub step: Duration,
    /// Above that the probability rises to 1 over this.
    pub ramp: Duration,
    /// That is for packets that met as many others in the L4S queue.
    pub min_qlen_step: u32,
    /// How the L4S queue is served nearly first.
    pub serve: Serve,
    /// The least share that a backlogged classic queue gets.
    pub classic_share: f64,
    /// The head start of L4S packets.
    pub time_shift: Duration,
}

impl Spec {
    /// Checks what was typed against the site.
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

/// Updates made up for in one call. With the defaults that is 15 s, within which p' goes from 1 to
/// 0 twice.
const MAX_UPDATES: u64 = 1024;

/// Two coupled queues. See the [module](self).
#[derive(Debug)]
pub struct DualPi2 {
    config: Config,
    scalable: Side,
    classic: Side,
    /// p'.
    base: f64,
    /// The longer queue's delay at the last update, in seconds.
    last_delay: f64,
    next_update: Time,
    /// Bytes that the classic queue is behind its share while both queues wait.
    behind: f64,
}

/// One of the queues, with the RFC's counter of signals owed.
#[derive(Debug)]
struct Side {
    buffer: Buffer,
    /// The numbers of those that met too few others for the step: never more than the step needs.
    few: VecDeque<u64>,
    came: u64,
    left: Tally,
    /// Sum of the probabilities since the last mark or drop.
    owed: f64,
    /// The same of the drops under overload.
    drops_owed: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    sent: u64,
    marked: u64,
    dropped: u64,
    latest_wait: Duration,
}

impl Side {
    fn new(limit: Limit, few: u32) -> Self {
        Side {
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

    /// When the packet that leaves next arrived.
    fn head_arrived(&self) -> Option<Time> {
        self.buffer.oldest().map(|key| self.buffer.packet(key).arrived)
    }

    /// How long the packet that leaves next has waited at `now`; zero when there is none.
    fn delay(&self, now: Time) -> Duration {
        self.head_arrived().map_or(Duration::ZERO, |arrived| now.since(arrived))
    }

    /// The packet that leaves next. Had it met enough others for the step?
    fn pop(&mut self) -> Option<(Packet, bool)> {
        let key = self.buffer.oldest()?;
        let number = self.came - u64::from(self.buffer.len());
        let met_few = self.few.pop_front_if(|few| *few == number).is_some();
        Some((self.buffer.remove(key), !met_few))
    }
}

/// Adds to what is owed; true when it comes to more than one signal. One is enough per packet, so
/// probabilities count up to 1.
fn recurs(owed: &mut f64, probability: f64) -> bool {
    *owed += probability.min(1.0);
    let is_due = *owed > 1.0 || probability >= 1.0;
    if is_due {
        *owed = (*owed - 1.0).max(0.0);
    }
    is_due
}

/// What is done to a packet on its way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Sent,
    Signalled(Cause),
    Dropped,
}

impl DualPi2 {
    /// Two empty queues.
    pub fn new(config: Config) -> Self {
        DualPi2 {
            config,
            scalable: Side::new(config.limit, config.min_qlen_step),
            classic: Side::new(config.limit, 0),
            base: 0.0,
            last_delay: 0.0,
            next_update: Time::ZERO,
            behind: 0.0,
        }
    }

    /// p', from 0 to 1.
    pub fn base(&self) -> f64 {
        self.base
    }

    /// The probability for classic packets: p' squared.
    pub(crate) fn classic_probability(&self) -> f64 {
        self.base * self.base
    }

    /// The probability for L4S packets by the coupling: k p', at most 1.
    pub(crate) fn coupled_probability(&self) -> f64 {
        (self.config.coupling * self.base).min(1.0)
    }

    /// Is the backlog so large that marking every L4S packet is not enough?
    fn is_overloaded(&self) -> bool {
        self.config.coupling * self.base >= 1.0
    }

    /// Makes the updates that are due; nothing came or went since the last call.
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

    /// The delay that p' follows at `now`. Marks keep the L4S queue far shorter than the target,
    /// unless its senders do not listen; then p' must follow that queue, or nothing ever would drop
    /// from it.
    fn longer_delay(&self, now: Time) -> Duration {
        self.classic.delay(now).max(self.scalable.delay(now))
    }

    /// The probability of an L4S mark by its own queue's delay.
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

    /// Is the L4S queue's packet next?
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

    /// A packet was sent: while both queues wait, each side's part of the link is accounted for.
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

    fn side(&mut self, is_scalable: bool) -> &mut Side {
        if is_scalable { &mut self.scalable } else { &mut self.classic }
    }

    /// What becomes of an L4S packet that is taken out.
    fn scalable_fate(&mut self, delay: Duration, steps: bool) -> Fate {
        if self.is_overloaded() {
            let probability = self.classic_probability();
            return match recurs(&mut self.scalable.drops_owed, probability) {
                true => Fate::Dropped,
                false => Fate::Signalled(Cause::Early), // k p' is 1 or more
            };
        }
        let native = if steps { self.native_probability(delay) } else { 0.0 };
        let probability = native.max(self.coupled_probability());
        match recurs(&mut self.scalable.owed, probability) {
            true => Fate::Signalled(Cause::Early),
            false => Fate::Sent,
        }
    }

    /// What becomes of a classic packet that is taken out.
    fn classic_fate(&mut self) -> Fate {
        let probability = self.classic_probability();
        match recurs(&mut self.classic.owed, probability) {
            true if self.is_overloaded() => Fate::Dropped,
            true => Fate::Signalled(Cause::Early),
            false => Fate::Sent,
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
                Fate::Signalled(cause) if self.config.ecn == EcnPolicy::Mark && packet.ecn.is_capable() => {
                    packet.ecn = Ecn::Ce;
                    self.side(is_scalable).left.marked += 1;
                    signals.marked(&packet, cause);
                }
                Fate::Signalled(cause) if !is_last => {
                    self.side(is_scalable).left.dropped += 1;
                    signals.dropped(packet, cause);
                    continue;
                }
                Fate::Dropped if !is_last => {
                    self.side(is_scalable).left.dropped += 1;
                    signals.dropped(packet, Cause::Forced);
                    continue;
                }
                Fate::Sent | Fate::Signalled(_) | Fate::Dropped => {}
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
