//! DualPI2 against the pseudo-code of RFC 9332, appendix A, and its promises.

use super::{assert_same, site, trace};
use crate::beside::{Event, Offer, Reading};
use crate::fate::Events;
use fairwire_core::{Cause, Discipline, Duration, Ecn, EcnPolicy, Packet, Seed, Time};
use fairwire_laws::compose::dual_pi2::{Config, DualPi2, Serve, Spec};
use std::collections::VecDeque;

fn config(packets: u32) -> Config {
    Spec::default().check(&site(packets)).expect("the defaults are allowed")
}

/// The variables of appendix A, with delays in seconds.
struct PlainDual {
    c: Config,
    /// L4S packets. The flag is true if the step applies: `qdisc_qlen(l_queue) >= min_qlen_step`.
    lq: VecDeque<(Offer, bool)>,
    cq: VecDeque<Offer>,
    p: f64,
    prevq: f64,
    l_count: f64,
    l_drop_count: f64,
    c_count: f64,
    next_tick: Option<u64>,
    /// The bytes that weighted round robin owes to the classic queue.
    deficit: f64,
}

fn recur(count: &mut f64, likelihood: f64) -> bool {
    if likelihood >= 1.0 {
        // A likelihood above 1 counts as 1. Otherwise the counter would never fall.
        *count = (*count + 1.0 - 1.0).max(0.0);
        return true;
    }
    *count += likelihood;
    if *count > 1.0 {
        *count -= 1.0;
        return true;
    }
    false
}

impl PlainDual {
    fn new(c: Config) -> Self {
        let (lq, cq) = (VecDeque::new(), VecDeque::new());
        let (l_count, l_drop_count, c_count) = (0.0, 0.0, 0.0);
        PlainDual {
            c,
            lq,
            cq,
            p: 0.0,
            prevq: 0.0,
            l_count,
            l_drop_count,
            c_count,
            next_tick: None,
            deficit: 0.0,
        }
    }

    fn run_timer(&mut self, now: u64) {
        let Some(mut tick) = self.next_tick else {
            self.next_tick = Some(now + self.c.update.ns());
            return;
        };
        while tick <= now {
            let time = |first: Option<&Offer>| first.map_or(0.0, |p| (tick - p.arrived) as f64 * 1e-9);
            let curq = time(self.cq.front()).max(time(self.lq.front().map(|(p, _)| p)));
            self.p += self.c.alpha * (curq - self.c.target.secs()) + self.c.beta * (curq - self.prevq);
            self.p = self.p.clamp(0.0, 1.0);
            self.prevq = curq;
            tick += self.c.update.ns();
        }
        self.next_tick = Some(tick);
    }

    fn scheduler_says_l(&self) -> bool {
        match (self.lq.front(), self.cq.front()) {
            (Some((l, _)), Some(c)) => match self.c.serve {
                Serve::Wrr => self.deficit <= 0.0,
                Serve::TimeShifted => l.arrived <= c.arrived + self.c.time_shift.ns(),
            },
            (l, _) => l.is_some(),
        }
    }

    fn laqm(&self, delay: u64, apply_step: bool) -> f64 {
        let (low, high) = (self.c.step.ns(), (self.c.step + self.c.ramp).ns());
        if !apply_step || delay < low {
            0.0
        } else if delay >= high {
            1.0
        } else {
            (delay - low) as f64 / (high - low) as f64
        }
    }

    fn sent(&mut self, is_l: bool, packet: Offer, events: &mut Vec<Event>) {
        if self.lq.is_empty() || self.cq.is_empty() {
            self.deficit = 0.0;
        } else {
            let share = if is_l { self.c.classic_share } else { self.c.classic_share - 1.0 };
            self.deficit += share * f64::from(packet.len);
        }
        events.push(Event::Sent(packet.frame));
    }
}

