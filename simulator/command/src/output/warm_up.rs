//! Checks that the warm-up is long enough, by the MSER-5 rule on the sampled throughput.

use super::plan::Request;
use super::written::{Done, Kept, Looks, Place, Recorder, Run, Wants, Writer};
use fairwire_core::{Duration, Time};
use fairwire_metrics::mser::{Truncation, mser5};
use fairwire_metrics::record::Report;
use fairwire_scenario::SampleRow;
use fairwire_terminal::failure::Failure;
use fairwire_terminal::notice::notice;

pub(super) fn prepare<'a>(request: &Request<'a>) -> Result<Option<Box<dyn Writer + 'a>>, Failure> {
    let (every, warm_up) = (request.every(), request.warm_up());
    Ok(request.checks_warm_up().then(|| Box::new(WarmUps { every, warm_up, kept: Kept::default() }) as _))
}

/// Checks all runs.
struct WarmUps {
    every: Duration,
    warm_up: Time,
    kept: Kept<Totals>,
}

/// The in-order goodput of one run, summed over all groups, at each sample.
#[derive(Debug)]
struct Totals {
    discipline: String,
    seed: u64,
    delivered_bps: Vec<f64>,
}

impl Writer for WarmUps {
    fn looks(&self) -> Looks {
        Looks::AtSamples
    }

    fn wants(&self) -> Wants {
        Wants { samples: true, ..Wants::default() }
    }

    fn begin<'a>(&'a self, run: Run<'_>) -> Result<Option<Box<dyn Recorder + 'a>>, Failure> {
        let (discipline, seed) = (run.which.discipline.into(), run.which.seed);
        let totals = Totals { discipline, seed, delivered_bps: Vec::new() };
        let at = run.place();
        Ok(run.is_simulated.then(|| Box::new(OfRun { all: self, at, totals, since: Time::ZERO }) as _))
    }

    fn close(&self, _: &mut Report, _: &mut Done) {
        for totals in self.kept.take() {
            if let Some(warning) = warning(&totals.delivered_bps, self.every, self.warm_up) {
                notice(format_args!("warm-up: {}, seed {}: {warning}", totals.discipline, totals.seed));
            }
        }
    }
}

struct OfRun<'a> {
    all: &'a WarmUps,
    at: Place,
    totals: Totals,
    /// The time of the latest sample.
    since: Time,
}

impl Recorder for OfRun<'_> {
    fn row(&mut self, at: Time, row: SampleRow<'_>) {
        if (row.kind, row.measure) != ("group", "throughput") {
            return;
        }
        if self.since < at {
            self.since = at;
            self.totals.delivered_bps.push(0.0);
        }
        if let Some(sum) = self.totals.delivered_bps.last_mut() {
            *sum += row.value;
        }
    }

    fn finish(self: Box<Self>) -> Result<(), Failure> {
        self.all.kept.keep(self.at, self.totals);
        Ok(())
    }
}

fn warning(totals: &[f64], every: Duration, warm_up: Time) -> Option<String> {
    let every = every.secs();
    let discard = warm_up.since(Time::ZERO).secs();
    match mser5(totals) {
        None => Some("fewer than 50 samples: too few for MSER-5 (a shorter --every gives more)".into()),
        Some(Truncation::TooShort) => {
            Some("MSER-5 finds no steady state in the first half: the run is too short".into())
        }
        Some(Truncation::Samples(samples)) if samples as f64 * every > discard => Some(format!(
            "MSER-5 would leave out {:.3} s, the scenario leaves out {discard:.3} s",
            samples as f64 * every
        )),
        Some(Truncation::Samples(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warning_of(samples: usize, warm_up: Time) -> Option<String> {
        let rates: Vec<f64> = (0..samples).map(|at| if at < 100 { 0.0 } else { 1e6 }).collect();
        warning(&rates, Duration::from_ms(10), warm_up)
    }

    #[test]
    fn a_warm_up_shorter_than_that_of_mser_is_reported() {
        let after = |ms| Time::ZERO + Duration::from_ms(ms);
        let text = warning_of(500, after(990)).expect("it is too short");
        assert_eq!(text, "MSER-5 would leave out 1.000 s, the scenario leaves out 0.990 s");
        assert_eq!(warning_of(500, after(1000)), None);
    }

    #[test]
    fn a_run_without_a_result_is_reported() {
        assert!(warning_of(49, Time::ZERO).is_some_and(|text| text.contains("fewer than 50")));
        assert!(warning_of(150, Time::ZERO).is_some_and(|text| text.contains("too short")));
    }
}
