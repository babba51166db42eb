//! The description of a link: parsed and checked, then built.

use crate::error::{BadLink, Mistake};
use crate::link::Link;
use crate::moment::Moment;
use crate::quantity::Quantity;
use crate::queue::Queue;
use fairwire_core::units::{Amount, Room};
use fairwire_core::{
    DelayTrace, Discipline, Duration as Span, GilbertElliott, Loss, Outage, Pattern, Rate, RateLaw, Seed,
    Step, Time, Wire, WireLaw,
};
use fairwire_laws::Site;
use fairwire_laws::compose::device::{Device, MAX_PACKETS};
use fairwire_laws::jitter::Normal;
use std::fmt::{self, Display};
use std::sync::Arc;
use std::time::Duration;

/// The default [`mtu`](LinkBuilder::mtu), in bytes: Ethernet's.
pub const DEFAULT_MTU: u32 = 1500;
/// The maximum of [`mtu`](LinkBuilder::mtu): 1 MiB, the longest quantum of a scheduler.
pub const MAX_MTU: u32 = 1 << 20;
/// The default [`buffer`](LinkBuilder::buffer), in packets.
pub const DEFAULT_BUFFER_PACKETS: u32 = 100;

/// A description of a link. Each method sets one property, and a second call replaces the first.
/// [`build`](LinkBuilder::build) reports all mistakes at once.
pub struct LinkBuilder<T, I = Duration> {
    rate: Option<Rate>,
    law: RateLaw,
    delay: Span,
    wire: WireLaw,
    queue: Queue,
    marks: bool,
    room: Room,
    device: u32,
    mtu: u32,
    seed: Seed,
    name: Option<String>,
    origin: Option<I>,
    copy: fn(&T) -> Option<T>,
    keeps_lost: bool,
    mistakes: Vec<Mistake>,
}

/// The checked properties of a link.
pub(crate) struct Parts<T, I> {
    pub(crate) discipline: Box<dyn Discipline>,
    pub(crate) rate: Rate,
    pub(crate) law: RateLaw,
    pub(crate) delay: Span,
    pub(crate) wire: Wire,
    pub(crate) mtu: u32,
    pub(crate) origin: Option<I>,
    pub(crate) copy: fn(&T) -> Option<T>,
    pub(crate) keeps_lost: bool,
}

impl<T, I: Moment> LinkBuilder<T, I> {
    pub(crate) fn new(rate: impl Quantity<Rate>, delay: impl Quantity<Span>) -> Self {
        let mut builder = LinkBuilder {
            rate: None,
            law: RateLaw::Fixed,
            delay: Span::ZERO,
            wire: WireLaw::default(),
            queue: Queue::TailDrop,
            marks: false,
            room: Room::Amount(Amount::Packets(DEFAULT_BUFFER_PACKETS)),
            device: 0,
            mtu: DEFAULT_MTU,
            seed: Seed(1),
            name: None,
            origin: None,
            copy: |_| None,
            keeps_lost: false,
            mistakes: Vec::new(),
        };
        builder.rate = builder.checked("rate", rate.read());
        builder.delay = builder.checked("delay", delay.read()).unwrap_or(Span::ZERO);
        builder
    }

    /// Sets the discipline by its catalogue name, or with parameters in TOML: `"drr+lqd"`, `"{ red
    /// = { gentle = true, min_threshold = '20 packets' } }"`. Default: `"tail-drop"`.
    #[cfg(feature = "catalogue")]
    #[must_use]
    pub fn queue(mut self, name: impl Into<String>) -> Self {
        self.queue = Queue::Named(name.into());
        self
    }

    #[cfg(feature = "text")]
    pub(crate) fn chosen(mut self, queue: fairwire_catalogue::Choice) -> Self {
        self.queue = Queue::Chosen(queue);
        self
    }

    /// Sets a built discipline, from `fairwire-laws` or your code. It brings a buffer, so
    /// [`buffer`](Self::buffer) and [`mark_ecn`](Self::mark_ecn) do not apply.
    #[must_use]
    pub fn discipline(mut self, discipline: Box<dyn Discipline>) -> Self {
        self.queue = Queue::Made(discipline);
        self
    }

    /// Lets a discipline given by name mark ECN-capable packets instead of dropping them early. The
    /// discipline's parameters take precedence: with `{ codel = { ecn = "drop" } }`, CoDel drops.
    /// Without this call, a discipline marks if it does so in Linux; disciplines from papers drop.
    #[must_use]
    pub fn mark_ecn(mut self) -> Self {
        self.marks = true;
        self
    }

