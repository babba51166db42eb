//! RQM's functions, the paper's fluid model, and a transcription of figure 1.

use super::site;
use crate::beside::{Event, Line, Offer, Reading, Traffic, assert_near, compare};
use fairwire_core::scheduler::Fcfs;
use fairwire_core::{
    Buffer, Cause, Discipline, Dropper, Duration, Ecn, EcnPolicy, Ignore, Limit, Packet, Queue, Rate, Rng,
    Seed, Time, Verdict,
};
use fairwire_laws::Site;
use fairwire_laws::dropper::rqm::{AlphaUnits, Checked, Config, Estimator, Law, OverloadRule, Rqm, Spec};
use fairwire_laws::spec::Measure;

fn config() -> Config {
    Spec::default().check(&site()).expect("the defaults are allowed").1
}

/// The law at 10 Mbit/s with packets of 1040 bytes: B is 1201.92 packets per second.
fn law() -> Law {
    let site = Site { packet_bytes: 1040, ..site() };
    Spec::default().check(&site).expect("the defaults are allowed").1.law
}

#[test]
fn the_law_has_the_values_of_section_3() {
    // With the defaults, the virtual capacity B' is 0.99 B. The rate b of n sessions gives n =
    // -ln(1 - b/B') and p = 2 (n/b)^2.
    let law = law();
    let near = |found: f64, value: f64, unit: f64| {
        // The tolerance is half a unit in the last digit given, plus rounding.
        assert!((found - value).abs() <= 0.501 * unit, "{found} {value}");
    };
    near(law.virtual_capacity, 1189.904, 1e-3);
    for (part, p, unit) in [
        (0.0, 1.4126e-6, 1e-10),
        (0.1, 1.5681e-6, 1e-10),
        (0.5, 2.7147e-6, 1e-10),
        (0.9, 9.2460e-6, 1e-10),
        (0.99, 3.0565e-5, 1e-9),
        (0.999, 6.7538e-5, 1e-9),
        (1.0 - 1e-9, 6.0663e-4, 1e-8),
    ] {
        near(law.probability(part * law.virtual_capacity), p, unit);
    }
    near(law.sessions(0.9 * law.virtual_capacity), core::f64::consts::LN_10, 1e-12); // 2.3026
    near(law.sessions((1.0 - 1e-9) * law.virtual_capacity), 20.723, 1e-3);
    near(law.utilization(1.0), 752.16, 1e-2);
    near(law.utilization(5.0), 1181.89, 1e-2);
    near(law.utilization(10.0), 1189.850, 1e-3);
}

#[test]
fn the_number_of_sessions_is_the_inverse_of_the_target_utilization() {
    let law = law();
    for sessions in [1e-9, 0.1, 1.0, 3.0, 8.0] {
        let found = law.sessions(law.utilization(sessions));
        // Near the virtual capacity, `sessions` multiplies the rate's rounding error of 1.1e-16 by
        // e^n.
        assert!((found - sessions).abs() <= 1e-12 * sessions.exp() * sessions.max(1.0), "{found} {sessions}");
    }
}

#[test]
fn a_rate_near_zero_does_not_lose_digits() {
    let law = law();
    let limit = law.probability(0.0);
    for rate in [1e-300, 1e-12, -1e-12] {
        // The ratio differs from 1 by about b/B', which is below 1e-14 here.
        assert!((law.probability(rate) / limit - 1.0).abs() < 1e-14, "{rate}");
    }
}

#[test]
fn alpha_per_round_trip_time_is_tcps_usual_law() {
    let site = Site { packet_bytes: 1040, ..site() };
    let spec = Spec { alpha_units: Some(AlphaUnits::PerRtt), ..Spec::default() };
    let law = spec.check(&site).expect("allowed").1.law;
    let rate = 0.9 * law.virtual_capacity;
    let window = rate / law.sessions(rate) * 0.1; // packets per session and round trip of 100 ms
    assert!((law.probability(rate) * window * window - 2.0).abs() < 1e-12); // a few roundings
}

/// Derivatives of the rates: alpha - p(b) (1 - beta) b_i^2.
fn slope(law: &Law, rates: &[f64]) -> Vec<f64> {
    let p = law.probability(rates.iter().sum());
    rates.iter().map(|rate| 1.0 - p * 0.5 * rate * rate).collect()
}

fn runge_kutta(law: &Law, rates: &mut [f64], step: f64) {
    let at = |slope: &[f64], by: f64| -> Vec<f64> {
        rates.iter().zip(slope).map(|(rate, slope)| rate + by * slope).collect()
    };
    let k1 = slope(law, rates);
    let k2 = slope(law, &at(&k1, step / 2.0));
    let k3 = slope(law, &at(&k2, step / 2.0));
    let k4 = slope(law, &at(&k3, step));
    for (i, rate) in rates.iter_mut().enumerate() {
        *rate += step / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
    }
}

