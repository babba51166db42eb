//! The parameters of BBR, version 3.

use crate::congestion::control::About;
use fairwire_parameters::parameters;

/// The description of BBR, version 3, in lists and documentation.
pub const ABOUT: About = About {
    // BBR counts losses per round trip, which requires the scoreboard.
    needs_sack: true,
    ..About::new(
        "version 3: the model of `bbr`, bounded by what losses above 2 % say; needs `recovery = \"sack\"`",
        "draft-ietf-ccwg-bbr-05",
    )
};

/// Parameters of BBR, version 3.
#[parameters(gated, name = "bbr3", checked = Bbr3Given, public)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bbr3Spec {
    /// The fraction of a round trip's data that may be lost before the number in flight counts as
    /// too large.
    #[parameter(
        default = 0.02,
        above = 0.0,
        max = 0.5,
        unit = "1",
        source = "BBR.LossThresh; draft-ietf-ccwg-bbr-05, section 2.7."
    )]
    pub loss_threshold: Option<f64>,
    /// The minimum fraction of the short-term bounds that remains after a round trip with losses.
    #[parameter(
        default = 0.7,
        min = 0.01,
        max = 0.99,
        unit = "1",
        source = "BBR.Beta; draft-ietf-ccwg-bbr-05, section 2.7."
    )]
    pub beta: Option<f64>,
    /// The fraction of the long-term bound left to other flows while BBR cruises.
    #[parameter(
        default = 0.15,
        min = 0.0,
        max = 0.9,
        unit = "1",
        source = "BBR.Headroom; draft-ietf-ccwg-bbr-05, section 2.7."
    )]
    pub headroom: Option<f64>,
    /// The fraction by which the pace stays below the model's rate.
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
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bbr3Parameters {
    /// The parameters as given or by default.
    pub given: Bbr3Given,
    /// The seed of the random times between probes. Flows that share their constants have separate
    /// seeds: see [`Config::of_flow`](crate::Config::of_flow).
    pub seed: u64,
}

impl From<Bbr3Given> for Bbr3Parameters {
    fn from(given: Bbr3Given) -> Self {
        Bbr3Parameters { given, seed: 0 }
    }
}