    /// Sets the buffer's size: `"100 packets"`, `"64 KiB"`, `"50 ms"` at the link's rate, or `"1.5
    /// bdp"`. For `bdp`, the round trip is twice the link's delay or, in a
    /// [`Duplex`](crate::Duplex), the sum of both delays. Default: 100 packets. A buffer among the
    /// discipline's parameters takes precedence.
    #[must_use]
    pub fn buffer(mut self, room: &str) -> Self {
        self.room = self.checked("buffer", room.parse()).unwrap_or(self.room);
        self
    }

    /// Adds a FIFO device of 1 to 65 536 `packets` behind the discipline, such as a network
    /// interface without byte queue limits. Default: no device.
    #[must_use]
    pub fn device(mut self, packets: u32) -> Self {
        if (1..=MAX_PACKETS).contains(&packets) {
            self.device = packets;
        } else {
            self.refuse("device", format_args!("{packets} packets; allowed: 1 to {MAX_PACKETS}"));
        }
        self
    }

    /// Sets the maximum packet size, 1 to [`MAX_MTU`] bytes. A longer packet is [not
    /// sent](crate::NotSent). Disciplines that count packets take this maximum as the typical size.
    /// Default: 1500.
    #[must_use]
    pub fn mtu(mut self, bytes: u32) -> Self {
        if (1..=MAX_MTU).contains(&bytes) {
            self.mtu = bytes;
        } else {
            self.refuse("mtu", format_args!("{bytes} bytes; allowed: 1 to {MAX_MTU}"));
        }
        self
    }

    /// Changes the rate at ascending times since the link's start: `[("5 s", "10 Mbit/s"), ("8 s",
    /// "2 Mbit/s")]`. A packet in transmission continues at the new rate.
    #[must_use]
    pub fn steps<A: Quantity<Span>, R: Quantity<Rate>>(
        mut self,
        steps: impl IntoIterator<Item = (A, R)>,
    ) -> Self {
        let mut read: Vec<Step> = Vec::new();
        for (at, rate) in steps {
            let at = self.checked("steps", at.read()).map(|at| Time::ZERO + at);
            let rate = self.checked("steps", rate.read());
            let (Some(at), Some(rate)) = (at, rate) else { return self };
            if let Some(last) = read.last().filter(|last| last.at >= at) {
                let before = last.at.since(Time::ZERO);
                let at = at.since(Time::ZERO);
                self.refuse(
                    "steps",
                    format_args!("a step at {at} after one at {before}; allowed: times that ascend"),
                );
                return self;
            }
            read.push(Step { at, rate: Some(rate) });
        }
        self.law = RateLaw::Steps(read.into());
        self
    }

    /// Repeats these rates from the link's start: `[("12 Mbit/s", "1 s"), ("24 Mbit/s", "1 s")]`. A
    /// packet in transmission continues at the new rate. Disciplines and buffers use the rate given
    /// to [`Link::new`].
    #[must_use]
    pub fn pattern<R: Quantity<Rate>, A: Quantity<Span>>(
        mut self,
        parts: impl IntoIterator<Item = (R, A)>,
    ) -> Self {
        let mut read = Vec::new();
        for (rate, length) in parts {
            let rate = self.checked("pattern", rate.read());
            let length = self.checked("pattern", length.read());
            let (Some(rate), Some(length)) = (rate, length) else { return self };
            read.push((length, Some(rate)));
        }
        if let Some(pattern) = self.checked("pattern", Pattern::new(read)) {
            self.law = RateLaw::Pattern(pattern.into());
        }
        self
    }

    /// Follows a trace, which repeats. Disciplines and buffers use the rate given to [`Link::new`].
    /// The formats are
    ///
    /// - mahimahi (`mm-link`): each line is a time in integer milliseconds at which 1504 bytes can
    ///   leave;
    /// - two columns: a time in seconds and the rate in Mbit/s [from then
    ///   on](fairwire_core::Pattern::parse); the last line states when the trace repeats.
    #[must_use]
    pub fn trace(mut self, text: &str) -> Self {
        self.law = self.checked("trace", RateLaw::parse(text)).unwrap_or(self.law);
        self
    }

    /// Scales the preceding [`trace`](Self::trace) or [`pattern`](Self::pattern) to the mean rate
    /// `mean`. The times do not change.
    #[must_use]
    pub fn scale_to(mut self, mean: impl Quantity<Rate>) -> Self {
        if let Some(mean) = self.checked("scale_to", mean.read()) {
            let why = "nothing to scale to that; allowed: after a `trace` or `pattern`, up to 4 million opportunities";
            self.law = self.checked("scale_to", self.law.scaled(mean).ok_or(why)).unwrap_or(self.law);
        }
        self
    }