/// Imbalance M: the reciprocal of Jain's index.
fn imbalance(rates: &[f64]) -> f64 {
    let (sum, squares) = (rates.iter().sum::<f64>(), rates.iter().map(|rate| rate * rate).sum::<f64>());
    rates.len() as f64 * squares / (sum * sum)
}

#[test]
fn in_the_fluid_model_all_sessions_converge_to_equal_shares() {
    let law = Law { virtual_capacity: 99.0, gain: 2.0, ..law() };
    let mut rng = Seed(5).stream("fluid");
    for sessions in 1..=6usize {
        let mut rates: Vec<f64> = (0..sessions).map(|_| 0.01 + rng.uniform()).collect();
        let scale = 0.6 * law.virtual_capacity / rates.iter().sum::<f64>();
        rates.iter_mut().for_each(|rate| *rate *= scale);
        let (n, step) = (sessions as f64, 0.02);
        let (first, mut last) = (imbalance(&rates), f64::INFINITY);
        // By lemmas 3 and 4, the imbalance falls by a factor of e^20 within (ln n + 20) B / n
        // seconds. B is the virtual capacity.
        let time = law.virtual_capacity / n * (n.ln() + 20.0);
        for i in 1..=(time / step) as u32 {
            runge_kutta(&law, &mut rates, step);
            let m = imbalance(&rates);
            assert!(m <= last + 1e-13, "M grew from {last} to {m}"); // rounding of sums
            last = m;
            // M - 1 falls at a relative rate of at least 2 n / b. The total rate b stays below the
            // virtual capacity.
            let bound = (first - 1.0) * (-2.0 * n * f64::from(i) * step / law.virtual_capacity).exp();
            assert!(m - 1.0 <= bound + 1e-12, "{m} {bound}"); // the error of the integration
        }
        let total: f64 = rates.iter().sum();
        let wanted = law.utilization(n);
        assert!((total / wanted - 1.0).abs() < 1e-6, "{total} {wanted}"); // e^-20 and the integration
        assert!((law.sessions(total) / n - 1.0).abs() < 1e-4, "{}", law.sessions(total)); // e^n times that
        assert!(rates.iter().all(|rate| (rate * n / wanted - 1.0).abs() < 1e-6), "{rates:?}");
    }
}

/// A transcription of figure 1. RQM's documentation fills the gaps.
struct Reference {
    config: Config,
    rng: Rng,
    line: Line,
    smooth: f64,
    before: Option<(f64, u64, f64)>, // queue, time, arrivals since
    sums: (f64, f64),
    window: (u64, f64),
}

impl Reference {
    fn new(config: Config, line: Line, rng: Rng) -> Self {
        Reference { config, rng, line, smooth: 0.0, before: None, sums: (0.0, 0.0), window: (0, 0.0) }
    }

    fn measure(&mut self, amount: f64, queue: f64, now: u64) {
        let a = self.config.law.given.smoothing;
        if self.config.law.given.estimator == Estimator::Window {
            let length = self.config.law.given.window.ns();
            while now / length > self.window.0 {
                let rate = self.window.1 / (length as f64 * 1e-9);
                self.smooth = a * self.smooth + (1.0 - a) * rate;
                self.window = (self.window.0 + 1, 0.0);
            }
            self.window.1 += amount;
            return;
        }
        let Some((queue_before, time_before, offered)) = self.before else {
            self.before = Some((queue, now, amount));
            return;
        };
        if now == time_before {
            self.before = Some((queue_before, time_before, offered + amount));
            return;
        }
        let dt = (now - time_before) as f64 * 1e-9;
        let growth = (queue - queue_before) / dt;
        match self.config.law.given.estimator {
            Estimator::Ratio => {
                self.sums = (a * self.sums.0 + offered, a * self.sums.1 + dt);
                self.smooth = self.sums.0 / self.sums.1;
            }
            Estimator::Printed => self.smooth = a * self.smooth + (1.0 - a) * growth,
            _ => {
                let busy = queue > 0.0 && queue_before > 0.0;
                let rate = if busy { f64::max(0.0, self.config.capacity + growth) } else { offered / dt };
                self.smooth = a * self.smooth + (1.0 - a) * rate;
            }
        }
        self.before = Some((queue, now, amount));
    }

    fn p(&self) -> f64 {
        let Law { virtual_capacity: full, gain, given } = self.config.law;
        let Checked { steepness: c, overload_rule, epsilon, clamp_limit, .. } = given;
        let most = if overload_rule == OverloadRule::Clamp { clamp_limit } else { f64::INFINITY };
        let mut b = self.smooth;
        match overload_rule {
            OverloadRule::Clamp => b = b.min(full * (1.0 - epsilon)),
            OverloadRule::Drop if b >= full => return 1.0,
            OverloadRule::NanNoDrop if b >= full => return 0.0,
            _ => {}
        }
        if b == 0.0 {
            return f64::min(gain / (c * full).powi(2), most);
        }
        let n = -(-b / full).ln_1p() / c;
        f64::min(gain * (n / b).powi(2), most)
    }
}

