//! The fluid server that WF2Q+ and frame-based fair queueing follow: its virtual time and its
//! flows.

use super::finished::{Account, Finished};
use super::tag::{FRACTION_BITS, Price, Tag};
use super::terms::Terms;
use fairwire_core::{FlowHash, Packet, SetWeightError, Time, Weight};

/// The fraction bits of a weight. Weights are integers, so their sum is exactly zero once the last
/// flow has left. The least weight, 10^-6, is exact to 2 in 10^5; the greatest, 10^6, fits in a
/// `u64`. Equal weights count as 1, for fast divisions within 64 bits.
const WEIGHT_BITS: u32 = 36;

/// The packet being sent; `bytes` is zero if there is none.
#[derive(Clone, Copy, Debug, Default)]
struct Sending {
    bytes: u32,
    since: Time,
    /// The sent bytes that virtual time already counts, in units of 2^-32 byte as in tags.
    counted: u128,
}

/// The virtual time of the fluid server. It advances by the bytes sent, divided by the weights of
/// backlogged flows and of idle flows whose tags are ahead.
#[derive(Debug)]
pub(super) struct Fluid {
    rate_bps: u64,
    price: Price,
    weight_bits: u32,
    virtual_time: Tag,
    /// The sum of the weights of all flows served: backlogged and remembered.
    weight: u128,
    /// The remainder of the latest division by `weight`: work (bytes times weight) not yet counted
    /// in virtual time.
    remainder: u128,
    finished: Finished,
    sending: Sending,
    now: Time,
    /// The greatest finish tag of the packets sent.
    latest: Tag,
}

impl Fluid {
    /// An idle server.
    pub(super) fn new(terms: &Terms) -> Self {
        let price = Price::new(terms.weights.clone());
        Fluid {
            rate_bps: terms.rate_bps,
            weight_bits: if price.is_equal() { 0 } else { WEIGHT_BITS },
            price,
            virtual_time: 0,
            weight: 0,
            remainder: 0,
            finished: Finished::beside(terms.limit.max_packets() as usize),
            sending: Sending::default(),
            now: Time::ZERO,
            latest: 0,
        }
    }

    /// Takes the weights and rate of `fresh`, also for the packet being sent. Returns false if
    /// `fresh` counts weights differently.
    pub(super) fn retune(&mut self, fresh: &Fluid) -> bool {
        let takes = self.price.retune(&fresh.price);
        if takes {
            self.rate_bps = fresh.rate_bps;
        }
        takes
    }

    /// Virtual time at the latest change.
    pub(super) fn virtual_time(&self) -> Tag {
        self.virtual_time
    }

    pub(super) fn remembered(&self) -> usize {
        self.finished.len()
    }

    #[inline]
    pub(super) fn price(&self) -> &Price {
        &self.price
    }

    /// Changes the weight of `class`. A queue uses the new weight from its next head packet on.
    pub(super) fn set_class_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        self.price.set_weight(class, weight)
    }

    /// The weight of the flow of `packet`, in the units of [`WEIGHT_BITS`].
    #[inline]
    pub(super) fn weight(&self, packet: &Packet) -> u64 {
        if self.weight_bits == 0 {
            return 1;
        }
        (self.price.weight(packet) * (1u64 << WEIGHT_BITS) as f64) as u64
    }

    /// Sets the clock.
    pub(super) fn clock(&mut self, now: Time) {
        self.now = now;
    }

    /// Adds `flow`, which was idle. Returns its start tag.
    pub(super) fn join(&mut self, flow: FlowHash, weight: u64) -> Tag {
        self.follow_the_clock();
        let before = self.finished.recall(flow).unwrap_or(Account { tag: 0, weight: 0 });
        self.weight = self.weight - u128::from(before.weight) + u128::from(weight);
        before.tag.max(self.virtual_time)
    }

    pub(super) fn set_weight(&mut self, before: u64, after: u64) {
        self.follow_the_clock();
        self.weight = self.weight - u128::from(before) + u128::from(after);
    }

    /// Removes `flow`, which became idle. If it returns, it starts at the tag in `account`.
    pub(super) fn leave(&mut self, flow: FlowHash, account: Account) {
        self.follow_the_clock();
        let gone = if account.tag > self.virtual_time {
            self.finished.remember(flow, account)
        } else {
            Some(account)
        };
        self.weight -= gone.map_or(0, |gone| u128::from(gone.weight));
    }

    pub(super) fn sent(&mut self) {
        self.move_to(u128::from(self.sending.bytes) << FRACTION_BITS);
        self.sending = Sending::default();
    }

    pub(super) fn send(&mut self, bytes: u32, finish: Tag) {
        self.sending = Sending { bytes, since: self.now, counted: 0 };
        self.latest = self.latest.max(finish);
    }

    /// Raises virtual time to at least `tag`. No backlogged flow may have a start tag below `tag`.
    pub(super) fn raise(&mut self, tag: Tag) {
        while let Some(account) = self.finished.expired(tag) {
            self.weight -= u128::from(account.weight);
        }
        self.virtual_time = self.virtual_time.max(tag);
    }

    /// Handles a link that goes idle. Virtual time moves past all tags, so earlier packets no
    /// longer count.
    pub(super) fn idle(&mut self) {
        self.finished.forget_all();
        self.weight = 0; // it was the weight of remembered flows only
        self.virtual_time = self.virtual_time.max(self.latest);
    }

    fn follow_the_clock(&mut self) {
        let Sending { bytes, since, .. } = self.sending;
        if bytes > 0 {
            let elapsed = self.now.since(since).ns();
            // `nanobits` are bits times 10^9. Beyond 64 bits, the link could have sent more than 2
            // GB, so the packet has been sent.
            let nanobits = elapsed.checked_mul(self.rate_bps);
            let by_clock = nanobits.map_or(bytes.into(), |sent| (sent / 8_000_000_000).min(bytes.into()));
            self.move_to(u128::from(by_clock) << FRACTION_BITS);
        }
    }

    /// Moves virtual time by the uncounted bytes of `sent`. Past the tag of a remembered flow, that
    /// flow is not served, so virtual time moves faster.
    fn move_to(&mut self, sent: u128) {
        let bytes = sent.saturating_sub(self.sending.counted);
        self.sending.counted += bytes;
        let mut work = (bytes << self.weight_bits) + core::mem::take(&mut self.remainder);
        while self.weight > 0 {
            let steps = work / self.weight;
            let reach = self.virtual_time + steps;
            let Some(account) = self.finished.expired(reach) else {
                self.virtual_time = reach;
                self.remainder = work - steps * self.weight;
                return;
            };
            let step = account.tag.saturating_sub(self.virtual_time);
            work = work.saturating_sub(step * self.weight);
            self.virtual_time += step;
            self.weight -= u128::from(account.weight);
        }
    }
}
