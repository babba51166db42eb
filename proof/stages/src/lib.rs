//! Stages that compare the simulator and the lab with independent implementations.
#![forbid(unsafe_code)]

pub mod gateway;
pub mod kernel;
pub mod linux;
pub mod ns2;
mod same;

use fairwire_experiment::Stage;

/// Every stage of this crate, in the order shown.
pub const ALL: &[&dyn Stage] = &[&gateway::Gateway, &linux::Linux, &kernel::Kernel, &ns2::Ns2];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_programs_name_the_stages_of_this_crate() {
        let names: Vec<&str> = ALL.iter().map(|stage| stage.name()).collect();
        assert_eq!(names, fairwire_experiment::ELSEWHERE);
    }
}
