//! AFD once more, straight from the pseudo-code, with none of the code under test.

use super::{Fate, site};
use fairwire_core::scheduler::Fcfs;
use fairwire_core::units::Amount;
use fairwire_core::{
    Cause, Discipline, Dropper, Duration, Ecn, EcnPolicy, Ignore, Limit, Packet, Queue, Rng, Seed, Time,
};
use fairwire_laws::dropper::afd::nft::FlowSet;
use fairwire_laws::dropper::afd::sb::ShadowBuffer;
use fairwire_laws::dropper::afd::{Afd, Meter, Record, Sampled, Samples, Shared, nft};
use fairwire_laws::spec::{ClassNumber, Measure, Weights};
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Variant {
    Sb,
    Ft,
    Nft,
}

/// A row of the flow table: flow, how many samples it has, what they count.
type Row = (u64, u32, u64);

struct Plain {
    variant: Variant,
    bytes: bool,
    rng: Rng,
    b: usize,
    p: f64,
    s: usize,
    a: f64,
    room: usize,
    q_target: f64,
    m_fair: f64,
    q_prev: f64,
    most: f64,
    tick: u64,
    stored: usize,
    shadow: Vec<(u64, u64)>,
    table: Vec<Row>,
    set: Vec<u64>,
    u_left: u64,
    waiting: VecDeque<u32>,
}

impl Plain {
    fn q(&self) -> f64 {
        if self.bytes { self.waiting.iter().sum::<u32>().into() } else { self.waiting.len() as f64 }
    }

    fn timer(&mut self, now: u64) {
        while (self.tick + 1) * 6_250_000 <= now {
            self.tick += 1;
            let q = self.q();
            self.m_fair += ALPHA * (self.q_prev - self.q_target) - BETA * (q - self.q_target);
            self.m_fair = self.m_fair.max(0.0).min(self.most);
            self.q_prev = q;
        }
    }

    fn row(&mut self, flow: u64) -> Option<usize> {
        self.table.iter().position(|row| row.0 == flow)
    }

    fn decrement(&mut self, flow: u64, size: u64) {
        let at = self.row(flow).expect("a victim has samples");
        self.table[at].1 -= 1;
        self.table[at].2 -= size;
        if self.table[at].1 == 0 {
            self.table.swap_remove(at);
            self.set.retain(|&member| member != flow);
        }
    }

    /// S: s distinct rows of the table.
    fn draw(&mut self) {
        let n = self.table.len();
        let mut rows: Vec<usize> = Vec::new();
        if n <= self.s {
            rows.extend(0..n);
        } else {
            for j in n - self.s..n {
                let t = self.rng.below(j as u32 + 1) as usize;
                rows.push(if rows.contains(&t) { j } else { t });
            }
        }
        self.set = rows.into_iter().map(|row| self.table[row].0).collect();
    }

    fn count_of_set(&self) -> u32 {
        self.table.iter().filter(|row| self.set.contains(&row.0)).map(|row| row.1).sum()
    }

    fn victim(&mut self) -> u64 {
        if self.variant == Variant::Ft || self.u_left == 0 || self.set.is_empty() {
            self.draw();
            self.u_left = ((self.a * f64::from(self.count_of_set())).floor() as u64).max(1);
        }
        self.u_left -= 1;
        let mut nth = self.rng.below(self.count_of_set());
        // The order of the set decides whom a number means. A flow that left it had its place taken
        // by the last.
        for flow in self.set.clone() {
            let at = self.row(flow).expect("in the set, so in the table");
            if nth < self.table[at].1 {
                return flow;
            }
            nth -= self.table[at].1;
        }
        unreachable!("below the sum")
    }

