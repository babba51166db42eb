//! The input of a stage.

use fairwire_catalogue::{BuildError, Choice};
use fairwire_core::Duration;
use fairwire_laws::Site;
use fairwire_laws::part::Part;
use fairwire_metrics::presence::Presence;
use fairwire_metrics::record::{FlowRecord, LinkRecord, RunRecord};
use fairwire_scenario::Scenario;
use fairwire_sim::Network;

/// A scenario under one of its disciplines.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The index of the discipline in the scenario's list.
    pub discipline: usize,
}

impl Plan<'_> {
    /// The discipline's label, or its name if it has no label.
    pub fn label(&self) -> &str {
        self.scenario.spec().disciplines[self.discipline].label()
    }

    /// Links, disciplines and senders under `seed`, as the simulator runs them.
    ///
    /// # Errors
    /// If the discipline cannot be built.
    pub fn network(&self, seed: u64) -> Result<Network, BuildError> {
        fairwire_scenario::network(self.scenario, self.discipline, seed)
    }

    /// The discipline, with all its parameters from the scenario.
    pub fn choice(&self) -> Choice {
        fairwire_scenario::discipline(self.scenario, self.discipline)
    }

    /// The result of `answer` for the discipline's parameters at the first link. `None` if there is
    /// no link.
    pub fn of_part<R>(&self, answer: impl FnOnce(&dyn Part, &Site<'_>) -> Option<R>) -> Option<R> {
        fairwire_scenario::of_part(self.scenario, self.discipline, answer)
    }

    /// The record of a run under `seed` on one link, measured only at the flows and the link.
    pub fn record(
        &self,
        seed: u64,
        mut flows: Vec<FlowRecord>,
        presence: Option<&Presence>,
        link: LinkRecord,
    ) -> RunRecord {
        let (fairness, presence) = fairwire_scenario::fairness(self.scenario, &mut flows, presence);
        RunRecord {
            discipline: self.label().into(),
            stage: String::new(), // filled in by the caller
            seed,
            fairness,
            presence,
            flows,
            links: vec![link],
            transfers: Vec::new(),
            aggregates: Vec::new(),
            events: None,
        }
    }

    /// The length of a run, including the warm-up.
    pub fn duration(&self) -> Duration {
        self.scenario.spec().duration.0
    }

    /// The unmeasured time at the start.
    pub fn warm_up(&self) -> Duration {
        self.scenario.spec().warm_up.0
    }
}
