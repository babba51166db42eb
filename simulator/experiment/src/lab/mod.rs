//! This machine's own TCP and UDP, in network namespaces, through the same compiled discipline.
//!
//! The hosts are [processes](fairwire_testbed::processes) of their own. They hand the gateway's two
//! packet sockets to this process, which forwards every frame through the discipline. Between it
//! and the sink is a [path](fairwire_testbed::path) that gives each flow its round-trip time. The
//! program must hand its `lab-agent` command over to
//! [`agent::main`](fairwire_testbed::agent::main).
//!
//! What is not as in the simulator: TCP is the kernel's, with selective acknowledgements and its
//! own timers, whatever profile the scenario names; only the congestion control and the length of
//! segments are the scenario's. Access links take no time beyond their delay.

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

/// The laboratory on this machine: real sockets, real frames, and our discipline between them.
#[derive(Clone, Debug, Default)]
pub struct Lab {
    /// The congestion control of every TCP flow, as the kernel calls it, in place of the
    /// scenario's.
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