    fn sample(&mut self, flow: u64, size: u64) {
        if self.stored < self.b {
            self.stored += 1;
            self.shadow.push((flow, size));
        } else if self.variant == Variant::Sb {
            let k = self.rng.below(self.b as u32) as usize;
            let (victim, size_then) = core::mem::replace(&mut self.shadow[k], (flow, size));
            self.decrement(victim, size_then);
        } else {
            let victim = self.victim();
            let at = self.row(victim).expect("in the set, so in the table");
            let members = self.set.clone();
            self.decrement(victim, self.table[at].2 / u64::from(self.table[at].1));
            if self.set.len() < members.len() {
                // The last of the set takes the place of the one that left.
                let place = members.iter().position(|&m| m == victim).expect("was in the set");
                self.set = members;
                self.set.swap_remove(place);
            }
        }
        match self.row(flow) {
            Some(at) => {
                self.table[at].1 += 1;
                self.table[at].2 += size;
            }
            None => self.table.push((flow, 1, size)),
        }
    }

    fn arrival(&mut self, flow: u64, len: u32, weight: f64, now: u64) -> Option<Cause> {
        self.timer(now);
        if self.rng.uniform() < self.p {
            self.sample(flow, if self.bytes { len.min(65_535).into() } else { 1 });
        }
        let kept: u64 = self.table.iter().map(|row| row.2).sum();
        let most = (self.b as f64 * if self.bytes { 1000.0 } else { 1.0 }).max(kept as f64);
        if most != self.most {
            // m_fair is a part of the sample, and stays that part.
            self.m_fair = (self.m_fair * (most / self.most)).min(most);
            self.most = most;
        }
        let m = self.row(flow).map_or(0, |at| self.table[at].2) as f64;
        let fair = self.m_fair * weight;
        if m > fair && (fair == 0.0 || self.rng.uniform() < 1.0 - fair / m) {
            return Some(Cause::Early);
        }
        if self.waiting.len() == self.room {
            return Some(Cause::Overflow);
        }
        self.waiting.push_back(len);
        None
    }

    fn departure(&mut self, now: u64) {
        self.timer(now);
        self.waiting.pop_front();
    }
}

const WEIGHTED: u32 = 3;

// The published gains make m_fair a whole number every now and then, and rounding would decide
// whether m is above it.
const ALPHA: f64 = 1.701_234_567;
const BETA: f64 = 1.803_456_789;

fn config(measure: Measure) -> nft::Config {
    let weights = Weights([(ClassNumber(WEIGHTED), 2.5)].into());
    let spec = nft::Spec {
        measure: Some(measure),
        set_size: Some(3),
        reuse: Some(0.2),
        shared: Shared {
            weights: Some(weights),
            alpha: Some(ALPHA),
            beta: Some(BETA),
            interval: Some(Duration::from_us(6250).into()),
            mark_limit: Some(1.0),
            ..Shared::default()
        },
        samples: Samples { samples: Some(60), ..Samples::default() },
        ..nft::Spec::default()
    };
    spec.check(&site(Amount::Packets(60))).expect("allowed")
}

/// Runs both readings side by side; returns how often each fate was met: in, early, overflow.
fn compare<M: Meter>(config: &nft::Config, variant: Variant, meter: M, seed: u64) -> [u32; 3] {
    let afd = Afd::new(&config.common, meter, Seed(seed).stream("afd"));
    let mut queue = Queue::new(config.common.limit, Fcfs, afd);
    let bytes = config.common.measure == Measure::Bytes;
    let mut plain = Plain {
        variant,
        bytes,
        rng: Seed(seed).stream("afd"),
        b: 60,
        p: 0.2,
        s: 3,
        a: 0.2,
        room: 60,
        q_target: if bytes { 15_000.0 } else { 15.0 },
        m_fair: if bytes { 60_000.0 } else { 60.0 },
        q_prev: 0.0,
        most: if bytes { 60_000.0 } else { 60.0 },
        tick: 0,
        stored: 0,
        shadow: Vec::new(),
        table: Vec::new(),
        set: Vec::new(),
        u_left: 0,
        waiting: VecDeque::new(),
    };
    let (mut now, mut met, mut traffic) = (0, [0; 3], Seed(seed).stream("traffic"));
    for frame in 0..20_000u32 {
        // The load swings between half and thrice the link's rate; at times it pauses.
        let load = [3.0, 1.2, 0.5, 1.6, 1.0][(frame / 500) as usize % 5];
        now += (1_600_000.0 * traffic.uniform() / load) as u64;
        if traffic.chance(0.001) {
            now += u64::from(traffic.below(100_000_000));
        }
        let at = Time::from_ns(now);
        if traffic.chance(1.0 / load) {
            plain.departure(now);
            queue.dequeue(at, &mut Ignore);
        }
        let flow = u64::from(traffic.below(12).min(traffic.below(12)));
        let len = if traffic.chance(0.01) { 80_000 } else { 40 + traffic.below(1460) };
        let class = if flow == 0 { WEIGHTED } else { 0 };
        let mut fate = Fate::default();
        queue.enqueue(Packet { class, ..Packet::new(frame, len, flow.into(), at) }, at, &mut fate);
        let expected = plain.arrival(flow, len, if flow == 0 { 2.5 } else { 1.0 }, now);
        assert_eq!(fate.0.map(|(cause, _)| cause), expected, "{variant:?}, frame {frame}");
        let m_fair = queue.dropper().fair_share().value();
        // Steps of a pause are added one by one here and at once there: rounding, relative to
        // counts of up to 10^6.
        assert!(
            (m_fair - plain.m_fair).abs() < 1e-7,
            "{variant:?}, frame {frame}: {m_fair} {}",
            plain.m_fair
        );
        met[match expected {
            None => 0,
            Some(Cause::Early) => 1,
            _ => 2,
        }] += 1;
    }
    met
}

