//! One of the controllers, chosen at run time and called without a table of functions.
//!
//! Reno, which most simulated flows are, stands in the sender itself; the larger ones are boxed, so that a million Renos do not pay
//! for the room of a BBR.

use super::{Acked, Binomial, BinomialParameters, Congested, Control, Feedback, Reno};
use crate::config::Config;
use fairwire_core::Time;

/// Which controller, with its constants.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ControlConfig {
    /// Reno and NewReno (RFC 5681).
    #[default]
    Reno,
    /// Generalised window control.
    Binomial(BinomialParameters),
}

/// A controller of some kind.
#[derive(Debug)]
pub enum Controller {
    /// Reno and NewReno.
    Reno(Reno),
    /// Generalised window control.
    Binomial(Box<Binomial>),
}

impl Controller {
    /// The controller that `config` asks for.
    pub fn new(config: &Config) -> Self {
        let initial = config.initial_window;
        match &config.control {
            ControlConfig::Reno if config.quirks.halves_to_whole => {
                Controller::Reno(Reno::halving_to_whole(initial))
            }
            ControlConfig::Reno => Controller::Reno(Reno::new(initial)),
            ControlConfig::Binomial(parameters) => {
                Controller::Binomial(Box::new(Binomial::new(*parameters, initial)))
            }
        }
    }
}

/// `$do` with `$control`, whatever its kind. Another controller is another arm.
macro_rules! each {
    ($controller:expr, $control:ident => $do:expr) => {
        match $controller {
            Controller::Reno($control) => $do,
            Controller::Binomial($control) => $do,
        }
    };
}

impl Control for Controller {
    #[inline]
    fn window(&self) -> f64 {
        each!(self, control => control.window())
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

    fn idled(&mut self, restart: f64) {
        each!(self, control => control.idled(restart))
    }

    #[inline]
    fn pace(&self) -> Option<f64> {
        each!(self, control => control.pace())
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