    /// Takes delays from the text of a file with round-trip times: the JSON of irtt, or columns of
    /// seconds and ms. A packet's delay is [half](DelayTrace::parse) of a round trip; -1 means an
    /// outage, which loses packets. Order is preserved. A buffer in `bdp` uses the delay given to
    /// the link.
    #[must_use]
    pub fn delays(mut self, text: &str) -> Self {
        self.wire.delay_trace = self.checked("delays", DelayTrace::parse(text)).map(Arc::new);
        self
    }

    /// Like [`delays`](Self::delays), for the return link of a pair whose links use the same file.
    /// If an answer is sent immediately, both delays add up to the [round trip](DelayTrace::back)
    /// at the time of sending.
    #[must_use]
    pub fn delays_back(mut self, text: &str) -> Self {
        let read = self.checked("delays_back", DelayTrace::parse(text));
        self.wire.delay_trace = read.map(|there| Arc::new(there.back()));
        self
    }

    /// Sets the loss on the wire: an independent probability per packet, or a
    /// [`GilbertElliott`](crate::GilbertElliott).
    #[must_use]
    pub fn loss(mut self, loss: impl Into<Loss>) -> Self {
        self.wire.loss = self.checked("loss", probable(loss.into()));
        self
    }

    /// Loses all packets whose last bit is sent in an outage. An outage has a start, counted from
    /// the link's start, and a duration: `[("5 s", "2 s"), ("20 s", "500 ms")]`. Times must ascend,
    /// without overlap. The queue continues to send.
    #[must_use]
    pub fn outages<A: Quantity<Span>, F: Quantity<Span>>(
        mut self,
        outages: impl IntoIterator<Item = (A, F)>,
    ) -> Self {
        let mut read: Vec<Outage> = Vec::new();
        for (at, length) in outages {
            let at = self.checked("outages", at.read()).map(|at| Time::ZERO + at);
            let length = self.checked("outages", length.read());
            let (Some(from), Some(length)) = (at, length) else { return self };
            let (at, over) = (from.since(Time::ZERO), read.last().map_or(Time::ZERO, |last| last.until));
            if length.is_zero() {
                self.refuse("outages", format_args!("one of 0 ns at {at}; allowed: a time above 0"));
                return self;
            }
            if from < over {
                let over = over.since(Time::ZERO);
                let allowed = "allowed: times that ascend";
                self.refuse(
                    "outages",
                    format_args!("one at {at} before the last is over at {over}; {allowed}"),
                );
                return self;
            }
            read.push(Outage { from, until: from + length });
        }
        self.wire.outages = read.into();
        self
    }

    /// Adds a random delay to each packet, uniform from zero to `most`. Order is preserved.
    #[must_use]
    pub fn jitter(mut self, most: impl Quantity<Span>) -> Self {
        let most = self.checked("jitter", most.read()).filter(|most| !most.is_zero());
        self.wire.jitter = most.map(|most| Arc::new(most) as Arc<_>);
        self
    }

    /// Adds a normally distributed delay of at least 0 to each packet. `correlation`, from 0 to
    /// below 1, is the correlation of consecutive delays. It changes neither `mean` nor
    /// `deviation`. Order is preserved.
    #[must_use]
    pub fn normal_jitter(
        mut self,
        mean: impl Quantity<Span>,
        deviation: impl Quantity<Span>,
        correlation: f64,
    ) -> Self {
        let mean = self.checked("normal_jitter", mean.read());
        let deviation = self.checked("normal_jitter", deviation.read());
        let (Some(mean), Some(deviation)) = (mean, deviation) else { return self };
        let wrong = || format!("a correlation of {correlation}; allowed: 0 to below 1");
        let normal = Normal::new(mean, deviation, correlation).ok_or_else(wrong);
        self.wire.jitter = self.checked("normal_jitter", normal).map(|normal| Arc::new(normal) as Arc<_>);
        self
    }

    /// Delays a fraction (0 to 1) of the packets on the wire by `by`, so that later packets
    /// overtake them.
    #[must_use]
    pub fn reorder(mut self, part: f64, by: impl Quantity<Span>) -> Self {
        let part = self.checked("reorder", probability(part));
        let by = self.checked("reorder", by.read());
        self.wire.reorder = part.zip(by);
        self
    }

    /// Keeps dropped and lost packets until [`take_lost`](Link::take_lost) returns them. By
    /// default, their payload is dropped at once.
    #[must_use]
    pub fn keep_lost(mut self) -> Self {
        self.keeps_lost = true;
        self
    }

