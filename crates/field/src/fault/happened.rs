//! What a fault came to.

use crate::fallible::Fallible;
use crate::gateway::Gateway;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a fault came to.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Happened {
    /// Which.
    pub fault: &'static str,
    /// What was promised.
    pub promised: &'static str,
    /// What happened, a line each.
    pub happened: Vec<String>,
    /// Counters.
    pub counters: BTreeMap<String, f64>,
    /// What does not hold.
    pub broken: Vec<String>,
    /// Is a packet without its place? No busy machine makes that.
    pub is_unbalanced: bool,
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
            happened.broken.push(format!("the run failed: {error}"));
        }
        happened
    }

    /// Notes that `what` was promised, and whether it is so.
    pub(crate) fn check(&mut self, is_so: bool, what: impl Into<String>) {
        let what = what.into();
        match is_so {
            true => self.happened.push(what),
            false => self.broken.push(what),
        }
    }

    pub(crate) fn count(&mut self, name: &str, value: f64) {
        self.counters.insert(name.to_owned(), value);
    }

    /// Every packet that came in has its place, as the gateway's own counters tell.
    pub(crate) fn check_conservation(&mut self, gateway: &Gateway) -> Fallible<()> {
        for way in gateway.status()?.ways {
            let totals = way.totals;
            let (came, placed) = totals.balance();
            self.is_unbalanced |= came != placed;
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
            self.check(
                came == placed,
                format!("{}: {came} packets in = {placed} out, dropped, lost or inside", way.way),
            );
        }
        Ok(())
    }
}
