//! A record of when each segment in flight was sent, and of the number delivered by then. It gives
//! exact round-trip times and delivery rates.
//!
//! A journal takes 32 bytes per segment in flight. A sender keeps a journal if it uses RACK-TLP or
//! exact round-trip times, or if its controller needs the measurements.
//!
//! # Source
//! draft-cheng-iccrg-delivery-rate-estimation, section 3. A rate is the amount delivered between
//! the sending of a segment and its acknowledgement, divided by a time. This time is the longer of
//! two: the time in which the amount was sent, and the time in which it was acknowledged.

use crate::congestion::RateSample;
use crate::rack::Latest;
use fairwire_core::{Duration, Time};
use std::collections::VecDeque;

#[derive(Debug)]
pub(crate) struct Journal {
    base: u64,
    records: VecDeque<Record>,
    delivered: u32, // so far, wrapping
    delivered_at: Time,
    first_sent: Time, // when the segment delivered last was sent: the sending side of a sample begins there
    least_rtt: Duration,
    limited_until: Option<u32>, // the delivered count at which an application-limited flight has passed
    newest: Option<Record>,     // of those delivered by the current acknowledgement, the one sent last
    latest: Option<(Latest, bool)>, // of arrivals since `take_latest`, for RACK; and whether it was sent twice
    measures_rate: bool,
    lowest_original: u64, // the first of those that was sent once; MAX for none
}

#[derive(Clone, Copy, Debug)]
struct Record {
    sent: Time,
    first_sent: Time,
    delivered_at: Time,
    delivered: u32,
    is_repeated: bool,
    is_delivered: bool,
    is_limited: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Measures {
    /// The round-trip time of the acknowledged segment that was sent last, unless this segment was
    /// sent twice.
    pub(crate) rtt: Option<Duration>,
    pub(crate) rate: Option<RateSample>,
}

/// Memory for this number of records is never given back.
const KEPT: usize = 16;

impl Journal {
    pub(crate) fn new(measures_rate: bool) -> Self {
        Journal {
            measures_rate,
            base: 0,
            records: VecDeque::new(),
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            least_rtt: Duration::MAX,
            limited_until: None,
            newest: None,
            latest: None,
            lowest_original: u64::MAX,
        }
    }

    pub(crate) fn last_sent(&self, seq: u64) -> Time {
        self.record(seq).map_or(Time::ZERO, |record| record.sent)
    }

    /// When segment `seq`, which is in flight, was sent; `None` if it was sent twice.
    pub(crate) fn sent_once(&self, seq: u64) -> Option<Time> {
        self.record(seq).map_or(Some(Time::ZERO), |record| (!record.is_repeated).then_some(record.sent))
    }

    pub(crate) fn sent_at_ends(&self) -> Option<(Time, Time)> {
        Some((self.records.front()?.sent, self.records.back()?.sent))
    }

    pub(crate) fn is_repeated(&self, seq: u64) -> bool {
        self.record(seq).is_some_and(|record| record.is_repeated)
    }

    pub(crate) fn least_rtt(&self) -> Duration {
        self.least_rtt
    }

    /// The segment sent last among those delivered since the previous call, and whether it was sent
    /// twice. Retransmitted segments whose original arrived are excluded.
    pub(crate) fn take_latest(&mut self) -> Option<(Latest, bool)> {
        self.latest.take()
    }

    /// The lowest segment that was delivered since the previous call and was sent only once.
    pub(crate) fn lowest_original(&mut self) -> Option<u64> {
        let lowest = std::mem::replace(&mut self.lowest_original, u64::MAX);
        (lowest != u64::MAX).then_some(lowest)
    }

    pub(crate) fn saw_rtt(&mut self, rtt: Duration) {
        self.least_rtt = self.least_rtt.min(rtt);
    }

    fn record(&self, seq: u64) -> Option<&Record> {
        self.records.get(seq.checked_sub(self.base)? as usize)
    }

