//! Table 1 of the AFD paper: how often AFD-NFT draws a flow into a set, and how many samples the
//! flow loses while it is in the set.
//!
//! The sampler receives the packets of the fifty flows of the paper's Fig. 6.

use super::made::Made;
use fairwire_core::{FlowHash, Rng, Seed};
use fairwire_laws::dropper::afd::nft::FlowSet;
use fairwire_laws::dropper::afd::{Counts, Record, Sample, Sampled, Sampling};

const RATES_KBPS: [u64; 5] = [50, 100, 200, 400, 600];
const PER_GROUP: usize = 10;
const FLOWS: usize = RATES_KBPS.len() * PER_GROUP;
/// The paper's values in all its experiments. `SAMPLES` is `b`. `SET_SIZE` is `s`, the number of
/// flows in a set. `REUSE` is `a`, the fraction of a set's samples that are lost before another set
/// is drawn.
const SAMPLES: u32 = 1000;
const SET_SIZE: u32 = 5;
const REUSE: f64 = 0.06;
/// See `cbr.toml`.
const SAMPLING: f64 = 0.2;
const UNWATCHED: u64 = 5 * SAMPLES as u64;
/// The number of replacements observed, in about five simulated minutes.
const WATCHED: u64 = 100_000;

#[derive(Clone, Copy, Debug, Default)]
struct Membership {
    sets: u64,
    replaced: u64,
}

#[derive(Debug)]
struct Watched {
    inner: FlowSet,
    replacements: u64,
    sets: u64,
    fates: [Membership; FLOWS],
}

impl Record for Watched {
    fn append(&mut self, sample: Sample) {
        self.inner.append(sample);
    }

    fn replace(&mut self, sample: Sample, counts: &mut Counts, rng: &mut Rng) {
        let before: [u64; FLOWS] = std::array::from_fn(|flow| counts.of(hash(flow)));
        let drawn = self.inner.drawn();
        self.inner.replace(sample, counts, rng);
        let victim = (0..FLOWS).find(|flow| counts.of(hash(*flow)) < before[*flow]);
        self.replacements += 1;
        let (Some(victim), true) = (victim, self.replacements > UNWATCHED) else { return };
        self.fates[victim].replaced += 1;
        self.sets += self.inner.drawn() - drawn;
        if self.inner.drawn() > drawn {
            // If the victim lost its last sample, it has already left the new set. It still counts,
            // because it was drawn.
            let has_left = counts.of(hash(victim)) == 0;
            let members = self.inner.places().iter().map(|place| counts.flow_at(*place as usize));
            for flow in members.map(|flow| flow.0 as usize).chain(has_left.then_some(victim)) {
                self.fates[flow].sets += 1;
            }
        }
    }
}

fn hash(flow: usize) -> FlowHash {
    FlowHash(flow as u64)
}

fn watched(seed: u64) -> Watched {
    let sampling = Sampling { samples: SAMPLES, probability: SAMPLING, typical: 1 };
    let inner = FlowSet::new(SET_SIZE, REUSE);
    let record = Watched { inner, replacements: 0, sets: 0, fates: [Membership::default(); FLOWS] };
    let mut sampled = Sampled::new(sampling, record);
    let mut start = Seed(seed).stream("afd-table1 start");
    let mut rng = Seed(seed).stream("afd-table1 sampling");
    // The time in nanoseconds between a flow's packets, which have 1000 bytes.
    let gap = |flow: usize| 8_000_000_000 / RATES_KBPS[flow / PER_GROUP];
    let mut next: [u64; FLOWS] = std::array::from_fn(|flow| (start.uniform() * gap(flow) as f64) as u64);
    while sampled.record().replacements < UNWATCHED + WATCHED {
        let flow = (0..FLOWS).min_by_key(|flow| next[*flow]).expect("there are flows");
        next[flow] += gap(flow);
        if rng.chance(SAMPLING) {
            sampled.sample(Sample { flow: hash(flow), size: 1 }, &mut rng);
        }
    }
    sampled.into_record()
}

pub(super) fn make(seed: u64) -> Made {
    let seen = watched(seed);
    let mut made = Made::default();
    let (b, s, n) = (f64::from(SAMPLES), f64::from(SET_SIZE), FLOWS as f64);
    let all: u64 = RATES_KBPS.iter().sum::<u64>() * PER_GROUP as u64;
    for (group, rate) in RATES_KBPS.into_iter().enumerate() {
        let fates = &seen.fates[group * PER_GROUP..][..PER_GROUP];
        let flows = PER_GROUP as f64;
        let sets = fates.iter().map(|fate| fate.sets).sum::<u64>() as f64;
        let replaced = fates.iter().map(|fate| fate.replaced).sum::<u64>() as f64;
        let m = b * rate as f64 / all as f64;
        let theory = [s / n, REUSE * m, m];
        let ours = [sets / seen.sets as f64 / flows, replaced / sets, replaced / WATCHED as f64 * b / flows];
        let names = [("p_s", "ps_ratio"), ("nps", "nps_ratio"), ("np", "np_ratio")];
        let at = format!("group {group}");
        for ((name, ratio), (theory, ours)) in names.into_iter().zip(theory.into_iter().zip(ours)) {
            made.number("theory", group as f64, &at, name, theory);
            made.number("AFD-NFT", group as f64, &at, name, ours);
            made.number("AFD-NFT", group as f64, &at, ratio, ours / theory);
        }
    }
    let (theory, ours) = (n / (REUSE * s), seen.sets as f64 / WATCHED as f64 * b);
    let x = RATES_KBPS.len() as f64;
    made.number("theory", x, "all", "n_s", theory);
    made.number("AFD-NFT", x, "all", "n_s", ours);
    made.number("AFD-NFT", x, "all", "ns_ratio", ours / theory);
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_replacement_has_one_victim_and_each_set_five_members() {
        let seen = watched(1);
        let lost: u64 = seen.fates.iter().map(|fate| fate.replaced).sum();
        assert_eq!(lost, WATCHED);
        let members: u64 = seen.fates.iter().map(|fate| fate.sets).sum();
        assert_eq!(members, seen.sets * u64::from(SET_SIZE));
    }

    #[test]
    fn theory_matches_the_printed_values() {
        let made = make(1);
        let find = |at: &str, name: &str| {
            let is_it = |n: &&super::super::MadeNumber| n.series == "theory" && n.at == at && n.name == name;
            made.numbers.iter().find(is_it).expect("it is there").value
        };
        // The tolerance is half a unit of the last digit that table 1 prints.
        assert!((find("group 4", "np") - 44.44).abs() < 0.005);
        assert!((find("group 0", "nps") - 0.222).abs() < 0.0005);
        assert!((find("all", "n_s") - 167.0).abs() < 0.5);
    }
}
