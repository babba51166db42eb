//! FABA, SFED and hierarchical FABA against transcriptions of their pseudo-code. All numbers must
//! agree to the last bit.

mod faba;
mod hfaba;
mod idle;
mod light;
mod policer;
mod set_weight;
mod sfed;
mod spoofed;

use crate::beside::Met;
use crate::fate::OfferOutcome;
use fairwire_core::scheduler::Fcfs;
use fairwire_core::units::Amount;
use fairwire_core::{Cause, Discipline, Dropper, Ignore, Packet, Queue, Rng, Seed, Time};
use fairwire_laws::Site;
use fairwire_laws::dropper::faba::Profile;
use fairwire_metrics::max_min::Claim;
use proptest::prelude::*;

fn site(buffer: Amount) -> Site<'static> {
    Site { stream: "tokens", ..crate::site(buffer) }
}

fn packet(flow: u64) -> Packet {
    Packet::new(0, 512, flow.into(), Time::ZERO)
}

fn of_class(class: u32, flow: u64, len: u32) -> Packet {
    Packet { class, ..Packet::new(0, len, flow.into(), Time::ZERO) }
}

fn events() -> impl Strategy<Value = Vec<Option<(u64, u32)>>> {
    prop::collection::vec(prop_oneof![3 => (0..30u64, 40..1500u32).prop_map(Some), 2 => Just(None)], 0..400)
}

fn is_early(profile: &Profile, x: i64, ratio: f64, rng: &mut Rng) -> bool {
    assert!(x > 0);
    let (l1, l2, max_p) = (profile.lambda1, profile.lambda2, profile.max_probability);
    let p = if ratio >= l1 {
        0.0
    } else if ratio >= l2 {
        max_p * (l1 - ratio) / (l1 - l2)
    } else {
        max_p + (1.0 - max_p) * (l2 - ratio) / l2
    };
    p > 0.0 && rng.uniform() < p
}

trait Reading {
    fn arrival(&mut self, class: u32, flow: u64, len: u32) -> OfferOutcome;
    fn departure(&mut self) -> Option<u64>;
}

const NO_TOKENS: OfferOutcome = OfferOutcome::Dropped(Cause::NoTokens);
const EARLY: OfferOutcome = OfferOutcome::Dropped(Cause::Early);
const FULL: OfferOutcome = OfferOutcome::Dropped(Cause::Overflow);

/// The next arrival; `None` if a departure comes first.
fn next_arrival(traffic: &mut Rng, step: usize) -> Option<(u64, u32)> {
    let load = [0.7, 0.45, 0.55][step / 700 % 3];
    if !traffic.chance(load) {
        return None;
    }
    let flows = [5, 30, 200][step / 3000 % 3];
    let flow = if traffic.chance(0.33) { 0 } else { u64::from(traffic.below(flows)) };
    let len = if flow % 2 == 0 { 1500 } else { 40 + traffic.below(600) };
    Some((flow, len))
}

fn side_by_side<D: Dropper, R: Reading>(
    queue: &mut Queue<Fcfs, D>,
    plain: &mut R,
    (steps, classes, seed): (usize, u32, u64),
    watch: impl Fn(&Queue<Fcfs, D>, &R, usize),
) -> Met {
    let (mut traffic, mut met) = (Seed(seed).stream("traffic"), Met::new());
    for step in 0..steps {
        if let Some((flow, len)) = next_arrival(&mut traffic, step) {
            let class = flow as u32 % classes;
            let fate = OfferOutcome::of(of_class(class, flow, len), queue);
            assert_eq!(fate, plain.arrival(class, flow, len), "step {step}");
            let name = if let OfferOutcome::Dropped(cause) = fate { cause.name() } else { "in" };
            *met.entry(name).or_default() += 1;
        } else {
            let sent = queue.dequeue(Time::ZERO, &mut Ignore);
            assert_eq!(sent.map(|packet| packet.flow.0), plain.departure(), "step {step}");
        }
        watch(queue, plain, step);
    }
    met
}

/// The shares of senders, each given as (class, packet length, frequency). The link sends `part` of
/// the offered bytes.
fn shares<D: Dropper>(mut queue: Queue<Fcfs, D>, senders: &[(u32, u32, f64)], part: f64) -> Vec<f64> {
    let mut traffic = Seed(1).stream("traffic");
    let often: f64 = senders.iter().map(|sender| sender.2).sum();
    let (mut sent, mut credit) = (vec![0u64; senders.len()], 0.0);
    for step in 0..150_000 {
        let mut mark = traffic.uniform() * often;
        let picked = senders.iter().position(|sender| {
            mark -= sender.2;
            mark < 0.0
        });
        let flow = picked.unwrap_or(0);
        let (class, len, _) = senders[flow];
        queue.enqueue(of_class(class, flow as u64, len), Time::ZERO, &mut Ignore);
        credit += f64::from(len) * part;
        while credit > 0.0
            && let Some(packet) = queue.dequeue(Time::ZERO, &mut Ignore)
        {
            credit -= f64::from(packet.len);
            if step > 20_000 {
                sent[packet.flow.0 as usize] += u64::from(packet.len);
            }
        }
        credit = credit.min(0.0);
    }
    let all: u64 = sent.iter().sum();
    sent.iter().map(|&bytes| bytes as f64 / all as f64).collect()
}

fn max_min(link: f64, senders: &[(f64, f64)]) -> Vec<f64> {
    let claims: Vec<Claim> = senders.iter().map(|&(demand, weight)| Claim { demand, weight }).collect();
    fairwire_metrics::max_min::max_min(&claims, link)
}
