//! The outcome of a fault.

use crate::fallible::Fallible;
use crate::finding::{Finding, Subject, balances};
use crate::gateway::Gateway;
use crate::run::Run;
use crate::tries::{Outcome, Tried, attempt, starved};
use fairwire_metrics::judge::Allowed;
use fairwire_testbed::traffic::HostCounts;
use serde::Serialize;
use std::collections::BTreeMap;
use std::convert::Infallible;

/// The outcome of a fault.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Happened {
    /// The name of the fault.
    pub fault: &'static str,
    /// The promise.
    pub promised: &'static str,
    /// The outcome of each part of the promise.
    pub findings: Vec<Finding>,
    /// Further remarks, a line each.
    pub notes: Vec<String>,
    /// Counters.
    pub counters: BTreeMap<String, f64>,
    /// Evidence that the machine starved the gateway of CPU time, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starved: Option<String>,
}

impl Outcome for Happened {
    fn findings(&self) -> &[Finding] {
        &self.findings
    }

    fn starved(&self) -> Option<&str> {
        self.starved.as_deref()
    }
}

impl Happened {
    pub(crate) fn of(
        fault: &'static str,
        promised: &'static str,
        act: impl FnOnce(&mut Happened) -> Fallible<()>,
    ) -> Happened {
        let mut happened = Happened { fault, promised, ..Happened::default() };
        if let Err(error) = act(&mut happened) {
            happened.check(false, format!("the run failed: {error}"));
        }
        happened
    }

    /// The last of several [attempts](attempt) at `happen`, with the misses of earlier attempts.
    pub fn tried(is_exact: bool, happen: &mut dyn FnMut() -> Happened) -> Happened {
        let Ok(Tried { mut held, .. }) = attempt(is_exact, &mut || Ok::<_, Infallible>(happen()));
        let mut last = held.pop().expect("it is held at least once");
        for (number, missed) in held.iter().enumerate() {
            let busy = missed.starved.iter().map(|how| format!("the machine was busy: {how}"));
            let misses = missed.misses().into_iter().map(|finding| format!("missed: {}", finding.what));
            last.notes.extend(busy.chain(misses).map(|what| format!("try {}: {what}", number + 1)));
        }
        last
    }

    /// Ends the run. Frames not fetched in time are no sign of starvation here, because some faults
    /// cause them.
    pub(crate) fn finish(&mut self, run: &mut Run) -> Fallible<HostCounts> {
        let seen = run.finish()?;
        let starved = starved(run.waited_s(&seen), run.traffic.duration_ns as f64 / 1e9, 0);
        self.starved = self.starved.take().or(starved);
        Ok(seen)
    }

    pub(crate) fn check(&mut self, is_so: bool, what: impl Into<String>) {
        self.findings.push(Finding::fact(is_so, what));
    }

    pub(crate) fn expect(&mut self, name: &str, value: f64, promised: Allowed) {
        self.count(name, value);
        self.findings.push(Finding::judged(name, value, promised, None));
    }

    /// Like `expect`, but a miss does not count if the gateway was starved.
    pub(crate) fn expect_in_time(&mut self, name: &str, value: f64, promised: Allowed) {
        self.count(name, value);
        self.findings.push(Finding::judged(name, value, promised, None).about(Subject::Time));
    }

    pub(crate) fn count(&mut self, name: &str, value: f64) {
        self.counters.insert(name.to_owned(), value);
    }

    pub(crate) fn check_conservation(&mut self, gateway: &Gateway) -> Fallible<()> {
        self.findings.extend(balances(gateway)?);
        for way in gateway.status()?.ways {
            let totals = way.totals;
            for (name, value) in [
                ("in", totals.packets_in),
                ("out", totals.packets_out),
                ("dropped", totals.dropped.values().sum()),
                ("lost", totals.lost.values().sum()),
                ("inside", totals.inside),
            ] {
                self.count(&format!("{} {name}", way.way), value as f64);
            }
            for (kind, count) in totals.lost.iter().filter(|(_, count)| **count > 0) {
                self.count(&format!("{} lost {kind}", way.way), *count as f64);
            }
        }
        Ok(())
    }
}
