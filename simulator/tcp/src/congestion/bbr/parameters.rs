//! The parameters of BBR.

use crate::congestion::control::About;
use fairwire_parameters::parameters;

/// Its description in lists and documentation.
pub const ABOUT: About = About {
    // Its model of the network is made of what has arrived, and without knowing that the window
    // collapses at every loss.
    needs_sack: true,
    ..About::new(
        "version 1: a rate taken from what was delivered, and a window from the product of rate and round-trip time; needs `recovery = \"sack\"`",
        "draft-cardwell-iccrg-bbr-congestion-control-00",
    )
};

/// Parameters of BBR.
#[parameters(gated, name = "bbr", checked = Checked)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BbrSpec {
    /// In which of its eight phases the gain cycle begins.
    #[parameter(
        default = 2,
        min = 0,
        max = 7,
        unit = "phase",
        source = "Draft, section 4.3.4.2, draws it from all but phase 1."
    )]
    pub first_phase: Option<u8>,
    /// Whether each flow draws the phase anew, from all but 1, whenever the cycle begins.
    /// `first_phase` is not used then.
    #[parameter(default = false, source = "Draft, section 4.3.4.2; Linux.")]
    pub draws_phase: Option<bool>,
    /// By how much the pace stays below what the model says.
    #[parameter(
        default = 0.01,
        min = 0.0,
        max = 0.5,
        unit = "1",
        source = "Linux; draft-ietf-ccwg-bbr-01. The draft of version 1 has none."
    )]
    pub pacing_margin: Option<f64>,
    /// Whether the window leaves room for ACKs that come in clumps.
    ///
    /// For as many segments as acknowledgements, in the last ten rounds, came early at once; 100 ms
    /// of them at most.
    #[parameter(
        default = true,
        source = "Linux since 2019; extra_acked of draft-ietf-ccwg-bbr-01. The draft of version 1 has it not."
    )]
    pub allows_for_clumps: Option<bool>,
    /// Whether the window is rounded up to an even number of segments, and two more while it
    /// probes, as in Linux.
    #[parameter(default = false, source = "Linux, as its windows show (docs/oracles.md).")]
    pub rounds_up: Option<bool>,
}

/// The checked parameters of [`Bbr`](super::Bbr).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BbrParameters {
    /// Where the gain cycle begins.
    pub first_phase: FirstPhase,
    /// By how much the pace stays below what the model says, from 0 to below 1.
    pub pacing_margin: f64,
    /// Does the window leave room for acknowledgements that come in clumps?
    pub allows_for_clumps: bool,
    /// Is the window rounded up to an even number of segments, and two more while it probes?
    pub rounds_up: bool,
}

impl Default for BbrParameters {
    fn default() -> Self {
        BbrParameters {
            first_phase: FirstPhase::default(),
            pacing_margin: 0.01,
            allows_for_clumps: true,
            rounds_up: false,
        }
    }
}

/// In which of its eight phases (0 probes, 1 drains, 2 to 7 cruise) the gain cycle begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstPhase {
    /// Always in this one, modulo 8.
    Fixed(u8),
    /// In any but 1, drawn anew each time from this seed and the number of the round. Flows that
    /// share their constants have seeds of their own: see
    /// [`Config::of_flow`](crate::Config::of_flow).
    Seeded(u64),
}

impl Default for FirstPhase {
    fn default() -> Self {
        FirstPhase::Fixed(2)
    }
}

impl From<Checked> for BbrParameters {
    fn from(checked: Checked) -> Self {
        let Checked { first_phase, draws_phase, pacing_margin, allows_for_clumps, rounds_up } = checked;
        let first_phase = if draws_phase { FirstPhase::Seeded(0) } else { FirstPhase::Fixed(first_phase) };
        BbrParameters { first_phase, pacing_margin, allows_for_clumps, rounds_up }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_that_are_declared() {
        assert_eq!(BbrSpec::default().checked().map(BbrParameters::from), Ok(BbrParameters::default()));
    }
}
