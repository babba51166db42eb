//! What a fault came to.

use crate::fallible::Fallible;
use crate::finding::{Finding, balances};
use crate::gateway::Gateway;
use crate::tries::{Outcome, Tried, attempt};
use fairwire_metrics::judge::Allowed;
use serde::Serialize;
use std::collections::BTreeMap;
use std::convert::Infallible;

/// What a fault came to.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Happened {
    /// Which.
    pub fault: &'static str,
    /// What was promised.
    pub promised: &'static str,
    /// What came of it.
    pub findings: Vec<Finding>,
    /// What else is to be said, a line each.
    pub notes: Vec<String>,
    /// Counters.
    pub counters: BTreeMap<String, f64>,
}

impl Outcome for Happened {
    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

impl Happened {
    /// What comes of `act`, which `promised` something.
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

    /// The last of several [attempts](attempt) at `happen`, with the misses of those before it.
    pub fn tried(happen: &mut dyn FnMut() -> Happened) -> Happened {
        let Ok(Tried { mut held, .. }) = attempt(false, &mut || Ok::<_, Infallible>(happen()));
        let mut last = held.pop().expect("it is held at least once");
        for (number, missed) in held.iter().enumerate() {
            let missed = missed.findings.iter().filter(|finding| finding.fails());
            let notes = missed.map(|finding| format!("try {} missed: {}", number + 1, finding.what));
            last.notes.extend(notes);
        }
        last
    }

    /// Notes whether something is as promised.
    pub(crate) fn check(&mut self, is_so: bool, what: impl Into<String>) {
        self.findings.push(Finding::fact(is_so, what));
    }

    /// Holds `value` of what is called `name` against what is promised.
    pub(crate) fn expect(&mut self, name: &str, value: f64, promised: Allowed) {
        self.count(name, value);
        self.findings.push(Finding::judged(name, value, promised, None));
    }

    pub(crate) fn count(&mut self, name: &str, value: f64) {
        self.counters.insert(name.to_owned(), value);
    }

    /// Every packet that came in has its place, as the gateway's own counters say.
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
