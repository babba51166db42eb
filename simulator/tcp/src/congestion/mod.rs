//! Congestion control: the growth and reduction of the window. Each algorithm has one file.
//!
//! [`Sender`](crate::Sender) decides on losses and retransmissions.

pub mod bbr;
pub mod bbr3;
mod bbr_parts;
pub mod bic;
pub mod binomial;
mod control;
mod controller;
pub mod cubic;
pub mod dctcp;
mod growth;
mod hystart;
pub mod ledbat;
mod marks;
mod max_filter;
pub mod prague;
pub mod reno;
mod round_trip;
pub mod vegas;
pub mod westwood;

pub use bbr::{Bbr, BbrGiven, BbrParameters, BbrSpec, BbrState};
pub use bbr3::{Bbr3, Bbr3Given, Bbr3Parameters, Bbr3Spec, Bbr3State};
pub use bic::{Bic, BicParameters, BicSpec};
pub use binomial::{Binomial, BinomialParameters, BinomialSpec};
pub use control::{About, Acked, Congested, Control, Feedback, RateSample, Start};
pub use controller::{ControlConfig, Controller, ControllerSpec, Outside};
pub use cubic::{Cubic, CubicParameters, CubicSpec};
pub use dctcp::{Dctcp, DctcpParameters, DctcpSpec};
pub use ledbat::{Ledbat, LedbatParameters, LedbatSpec};
pub use prague::{Prague, PragueParameters, PragueSpec};
pub use reno::{Reno, RenoSpec};
pub use vegas::{Vegas, VegasParameters, VegasSpec};
pub use westwood::{Westwood, WestwoodParameters, WestwoodSpec};

#[cfg(test)]
mod tests {
    use super::{Acked, Congested};
    use fairwire_core::Time;

    pub(super) fn one_acked() -> Acked {
        Acked {
            now: Time::ZERO,
            newly: 1,
            growth: 1,
            marked: 0,
            lost: 0,
            in_flight: 1,
            rtt: None,
            ends_round: false,
            rate: None,
            is_window_used: true,
            max_window: 1e9,
        }
    }

    pub(super) fn congested(in_use: f64) -> Congested {
        Congested { now: Time::ZERO, in_use, in_flight: in_use as u32 }
    }
}