    /// Records a transmission. With `is_alone`, nothing else is in flight.
    #[inline(never)] // few flows keep a journal
    pub(crate) fn sent(&mut self, seq: u64, now: Time, is_alone: bool) {
        if is_alone {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let at = (seq - self.base) as usize;
        let record = Record {
            sent: now,
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            is_repeated: at < self.records.len(),
            is_delivered: false,
            is_limited: self.limited_until.is_some(),
        };
        match self.records.get_mut(at) {
            Some(before) => *before = Record { is_delivered: before.is_delivered, ..record },
            None => self.records.push_back(record),
        }
    }

    /// Records that the application has nothing more to send. Rates are limited by the application
    /// until the `in_flight` segments have arrived.
    pub(crate) fn limited(&mut self, in_flight: u32) {
        self.limited_until = Some(self.delivered.wrapping_add(in_flight));
    }

    pub(crate) fn delivered(&mut self, seq: u64, now: Time) {
        let Some(record) = self.records.get_mut((seq - self.base) as usize) else { return };
        if !std::mem::replace(&mut record.is_delivered, true) {
            let record = *record;
            self.note(seq, record, false, now);
        }
    }

    /// Handles the acknowledgement of everything below `unacked`. `is_from_before` means that it
    /// echoes a segment sent before all retransmissions, so the retransmissions are still in flight
    /// (RFC 8985, section 6.2, step 2).
    pub(crate) fn advance(&mut self, unacked: u64, is_from_before: bool, now: Time) {
        for seq in self.base..unacked {
            let Some(record) = self.records.pop_front() else { break };
            if !record.is_delivered {
                self.note(seq, record, is_from_before, now);
            }
        }
        self.base = unacked;
        self.give_room_back();
    }

    /// A faster [`advance`](Journal::advance) and [`measures`](Journal::measures). Requires that
    /// all segments in flight were sent once, and that none has arrived out of order.
    pub(crate) fn advance_in_order(&mut self, unacked: u64, now: Time) -> (Latest, Measures) {
        let count = (unacked - self.base) as usize;
        let last = self.records[count - 1];
        self.records.drain(..count);
        self.base = unacked;
        self.give_room_back();
        self.delivered = self.delivered.wrapping_add(count as u32);
        (self.delivered_at, self.first_sent, self.newest) = (now, last.sent, Some(last));
        (Latest { sent: last.sent, seq: unacked - 1 }, self.measures(now))
    }

    #[inline]
    fn give_room_back(&mut self) {
        if self.records.capacity() > KEPT && self.records.len() < self.records.capacity() / 4 {
            self.records.shrink_to((self.records.len() * 2).max(KEPT));
        }
    }

    pub(crate) fn measures(&mut self, now: Time) -> Measures {
        let Some(record) = self.newest.take() else { return Measures::default() };
        let rtt = (!record.is_repeated).then_some(now.since(record.sent));
        self.least_rtt = self.least_rtt.min(rtt.unwrap_or(Duration::MAX));
        if self.limited_until.is_some_and(|until| self.delivered.wrapping_sub(until).cast_signed() > 0) {
            self.limited_until = None;
        }
        Measures { rtt, rate: if self.measures_rate { self.rate(&record) } else { None } }
    }

    fn note(&mut self, seq: u64, record: Record, is_from_before: bool, now: Time) {
        if !record.is_repeated {
            self.lowest_original = self.lowest_original.min(seq);
        }
        self.delivered = self.delivered.wrapping_add(1);
        self.delivered_at = now;
        if self.newest.is_none_or(|newest| record.sent >= newest.sent) {
            self.first_sent = record.sent;
            self.newest = Some(record);
        }
        let latest = Latest { sent: record.sent, seq };
        let is_later = self.latest.is_none_or(|(other, _)| record.sent >= other.sent);
        if is_later && !(record.is_repeated && is_from_before) {
            self.latest = Some((latest, record.is_repeated));
        }
    }

    /// The delivery rate since the segment of `record` was sent. `None` if the interval is shorter
    /// than the minimum round-trip time. Such an interval means that acknowledgements were
    /// compressed, or that the segment was sent twice.
    fn rate(&self, record: &Record) -> Option<RateSample> {
        let sending = record.sent.since(record.first_sent);
        let acking = self.delivered_at.since(record.delivered_at);
        let interval = sending.max(acking);
        if interval.is_zero() || (self.least_rtt != Duration::MAX && interval < self.least_rtt) {
            return None;
        }
        let delivered = f64::from(self.delivered.wrapping_sub(record.delivered));
        Some(RateSample {
            per_second: delivered / interval.secs(),
            is_limited_by_application: record.is_limited,
            delivered: self.delivered,
            delivered_before: record.delivered,
        })
    }
}

const _: () = assert!(size_of::<Record>() == 32);

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn each_acknowledgement_measures_the_segment_sent_last_and_none_sent_twice() {
        let mut journal = Journal::new(true);
        for (seq, at) in [(0, 0), (1, 10), (2, 20), (3, 30)] {
            journal.sent(seq, ms(at), seq == 0);
        }
        journal.advance(2, false, ms(100));
        assert_eq!(journal.measures(ms(100)).rtt, Some(Duration::from_ms(90)));
        assert_eq!(journal.measures(ms(101)), Measures::default()); // once
        journal.sent(2, ms(110), false);
        journal.delivered(3, ms(120));
        assert_eq!(journal.measures(ms(120)).rtt, Some(Duration::from_ms(90)));
        journal.advance(4, false, ms(200));
        let measures = journal.measures(ms(200));
        assert_eq!(measures.rtt, None); // of 2, which may have been acknowledged either time; 3 was measured earlier
    }

