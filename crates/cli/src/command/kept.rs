//! Finished runs of `run`, kept from one call to the next.

use super::cache;
use crate::output::Outputs;
use fairwire_metrics::record::RunRecord;
use fairwire_scenario::{ENGINE, Observer, Observers, RunId, Scenario};
use fairwire_study::{Cache, key};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is kept, as a part of its name: another form of records has another.
const FORM: &str = "run 1";
/// To keep a record takes about a millisecond, and 10 us for each flow; what would take more than a
/// fiftieth of the run is not kept.
const WORTH: Duration = Duration::from_millis(50);
const WORTH_OF_FLOW: Duration = Duration::from_micros(500);

/// The outputs of a scenario's runs, and the runs that are kept.
///
/// A run is taken from there where only its record is wanted. What watches a run, such as a series
/// or a trace, has it made again.
pub(crate) struct Kept<'a> {
    outputs: &'a Outputs<'a>,
    cache: Cache,
    /// Of each discipline what its runs depend on, but for the seed, and its label.
    disciplines: Vec<(String, String)>,
    seeds: usize,
    /// How long each run took that was made.
    took: Mutex<BTreeMap<usize, Duration>>,
}

impl<'a> Kept<'a> {
    /// Those of `scenario`; none where `is_off`.
    pub(crate) fn of(scenario: &Scenario, outputs: &'a Outputs<'a>, is_off: bool) -> Self {
        let cache = if is_off || cache::has_parts_from_outside() { Cache::none() } else { cache::open() };
        let compared = scenario.spec().disciplines.iter().enumerate();
        let disciplines =
            compared.map(|(at, compared)| (scenario.run_sha256(at), compared.label().to_owned())).collect();
        let seeds = scenario.spec().seeds.as_slice().len().max(1);
        Kept { outputs, cache, disciplines, seeds, took: Mutex::default() }
    }

    fn key(&self, which: RunId<'_>) -> Option<String> {
        let (sha256, _) = self.disciplines.get(which.index / self.seeds)?;
        Some(key(&[FORM, env!("CARGO_PKG_VERSION"), ENGINE, sha256, &which.seed.to_string()]))
    }
}

impl Observers for Kept<'_> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the command line may know the time: what took none is not worth keeping"
    )]
    fn observe(&self, which: RunId<'_>, go: &mut dyn FnMut(Option<&mut dyn Observer>) -> bool) {
        let begun = Instant::now();
        self.outputs.observe(which, go);
        let mut took = self.took.lock().unwrap_or_else(PoisonError::into_inner);
        took.insert(which.index, begun.elapsed());
    }

    fn known(&self, which: RunId<'_>) -> Option<RunRecord> {
        let key = self.key(which).filter(|_| self.outputs.are_records_alone())?;
        let record: RunRecord = self.cache.load(&key)?;
        // What it is called is no part of what it depends on.
        Some(RunRecord { discipline: which.discipline.into(), ..record })
    }

    fn made(&self, which: RunId<'_>, record: &RunRecord) {
        let took = self.took.lock().unwrap_or_else(PoisonError::into_inner).remove(&which.index);
        let flows = u32::try_from(record.flows.len()).unwrap_or(u32::MAX);
        if took.is_some_and(|took| took >= WORTH + WORTH_OF_FLOW.saturating_mul(flows))
            && let Some(key) = self.key(which)
        {
            self.cache.store(&key, record);
        }
    }
}
