//! Checks with MSER-5, on the sampled throughput, that the warm-up is long enough.

use super::plot::Curve;
use crate::notice::notice;
use fairwire_core::Time;
use fairwire_metrics::mser::{Truncation, mser5};

/// Warns if MSER-5 would leave out more than the scenario does, or gives no result.
pub(super) fn check(curve: &Curve, warm_up: Time) {
    if let Some(warning) = warning(curve, warm_up) {
        notice(format_args!("warm-up: {}, seed {}: {warning}", curve.discipline, curve.seed));
    }
}

fn warning(curve: &Curve, warm_up: Time) -> Option<String> {
    let every = curve.every.secs();
    let discard = warm_up.since(Time::ZERO).secs();
    match mser5(curve.totals()) {
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
    use fairwire_core::Duration;

    /// A second of nothing, then an even rate, sampled each 10 ms.
    fn curve(samples: usize) -> Curve {
        let rates = (0..samples).map(|at| if at < 100 { 0.0 } else { 1e6 }).collect();
        Curve::of("faba", Duration::from_ms(10), vec![("tcp".into(), rates)])
    }

    #[test]
    fn a_warm_up_shorter_than_mser_finds_is_reported_and_one_as_long_is_not() {
        let after = |ms| Time::ZERO + Duration::from_ms(ms);
        let text = warning(&curve(500), after(990)).expect("it is too short");
        assert_eq!(text, "MSER-5 would leave out 1.000 s, the scenario leaves out 0.990 s");
        assert_eq!(warning(&curve(500), after(1000)), None);
    }

    #[test]
    fn a_run_without_a_result_is_reported() {
        assert!(warning(&curve(49), Time::ZERO).is_some_and(|text| text.contains("fewer than 50")));
        assert!(warning(&curve(150), Time::ZERO).is_some_and(|text| text.contains("too short")));
    }
}
