//! This machine's TCP and UDP, in network namespaces, through the same compiled discipline as in
//! the simulator.
//!
//! The hosts are separate [processes](fairwire_testbed::processes). They hand the gateway's two
//! packet sockets to this process, which forwards every frame through the discipline. A
//! [path](fairwire_testbed::path) between this process and the sink gives each flow its round-trip
//! time. The program must pass its `lab-agent` command to
//! [`agent::main`](fairwire_testbed::agent::main).
//!
//! Unlike in the simulator, TCP is the kernel's, whatever profile the scenario names. Only the
//! congestion control and the segment length come from the scenario. Also unlike in the simulator,
//! access links add only their delay.

mod datapath;
mod metered;
mod samples;
mod views;

use crate::contest::{self, ContestPlan};
use crate::dumbbell::Dumbbell;
use crate::plan::Plan;
use crate::stage::{About, Clock, Failed, Stage};
use crate::watch::Watch;
use fairwire_metrics::record::RunRecord;
use std::sync::atomic::AtomicBool;

/// The laboratory on this machine: real sockets and frames, and our discipline between them.
#[derive(Clone, Debug, Default)]
pub struct Lab {
    /// The congestion control, as named in the kernel, that replaces the scenario's for every TCP
    /// flow.
    pub congestion_control: Option<String>,
}

impl Lab {
    fn dumbbell(&self, plan: &Plan<'_>, seed: u64) -> Result<Dumbbell, Failed> {
        let dumbbell = Dumbbell::of(plan, seed)?;
        match &self.congestion_control {
            Some(control) => Ok(dumbbell.with_congestion_control(control)),
            None => Ok(dumbbell),
        }
    }
}

impl Stage for Lab {
    fn about(&self) -> About {
        About {
            name: "lab",
            summary: "this kernel's own TCP and UDP between network namespaces, through the same compiled discipline",
            clock: Clock::Machine,
        }
    }

    fn can_run(&self, plan: &Plan<'_>) -> Result<(), Failed> {
        // The senders do not depend on the seed.
        Ok(contest::check(&self.dumbbell(plan, 0)?)?)
    }

    fn run(
        &self,
        plan: &Plan<'_>,
        seed: u64,
        watch: &mut dyn Watch,
        stop: &AtomicBool,
    ) -> Result<Option<RunRecord>, Failed> {
        let dumbbell = self.dumbbell(plan, seed)?;
        let contest = ContestPlan::watched(plan, seed, &dumbbell, watch)?;
        let held = datapath::hold(&contest, plan.label(), dumbbell.discipline, watch, stop);
        contest.outcome(plan, held, watch)
    }
}
