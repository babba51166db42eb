//! One experiment, run anywhere.
//!
//! A scenario says which flows share which link under which disciplines. A [`Stage`] is a place
//! where it can be run. [`Sim`](sim::Sim) is the packet simulator, and [`Lab`](lab::Lab) sends this
//! kernel's own TCP and UDP through the same compiled discipline. Stages of other crates are
//! [offered](offer) to them. Every stage leaves the same record, so results can be compared:
//! [`compared`] says how near they came.
//!
//! A stage says which part of a scenario it cannot run, and the others go on.
//!
//! A [shell] is no stage: what runs behind the scenario's link is the user's own command.

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

/// Are the stages that `scenario` names there?
///
/// # Errors
/// Where one is not: what is allowed, and the nearest right spelling.
pub fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    let elsewhere = ELSEWHERE.iter().copied();
    let known: Vec<&str> = all().map(|stage| stage.name()).chain(elsewhere).collect();
    scenario.unknown_stage(&known).map_or(Ok(()), Err)
}