impl Reading for Reference {
    fn offer(&mut self, offer: Offer, now: u64, events: &mut Vec<Event>) {
        let in_bytes = self.config.law.given.measure == Measure::Bytes;
        let amount = if in_bytes { f64::from(offer.len) / 512.0 } else { 1.0 };
        self.measure(amount, self.line.len(in_bytes), now);
        let p = self.p() * amount;
        let mut drops = p.floor() as u32;
        if p.fract() > 0.0 && self.rng.uniform() < p.fract() {
            drops += 1;
        }
        for _ in 1..drops {
            let marks = self.line.marks;
            let unmarked = |other: &Offer| !marks || other.ecn != Ecn::Ce;
            let Some(at) = self.line.waiting.iter().rposition(unmarked) else { break };
            let other = &mut self.line.waiting[at];
            if marks && other.ecn.is_capable() {
                other.ecn = Ecn::Ce;
                events.push(Event::Marked(other.frame, Cause::Early));
            } else {
                events.push(Event::Dropped(other.frame, Cause::Early));
                self.line.waiting.remove(at);
            }
        }
        self.line.settle(offer, drops > 0, events);
    }

    fn request(&mut self, _: u64, events: &mut Vec<Event>) {
        self.line.send(events);
    }
}

#[test]
fn it_decides_as_figure_1_does_under_every_switch() {
    use Estimator::{Printed, Ratio, SlopePlusCapacity, Window};
    use OverloadRule::{Clamp, Drop, NanNoDrop};
    let mut overloaded = 0.0;
    for (i, estimator) in [Printed, SlopePlusCapacity, Ratio, Window].into_iter().enumerate() {
        for (j, overload_rule) in [Clamp, Drop, NanNoDrop].into_iter().enumerate() {
            // At the clamp, n / b is 20.7 / 2417, so p = gain x (n / b)^2 is 0.07 or 2.9.
            for (gain, clamp_limit) in [(1e3, 0.5), (4e4, 0.5), (4e4, 1e6)] {
                for (measure, policy) in [
                    (Measure::Packets, EcnPolicy::Drop),
                    (Measure::Packets, EcnPolicy::Mark),
                    (Measure::Bytes, EcnPolicy::Drop),
                    (Measure::Bytes, EcnPolicy::Mark),
                ] {
                    let limit = match measure {
                        Measure::Bytes => Limit::bytes(20_480),
                        Measure::Packets => Limit::packets(40),
                    };
                    let given = Checked {
                        measure,
                        estimator,
                        overload_rule,
                        clamp_limit,
                        window: Duration::from_ms(10),
                        smoothing: 0.9, // less often beyond the pole than with the default
                        ..Checked::default()
                    };
                    let config = Config {
                        law: Law { gain, given, ..config().law },
                        marks: policy == EcnPolicy::Mark,
                        ..config()
                    };
                    let seed = (10 * i + j) as u64;
                    let rqm = Rqm::new(config, Seed(seed).stream("rqm"));
                    let mut queue = Queue::new(limit, Fcfs, rqm).with_ecn(policy);
                    let mut plain =
                        Reference::new(config, Line::new(limit, policy), Seed(seed).stream("rqm"));
                    let met =
                        compare(&mut queue, &mut plain, &Traffic::default(), (4000, seed), |queue, plain| {
                            assert_near(queue.dropper().rate(), plain.smooth);
                        });
                    let few =
                        met.get("early").copied().unwrap_or(0) + met.get("marked").copied().unwrap_or(0);
                    // With the estimator `Printed`, the rate hardly ever reaches the capacity, so
                    // RQM seldom drops.
                    assert!(few > 0 || estimator == Printed || overload_rule == NanNoDrop, "{met:?}");
                    overloaded += queue.dropper().overloaded();
                }
            }
        }
    }
    assert!((6.0..135.0).contains(&overloaded), "of 144 runs the law was beyond its pole in {overloaded}");
}

