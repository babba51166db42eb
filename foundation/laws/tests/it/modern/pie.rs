//! PIE against the pseudo-code of RFC 8033, appendices A and B.

use super::{assert_same, site, trace};
use crate::beside::{Event, Offer, Reading};
use fairwire_core::scheduler::Fcfs;
use fairwire_core::{
    Backlog, Cause, Duration, Ecn, EcnPolicy, Limit, Packet, Queue, Rng, Seed, Time, Verdict,
};
use fairwire_laws::dropper::law::{Law, OneQueue};
use fairwire_laws::dropper::pie::{Checked, CheckedControl, Common, Estimate, Pie, Spec, Terms};
use fairwire_laws::spec::Measure;
use std::collections::VecDeque;

fn terms() -> Terms {
    Spec::default().check(&site(100)).expect("the defaults are allowed").1
}

fn given(given: Checked) -> Terms {
    Terms { given, ..terms() }
}

fn control(control: CheckedControl) -> Terms {
    Terms { control, ..terms() }
}

/// RFC 8033's variables, with a real timer and delays in seconds.
struct PlainPie {
    t: Terms,
    ecn: bool,
    limit: usize,
    rng: Rng,
    queue: VecDeque<Offer>,
    drop_prob: f64,
    accu_prob: f64,
    qdelay_old: f64,
    burst_allowance: u64,
    next_tick: Option<u64>,
    last_sojourn: f64,
    in_measurement: bool,
    dq_count: u32,
    start: u64,
    avg_dq_time: f64,
}

impl PlainPie {
    fn new(t: Terms, ecn: bool, limit: usize, rng: Rng) -> Self {
        PlainPie {
            t,
            ecn,
            limit,
            rng,
            queue: VecDeque::new(),
            drop_prob: 0.0,
            accu_prob: 0.0,
            qdelay_old: 0.0,
            burst_allowance: 0,
            next_tick: None,
            last_sojourn: 0.0,
            in_measurement: false,
            dq_count: 0,
            start: 0,
            avg_dq_time: 0.0,
        }
    }

    fn bytes(&self) -> u32 {
        self.queue.iter().map(|p| p.len).sum()
    }

    fn current_qdelay(&self) -> f64 {
        match self.t.given.delay {
            Estimate::Timestamps => self.last_sojourn,
            Estimate::Rate => f64::from(self.bytes()) * self.avg_dq_time / 16_384.0,
        }
    }

    fn run_timer(&mut self, now: u64) {
        let Some(mut tick) = self.next_tick else {
            self.next_tick = Some(now + self.t.control.update.ns());
            self.burst_allowance = self.t.control.max_burst.ns();
            return;
        };
        while tick <= now {
            self.calculate_drop_prob();
            tick += self.t.control.update.ns();
        }
        self.next_tick = Some(tick);
    }

    fn calculate_drop_prob(&mut self) {
        let qdelay = self.current_qdelay();
        let mut p = self.t.control.alpha * (qdelay - self.t.control.target.secs())
            + self.t.control.beta * (qdelay - self.qdelay_old);
        if self.drop_prob < 0.000001 {
            p /= 2048.0;
        } else if self.drop_prob < 0.00001 {
            p /= 512.0;
        } else if self.drop_prob < 0.0001 {
            p /= 128.0;
        } else if self.drop_prob < 0.001 {
            p /= 32.0;
        } else if self.drop_prob < 0.01 {
            p /= 8.0;
        } else if self.drop_prob < 0.1 {
            p /= 2.0;
        }
        if self.t.given.cap && self.drop_prob >= 0.1 && p > 0.02 {
            p = 0.02;
        }
        if self.t.given.boost && qdelay > 0.250 {
            p += 0.02;
        }
        self.drop_prob += p;
        if qdelay == 0.0 && self.qdelay_old == 0.0 {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.qdelay_old = qdelay;
        self.burst_allowance = self.burst_allowance.saturating_sub(self.t.control.update.ns());
    }

    fn drop_early(&mut self, packet: &Offer) -> bool {
        let reference = self.t.control.target.secs();
        if self.qdelay_old < reference / 2.0 && self.drop_prob < 0.2 {
            return false;
        }
        if self.bytes() <= 2 * self.t.packet_bytes {
            return false;
        }
        let mut p1 = self.drop_prob;
        if self.t.control.measure == Measure::Bytes {
            p1 = p1 * f64::from(packet.len) / f64::from(self.t.packet_bytes);
        }
        if self.t.given.derandomize {
            if self.drop_prob == 0.0 {
                self.accu_prob = 0.0;
            }
            self.accu_prob += p1;
            if self.accu_prob < 0.85 {
                return false;
            }
            if self.accu_prob >= 8.5 {
                return true;
            }
        }
        p1 > 0.0 && self.rng.uniform() < p1
    }
}

impl Reading for PlainPie {
    fn offer(&mut self, packet: Offer, now: u64, events: &mut Vec<Event>) {
        self.run_timer(now);
        if self.queue.len() == self.limit {
            self.accu_prob = 0.0;
            return events.push(Event::Dropped(packet.frame, Cause::Overflow));
        }
        let half = self.t.control.target.secs() / 2.0;
        if self.drop_prob == 0.0 && self.current_qdelay() < half && self.qdelay_old < half {
            self.burst_allowance = self.t.control.max_burst.ns();
        }
        if self.burst_allowance == 0 && self.drop_early(&packet) {
            self.accu_prob = 0.0;
            if !(self.ecn && packet.ecn != Ecn::NotEct && self.drop_prob <= self.t.control.mark_limit) {
                return events.push(Event::Dropped(packet.frame, Cause::Early));
            }
            events.push(Event::Marked(packet.frame, Cause::Early));
        }
        self.queue.push_back(packet);
    }

