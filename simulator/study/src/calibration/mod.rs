//! Measures how much a paper's statements depend on settings that the paper does not print.
//!
//! A study's `space.toml` may list the settings that its paper leaves open, and their admissible
//! values. A draw takes one value of each setting. Each claim then holds in a share of the draws.
//! Draws fill the space evenly, so a share weighs all admissible settings alike, likely or not. The
//! best draw has the results nearest to the printed numbers.

pub(crate) mod record;
mod space;

pub use record::{Calibration, Distance, Held, Summary};
pub use space::{Draw, Drawn, MAX_DRAWS, SettingSpec, SpaceSpec};

use crate::assemble::assemble;
use crate::execute::Gathered;
use crate::plan::{Changes, Plan};
use crate::record::{Claim, Depth, Exhibit, Published, Verdict};
use crate::study::Study;
use fairwire_scenario::ScenarioError;
use std::collections::BTreeMap;

/// The number of seeds per draw. Two seeds suffice to distinguish a difference from chance, because
/// many draws are compared together.
const SEEDS: usize = 2;

/// A paper's exhibits, under the study's settings and under the settings of each draw.
pub struct Trial<'a> {
    space: SpaceSpec,
    draws: Vec<Draw>,
    /// The plans of the unchanged study, one for each exhibit. The plans of each draw follow.
    plans: Vec<Plan<'a>>,
    exhibits: usize,
}

impl<'a> Trial<'a> {
    /// Plans a trial of `draws` draws. It covers those of `exhibits` that a setting of `space`
    /// affects.
    pub fn of(
        study: &'a Study,
        space: &SpaceSpec,
        exhibits: &[usize],
        draws: u32,
    ) -> Result<Self, ScenarioError> {
        let id = |at: usize| study.spec.exhibit[at].id.as_str();
        let open: Vec<usize> = exhibits.iter().copied().filter(|&at| space.concerns(id(at))).collect();
        let draws: Vec<Draw> = (0..draws).map(|number| space.draw(number)).collect();
        let mut plans = Vec::new();
        for draw in std::iter::once(None).chain(draws.iter().map(Some)) {
            for &at in &open {
                let set = draw.map_or_else(Vec::new, |draw| space.changes(draw, id(at)));
                plans.push(Plan::changed(study, at, Depth::Quick, &Changes { set, seeds: Some(SEEDS) })?);
            }
        }
        Ok(Trial { space: space.clone(), draws, plans, exhibits: open.len() })
    }

    /// The plans to run with [`execute`](crate::execute()).
    pub fn plans(&self) -> &[Plan<'a>] {
        &self.plans
    }

    /// The calibration that follows from `gathered`, the contributions of all runs to each plan.
    pub fn judged(&self, gathered: &[Gathered]) -> Calibration {
        let made: Vec<Exhibit> =
            self.plans.iter().zip(gathered).map(|(plan, gathered)| assemble(plan, gathered)).collect();
        let turns: Vec<&[Exhibit]> = made.chunks(self.exhibits.max(1)).collect();
        let Some((chosen, drawn)) = turns.split_first() else { return Calibration::default() };
        let errors: Vec<Vec<Option<f64>>> = turns.iter().map(|turn| errors(turn)).collect();
        let known: Vec<usize> =
            (0..errors[0].len()).filter(|&at| errors.iter().all(|turn| turn[at].is_some())).collect();
        let mean = |turn: usize, of: &[usize]| {
            let sum: f64 = of.iter().map(|&at| errors[turn][at].unwrap_or_default()).sum();
            sum / of.len() as f64
        };
        // Turn 0 has the study's own settings, and competes with the draws.
        let nearest = |of: &[usize]| {
            (0..turns.len()).min_by(|&a, &b| mean(a, of).total_cmp(&mean(b, of))).unwrap_or_default()
        };
        let best = if known.is_empty() { 0 } else { nearest(&known) };
        let distance = (!known.is_empty()).then(|| Distance {
            numbers: known.len(),
            chosen: mean(0, &known),
            best: mean(best, &known),
            held_out: held_out(&known, &nearest, &mean),
        });
        Calibration {
            summary: Summary {
                draws: self.draws.len(),
                seeds: self.plans.first().map_or_else(Vec::new, |plan| plan.seeds.clone()),
                distance,
                best: self.values(best.checked_sub(1)),
            },
            claims: claims(chosen, drawn, turns[best]),
            bands: bands(&turns),
        }
    }

