//! AVQ against its pseudo-code, and where its virtual capacity settles.

use super::site;
use crate::beside::{Event, Line, Offer, Reading, Traffic, assert_near, compare};
use fairwire_core::scheduler::Fcfs;
use fairwire_core::{Buffer, Cause, Dropper, EcnPolicy, Limit, Packet, Queue, Time, Verdict};
use fairwire_laws::dropper::avq::{Avq, Checked, Config, Spec};
use fairwire_laws::spec::Measure;

fn config() -> Config {
    Spec::default().check(&site()).expect("the defaults are allowed").1
}

/// The pseudo-code in bytes and seconds.
struct Reference {
    config: Config,
    line: Line,
    vq: f64,
    c: f64,
    s: u64,
}

impl Reading for Reference {
    fn offer(&mut self, offer: Offer, now: u64, events: &mut Vec<Event>) {
        let in_bytes = self.config.given.measure == Measure::Bytes;
        let b = if in_bytes { f64::from(offer.len) } else { 512.0 };
        let dt = (now - self.s) as f64 * 1e-9;
        self.vq = f64::max(self.vq - self.c * dt, 0.0);
        let marked = self.vq + b > 20_480.0;
        if !marked {
            self.vq += b;
        }
        let link = 1_250_000.0;
        let gamma = self.config.given.utilization;
        self.c = f64::max(
            f64::min(self.c + self.config.given.alpha * gamma * link * dt, link)
                - self.config.given.alpha * b,
            0.0,
        );
        self.s = now;
        self.line.settle(offer, marked, events);
    }

    fn request(&mut self, _: u64, events: &mut Vec<Event>) {
        self.line.send(events);
    }
}

#[test]
fn it_decides_as_the_pseudo_code_does_in_packets_and_in_bytes() {
    for measure in [Measure::Bytes, Measure::Packets] {
        for policy in [EcnPolicy::Drop, EcnPolicy::Mark] {
            let config = Config { given: Checked { measure, ..Checked::default() }, ..config() };
            let mut queue = Queue::new(Limit::packets(40), Fcfs, Avq::new(config)).with_ecn(policy);
            let line = Line::new(Limit::packets(40), policy);
            let mut plain = Reference { config, line, vq: 0.0, c: 1_250_000.0, s: 0 };
            let met = compare(&mut queue, &mut plain, &Traffic::default(), (20_000, 7), |queue, plain| {
                assert_near(queue.dropper().virtual_backlog(), plain.vq);
                assert_near(queue.dropper().virtual_capacity(), plain.c);
                assert!((0.0..=1_250_000.0).contains(&queue.dropper().virtual_capacity()));
            });
            assert!(met["early"] > 500 && met["sent"] > 3000, "{met:?}");
            assert_eq!(met.contains_key("marked"), policy == EcnPolicy::Mark, "{met:?}");
        }
    }
}

/// The fraction of packets signalled at `load` times the link's rate.
fn signalled(avq: &mut Avq, load: f64, seconds: f64) -> f64 {
    let buffer = Buffer::new(Limit::packets(40));
    let gap = 409_600.0 / load;
    let packets = (seconds * 1e9 / gap) as u32;
    let judged = (0..packets).map(|i| {
        let now = Time::from_ns((f64::from(i) * gap) as u64);
        avq.on_arrival(&Packet::new(i, 512, 0.into(), now), &buffer, now)
    });
    judged.filter(|verdict| *verdict != Verdict::Pass).count() as f64 / f64::from(packets)
}

#[test]
fn a_packet_longer_than_the_virtual_buffer_passes_an_idle_link() {
    let mut avq = Avq::new(config());
    let buffer = Buffer::new(Limit::packets(40));
    // The virtual buffer holds 20,480 bytes, and the link sends 1,250,000 bytes per second.
    for second in 1..=1000 {
        let now = Time::from_ns(second * 1_000_000_000);
        let verdict = avq.on_arrival(&Packet::new(0, 65_000, 0.into(), now), &buffer, now);
        assert_eq!(verdict, Verdict::Pass, "after {second} s");
        // When the next packet arrives, the virtual queue is not empty.
        let verdict = avq.on_arrival(&Packet::new(0, 512, 0.into(), now), &buffer, now);
        assert_eq!(verdict, Verdict::Signal(Cause::Early), "after {second} s");
    }
}

#[test]
fn below_the_target_utilization_nothing_is_signalled() {
    let mut avq = Avq::new(config());
    assert_eq!(signalled(&mut avq, 0.97, 20.0), 0.0);
    // The last arrival has subtracted alpha × its length: 0.15 × 512 bytes.
    assert!(
        (avq.virtual_capacity() - (1_250_000.0 - 0.15 * 512.0)).abs() < 1e-6,
        "{}",
        avq.virtual_capacity()
    );
}

#[test]
fn above_the_target_utilization_signals_come_before_the_link_is_full() {
    let mut avq = Avq::new(config());
    // Per second, the virtual capacity loses 0.15 x (0.99 - 0.98) of the link's rate: 3 % in 20 s.
    // The virtual capacity is below the load after 6.7 s. Signals start later, when the virtual
    // buffer is full.
    let part = signalled(&mut avq, 0.99, 20.0);
    assert!((0.001..0.02).contains(&part), "{part}");
    let fallen = 1.0 - avq.virtual_capacity() / 1_250_000.0;
    // The tolerance around 3 % allows for the capacity of one packet and for rounding.
    assert!((0.028..0.032).contains(&fallen), "{fallen}");
}

#[test]
fn unresponsive_senders_are_let_through_less_and_less() {
    let mut avq = Avq::new(config());
    // Per second, the virtual capacity loses 0.15 x (1.5 - 0.98) = 0.078 of the link's rate, so it
    // reaches zero after 12.8 s.
    signalled(&mut avq, 1.5, 13.0);
    // Between two arrivals the capacity rises by less than the next arrival subtracts.
    assert_eq!(avq.virtual_capacity(), 0.0);
}
