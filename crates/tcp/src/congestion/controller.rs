//! One of the controllers, chosen at run time and called without a table of functions.
//!
//! Reno, which most simulated flows are, stands in the sender itself; the larger ones are boxed, so that a million Renos do not pay
//! for the room of a BBR.

use super::bbr::{Bbr, BbrParameters};
use super::binomial::{Binomial, BinomialParameters};
use super::control::{Acked, Congested, Control, Feedback};
use super::cubic::{Cubic, CubicParameters};
use super::dctcp::{Dctcp, DctcpParameters};
use super::ledbat::{self, Ledbat, LedbatParameters};
use super::prague::{Prague, PragueParameters};
use super::reno::Reno;
use crate::config::Config;
use fairwire_core::Time;
use fairwire_core::units::Size;

/// Which controller, with its constants.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ControlConfig {
    /// Reno and NewReno (RFC 5681).
    #[default]
    Reno,
    /// Generalised window control.
    Binomial(BinomialParameters),
    /// CUBIC (RFC 9438).
    Cubic(CubicParameters),
    /// DCTCP (RFC 8257).
    Dctcp(DctcpParameters),
    /// TCP Prague, for a low-latency queue that marks early.
    Prague(PragueParameters),
    /// LEDBAT (RFC 6817), a background flow.
    Ledbat(LedbatParameters),
    /// BBR, version 1. It wants SACK: without it the losses of its start-up take the timer, again and again.
    Bbr(BbrParameters),
}

/// A controller of some kind.
#[derive(Debug)]
pub enum Controller {
    /// Reno and NewReno.
    Reno(Reno),
    /// Generalised window control.
    Binomial(Box<Binomial>),
    /// CUBIC (RFC 9438).
    Cubic(Box<Cubic>),
    /// DCTCP (RFC 8257).
    Dctcp(Box<Dctcp>),
    /// TCP Prague, for a low-latency queue that marks early.
    Prague(Box<Prague>),
    /// LEDBAT (RFC 6817), a background flow.
    Ledbat(Box<Ledbat>),
    /// BBR, version 1.
    Bbr(Box<Bbr>),
}

impl Controller {
    /// The controller that `config` asks for.
    pub fn new(config: &Config) -> Self {
        let initial = config.initial_window;
        match &config.control {
            ControlConfig::Reno => Controller::Reno(reno(config)),
            ControlConfig::Binomial(p) => Controller::Binomial(Box::new(Binomial::new(*p, initial))),
            ControlConfig::Cubic(p) => {
                let cubic = Cubic::new(*p, initial);
                Controller::Cubic(Box::new(if config.whole_segments {
                    cubic.in_whole_segments()
                } else {
                    cubic
                }))
            }
            ControlConfig::Dctcp(p) => {
                let dctcp = Dctcp::new(*p, initial);
                Controller::Dctcp(Box::new(if config.whole_segments {
                    dctcp.in_whole_segments()
                } else {
                    dctcp
                }))
            }
            ControlConfig::Prague(p) => Controller::Prague(Box::new(Prague::new(*p, initial))),
            ControlConfig::Ledbat(p) => {
                Controller::Ledbat(Box::new(Ledbat::new(*p, initial.min(ledbat::INITIAL_WINDOW))))
            }
            ControlConfig::Bbr(p) => {
                let segment = Size(config.segment_bytes.into());
                Controller::Bbr(Box::new(Bbr::new(*p, initial, segment)))
            }
        }
    }
}

fn reno(config: &Config) -> Reno {
    let mut reno = Reno::new(config.initial_window);
    if config.quirks.halves_to_whole || config.whole_segments {
        reno = reno.halving_to_whole();
    }
    if config.counts_segments {
        reno = reno.counting_segments();
    }
    reno
}

/// `$do` with `$control`, whatever its kind. Another controller is another arm.
macro_rules! each {
    ($controller:expr, $control:ident => $do:expr) => {
        match $controller {
            Controller::Reno($control) => $do,
            Controller::Binomial($control) => $do,
            Controller::Cubic($control) => $do,
            Controller::Dctcp($control) => $do,
            Controller::Prague($control) => $do,
            Controller::Ledbat($control) => $do,
            Controller::Bbr($control) => $do,
        }
    };
}

/// Out of the way of Reno.
impl Controller {
    #[inline(never)]
    fn window_of_other(&self) -> f64 {
        each!(self, control => control.window())
    }

    #[inline(never)]
    fn pace_of_other(&self) -> Option<f64> {
        each!(self, control => control.pace())
    }
}

impl Control for Controller {
    #[inline]
    fn window(&self) -> f64 {
        match self {
            Controller::Reno(reno) => reno.window(),
            _ => self.window_of_other(),
        }
    }

    #[inline]
    fn threshold(&self) -> f64 {
        each!(self, control => control.threshold())
    }

    #[inline]
    fn acked(&mut self, acked: &Acked) {
        each!(self, control => control.acked(acked))
    }

    fn lost(&mut self, congested: &Congested) {
        each!(self, control => control.lost(congested))
    }

    fn marked(&mut self, congested: &Congested) {
        each!(self, control => control.marked(congested))
    }

    fn timed_out(&mut self, congested: &Congested) {
        each!(self, control => control.timed_out(congested))
    }

    fn recovered(&mut self, now: Time) {
        each!(self, control => control.recovered(now))
    }

    fn deflated(&mut self, by: f64) {
        each!(self, control => control.deflated(by))
    }

    fn restarted(&mut self, window: f64) {
        each!(self, control => control.restarted(window))
    }

    #[inline]
    fn pace(&self) -> Option<f64> {
        match self {
            Controller::Reno(_) => None,
            _ => self.pace_of_other(),
        }
    }

    #[inline]
    fn grows_in_recovery(&self) -> bool {
        each!(self, control => control.grows_in_recovery())
    }

    #[inline]
    fn feedback(&self) -> Feedback {
        each!(self, control => control.feedback())
    }
}

const _: () = assert!(size_of::<Controller>() <= 24);
