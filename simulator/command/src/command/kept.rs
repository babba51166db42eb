//! Finished runs of `run`, kept from one call to the next.

use super::cache;
use crate::output::{Enough, Outputs};
use fairwire_metrics::record::RunRecord;
use fairwire_scenario::{ENGINE, Observer, Observers, Rest, RunId, SampledRows, Scenario};
use fairwire_study::{Cache, key};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The version of kept records. It is part of their names, so programs of another version find none
/// of them.
const FORM: &str = "run 1";
const SAMPLES: &str = "samples 1";
/// A run is kept if it took at least `WORTH`, plus `WORTH_OF_FLOW` per flow. Keeping a record takes
/// about 1 ms, plus 10 us per flow: at most a fiftieth of the run's duration.
const WORTH: Duration = Duration::from_millis(50);
const WORTH_OF_FLOW: Duration = Duration::from_micros(500);
/// The additional minimum duration per row of samples: five times the 0.7 us of keeping a row
/// (docs/outputs.md). Samples may cost more than records, because pictures are redrawn more often
/// than runs are repeated.
const WORTH_OF_ROW: Duration = Duration::from_nanos(3500);

/// Keeps and finds finished runs. A kept run has a record and perhaps samples, from which series
/// and pictures are drawn. An output that needs more, such as a trace, requires a new run.
pub(crate) struct Kept<'a> {
    outputs: &'a Outputs<'a>,
    cache: Cache,
    /// The hash of each discipline's inputs except the seed, and the discipline's label.
    disciplines: Vec<(String, String)>,
    seeds: usize,
    /// The data of each new run, until the run is kept.
    made: Mutex<BTreeMap<usize, Made>>,
}

/// A new run.
struct Made {
    took: Duration,
    rows: Option<SampledRows>,
}

impl<'a> Kept<'a> {
    pub(crate) fn of(scenario: &Scenario, outputs: &'a Outputs<'a>, is_off: bool) -> Self {
        let cache = if is_off || cache::has_parts_from_outside() { Cache::none() } else { cache::open() };
        let compared = scenario.spec().disciplines.iter().enumerate();
        let disciplines =
            compared.map(|(at, compared)| (scenario.run_sha256(at), compared.label().to_owned())).collect();
        let seeds = scenario.spec().seeds.as_slice().len().max(1);
        Kept { outputs, cache, disciplines, seeds, made: Mutex::default() }
    }

    fn key(&self, which: RunId<'_>, samples: Option<&str>) -> Option<String> {
        let (sha256, _) = self.disciplines.get(which.index / self.seeds)?;
        let seed = which.seed.to_string();
        let own = [FORM, env!("CARGO_PKG_VERSION"), ENGINE, sha256, &seed];
        let parts: Vec<&str> = own.into_iter().chain(samples).collect();
        Some(key(&parts))
    }
}

/// The inputs that only samples depend on. `None` if no samples are requested.
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
        // The label is not part of the key, so a kept record may have another label.
        Some(RunRecord { discipline: which.discipline.into(), ..record })
    }

    /// Frees nothing, because the process is about to end.
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