impl Reading for PlainDual {
    fn offer(&mut self, packet: Offer, now: u64, events: &mut Vec<Event>) {
        self.run_timer(now);
        if self.lq.len() + self.cq.len() == self.c.limit.max_packets() as usize {
            return events.push(Event::Dropped(packet.frame, Cause::Overflow));
        }
        if packet.ecn as u8 % 2 == 1 {
            let apply_step = self.lq.len() >= self.c.min_qlen_step as usize;
            self.lq.push_back((packet, apply_step));
        } else {
            self.cq.push_back(packet);
        }
    }

    fn request(&mut self, now: u64, events: &mut Vec<Event>) {
        self.run_timer(now);
        let marking = self.c.ecn == EcnPolicy::Mark;
        while !self.lq.is_empty() || !self.cq.is_empty() {
            let is_l = self.scheduler_says_l();
            let classic = |queue: &mut VecDeque<Offer>| queue.pop_front().map(|packet| (packet, false));
            let popped = if is_l { self.lq.pop_front() } else { classic(&mut self.cq) };
            let (packet, apply_step) = popped.expect("chosen");
            let is_last = self.lq.is_empty() && self.cq.is_empty();
            let (p_cl, p_c) = (self.c.coupling * self.p, self.p * self.p);
            let overload = p_cl >= 1.0;
            let (mut drop, mut mark) = (false, false);
            if is_l && !overload {
                let p_l = self.laqm(now - packet.arrived, apply_step).max(p_cl);
                mark = recur(&mut self.l_count, p_l);
            } else if is_l {
                drop = recur(&mut self.l_drop_count, p_c);
                mark = !drop;
            } else if recur(&mut self.c_count, p_c) {
                mark = packet.ecn != Ecn::NotEct && !overload;
                drop = !mark;
            }
            let cause = if drop && overload { Cause::Forced } else { Cause::Early };
            if mark && !marking {
                (mark, drop) = (false, true);
            }
            if drop && !is_last {
                events.push(Event::Dropped(packet.frame, cause));
                continue;
            }
            if mark {
                events.push(Event::Marked(packet.frame, Cause::Early));
            }
            return self.sent(is_l, packet, events);
        }
    }
}

#[test]
fn it_decides_as_the_rfcs_pseudo_code_over_random_traces() {
    let ramp = Duration::from_us(400);
    for (i, config) in [
        config(80),
        Config { ecn: EcnPolicy::Drop, ..config(80) },
        Config { serve: Serve::TimeShifted, time_shift: Duration::from_ms(20), ..config(80) },
        Config { ramp, target: Duration::from_ms(3), classic_share: 0.5, ..config(80) },
        Config { alpha: 10.0, beta: 30.0, ..config(80) },
        Config { min_qlen_step: 0, ..config(80) },
        Config { min_qlen_step: 9, ..config(80) },
    ]
    .into_iter()
    .enumerate()
    {
        let (mut signals, mut forced) = (0, 0);
        for seed in 0..6 {
            let mut rng = Seed(seed).stream("dualpi2");
            let trace = trace(&mut rng, 4000, 8, |_, rng| 40 + rng.below(1460));
            let log = assert_same(&mut DualPi2::new(config), &mut PlainDual::new(config), &trace);
            signals += log.dropped_by(Cause::Early) + log.marked().len();
            forced += log.dropped_by(Cause::Forced);
        }
        assert!(signals > 500, "variant {i}: only {signals} signals");
        assert!(i != 4 || forced > 100, "variant {i}: only {forced} drops under overload");
    }
}

fn offer(dual: &mut DualPi2, ecn: Ecn, now: u64, log: &mut Events) {
    let now = Time::from_ns(now);
    let frame = u32::from(ecn == Ecn::Ect1);
    dual.enqueue(Packet { ecn, ..Packet::new(frame, 500, 1.into(), now) }, now, log);
}

