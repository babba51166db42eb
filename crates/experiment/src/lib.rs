//! One experiment, run anywhere.
//!
//! A scenario says who shares what link under which disciplines. A [`Stage`] is a place where it can be run: [`Sim`](sim::Sim) is
//! the packet simulator, [`Lab`](lab::Lab) sends this kernel's own TCP and UDP through the same compiled discipline,
//! [`Gateway`](gateway::Gateway) through the gateway's own process; [`Linux`](linux::Linux) has the kernel's own discipline too, in User Mode Linux, and
//! [`Kernel`](kernel::Kernel) that of this machine's kernel. Every stage leaves the same record, so results stand side by side, and [`compared`] says how near they came.
//!
//! A stage says which part of a scenario it cannot run, and the others go on.

#![forbid(unsafe_code)]

mod contest;
mod dumbbell;
pub mod gateway;
pub mod kernel;
pub mod lab;
pub mod linux;
pub mod ns2;
mod plan;
mod series;
pub mod sim;
mod stage;
mod stages;
mod watch;

pub use dumbbell::{Dumbbell, Sender};
pub use plan::Plan;
pub use stage::{Failed, Stage, Why};
pub use stages::{WatchRuns, all, find, run};
pub use watch::Watch;

use fairwire_metrics::agreement::{Tolerance, agreement};
use fairwire_metrics::record::{Agreement, RunRecord};

/// How far a stage may be from another: each group's fraction of all that was delivered within three points, and the rest for
/// information. What makes them differ beyond that is told of in docs/stages.md.
pub const TOLERANCES: [Tolerance<'static>; 4] = [
    Tolerance { measure: "fraction", allowed: Some(0.03) },
    Tolerance { measure: "jain", allowed: None },
    Tolerance { measure: "sojourn_mean_s", allowed: None },
    Tolerance { measure: "utilization", allowed: None },
];

/// How near each stage came to `against`, under each discipline, by the [`TOLERANCES`].
pub fn compared(runs: &[RunRecord], against: &str) -> Vec<Agreement> {
    agreement(runs, against, &TOLERANCES)
}