    fn request(&mut self, now: u64, events: &mut Vec<Event>) {
        self.run_timer(now);
        let waiting = self.bytes();
        let Some(p) = self.queue.pop_front() else {
            self.last_sojourn = 0.0;
            return;
        };
        self.last_sojourn = if self.queue.is_empty() { 0.0 } else { (now - p.arrived) as f64 * 1e-9 };
        if self.t.given.delay == Estimate::Rate {
            if !self.in_measurement && waiting >= 16_384 {
                (self.in_measurement, self.start, self.dq_count) = (true, now, 0);
            }
            if self.in_measurement {
                self.dq_count += p.len;
                if self.dq_count >= 16_384 {
                    let dq_time = (now - self.start) as f64 * 1e-9;
                    self.avg_dq_time = if self.avg_dq_time == 0.0 {
                        dq_time
                    } else {
                        dq_time * 0.25 + self.avg_dq_time * 0.75
                    };
                    self.in_measurement = false;
                }
            }
        }
        events.push(Event::Sent(p.frame));
    }
}

#[test]
fn it_decides_as_the_rfcs_pseudo_code_over_random_traces() {
    let variants = [
        terms(),
        given(Checked { delay: Estimate::Rate, ..Checked::default() }),
        given(Checked { derandomize: false, ..Checked::default() }),
        Terms {
            control: CheckedControl { measure: Measure::Bytes, ..CheckedControl::default() },
            ..given(Checked { boost: false, cap: false, ..Checked::default() })
        },
        control(CheckedControl { max_burst: Duration::ZERO, mark_limit: 0.001, ..CheckedControl::default() }),
        control(CheckedControl {
            target: Duration::from_ms(2),
            update: Duration::from_ms(4),
            alpha: 2.0,
            ..CheckedControl::default()
        }),
    ];
    for (i, terms) in variants.into_iter().enumerate() {
        for ecn in [EcnPolicy::Drop, EcnPolicy::Mark] {
            let mut signals = 0;
            for seed in 0..4 {
                let mut rng = Seed(seed).stream("pie");
                let trace = trace(&mut rng, 5000, 8, |_, rng| 40 + rng.below(1460));
                let stream = || Seed(seed).stream("drops");
                let mut model = PlainPie::new(terms, ecn == EcnPolicy::Mark, 100, stream());
                let dropper = OneQueue::<Pie>::new(Common { terms, rng: stream() });
                let mut queue = Queue::new(Limit::packets(100), Fcfs, dropper).with_ecn(ecn);
                let log = assert_same(&mut queue, &mut model, &trace);
                signals += log.dropped_by(Cause::Early) + log.marked().len();
            }
            assert!(signals > 100, "variant {i}, {ecn:?}: only {signals} signals");
        }
    }
}

/// PIE at a queue that holds 50 packets after each departure of 1000 bytes.
struct Bench {
    pie: Pie,
    common: Common,
    now: Time,
}

const LEFT: Backlog = Backlog { packets: 50, bytes: 50_000 };

impl Bench {
    fn new(terms: Terms) -> Self {
        let common = Common { terms, rng: Seed(5).stream("bench") };
        Bench { pie: Pie::default(), common, now: Time::from_ns(10_000_000_000) }
    }

