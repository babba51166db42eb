//! The parameters of BBR.

use crate::congestion::control::About;
use fairwire_parameters::parameters;

/// BBR's description in lists and documentation.
pub const ABOUT: About = About {
    // Without selective acknowledgements, the window collapses at every loss.
    needs_sack: true,
    ..About::new(
        "version 1: a rate taken from what was delivered, and a window from the product of rate and round-trip time; needs `recovery = \"sack\"`",
        "draft-cardwell-iccrg-bbr-congestion-control-00",
    )
};

/// Parameters of BBR.
#[parameters(gated, name = "bbr", checked = BbrGiven, public)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BbrSpec {
    /// The phase, from 0 to 7, in which the gain cycle begins.
    #[parameter(
        default = 2,
        min = 0,
        max = 7,
        unit = "phase",
        source = "Draft, section 4.3.4.2, draws it from all but phase 1."
    )]
    pub first_phase: Option<u8>,
    /// Whether the gain cycle always begins in a random phase, which is never phase 1.
    /// `first_phase` is then unused.
    #[parameter(default = false, source = "Draft, section 4.3.4.2; Linux.")]
    pub draws_phase: Option<bool>,
    /// The fraction by which the pace stays below the model's rate.
    #[parameter(
        default = 0.01,
        min = 0.0,
        max = 0.5,
        unit = "1",
        source = "Linux; draft-ietf-ccwg-bbr-01. The draft of version 1 has none."
    )]
    pub pacing_margin: Option<f64>,
    /// Whether the window leaves room for clumps of ACKs.
    ///
    /// The room is the maximum, over the last ten rounds, of the acknowledged segments that the
    /// model's rate does not explain. It is at most 100 ms of delivery at this rate.
    #[parameter(
        default = true,
        source = "Linux since 2019; extra_acked of draft-ietf-ccwg-bbr-01. The draft of version 1 lacks it."
    )]
    pub allows_for_clumps: Option<bool>,
    /// Whether the window is rounded up to an even number of segments, and enlarged by two in phase
    /// 0, as in Linux.
    #[parameter(default = false, source = "Linux, as its windows show (docs/oracles.md).")]
    pub rounds_up: Option<bool>,
}

/// The checked parameters of [`Bbr`](super::Bbr).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BbrParameters {
    /// The parameters as given or by default.
    pub given: BbrGiven,
    /// The seed of the random phases. Flows that share their constants have separate seeds: see
    /// [`Config::of_flow`](crate::Config::of_flow).
    pub seed: u64,
}

impl From<BbrGiven> for BbrParameters {
    fn from(given: BbrGiven) -> Self {
        BbrParameters { given, seed: 0 }
    }
}
