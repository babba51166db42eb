//! Finished runs of `run`, kept from one call to the next.

use super::cache;
use crate::output::{Enough, Outputs};
use fairwire_metrics::record::RunRecord;
use fairwire_scenario::{ENGINE, Observer, Observers, Rest, RunId, SampledRows, Scenario};
use fairwire_study::{Cache, key};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is kept, as a part of its name: another form of records has another.
const FORM: &str = "run 1";
/// The same of samples.
const SAMPLES: &str = "samples 1";
/// To keep a record takes about a millisecond, and 10 us for each flow; what would take more than a
/// fiftieth of the run is not kept.
const WORTH: Duration = Duration::from_millis(50);
const WORTH_OF_FLOW: Duration = Duration::from_micros(500);
/// To keep a row of samples takes 0.7 us (docs/outputs.md). A picture is drawn again more often
/// than a run is made again, so that may take a fifth of the run.
const WORTH_OF_ROW: Duration = Duration::from_nanos(3500);

/// The outputs of a scenario's runs, and the runs that are kept.
///
/// A run is taken from there where its record is enough, or its samples, of which series and
/// pictures are made. What looks at more, such as a trace, has it made again.
pub(crate) struct Kept<'a> {
    outputs: &'a Outputs<'a>,
    cache: Cache,
    /// Of each discipline what its runs depend on, but for the seed, and its label.
    disciplines: Vec<(String, String)>,
    seeds: usize,
    /// What is known of each run that was made, until it is kept.
    made: Mutex<BTreeMap<usize, Made>>,
}

/// A run that was made.
struct Made {
    took: Duration,
    rows: Option<SampledRows>,
}

impl<'a> Kept<'a> {
    /// Those of `scenario`; none where `is_off`.
    pub(crate) fn of(scenario: &Scenario, outputs: &'a Outputs<'a>, is_off: bool) -> Self {
        let cache = if is_off || cache::has_parts_from_outside() { Cache::none() } else { cache::open() };
        let compared = scenario.spec().disciplines.iter().enumerate();
        let disciplines =
            compared.map(|(at, compared)| (scenario.run_sha256(at), compared.label().to_owned())).collect();
        let seeds = scenario.spec().seeds.as_slice().len().max(1);
        Kept { outputs, cache, disciplines, seeds, made: Mutex::default() }
    }

    /// The name under which a run is kept; with `samples`, that of what was sampled in it.
    fn key(&self, which: RunId<'_>, samples: Option<&str>) -> Option<String> {
        let (sha256, _) = self.disciplines.get(which.index / self.seeds)?;
        let seed = which.seed.to_string();
        let own = [FORM, env!("CARGO_PKG_VERSION"), ENGINE, sha256, &seed];
        let parts: Vec<&str> = own.into_iter().chain(samples).collect();
        Some(key(&parts))
    }
}

/// What samples depend on beside their run, where they are wanted.
fn sampling(enough: Enough) -> Option<String> {
    match enough {
        Enough::Record => None,
        Enough::Samples { every, has_flows } => {
            Some(format!("{SAMPLES}, every {} ns, flows: {has_flows}", every.ns()))
        }
    }
}

impl Observers for Kept<'_> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the command line may know the time: what took none is not worth keeping"
    )]
    fn observe(&self, which: RunId<'_>, go: &mut dyn FnMut(Option<&mut dyn Observer>) -> bool) {
        let begun = Instant::now();
        let keeps_rows = self.outputs.enough().and_then(sampling).is_some() && self.cache.is_kept();
        let rows = self.outputs.observe(which, keeps_rows, go);
        let made = Made { took: begun.elapsed(), rows };
        self.made.lock().unwrap_or_else(PoisonError::into_inner).insert(which.index, made);
    }

    fn known(&self, which: RunId<'_>) -> Option<RunRecord> {
        let sampling = sampling(self.outputs.enough()?);
        let record: RunRecord = self.cache.load(&self.key(which, None)?)?;
        if let Some(sampling) = sampling {
            let rows: SampledRows = self.cache.load(&self.key(which, Some(&sampling))?)?;
            self.outputs.replay(which, &rows);
        }
        // What it is called is no part of what it depends on.
        Some(RunRecord { discipline: which.discipline.into(), ..record })
    }

    /// The process is about to end, and so does its memory.
    fn stopped(&self, rest: Rest) {
        std::mem::forget(rest);
    }

    fn made(&self, which: RunId<'_>, record: &RunRecord) {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner).remove(&which.index);
        let Some(Made { took, rows }) = made else { return };
        let many = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let worth = WORTH + WORTH_OF_FLOW.saturating_mul(many(record.flows.len()));
        if took < worth {
            return;
        }
        if let Some(key) = self.key(which, None) {
            self.cache.store(&key, record);
        }
        let Some(rows) = rows.filter(|rows| took >= worth + WORTH_OF_ROW.saturating_mul(many(rows.len())))
        else {
            return;
        };
        let sampling = self.outputs.enough().and_then(sampling);
        if let Some(key) = sampling.and_then(|sampling| self.key(which, Some(&sampling))) {
            self.cache.store(&key, &rows);
        }
    }
}