#[test]
fn above_one_drop_per_arrival_the_newest_are_dropped_first() {
    let given = Checked { clamp_limit: 1e6, ..Checked::default() };
    let law = Law { gain: 3.0, virtual_capacity: 1.0, given };
    assert_eq!(law.probability(0.0), 3.0);
    let rqm = |marks| Rqm::new(Config { law, marks, ..config() }, Seed(1).stream("rqm"));
    // Simultaneous arrivals count as one, so the measured rate remains 0.
    let filled = |marks, policy| {
        let mut queue =
            Queue::new(Limit::packets(40), Fcfs, Few { rqm: rqm(marks), spare: 5 }).with_ecn(policy);
        for frame in 0..6 {
            let ecn = if frame == 3 { Ecn::NotEct } else { Ecn::Ect0 };
            queue.enqueue(
                Packet { ecn, ..Packet::new(frame, 512, 0.into(), Time::ZERO) },
                Time::ZERO,
                &mut Ignore,
            );
        }
        let mut left = Vec::new();
        while let Some(packet) = queue.dequeue(Time::ZERO, &mut Ignore) {
            left.push((packet.frame, packet.ecn == Ecn::Ce));
        }
        left
    };
    assert_eq!(filled(false, EcnPolicy::Drop), [(0, false), (1, false), (2, false)]);
    let left = [(0, false), (1, false), (2, false), (4, true), (5, true)];
    assert_eq!(filled(true, EcnPolicy::Mark), left);
}

struct Few {
    rqm: Rqm,
    spare: u32,
}

impl Dropper for Few {
    fn on_arrival(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Verdict {
        if self.spare > 0 {
            self.spare -= 1;
            return Verdict::Pass;
        }
        self.rqm.on_arrival(packet, buffer, now)
    }
    fn another(
        &mut self,
        packet: &Packet,
        buffer: &Buffer,
        now: Time,
    ) -> Option<(fairwire_core::Key, Verdict)> {
        self.rqm.another(packet, buffer, now)
    }
}

#[test]
fn at_most_64_marked_packets_are_searched_for_an_unmarked_one() {
    let given = Checked { clamp_limit: 1e6, ..Checked::default() };
    let law = Law { gain: 2.0, virtual_capacity: 1.0, given };
    let config = Config { law, marks: true, ..config() };
    for (ahead, reached) in [(63, true), (64, false)] {
        let mut rqm = Rqm::new(config, Seed(1).stream("rqm"));
        let mut buffer = Buffer::new(Limit::packets(200));
        let packet = |frame, ecn| Packet { ecn, ..Packet::new(frame, 512, 0.into(), Time::ZERO) };
        let unmarked = buffer.push(packet(0, Ecn::Ect0));
        for frame in 1..=ahead {
            buffer.push(packet(frame, Ecn::Ce));
        }
        let arrival = packet(200, Ecn::Ect0);
        assert_eq!(rqm.on_arrival(&arrival, &buffer, Time::ZERO), Verdict::Signal(Cause::Early));
        let other = rqm.another(&arrival, &buffer, Time::ZERO);
        assert_eq!(other, reached.then_some((unmarked, Verdict::Signal(Cause::Early))), "{ahead}");
        assert_eq!(rqm.another(&arrival, &buffer, Time::ZERO), None);
    }
}

#[test]
fn under_overload_a_slow_link_stays_in_use() {
    for bps in [64_000, 128_000, 350_000] {
        let rate = Rate::from_bps(bps).expect("not zero");
        let site = Site { rate, packet_bytes: 1500, ..site() };
        let mut queue = Spec::default().build(&site).expect("the defaults are allowed");
        let (each, mut sent) = (12_000_000_000_000 / bps, 0);
        let (mut arrival, mut request) = (0, 0);
        while request < 2000 * each {
            if arrival <= request {
                let now = Time::from_ns(arrival);
                queue.enqueue(Packet::new(0, 1500, 0.into(), now), now, &mut Ignore);
                arrival += each * 5 / 6;
            } else {
                sent += u32::from(queue.dequeue(Time::from_ns(request), &mut Ignore).is_some());
                request += each;
            }
        }
        // The default `clamp_limit` of 0.5 passes at least half of the 2400 arrivals.
        assert!(sent > 1100, "{bps}: {sent}");
    }
}

#[test]
fn at_a_load_of_nine_tenths_the_offered_rate_is_measured_correctly() {
    // A packet takes 409.6 us to send, and packets arrive every 455 us, so the queue is always
    // empty.
    for (estimator, wanted) in [
        (Estimator::SlopePlusCapacity, 1e9 / 455_111.0),
        (Estimator::Ratio, 1e9 / 455_111.0),
        (Estimator::Printed, 0.0),
    ] {
        let given = Checked { estimator, ..Checked::default() };
        let law = Law { given, ..config().law };
        let mut rqm = Rqm::new(Config { law, ..config() }, Seed(1).stream("rqm"));
        let buffer = Buffer::new(Limit::packets(40));
        for i in 0..100u32 {
            let now = Time::from_ns(u64::from(i) * 455_111);
            rqm.on_arrival(&Packet::new(i, 512, 0.into(), now), &buffer, now);
        }
        assert!((rqm.rate() - wanted).abs() < 1e-9 * wanted.max(1.0), "{estimator:?}: {}", rqm.rate());
        assert_eq!(rqm.overloaded(), 0.0);
    }
}