fn sampled<R: Record>(config: &nft::Config, record: R) -> Sampled<R> {
    Sampled::new(config.sampling, record)
}

#[test]
fn it_decides_as_the_pseudo_code_does_in_each_form_and_measure() {
    for measure in [Measure::Packets, Measure::Bytes] {
        let config = config(measure);
        let mut met = [0; 3];
        for seed in 0..4 {
            for (variant, found) in [
                (Variant::Sb, compare(&config, Variant::Sb, sampled(&config, ShadowBuffer::new(60)), seed)),
                (Variant::Ft, compare(&config, Variant::Ft, sampled(&config, FlowSet::new(3, 0.0)), seed)),
                (Variant::Nft, compare(&config, Variant::Nft, sampled(&config, FlowSet::new(3, 0.2)), seed)),
            ] {
                assert!(found[1] > 1000, "{variant:?} hardly dropped: {found:?}");
                (0..3).for_each(|i| met[i] += found[i]);
            }
        }
        assert!(met.iter().all(|&n| n > 100), "some branch was hardly met: {met:?}");
    }
}

#[test]
fn an_early_drop_is_a_mark_where_it_may_be() {
    let fates = |ecn| {
        let config = config(Measure::Packets);
        let mut queue = Queue::new(config.common.limit, Fcfs, config.dropper(Seed(1).stream("afd")))
            .with_ecn(EcnPolicy::Mark);
        let mut fates = Vec::new();
        for n in 0..4000u32 {
            let now = Time::from_ns(u64::from(n) * 400_000);
            let mut fate = Fate::default();
            queue.enqueue(Packet { ecn, ..Packet::new(n, 1000, 1.into(), now) }, now, &mut fate);
            fates.extend(fate.0);
            if n % 2 == 0 {
                queue.dequeue(now, &mut Ignore);
            }
        }
        fates
    };
    let (capable, not) = (fates(Ecn::Ect0), fates(Ecn::NotEct));
    assert!(capable.contains(&(Cause::Early, true)) && !capable.contains(&(Cause::Early, false)));
    assert!(not.contains(&(Cause::Early, false)) && !not.contains(&(Cause::Early, true)));
}

#[test]
fn no_packet_is_dropped_early_before_a_queue_has_built() {
    let config = config(Measure::Packets);
    let mut afd = config.dropper(Seed(1).stream("afd"));
    let empty = fairwire_core::Buffer::with(Limit::packets(60), afd.needs(), fairwire_core::Queues::PerFlow);
    for n in 0..10_000u64 {
        let now = Time::from_ns(n * 1_000_000);
        let verdict = afd.on_arrival(&Packet::new(0, 1000, 1.into(), now), &empty, now);
        assert_eq!(verdict, fairwire_core::Verdict::Pass);
    }
    assert_eq!(afd.fair_share().value(), 60.0);
    assert_eq!(afd.meter().counts().of(1.into()), 60); // all samples are its own, and still it may pass
}