    fn depart(&mut self, wait: Duration, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now += Duration::from_us(100);
            let packet = Packet::new(0, 1000, 1.into(), self.now.saturating_sub(wait));
            self.pie.on_departure(&mut self.common, &packet, LEFT, self.now);
        }
    }

    fn signalled(&mut self, n: u32) -> u32 {
        (0..n).map(|_| u32::from(self.arrival() != Verdict::Pass)).sum()
    }

    fn arrival(&mut self) -> Verdict {
        let packet = Packet::new(0, 1000, 1.into(), self.now);
        self.pie.on_arrival(&mut self.common, &packet, LEFT, self.now)
    }
}

#[test]
fn drops_begin_only_after_the_burst_allowance() {
    let mut bench = Bench::new(control(CheckedControl { alpha: 100.0, ..CheckedControl::default() }));
    bench.arrival();
    bench.depart(Duration::from_ms(100), Duration::from_ms(140));
    assert!(bench.pie.probability() > 0.1);
    assert_eq!(bench.signalled(1000), 0);
    bench.depart(Duration::from_ms(100), Duration::from_ms(20));
    assert!(bench.signalled(1000) > 100);
    let eager = CheckedControl { alpha: 100.0, max_burst: Duration::ZERO, ..CheckedControl::default() };
    let mut bench = Bench::new(control(eager));
    bench.arrival();
    bench.depart(Duration::from_ms(100), Duration::from_ms(140));
    assert!(bench.signalled(1000) > 100);
}

#[test]
fn derandomized_drops_keep_their_rate_and_neither_cluster_nor_gape() {
    // The first update sets the probability; later updates do not change it.
    let max_burst = Duration::ZERO;
    let step = CheckedControl { alpha: 0.0, beta: 2048.0, max_burst, ..CheckedControl::default() };
    for derandomize in [true, false] {
        let mut bench =
            Bench::new(Terms { control: step, ..given(Checked { derandomize, ..Checked::default() }) });
        bench.arrival();
        bench.depart(Duration::from_ms(20), Duration::from_ms(15));
        let p = bench.pie.probability();
        assert!((p - 0.02).abs() < 1e-9, "{p}");
        let mut gaps = Vec::new();
        let mut gap = 0;
        for _ in 0..100_000 {
            gap += 1;
            if bench.arrival() != Verdict::Pass {
                gaps.push(gap);
                gap = 0;
            }
        }
        let (least, most) = (gaps.iter().min().copied(), gaps.iter().max().copied());
        if derandomize {
            // De-randomisation allows a signal only after 0.85/0.02 = 42.5 packets, and forces one
            // after 8.5/0.02 = 425. Rounding may add a packet.
            assert!(least >= Some(43) && most <= Some(426), "{least:?} to {most:?}");
        } else {
            // Gaps are geometric with p = 0.02. A gap above 300 has probability 0.98^300 = 0.0023,
            // so 2000 gaps nearly always include one.
            assert!(least <= Some(3) && most > Some(250), "{least:?} to {most:?}");
        }
    }
}

#[test]
fn an_idle_queue_lets_the_probability_decay_to_nothing() {
    let mut bench =
        Bench::new(control(CheckedControl { max_burst: Duration::ZERO, ..CheckedControl::default() }));
    bench.arrival();
    bench.depart(Duration::from_ms(300), Duration::from_ms(2000));
    let high = bench.pie.probability();
    assert!(high > 0.5, "{high}");
    bench.now += Duration::from_us(100);
    bench.pie.emptied(&mut bench.common, bench.now);
    bench.now += Duration::from_secs(1);
    bench.pie.emptied(&mut bench.common, bench.now);
    let low = bench.pie.probability();
    // After 66 updates, at most 0.98^66 = 0.264 of the probability remains.
    assert!(low < high * 0.28, "{high} to {low}");
    bench.now += Duration::from_secs(15);
    bench.pie.emptied(&mut bench.common, bench.now);
    assert_eq!(bench.pie.probability(), 0.0);
}
