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

pub mod contest;
pub mod dumbbell;
mod forwarding;
pub mod lab;
mod left_out;
mod plan;
mod runs;
pub mod series;
pub mod shell;
pub mod sim;
mod stage;
mod stages;
pub mod view;
mod watch;

pub use dumbbell::{Dumbbell, Sender};
pub use left_out::{LeftOut, Unjudged, left_out, unjudged};
pub use plan::Plan;
pub use runs::{WatchRun, WatchRuns};
pub use stage::{About, CannotRun, Clock, Failed, Stage};
pub use stages::{ELSEWHERE, all, find, offer};
pub use watch::Watch;

use fairwire_metrics::agreement::{Tolerance, agreement};
use fairwire_metrics::record::{Agreement, RunRecord};
use fairwire_scenario::{Scenario, ScenarioError};

/// How far a stage may be from another: each group's fraction of all that was delivered within
/// three points, and the rest for information. docs/stages.md explains what makes them differ
/// beyond that.
pub const TOLERANCES: [Tolerance<'static>; 4] = [
    Tolerance::of("fraction", 0.03),
    Tolerance::shown("jain"),
    Tolerance::shown("sojourn_mean_s"),
    Tolerance::shown("utilization"),
];

/// How near each stage came to `against`, under each discipline: by what `scenario` says, and by
/// the [`TOLERANCES`] where it says nothing. Where it does, what they show for information is shown
/// all the same.
pub fn compared(scenario: &Scenario, runs: &[RunRecord], against: &str) -> Vec<Agreement> {
    let own = scenario.tolerances();
    let is_meant = |tolerance: &Tolerance<'_>| own.is_empty() || tolerance.allowed.is_none();
    let tolerances: Vec<Tolerance<'_>> =
        TOLERANCES.into_iter().filter(is_meant).chain(own.iter().copied()).collect();
    agreement(runs, against, &tolerances, &scenario.further_measures())
}

/// Are the stages that `scenario` names there?
///
/// # Errors
/// Where one is not: what is allowed, and the nearest right spelling.
pub fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    let elsewhere = ELSEWHERE.iter().copied();
    let known: Vec<&str> = all().map(|stage| stage.name()).chain(elsewhere).collect();
    scenario.unknown_stage(&known).map_or(Ok(()), Err)
}
