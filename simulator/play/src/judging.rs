//! Checks a scenario's expectations against complete runs.

use crate::player::PlayError;
use fairwire_metrics::record::RunRecord;
use fairwire_scenario::{self as scenario, Comparison, Judgement, Outcome, Relation, Scenario};
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// The complete runs so far. Verdicts need a run for every discipline and seed.
#[derive(Default)]
pub(crate) struct Judging {
    runs: Vec<RunRecord>,
}

impl Judging {
    pub(crate) fn advance(&mut self, scenario: &Scenario) -> Result<Value, PlayError> {
        let all = pairs(scenario);
        if let Some(&(discipline, seed)) = all.get(self.runs.len()) {
            self.runs.extend(whole(scenario, discipline, seed)?);
        }
        let is_done = self.runs.len() == all.len();
        let judgements = is_done.then(|| {
            let outcome = Outcome { runs: self.runs.clone(), interrupted: false };
            let report = scenario::report(scenario, outcome);
            scenario::judge(scenario.spec(), &report).iter().map(judgement).collect::<Value>()
        });
        Ok(json!({ "done": self.runs.len(), "of": all.len(), "judgements": judgements }))
    }
}

pub(crate) fn pairs(scenario: &Scenario) -> Vec<(usize, u64)> {
    let spec = scenario.spec();
    let of = |discipline| spec.seeds.as_slice().iter().map(move |&seed| (discipline, seed));
    (0..spec.disciplines.len()).flat_map(of).collect()
}

pub(crate) fn whole(
    scenario: &Scenario,
    discipline: usize,
    seed: u64,
) -> Result<Option<RunRecord>, PlayError> {
    let goes_on = &mut |_| ControlFlow::Continue(());
    scenario::run_single(scenario, discipline, seed, goes_on, None)
        .map_err(|error| PlayError(error.to_string()))
}

fn judgement(judgement: &Judgement) -> Value {
    let against = |Comparison { discipline, measure, side, margin, .. }: &Comparison| {
        json!({
            "discipline": discipline, "measure": measure, "is_more": *side == Relation::More, "margin": margin,
        })
    };
    json!({
        "discipline": judgement.discipline, "measure": judgement.measure, "mean": judgement.mean,
        "min": judgement.min, "max": judgement.max, "against": judgement.against.as_ref().map(against),
        "because": judgement.because, "verdict": judgement.verdict().words(),
    })
}