    /// Sets the seed of all randomness: an equal seed gives bit-identical results. Default: 1.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Seed(seed);
        self
    }

    /// Sets the link's name, which its random streams use. Links in one test need different names
    /// or seeds to lose different packets. Default: `link`; in a [`Duplex`](crate::Duplex),
    /// `forward` and `back`.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the link's time zero, from which [`steps`](Self::steps), [`trace`](Self::trace) and the
    /// report count. Default: zero for a [`Duration`], and the first call for an
    /// [`Instant`](std::time::Instant).
    #[must_use]
    pub fn starts_at(mut self, start: I) -> Self {
        self.origin = Some(start);
        self
    }

    /// Builds the link.
    ///
    /// # Errors
    /// All mistakes together:
    ///
    /// - a text that is not a quantity, a rate of zero, or a number that is not a probability,
    /// - an unknown discipline, or invalid parameters,
    /// - a buffer without room for one packet of `mtu` bytes.
    pub fn build(self) -> Result<Link<T, I>, BadLink> {
        let round_trip = self.delay() * 2;
        self.build_as("link", round_trip)
    }

    pub(crate) fn delay(&self) -> Span {
        self.delay
    }

    pub(crate) fn build_as(mut self, name: &str, round_trip: Span) -> Result<Link<T, I>, BadLink> {
        let name = self.name.take().unwrap_or_else(|| name.into());
        let nothing = || {
            let room = self.room;
            format!(
                "{room} of a round trip of {round_trip} is nothing; allowed: packets, bytes or time, or a longer delay"
            )
        };
        let amount = self.room.amount(round_trip).ok_or_else(nothing);
        let amount = self.checked("buffer", amount);
        // An invalid rate or buffer is already reported, so the following checks may use any value.
        let site = Site {
            rate: self.rate.unwrap_or(ANY_RATE),
            buffer: amount.unwrap_or(Amount::Packets(DEFAULT_BUFFER_PACKETS)),
            packet_bytes: self.mtu,
            seed: self.seed,
            stream: &name,
        };
        let (method, made) = (self.queue.method(), std::mem::take(&mut self.queue).made(&site, self.marks));
        let discipline = self.checked(method, made).map(|discipline| match self.device {
            0 => discipline,
            packets => Box::new(Device::new(discipline, packets)),
        });
        let wire = Wire::new(self.wire, self.seed, &name);
        let LinkBuilder { rate, law, delay, mtu, origin, copy, keeps_lost, mistakes, .. } = self;
        match (discipline, rate) {
            (Some(discipline), Some(rate)) if mistakes.is_empty() => {
                Ok(Link::of(Parts { discipline, rate, law, delay, wire, mtu, origin, copy, keeps_lost }))
            }
            _ => Err(BadLink { mistakes }),
        }
    }

    fn checked<Q, E: Display>(&mut self, method: &str, read: Result<Q, E>) -> Option<Q> {
        read.map_err(|error| self.refuse(method, error)).ok()
    }

    fn refuse(&mut self, method: &str, message: impl Display) {
        self.mistakes.push(Mistake::of(method, message));
    }
}

fn probability(p: f64) -> Result<f64, String> {
    if (0.0..=1.0).contains(&p) { Ok(p) } else { Err(format!("{p} is no probability; allowed: 0 to 1")) }
}

pub(crate) fn probable(loss: Loss) -> Result<Loss, String> {
    let all = match loss {
        Loss::Bernoulli(p) => vec![p],
        Loss::GilbertElliott(GilbertElliott { to_bad, to_good, loss_when_good, loss_when_bad }) => {
            vec![to_bad, to_good, loss_when_good, loss_when_bad]
        }
    };
    all.into_iter().try_for_each(|p| probability(p).map(drop))?;
    Ok(loss)
}

const ANY_RATE: Rate = Rate::from_bps(1_000_000).expect("not zero");

impl<T: Clone, I: Moment> LinkBuilder<T, I> {
    /// Duplicates a fraction (0 to 1) of the packets. The copy arrives at the same instant.
    #[must_use]
    pub fn duplicate(mut self, part: f64) -> Self {
        self.wire.duplicate = self.checked("duplicate", probability(part)).unwrap_or(0.0);
        self.copy = |payload| Some(payload.clone());
        self
    }
}

impl<T, I> fmt::Debug for LinkBuilder<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinkBuilder")
            .field("rate", &self.rate)
            .field("delay", &self.delay)
            .field("wire", &self.wire)
            .field("room", &self.room)
            .field("mtu", &self.mtu)
            .field("seed", &self.seed)
            .field("mistakes", &self.mistakes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_probability_is_refused() {
        for p in [f64::NAN, -0.1, 1.1, f64::INFINITY] {
            assert!(probable(Loss::Bernoulli(p)).unwrap_err().contains("allowed: 0 to 1"));
            let model = GilbertElliott { to_bad: 0.1, to_good: p, loss_when_good: 0.0, loss_when_bad: 1.0 };
            assert!(probable(model.into()).is_err());
        }
    }
}