    #[test]
    fn the_rate_is_delivery_over_the_longer_of_send_and_ack_time() {
        let mut journal = Journal::new(true);
        for seq in 0..10 {
            journal.sent(seq, ms(0), seq == 0);
        }
        let mut rate = None;
        for seq in 0..10 {
            let now = ms(40 + 2 * seq);
            journal.advance(seq + 1, false, now);
            rate = journal.measures(now).rate;
            journal.sent(10 + seq, now, false);
        }
        assert_eq!(rate.map(|r| (r.per_second * 58.0).round()), Some(10_000.0)); // the first flight: 10 in 58 ms
        for seq in 10..30 {
            let now = ms(60 + 2 * (seq - 10));
            journal.advance(seq + 1, false, now);
            rate = journal.measures(now).rate;
            journal.sent(10 + seq, now, false);
        }
        let rate = rate.expect("measured");
        // Segment 29 was sent at 78 ms, when 20 segments had arrived. It arrived at 98 ms as the
        // 30th: 10 segments in 20 ms.
        assert!((rate.per_second - 500.0).abs() < 1e-9 && !rate.is_limited_by_application);
    }

    #[test]
    fn samples_are_application_limited_until_the_gap_has_passed() {
        let mut journal = Journal::new(true);
        journal.sent(0, ms(0), true);
        journal.limited(1);
        journal.advance(1, false, ms(50));
        assert!(journal.measures(ms(50)).rate.is_some_and(|rate| !rate.is_limited_by_application));
        journal.sent(1, ms(60), true);
        journal.advance(2, false, ms(110));
        assert!(journal.measures(ms(110)).rate.is_some_and(|rate| rate.is_limited_by_application));
        journal.sent(2, ms(120), true);
        journal.advance(3, false, ms(170));
        assert!(journal.measures(ms(170)).rate.is_some_and(|rate| !rate.is_limited_by_application));
    }

    #[test]
    fn freed_memory_is_released() {
        let mut journal = Journal::new(true);
        for seq in 0..10_000 {
            journal.sent(seq, ms(0), seq == 0);
        }
        journal.advance(9_999, false, ms(1));
        assert!(journal.records.capacity() <= 2 * KEPT, "{}", journal.records.capacity());
    }
}
