//! Repeats tests of promises. A test may miss its promise by chance, or because the machine is
//! busy. A defect misses every time.

use crate::finding::{Finding, Subject};

const MAX_TRIES: usize = 3;
/// A gateway counts as starved if its threads and the path's threads together wait for a processor
/// longer than this fraction of the run. On 4 processors with a load of 3 to 5, the fraction is
/// 0.07 to 0.44, and all promises hold. With a load of 15 to 20, it is 0.7 and more, and pings are
/// late.
const STARVED: f64 = 0.5;

/// The outcome of one attempt.
pub trait Outcome {
    /// The promises, and their outcomes.
    fn findings(&self) -> &[Finding];

    /// How the machine starved the gateway of CPU time, if it did.
    fn starved(&self) -> Option<&str> {
        None
    }

    /// The findings that fail, without known misses. If the gateway was starved, findings about
    /// rate and delay are left out too.
    fn misses(&self) -> Vec<&Finding> {
        let is_starved = self.starved().is_some();
        let counts =
            |finding: &&Finding| finding.fails() && !(is_starved && finding.subject == Subject::Time);
        self.findings().iter().filter(counts).collect()
    }

    /// True if there are no [misses](Outcome::misses).
    fn holds(&self) -> bool {
        self.misses().is_empty()
    }
}

/// The outcome of several attempts.
#[derive(Clone, Debug)]
pub struct Tried<T> {
    /// The outcome of each attempt, in order.
    pub held: Vec<T>,
    /// The misses of all attempts; empty if the test passes.
    pub bad: Vec<String>,
}

/// How the machine starved the gateway, if it did. For `waited_s` of `seconds`, the gateway waited
/// for a processor. It lost `overflows` frames before it could fetch them.
pub fn starved(waited_s: f64, seconds: f64, overflows: u64) -> Option<String> {
    (overflows > 0 || waited_s > STARVED * seconds).then(|| {
        format!("ready {:.0} ms without a processor, {overflows} frames not fetched in time", waited_s * 1e3)
    })
}

/// Repeats a test until it passes, up to three times. `is_exact` means that the test uses no random
/// numbers.
///
/// A packet that is not accounted for fails the test at once. If the gateway was starved, misses of
/// rate and delay do not count, and any other miss causes a repetition. If the gateway was not
/// starved and `is_exact` is true, any miss fails the test at once, since only a defect explains
/// it.
///
/// # Errors
/// The error of `hold`.
pub fn attempt<T: Outcome, E>(is_exact: bool, hold: &mut dyn FnMut() -> Result<T, E>) -> Result<Tried<T>, E> {
    let mut tried = Tried { held: Vec::new(), bad: Vec::new() };
    while tried.held.len() < MAX_TRIES {
        let outcome = hold()?;
        let (is_starved, misses) = (outcome.starved().is_some(), outcome.misses());
        let is_unbalanced = misses.iter().any(|miss| miss.subject == Subject::Places);
        let (is_good, is_over) = (misses.is_empty(), is_unbalanced || (is_exact && !is_starved));
        tried.bad.extend(misses.into_iter().map(|miss| miss.what.clone()));
        tried.held.push(outcome);
        if is_good {
            tried.bad.clear();
        }
        if is_good || is_over {
            break;
        }
    }
    Ok(tried)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[derive(Clone, Default)]
    struct Held {
        findings: Vec<Finding>,
        starved: Option<String>,
    }

    impl Outcome for Held {
        fn findings(&self) -> &[Finding] {
            &self.findings
        }

        fn starved(&self) -> Option<&str> {
            self.starved.as_deref()
        }
    }

    fn miss(subject: Subject) -> Held {
        Held { findings: vec![Finding::fact(false, "a promise").about(subject)], starved: None }
    }

    fn starving(held: Held) -> Held {
        Held { starved: starved(3.0, 4.0, 0), ..held }
    }

    fn outcome(is_exact: bool, mut all: Vec<Held>) -> (usize, bool) {
        all.reverse();
        let mut hold = || Ok::<_, Infallible>(all.pop().expect("not held so often"));
        let Ok(tried) = attempt(is_exact, &mut hold);
        (tried.held.len(), tried.bad.is_empty())
    }

    #[test]
    fn chance_may_miss_twice_and_a_defect_misses_three_times() {
        let miss = || miss(Subject::Shares);
        assert_eq!(outcome(false, vec![Held::default()]), (1, true));
        assert_eq!(outcome(false, vec![miss(), miss(), Held::default()]), (3, true));
        assert_eq!(outcome(false, vec![miss(), miss(), miss()]), (3, false));
    }

    #[test]
    fn deterministic_contests_are_repeated_only_if_the_host_starved_them() {
        assert_eq!(outcome(true, vec![miss(Subject::Shares)]), (1, false));
        assert_eq!(outcome(true, vec![starving(miss(Subject::Shares)), Held::default()]), (2, true));
    }

    #[test]
    fn rate_and_delay_do_not_count_where_the_machine_starved_the_gateway() {
        assert_eq!(outcome(true, vec![miss(Subject::Time)]), (1, false));
        assert_eq!(outcome(true, vec![starving(miss(Subject::Time))]), (1, true));
        assert!(starving(miss(Subject::Time)).holds() && !starving(miss(Subject::Shares)).holds());
    }

    #[test]
    fn an_unaccounted_packet_is_never_forgiven() {
        assert_eq!(outcome(false, vec![starving(miss(Subject::Places))]), (1, false));
    }

    #[test]
    fn a_gateway_is_starved_by_lost_frames_or_by_waiting_half_of_the_run() {
        assert_eq!(starved(1.9, 4.0, 0), None);
        assert!(starved(2.1, 4.0, 0).is_some() && starved(0.0, 4.0, 1).is_some());
    }
}
