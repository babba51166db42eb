//! AFD transcribed from the pseudo-code, without the code under test.

use super::site;
use crate::beside::{Event, Line, Met, Offer, Reading, Traffic, add, assert_met, compare};
use crate::fate::OfferOutcome;
use fairwire_core::scheduler::Fcfs;
use fairwire_core::units::Amount;
use fairwire_core::{
    Cause, Discipline, Dropper, Duration, Ecn, EcnPolicy, Ignore, Limit, Packet, Queue, Rng, Seed, Time,
};
use fairwire_laws::dropper::afd::nft::FlowSet;
use fairwire_laws::dropper::afd::sb::ShadowBuffer;
use fairwire_laws::dropper::afd::{Afd, Meter, Record, Sampled, Samples, Shared, nft};
use fairwire_laws::spec::{ClassNumber, Measure, Weights};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Variant {
    Sb,
    Ft,
    Nft,
}

/// The flow, the number of its samples, and their size.
type Row = (u64, u32, u64);

struct Reference {
    variant: Variant,
    bytes: bool,
    rng: Rng,
    b: usize,
    p: f64,
    s: usize,
    a: f64,
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
    line: Line,
}

impl Reference {
    fn timer(&mut self, now: u64) {
        while (self.tick + 1) * 6_250_000 <= now {
            self.tick += 1;
            let q = self.line.held(self.bytes);
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

    /// Draws the set S: s distinct rows of the table.
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
        // `nth` is an index into the samples of the set's flows. When a flow leaves the set, the
        // last flow takes its position.
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

    fn is_early(&mut self, offer: Offer) -> bool {
        if self.rng.uniform() < self.p {
            self.sample(offer.flow, if self.bytes { offer.len.min(65_535).into() } else { 1 });
        }
        let kept: u64 = self.table.iter().map(|row| row.2).sum();
        let most = (self.b as f64 * if self.bytes { 1000.0 } else { 1.0 }).max(kept as f64);
        if most != self.most {
            self.m_fair = (self.m_fair * (most / self.most)).min(most);
            self.most = most;
        }
        let m = self.row(offer.flow).map_or(0, |at| self.table[at].2) as f64;
        let fair = self.m_fair * if offer.class == WEIGHTED { 2.5 } else { 1.0 };
        m > fair && (fair == 0.0 || self.rng.uniform() < 1.0 - fair / m)
    }
}

impl Reading for Reference {
    fn offer(&mut self, offer: Offer, now: u64, events: &mut Vec<Event>) {
        self.timer(now);
        let cause = if self.is_early(offer) {
            Some(Cause::Early)
        } else {
            self.line.is_full(offer.len).then_some(Cause::Overflow)
        };
        self.line.admit(offer, cause, false, events);
    }

    fn request(&mut self, now: u64, events: &mut Vec<Event>) {
        self.timer(now);
        self.line.send(events);
    }
}

/// The class of flows 0, 4 and 8.
const WEIGHTED: u32 = 0;

// Not the published gains: they often make m_fair an integer, and rounding would decide whether m
// is above m_fair.
const ALPHA: f64 = 1.701_234_567;
const BETA: f64 = 1.803_456_789;

fn config(measure: Measure) -> nft::Config {
    let weights = Weights([(ClassNumber(WEIGHTED), 2.5)].into());
    let shared = Shared {
        weights: Some(weights),
        alpha: Some(ALPHA),
        beta: Some(BETA),
        interval: Some(Duration::from_us(6250).into()),
        mark_limit: Some(1.0),
        ..Shared::default()
    };
    let samples = Samples { shared, measure: Some(measure), samples: Some(60), ..Samples::default() };
    let spec = nft::Spec { samples, set_size: Some(3), reuse: Some(0.2) };
    spec.check(&site(Amount::Packets(60))).expect("allowed").1
}

fn side_by_side<M: Meter>(config: &nft::Config, variant: Variant, meter: M, seed: u64) -> Met {
    let afd = Afd::new(&config.common, meter, Seed(seed).stream("afd"));
    let mut queue = Queue::new(Limit::packets(60), Fcfs, afd);
    let bytes = config.common.measure == Measure::Bytes;
    let mut plain = Reference {
        variant,
        bytes,
        rng: Seed(seed).stream("afd"),
        b: 60,
        p: 0.2,
        s: 3,
        a: 0.2,
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
        line: Line::new(Limit::packets(60), EcnPolicy::Drop),
    };
    let traffic = Traffic {
        loads: [3.0, 1.2, 0.5, 1.6, 1.0],
        two_packets: 1_600_000.0,
        together: 0.0,
        longest_pause: 100_000_000,
        flow: |rng, _| rng.below(12).min(rng.below(12)).into(),
        len: |rng| if rng.chance(0.01) { 80_000 } else { 40 + rng.below(1460) },
        ..Traffic::default()
    };
    compare(&mut queue, &mut plain, &traffic, (20_000, seed), |queue, plain| {
        let m_fair = queue.dropper().fair_share().value();
        // The discipline adds all steps of a pause at once, so its sums of counts up to 10^6 round
        // differently.
        assert!((m_fair - plain.m_fair).abs() < 1e-7, "{variant:?}: {m_fair} {}", plain.m_fair);
    })
}

fn sampled<R: Record>(config: &nft::Config, record: R) -> Sampled<R> {
    Sampled::new(config.sampling, record)
}

#[test]
fn it_decides_as_the_pseudo_code_does_in_each_form_and_measure() {
    for measure in [Measure::Packets, Measure::Bytes] {
        let config = config(measure);
        let mut met = Met::new();
        for seed in 0..4 {
            let (sb, ft) = (sampled(&config, ShadowBuffer::new(60)), sampled(&config, FlowSet::new(3, 0.0)));
            let nft = sampled(&config, FlowSet::new(3, 0.2));
            for found in [
                side_by_side(&config, Variant::Sb, sb, seed),
                side_by_side(&config, Variant::Ft, ft, seed),
                side_by_side(&config, Variant::Nft, nft, seed),
            ] {
                assert_met(&found, &["early"], 1000);
                add(&mut met, found);
            }
        }
        assert_met(&met, &["sent", "early", "overflow"], 100);
    }
}

#[test]
fn an_early_drop_becomes_a_mark_where_allowed() {
    let fates = |ecn| {
        let config = config(Measure::Packets);
        let mut queue = Queue::new(Limit::packets(60), Fcfs, config.dropper(Seed(1).stream("afd")))
            .with_ecn(EcnPolicy::Mark);
        let mut fates = Vec::new();
        for n in 0..4000u32 {
            let now = Time::from_ns(u64::from(n) * 400_000);
            fates.push(OfferOutcome::of(Packet { ecn, ..Packet::new(n, 1000, 1.into(), now) }, &mut queue));
            if n % 2 == 0 {
                queue.dequeue(now, &mut Ignore);
            }
        }
        fates
    };
    let (capable, not) = (fates(Ecn::Ect0), fates(Ecn::NotEct));
    let (mark, drop) = (OfferOutcome::Marked(Cause::Early), OfferOutcome::Dropped(Cause::Early));
    assert!(capable.contains(&mark) && !capable.contains(&drop));
    assert!(not.contains(&drop) && !not.contains(&mark));
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
    assert_eq!(afd.meter().counts().of(1.into()), 60); // all samples are its own, and it may still pass
}
