//! Measures a queued link, simulated or real, for a [`LinkRecord`].

use crate::histogram::DelayHistogram;
use crate::record::{BacklogRecord, LinkRecord};
use crate::series::TimeWeighted;
use fairwire_core::{Backlog, Cause, Duration, Packet, Rate, Time};
use std::collections::BTreeMap;

/// Measures one queued link.
#[derive(Debug)]
pub struct LinkMeter {
    start: Time,
    sending_until: Time,
    inherited: Duration, // from the packet that was being sent at `start`
    packets_in: u64,
    packets_out: u64,
    bytes_out: u64,
    drops: [u64; Cause::ALL.len()],
    marks: [u64; Cause::ALL.len()],
    sojourn: DelayHistogram,
    backlog: TimeWeighted<2>, // packets and bytes
}

impl LinkMeter {
    /// A meter that measures from `start`.
    pub fn new(start: Time) -> Self {
        LinkMeter {
            start,
            sending_until: start,
            inherited: Duration::ZERO,
            packets_in: 0,
            packets_out: 0,
            bytes_out: 0,
            drops: [0; Cause::ALL.len()],
            marks: [0; Cause::ALL.len()],
            sojourn: DelayHistogram::new(),
            backlog: TimeWeighted::new(start),
        }
    }

    /// Clears all counts. Queued packets and the packet being sent remain known.
    pub fn restart(&mut self, now: Time) {
        let mut backlog = self.backlog;
        backlog.reset(now);
        *self = LinkMeter {
            sending_until: self.sending_until,
            inherited: self.sending_until.since(now),
            backlog,
            ..LinkMeter::new(now)
        };
    }

    /// Counts an offered packet.
    #[inline]
    pub fn offered(&mut self) {
        self.packets_in += 1;
    }

    /// Counts a dropped packet.
    #[inline]
    pub fn dropped(&mut self, cause: Cause) {
        self.drops[cause as usize] += 1;
    }

    /// Counts a marked packet.
    #[inline]
    pub fn marked(&mut self, cause: Cause) {
        self.marks[cause as usize] += 1;
    }

    /// Records the transmission of `packet` from `now` to `sent`.
    #[inline]
    pub fn started(&mut self, packet: &Packet, now: Time, sent: Time) {
        self.sending_until = sent;
        self.packets_out += 1;
        self.bytes_out += u64::from(packet.len);
        self.sojourn.record(now.since(packet.arrived));
    }

    /// Records that the queue holds `backlog` from `now` on.
    #[inline]
    pub fn waiting(&mut self, backlog: Backlog, now: Time) {
        self.backlog.set([backlog.packets.into(), backlog.bytes], now);
    }

    /// The waiting times of the packets sent.
    pub fn sojourn(&self) -> &DelayHistogram {
        &self.sojourn
    }

    /// The record of the link `name` up to `now`.
    pub fn record(&self, name: &str, rate: Rate, now: Time) -> LinkRecord {
        let [mean_packets, mean_bytes] = self.backlog.means(now);
        let [max_packets, _] = self.backlog.max();
        LinkRecord {
            name: name.to_owned(),
            rate_bps: rate.bps() as f64,
            utilization: self.utilization(rate, now),
            packets_in: self.packets_in,
            packets_out: self.packets_out,
            drops: by_cause(&self.drops),
            marks: by_cause(&self.marks),
            sojourn: Some(self.sojourn.sojourn()),
            backlog: BacklogRecord { mean_packets, mean_bytes, max_packets: Some(max_packets) },
            wire: None,
        }
    }

    /// The fraction of the time from `start` to `now` in which bits were sent. Transmissions across
    /// `start` or `now` count partly.
    fn utilization(&self, rate: Rate, now: Time) -> f64 {
        let seconds = now.since(self.start).secs();
        let started = self.bytes_out as f64 * 8.0 / rate.bps() as f64;
        let busy = self.inherited.secs() + started - self.sending_until.since(now).secs();
        if seconds > 0.0 { (busy / seconds).clamp(0.0, 1.0) } else { 0.0 }
    }
}

fn by_cause(counts: &[u64; Cause::ALL.len()]) -> BTreeMap<String, u64> {
    let counted = Cause::ALL.iter().zip(counts).filter(|(_, count)| **count > 0);
    counted.map(|(cause, count)| (cause.name().to_owned(), *count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: u64 = 1_000; // bit/s: a packet of 1500 bytes takes 12 s

    fn at(seconds: u64) -> Time {
        Time::ZERO + Duration::from_secs(seconds)
    }

    fn utilization(meter: &LinkMeter, now: Time) -> f64 {
        meter.record("slow", Rate::from_bps(RATE).expect("not zero"), now).utilization
    }

    #[test]
    fn only_the_part_of_a_packet_inside_the_window_counts() {
        let packet = Packet::new(0, 1500, 1.into(), at(2));
        let mut meter = LinkMeter::new(at(0));
        meter.started(&packet, at(2), at(14));
        assert_eq!(utilization(&meter, at(8)), 0.75); // 6 s of 8
        meter.restart(at(4));
        assert_eq!(utilization(&meter, at(14)), 1.0);
        assert_eq!(utilization(&meter, at(9)), 1.0);
        assert_eq!(utilization(&meter, at(24)), 0.5);
    }
}
