//! Runs a scenario on any [`Stage`].
//!
//! [`Sim`](sim::Sim) is the packet simulator, and [`Lab`](lab::Lab) sends this kernel's TCP and UDP
//! through the same compiled discipline. Other crates [offer](offer) further stages. All stages
//! produce the same type of record, so results can be [`compared`].

#![forbid(unsafe_code)]

mod compared;
pub mod contest;
pub mod dumbbell;
mod forwarding;
pub mod lab;
mod left_out;
mod plan;
mod runs;
pub mod series;
pub mod shell;
mod side_by_side;
pub mod sim;
mod stage;
mod stages;
pub mod view;
mod watch;

pub use compared::compared;
pub use dumbbell::{Dumbbell, Sender};
pub use left_out::{Because, LeftOut, Uncompared, Unjudged, left_out, uncompared, unjudged};
pub use plan::Plan;
pub use runs::{WatchRun, WatchRuns};
pub use side_by_side::{RunOn, SideBySide, Stages};
pub use stage::{About, CannotRun, Clock, Failed, Stage};
pub use stages::{ELSEWHERE, all, find, offer};
pub use watch::Watch;

use fairwire_scenario::{Scenario, ScenarioError};

/// Checks that the stages named by `scenario` exist.
///
/// # Errors
/// The allowed names, and the nearest spelling, if a stage does not exist.
pub fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    let elsewhere = ELSEWHERE.iter().copied();
    let known: Vec<&str> = all().map(|stage| stage.name()).chain(elsewhere).collect();
    scenario.unknown_stage(&known).map_or(Ok(()), Err)
}