#[test]
fn l4s_packets_are_marked_with_k_times_the_root_of_the_classic_probability() {
    // The classic queue's delay is constant, 30 ms. With alpha 0, p' (`p` below) stays at beta ×
    // 0.03 s.
    for (beta, k) in [(4.0, 2.0), (6.0, 2.0), (4.0, 5.0)] {
        let config = Config { alpha: 0.0, beta, coupling: k, step: Duration::from_secs(1), ..config(1000) };
        let (mut dual, mut log) = (DualPi2::new(config), Events::default());
        let (mut sent, mut marked) = ([0u32; 2], [0u32; 2]);
        for ms in 0..20_000u64 {
            let now = ms * 1_000_000;
            offer(&mut dual, Ecn::Ect0, now, &mut log);
            if ms >= 30 {
                offer(&mut dual, Ecn::Ect1, now, &mut log);
                for _ in 0..2 {
                    let packet = dual.dequeue(Time::from_ns(now), &mut log).expect("both wait");
                    if ms > 1000 {
                        sent[packet.frame as usize] += 1;
                        marked[packet.frame as usize] += u32::from(packet.ecn == Ecn::Ce);
                    }
                }
            }
        }
        let rate = |side: usize| f64::from(marked[side]) / f64::from(sent[side]);
        let p = beta * 0.03;
        // The tolerance of 0.002 covers the fractions that counters hold before and after the 19000
        // packets.
        assert!((rate(0) - p * p).abs() < 0.002, "classic {} of {}", rate(0), p * p);
        assert!((rate(1) - k * p).abs() < 0.002, "L4S {} of {}", rate(1), k * p);
        assert_eq!(log.lost().len(), 0);
    }
}

/// Longest and total waits in us.
#[derive(Clone, Copy, Debug, Default)]
struct Waits {
    longest: u64,
    sum: u64,
    sent: u64,
}

impl Waits {
    fn mean(&self) -> u64 {
        self.sum / self.sent
    }
}

/// Offers `classic` and `l4s` packets per ms to a link of two packets per ms.
fn waits(config: Config, classic: f64, l4s: f64, ms: u64) -> [Waits; 2] {
    let (mut dual, mut log) = (DualPi2::new(config), Events::default());
    let mut rng = Seed(4).stream("waits");
    let mut waits = [Waits::default(); 2];
    for slot in 0..ms * 2 {
        let now = slot * 500_000;
        for (ecn, load) in [(Ecn::NotEct, classic), (Ecn::Ect1, l4s)] {
            (0..4).filter(|_| rng.chance(load / 8.0)).for_each(|_| offer(&mut dual, ecn, now, &mut log));
        }
        if let Some(packet) = dual.dequeue(Time::from_ns(now), &mut log) {
            let (waits, us) = (&mut waits[packet.frame as usize], (now - packet.arrived.ns()) / 1000);
            if slot > ms {
                *waits = Waits { longest: waits.longest.max(us), sum: waits.sum + us, sent: waits.sent + 1 };
            }
        }
    }
    waits
}

#[test]
fn l4s_traffic_keeps_a_short_queue_next_to_a_standing_classic_queue() {
    // Classic senders offer 75 % of the link's rate, and L4S senders 30 %.
    let [classic, l4s] = waits(config(400), 1.5, 0.6, 60_000);
    // The target is 15 ms; random arrivals move the queue by several ms.
    assert!((10_000..20_000).contains(&classic.mean()), "{classic:?}");
    // An L4S packet waits for the packet being sent, for other packets of its burst, and sometimes
    // for a classic packet.
    assert!(l4s.mean() < 500 && l4s.longest < 5_000, "{l4s:?}");
    assert!((17_000..19_000).contains(&l4s.sent), "all of 0.6 per ms in 30 s: {l4s:?}");
}

