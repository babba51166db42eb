//! The token-bucket family: FABA, SFED and hierarchical FABA.
//!
//! Each is held against a second reading of the same pseudo-code: straight lines, lists in place of
//! tables, and none of the code under test. Amounts are in the same units and random numbers from
//! the same stream, so every number must agree to the last bit.

mod faba;
mod hfaba;
mod idle;
mod light;
mod set_weight;
mod sfed;
mod spoofed;

use fairwire_core::units::Amount;
use fairwire_core::{Cause, Packet, Rate, Rng, Seed, Signals, Time};
use fairwire_laws::Site;
use fairwire_laws::dropper::faba::Profile;
use proptest::prelude::*;

fn site(buffer: Amount) -> Site<'static> {
    Site {
        rate: Rate::from_bps(10_000_000).expect("not zero"),
        buffer,
        packet_bytes: 512,
        seed: Seed(1),
        stream: "tokens",
    }
}

fn packet(flow: u64) -> Packet {
    Packet::new(0, 512, flow.into(), Time::ZERO)
}

fn of_class(class: u32, flow: u64, len: u32) -> Packet {
    Packet { class, ..Packet::new(0, len, flow.into(), Time::ZERO) }
}

/// What random sequences do: an arrival of a flow with a length, or a departure.
fn events() -> impl Strategy<Value = Vec<Option<(u64, u32)>>> {
    prop::collection::vec(prop_oneof![3 => (0..30u64, 40..1500u32).prop_map(Some), 2 => Just(None)], 0..400)
}

/// What became of an arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    In,
    Early,
    NoTokens,
    Full,
}

#[derive(Default)]
struct Last(Option<Fate>);

impl Last {
    fn fate(&self) -> Fate {
        self.0.unwrap_or(Fate::In)
    }
}

impl Signals for Last {
    fn dropped(&mut self, _: Packet, cause: Cause) {
        self.0 = Some(match cause {
            Cause::Early => Fate::Early,
            Cause::NoTokens => Fate::NoTokens,
            Cause::Overflow => Fate::Full,
            other => panic!("there is no {other:?} here"),
        });
    }
    fn marked(&mut self, _: &Packet, _: Cause) {}
}

/// The profile as printed, and its draw.
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

/// A random source that is heavier at some times than at others: the next sender, if any before the
/// next departure. Flow 0 sends a third. Classes are those of [`of_class`], a third of flows each.
fn next_arrival(traffic: &mut Rng, step: usize) -> Option<(u32, u64, u32)> {
    let load = [0.7, 0.45, 0.55][step / 700 % 3];
    if !traffic.chance(load) {
        return None;
    }
    let flows = [5, 30, 200][step / 3000 % 3];
    let flow = if traffic.chance(0.33) { 0 } else { u64::from(traffic.below(flows)) };
    let len = if flow % 2 == 0 { 1500 } else { 40 + traffic.below(600) };
    Some((flow as u32 % 3, flow, len))
}

/// What each of some senders gets of a link of 1: those with demands below their part by weight get
/// these, and leave the rest to the others. Senders are (demand, weight).
fn max_min(link: f64, senders: &[(f64, f64)]) -> Vec<f64> {
    let mut shares = vec![None; senders.len()];
    loop {
        let left = link - shares.iter().flatten().sum::<f64>();
        let open = || senders.iter().zip(&shares).filter(|(_, share)| share.is_none());
        let per_weight = left / open().map(|(sender, _)| sender.1).sum::<f64>();
        let content: Vec<usize> = (0..senders.len())
            .filter(|&i| shares[i].is_none() && senders[i].0 <= per_weight * senders[i].1)
            .collect();
        if content.is_empty() {
            let given = |i: usize| shares[i].unwrap_or(per_weight * senders[i].1);
            return (0..senders.len()).map(given).collect();
        }
        content.into_iter().for_each(|i| shares[i] = Some(senders[i].0));
    }
}

#[test]
fn the_oracle_gives_what_is_known() {
    assert_eq!(max_min(1.0, &[(0.1, 1.0), (5.0, 1.0), (5.0, 1.0)]), [0.1, 0.45, 0.45]);
    assert_eq!(max_min(1.0, &[(0.1, 1.0), (0.2, 1.0)]), [0.1, 0.2]);
    assert_eq!(max_min(8.0, &[(9.0, 3.0), (9.0, 1.0)]), [6.0, 2.0]);
}
