//! The parameters of BBR, version 3.

use crate::congestion::control::About;
use fairwire_parameters::parameters;

/// Its description in lists and documentation.
pub const ABOUT: About = About {
    // It counts what was lost in a round trip, which takes the scoreboard.
    needs_sack: true,
    ..About::new(
        "version 3: the model of `bbr`, bounded by what losses above 2 % say; needs `recovery = \"sack\"`",
        "draft-ietf-ccwg-bbr-05",
    )
};

/// Parameters of BBR, version 3.
#[parameters(gated, name = "bbr3", checked = Checked)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bbr3Spec {
    /// The part of a round trip's data that may be lost before what is in flight is taken for too
    /// much.
    #[parameter(
        default = 0.02,
        above = 0.0,
        max = 0.5,
        unit = "1",
        source = "BBR.LossThresh; draft-ietf-ccwg-bbr-05, section 2.7."
    )]
    pub loss_threshold: Option<f64>,
    /// What a round trip with losses leaves of the short-term bounds, at least.
    #[parameter(
        default = 0.7,
        min = 0.01,
        max = 0.99,
        unit = "1",
        source = "BBR.Beta; draft-ietf-ccwg-bbr-05, section 2.7."
    )]
    pub beta: Option<f64>,
    /// The part of the long-term bound that is left to others while it cruises.
    #[parameter(
        default = 0.15,
        min = 0.0,
        max = 0.9,
        unit = "1",
        source = "BBR.Headroom; draft-ietf-ccwg-bbr-05, section 2.7."
    )]
    pub headroom: Option<f64>,
    /// By how much the pace stays below what the model says.
    #[parameter(
        default = 0.01,
        min = 0.0,
        max = 0.5,
        unit = "1",
        source = "BBR.PacingMarginPercent; draft-ietf-ccwg-bbr-05, section 2.5."
    )]
    pub pacing_margin: Option<f64>,
}

/// The checked parameters of [`Bbr3`](super::Bbr3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bbr3Parameters {
    /// The part of a round trip's data that may be lost, from above 0 to 0.5.
    pub loss_threshold: f64,
    /// What a round trip with losses leaves of the short-term bounds, at least; 0.01 to 0.99.
    pub beta: f64,
    /// The part of the long-term bound that is left to others, from 0 to 0.9.
    pub headroom: f64,
    /// By how much the pace stays below what the model says, from 0 to 0.5.
    pub pacing_margin: f64,
    /// The time between two probes is drawn from it. Flows that share their constants have seeds of
    /// their own: see [`Config::of_flow`](crate::Config::of_flow).
    pub seed: u64,
}

impl Default for Bbr3Parameters {
    fn default() -> Self {
        Bbr3Parameters { loss_threshold: 0.02, beta: 0.7, headroom: 0.15, pacing_margin: 0.01, seed: 0 }
    }
}

impl From<Checked> for Bbr3Parameters {
    fn from(checked: Checked) -> Self {
        let Checked { loss_threshold, beta, headroom, pacing_margin } = checked;
        Bbr3Parameters { loss_threshold, beta, headroom, pacing_margin, seed: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_that_are_declared() {
        assert_eq!(Bbr3Spec::default().checked().map(Bbr3Parameters::from), Ok(Bbr3Parameters::default()));
    }
}