#[test]
fn a_lone_l4s_sender_that_ignores_marks_is_held_near_the_target() {
    // The buffer holds 500 ms.
    for load in [2.4, 4.0] {
        let [classic, l4s] = waits(config(1000), 0.0, load, 60_000);
        assert_eq!(classic.sent, 0);
        // At 2.4 packets per ms, a sixth must be dropped. Below p' = 1/2 no packet is dropped, and
        // above 1/2 a quarter is. So p' swings around 1/2, and the queue around the target.
        assert!(l4s.mean() < 30_000 && l4s.longest < 60_000, "load {load}: {l4s:?}");
    }
}

#[test]
fn a_greedy_l4s_sender_leaves_the_classic_queue_its_share() {
    // No packet is dropped: the buffer holds the entire load.
    let config = Config { alpha: 0.0, beta: 0.0, classic_share: 0.25, ..config(100_000) };
    let [classic, l4s] = waits(config, 4.0, 4.0, 10_000);
    let share = classic.sent as f64 / (classic.sent + l4s.sent) as f64;
    assert!((share - 0.25).abs() < 0.001, "{share}"); // +- one packet of 10 000
}

#[test]
fn under_time_shift_an_l4s_packet_overtakes_within_the_shift() {
    let config = Config { serve: Serve::TimeShifted, time_shift: Duration::from_ms(10), ..config(100) };
    let (mut dual, mut log) = (DualPi2::new(config), Events::default());
    let mut order = |classic: u64, l4s: u64| {
        offer(&mut dual, Ecn::NotEct, classic, &mut log);
        offer(&mut dual, Ecn::Ect1, l4s, &mut log);
        [0; 2].map(|_| dual.dequeue(Time::from_ns(l4s), &mut log).expect("two wait").frame)
    };
    assert_eq!(order(0, 10_000_000), [1, 0]);
    assert_eq!(order(20_000_000, 30_000_001), [0, 1]);
}

/// The number of marks on `count` L4S packets that arrive together and take 1.2 ms each.
fn marked_of(count: u32, config: Config) -> usize {
    let (mut dual, mut log) = (DualPi2::new(config), Events::default());
    for k in 0..count {
        let packet = Packet::new(k, 1500, 1.into(), Time::ZERO);
        dual.enqueue(Packet { ecn: Ecn::Ect1, ..packet }, Time::ZERO, &mut log);
        if k == 0 {
            dual.dequeue(Time::ZERO, &mut log); // it is sent while the others wait
        }
    }
    (1..count).for_each(|k| _ = dual.dequeue(Time::from_ns(u64::from(k) * 1_200_000), &mut log));
    log.marked().len()
}

#[test]
fn at_10_mbit_one_waiting_packet_is_no_congestion_and_the_third_is() {
    let given = |count| marked_of(count, config(100));
    assert_eq!([2, 3, 4, 6].map(given), [0, 0, 1, 3], "one that met two others, and each after it");
    let always = |count| marked_of(count, Config { min_qlen_step: 0, ..config(100) });
    assert_eq!([1, 2, 3].map(always), [0, 1, 2], "Linux 6.17: each that waits 1.2 ms");
}

#[test]
fn each_queue_reports_the_fates_of_its_packets() {
    let (mut dual, mut log) = (DualPi2::new(config(100)), Events::default());
    for ecn in [Ecn::Ect1, Ecn::Ect1, Ecn::Ect1, Ecn::Ect0] {
        offer(&mut dual, ecn, 0, &mut log);
    }
    (0..4).for_each(|_| _ = dual.dequeue(Time::from_ns(2_000_000), &mut log));
    let of_both = |name: &str| {
        let mut values = Vec::new();
        let mut probe = |shown: &str, _, value: f64| values.extend((shown == name).then_some(value));
        dual.inspect(&mut probe);
        values
    };
    let gauges = ["sent_packets", "marked_packets", "dropped_packets", "latest_wait"];
    // Each gauge lists the L4S queue first.
    assert_eq!(gauges.map(of_both), [[3.0, 1.0], [1.0, 0.0], [0.0, 0.0], [0.002, 0.002]]);
}