    fn values(&self, at: Option<usize>) -> BTreeMap<String, String> {
        let settings = self.space.setting.iter();
        at.map_or_else(BTreeMap::new, |at| {
            settings.zip(&self.draws[at].values).map(|(s, drawn)| (s.id.clone(), drawn.is.clone())).collect()
        })
    }
}

/// Cross-validation: the numbers are assigned alternately to two halves. The best draw for one half
/// is judged by its distance from the other half.
fn held_out(
    known: &[usize],
    nearest: &dyn Fn(&[usize]) -> usize,
    mean: &dyn Fn(usize, &[usize]) -> f64,
) -> Option<f64> {
    let half = |rest: usize| -> Vec<usize> {
        known.iter().enumerate().filter(|(at, _)| at % 2 == rest).map(|(_, &number)| number).collect()
    };
    let (even, odd) = (half(0), half(1));
    (!odd.is_empty()).then(|| {
        let other = |seen: &[usize], unseen: &[usize]| mean(nearest(seen), unseen) * unseen.len() as f64;
        (other(&even, &odd) + other(&odd, &even)) / known.len() as f64
    })
}

/// The relative differences of our numbers from the printed ones; `None` where we have no number.
/// The divisor is the printed number or, if larger, the mean size of the measure's printed numbers.
fn errors(exhibits: &[Exhibit]) -> Vec<Option<f64>> {
    exhibits
        .iter()
        .flat_map(|exhibit| exhibit.published.iter().map(|printed| error(exhibit, printed)))
        .collect()
}

fn error(exhibit: &Exhibit, printed: &Published) -> Option<f64> {
    let ours = exhibit.numbers.iter().find(|ours| {
        ours.measure == printed.measure
            && ours.series == printed.series
            && (ours.at == printed.at || printed.x.is_some_and(|x| crate::sweep::is_near(ours.x, x)))
    });
    let sizes: Vec<f64> = exhibit
        .published
        .iter()
        .filter(|other| other.measure == printed.measure)
        .map(|other| other.value.abs())
        .collect();
    let mean_size = sizes.iter().sum::<f64>() / sizes.len() as f64;
    let mean = ours?.estimate?.mean;
    Some((mean - printed.value).abs() / printed.value.abs().max(mean_size).max(f64::MIN_POSITIVE))
}

fn claims(chosen: &[Exhibit], drawn: &[&[Exhibit]], best: &[Exhibit]) -> BTreeMap<String, Held> {
    let mut all = BTreeMap::new();
    for (place, exhibit) in chosen.iter().enumerate() {
        for (at, claim) in exhibit.claims.iter().enumerate() {
            let Some(as_chosen) = holds(claim) else { continue };
            let in_turn = |turn: &[Exhibit]| holds(&turn[place].claims[at]) == Some(true);
            let held = Held {
                chosen: as_chosen,
                best: in_turn(best),
                held: drawn.iter().filter(|turn| in_turn(turn)).count(),
                of: drawn.len(),
            };
            all.insert(format!("{}.{}", exhibit.id, claim.id), held);
        }
    }
    all
}

/// Does the claim hold in the mean over the seeds? An unclear claim counts as holding, because the
/// seeds are few.
fn holds(claim: &Claim) -> Option<bool> {
    match claim.verdict {
        Verdict::NotTestable => None,
        Verdict::Holds | Verdict::Unclear => Some(true),
        Verdict::Known | Verdict::Fails => Some(false),
    }
}

fn bands(turns: &[&[Exhibit]]) -> BTreeMap<String, [f64; 2]> {
    let mut bands: BTreeMap<String, [f64; 2]> = BTreeMap::new();
    for exhibit in turns.iter().flat_map(|turn| turn.iter()) {
        for number in &exhibit.numbers {
            let Some(estimate) = number.estimate else { continue };
            let key = record::number(&exhibit.id, &number.measure, &number.series, &number.at);
            let band = bands.entry(key).or_insert([estimate.mean; 2]);
            *band = [band[0].min(estimate.mean), band[1].max(estimate.mean)];
        }
    }
    bands
}
