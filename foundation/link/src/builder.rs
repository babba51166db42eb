//! A link as given: read and checked, then built.

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

/// The [`mtu`](LinkBuilder::mtu) of a link unless given otherwise: Ethernet's, bytes.
pub const DEFAULT_MTU: u32 = 1500;
/// The most that [`mtu`](LinkBuilder::mtu) may be: 1 MiB, the longest quantum that a scheduler
/// takes.
pub const MAX_MTU: u32 = 1 << 20;
/// The [`buffer`](LinkBuilder::buffer) of a link unless given otherwise, packets.
pub const DEFAULT_BUFFER_PACKETS: u32 = 100;

/// A link as given. Each method takes one thing; what is wrong with any of them is said by
/// [`build`](LinkBuilder::build), all at once.
///
/// What a method was given before, another call replaces.
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

/// What a link is made of.
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

    /// What shares the link, by its name in the catalogue, or with parameters: `"drr+lqd"`,
    /// `"fq-codel"`, `"{ red = { gentle = true, min_threshold = '20 packets' } }"`. The text in
    /// braces is TOML. Unless given, it is `"tail-drop"`.
    #[cfg(feature = "catalogue")]
    #[must_use]
    pub fn queue(mut self, name: impl Into<String>) -> Self {
        self.queue = Queue::Named(name.into());
        self
    }

    /// What shares the link, made already: a law of `fairwire-laws`, or one of your own. It has its
    /// own buffer, and [`buffer`](Self::buffer) and [`mark_ecn`](Self::mark_ecn) say nothing to it.
    #[must_use]
    pub fn discipline(mut self, discipline: Box<dyn Discipline>) -> Self {
        self.queue = Queue::Made(discipline);
        self
    }

    /// Where a discipline by name would drop an ECN-capable packet early, it marks it, unless its
    /// parameters say otherwise. Without this those mark that mark in Linux, as in a scenario, and the
    /// laws of papers drop; with `{ codel = { ecn = "drop" } }` those drop too.
    #[must_use]
    pub fn mark_ecn(mut self) -> Self {
        self.marks = true;
        self
    }

    /// How much may wait: `"100 packets"`, `"64 KiB"`, `"50 ms"` at the link's rate, or `"1.5
    /// bdp"`, where the round trip is twice the link's delay, or in a [`Duplex`](crate::Duplex) the
    /// sum of both delays. Unless given, 100 packets. A discipline with a buffer among its own
    /// parameters has that.
    #[must_use]
    pub fn buffer(mut self, room: &str) -> Self {
        self.room = self.checked("buffer", room.parse()).unwrap_or(self.room);
        self
    }

    /// How many packets a device behind the discipline holds, a FIFO, as of a network interface without
    /// byte queue limits: at most 65 536. The discipline is polled for a packet when the device has
    /// room. Unless given, there is none.
    #[must_use]
    pub fn device(mut self, packets: u32) -> Self {
        if (1..=MAX_PACKETS).contains(&packets) {
            self.device = packets;
        } else {
            self.refuse("device", format_args!("{packets} packets; allowed: 1 to {MAX_PACKETS}"));
        }
        self
    }

    /// The most bytes that a packet may have, 1 to [`MAX_MTU`]; a longer one is [not
    /// sent](crate::NotSent). Laws that count packets take it for the size of a typical one. Unless
    /// given, 1500.
    #[must_use]
    pub fn mtu(mut self, bytes: u32) -> Self {
        if (1..=MAX_MTU).contains(&bytes) {
            self.mtu = bytes;
        } else {
            self.refuse("mtu", format_args!("{bytes} bytes; allowed: 1 to {MAX_MTU}"));
        }
        self
    }

    /// Another rate from each of these times on, counted from the start of the link: `[("5 s", "10
    /// Mbit/s"), ("8 s", "2 Mbit/s")]`. Times ascend. A packet being transmitted when the rate
    /// changes goes on at the new rate.
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

    /// Rates that repeat, each with how long it lasts, from the start of the link on: `[("12
    /// Mbit/s", "1 s"), ("24 Mbit/s", "1 s")]`. A packet being transmitted when the rate changes
    /// goes on at the new rate. Disciplines and buffers use the rate of the link.
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

    /// Uses the text of a trace instead of a rate; at its end the trace begins again. Disciplines
    /// and buffers still use the rate of the link, and packets are sent by the trace. One of
    ///
    /// - mahimahi (`mm-link`): each line is a time in whole milliseconds at which 1504 bytes can
    ///   leave;
    /// - two columns: each line is a time in seconds and the rate in Mbit/s [from then
    ///   on](fairwire_core::Pattern::parse); the last says when the trace begins again.
    #[must_use]
    pub fn trace(mut self, text: &str) -> Self {
        self.law = self.checked("trace", RateLaw::parse(text)).unwrap_or(self.law);
        self
    }

    /// Scales the [`trace`](Self::trace) or [`pattern`](Self::pattern) that was given before to
    /// this mean; the times stay.
    #[must_use]
    pub fn scale_to(mut self, mean: impl Quantity<Rate>) -> Self {
        if let Some(mean) = self.checked("scale_to", mean.read()) {
            let why = "nothing to scale to that; allowed: after a `trace` or `pattern`, up to 4 million opportunities";
            self.law = self.checked("scale_to", self.law.scaled(mean).ok_or(why)).unwrap_or(self.law);
        }
        self
    }

    /// Delays from the text of a file of round trips, of which each packet takes
    /// [half](DelayTrace::parse): the JSON of irtt, or columns of seconds and ms, -1 in an outage,
    /// in which what is sent is lost. The order is kept. The link's own delay is that of a buffer
    /// in `bdp`.
    #[must_use]
    pub fn delays(mut self, text: &str) -> Self {
        self.wire.delay_trace = self.checked("delays", DelayTrace::parse(text)).map(Arc::new);
        self
    }

    /// The same for the way back behind a link with the same [`delays`](Self::delays): what is
    /// answered at once takes the [round trip](DelayTrace::back) of the time at which it was sent.
    #[must_use]
    pub fn delays_back(mut self, text: &str) -> Self {
        let read = self.checked("delays_back", DelayTrace::parse(text));
        self.wire.delay_trace = read.map(|there| Arc::new(there.back()));
        self
    }

    /// Which packets are lost on the wire: a probability for each by itself, or a
    /// [`GilbertElliott`](crate::GilbertElliott).
    #[must_use]
    pub fn loss(mut self, loss: impl Into<Loss>) -> Self {
        self.wire.loss = self.checked("loss", probable(loss.into()));
        self
    }

    /// The wire loses all packets whose last bit is sent from each of these times on, counted from
    /// the start of the link, and for as long as beside it: `[("5 s", "2 s"), ("20 s", "500 ms")]`.
    /// Times ascend, and an outage is over before the next. The queue goes on sending.
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

    /// Each packet takes a time more, uniform from zero to this. The order is kept: none arrives
    /// before one that left the queue earlier.
    #[must_use]
    pub fn jitter(mut self, most: impl Quantity<Span>) -> Self {
        let most = self.checked("jitter", most.read()).filter(|most| !most.is_zero());
        self.wire.jitter = most.map(|most| Arc::new(most) as Arc<_>);
        self
    }

    /// Each packet takes a time more, normal of this mean and standard deviation, and at least 0.
    /// Packets one behind the other have this correlation, from 0 to below 1, which changes neither
    /// mean nor deviation. The order is kept.
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

    /// Delays this part of the packets, 0 to 1, on the wire by `by`; those behind overtake them.
    #[must_use]
    pub fn reorder(mut self, part: f64, by: impl Quantity<Span>) -> Self {
        let part = self.checked("reorder", probability(part));
        let by = self.checked("reorder", by.read());
        self.wire.reorder = part.zip(by);
        self
    }

    /// Keeps what is dropped or lost, until [`take_lost`](Link::take_lost) gives it back. Without this
    /// its payload is dropped at once.
    #[must_use]
    pub fn keep_lost(mut self) -> Self {
        self.keeps_lost = true;
        self
    }

    /// The seed of all that is random: the same seed gives the same bits. Unless given, 1.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Seed(seed);
        self
    }

    /// The name of the link, after which its random streams are called. Links of one test that
    /// shall not lose the same packets have names or seeds that differ. Unless given, `link`; in a
    /// [`Duplex`](crate::Duplex) `forward` and `back`.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Time zero of the link, from which [`steps`](Self::steps), [`trace`](Self::trace) and the
    /// report count. Unless given, zero for a [`Duration`], and the first instant of any call for
    /// an [`Instant`](std::time::Instant).
    #[must_use]
    pub fn starts_at(mut self, start: I) -> Self {
        self.origin = Some(start);
        self
    }

    /// Builds the link.
    ///
    /// # Errors
    /// Returns everything that is wrong: a text that is not a quantity, a rate of zero, a number
    /// that is not a probability. An unknown discipline, its bad parameters, and a buffer without
    /// room for one packet of `mtu` bytes are refused, too.
    pub fn build(self) -> Result<Link<T, I>, BadLink> {
        let round_trip = self.delay() * 2;
        self.build_as("link", round_trip)
    }

    pub(crate) fn delay(&self) -> Span {
        self.delay
    }

    /// The link, called `name` unless it has one, of a path that takes `round_trip`.
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
        // A rate or a buffer that could not be read is a mistake already; what comes after is
        // checked with any.
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

/// `p`, if it is a probability.
fn probability(p: f64) -> Result<f64, String> {
    if (0.0..=1.0).contains(&p) { Ok(p) } else { Err(format!("{p} is no probability; allowed: 0 to 1")) }
}

/// The same, if all its probabilities are some.
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

/// What a queue is checked with where the rate could not be read.
const ANY_RATE: Rate = Rate::from_bps(1_000_000).expect("not zero");

impl<T: Clone, I: Moment> LinkBuilder<T, I> {
    /// This part of the packets, 0 to 1, arrives twice, at the same instant.
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
    fn what_is_no_probability_is_refused() {
        for p in [f64::NAN, -0.1, 1.1, f64::INFINITY] {
            assert!(probable(Loss::Bernoulli(p)).unwrap_err().contains("allowed: 0 to 1"));
            let model = GilbertElliott { to_bad: 0.1, to_good: p, loss_when_good: 0.0, loss_when_bad: 1.0 };
            assert!(probable(model.into()).is_err());
        }
    }
}
