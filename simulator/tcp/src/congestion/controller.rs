//! A congestion controller, chosen at run time. Only external controllers are called through a
//! virtual table.
//!
//! Reno, which most simulated flows use, is stored in the sender. The larger controllers are boxed,
//! so that a million Renos take less memory.

use super::bbr::{Bbr, BbrParameters, BbrSpec};
use super::bbr3::{Bbr3, Bbr3Parameters, Bbr3Spec};
use super::bic::{Bic, BicParameters, BicSpec};
use super::binomial::{Binomial, BinomialParameters, BinomialSpec};
use super::control::{Acked, Congested, Control, Feedback, Start};
use super::cubic::{Cubic, CubicParameters, CubicSpec};
use super::dctcp::{Dctcp, DctcpParameters, DctcpSpec};
use super::ledbat::{Ledbat, LedbatParameters, LedbatSpec};
use super::prague::{Prague, PragueParameters, PragueSpec};
use super::reno::{Reno, RenoSpec};
use super::vegas::{Vegas, VegasParameters, VegasSpec};
use super::westwood::{Westwood, WestwoodParameters, WestwoodSpec};
use crate::config::{Config, Recovery};
use core::fmt::{self, Debug};
use fairwire_core::units::Size;
use fairwire_core::{Duration, Time};
use fairwire_parameters::{Declared as _, OutOfRange};
use std::sync::Arc;

/// Passes the list of this crate's controllers, except Reno, and the arguments `$with` to the macro
/// `$then`. Each entry has a description, a type, the entered parameters and the checked
/// parameters.
#[macro_export]
#[doc(hidden)]
macro_rules! controllers {
    ($then:ident $($with:tt)*) => {
        $then! {
            [
                /// Generalised window control.
                binomial::Binomial(BinomialSpec, BinomialParameters);
                /// CUBIC (RFC 9438).
                cubic::Cubic(CubicSpec, CubicParameters);
                /// DCTCP (RFC 8257).
                dctcp::Dctcp(DctcpSpec, DctcpParameters);
                /// TCP Prague, for a low-latency queue that marks early.
                prague::Prague(PragueSpec, PragueParameters);
                /// LEDBAT (RFC 6817), a background flow.
                ledbat::Ledbat(LedbatSpec, LedbatParameters);
                /// BBR, version 1. It needs SACK: otherwise the losses of its start-up cause
                /// repeated retransmission timeouts.
                bbr::Bbr(BbrSpec, BbrParameters);
                /// BBR, version 3. It needs SACK, as version 1 does.
                bbr3::Bbr3(Bbr3Spec, Bbr3Parameters);
                /// Vegas, which keeps a few segments in the queue.
                vegas::Vegas(VegasSpec, VegasParameters);
                /// BIC, the predecessor of CUBIC.
                bic::Bic(BicSpec, BicParameters);
                /// Westwood+. After a loss, it sets its window from the acknowledged rate.
                westwood::Westwood(WestwoodSpec, WestwoodParameters);
            ]
            $($with)*
        }
    };
}

/// The parameters of a controller, as a user enters them: a struct with the attribute
/// `#[parameters]`.
///
/// An external controller's struct is registered with `fairwire_scenario::control::register`.
pub trait ControllerSpec {
    /// The controller with its constants, if all constants are within their bounds.
    fn config(&self) -> Result<ControlConfig, OutOfRange>;
}

/// An external controller, with its constants.
#[derive(Clone)]
pub struct Outside {
    name: &'static str,
    starting: Arc<Starting>,
}

type Starting = dyn Fn(&Start) -> Box<dyn Control + Send> + Send + Sync;

impl Outside {
    /// An external controller called `name` in results; `starting` creates it for each flow.
    pub fn new<C: Control + Send + 'static>(
        name: &'static str,
        starting: impl Fn(&Start) -> C + Send + Sync + 'static,
    ) -> Self {
        Outside { name, starting: Arc::new(move |start| Box::new(starting(start))) }
    }
}

impl Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A controller equals only its clones, because external constants cannot be compared.
impl PartialEq for Outside {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.starting, &other.starting)
    }
}

impl ControllerSpec for RenoSpec {
    fn config(&self) -> Result<ControlConfig, OutOfRange> {
        Ok(ControlConfig::Reno)
    }
}

/// Generates `ControlConfig` and `Controller` from the list of `controllers!`.
macro_rules! choices {
    ([$($(#[$doc:meta])* $module:ident::$kind:ident($spec:ident, $parameters:ident);)+]) => {
        /// The choice of a controller, with its constants.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub enum ControlConfig {
            /// Reno and NewReno (RFC 5681).
            #[default]
            Reno,
            $($(#[$doc])* $kind($parameters),)+
            /// An external one.
            Outside(Outside),
        }

        impl ControlConfig {
            /// Its name.
            pub fn name(&self) -> &'static str {
                match self {
                    ControlConfig::Reno => RenoSpec::OWNER,
                    $(ControlConfig::$kind(_) => $spec::OWNER,)+
                    ControlConfig::Outside(outside) => outside.name,
                }
            }
        }

        /// A running controller of one flow.
        #[derive(Debug)]
        pub enum Controller {
            /// Reno and NewReno.
            Reno(Reno),
            $($(#[$doc])* $kind(Box<$kind>),)+
            /// An external one.
            Outside(Box<dyn Control + Send>),
        }

        impl Controller {
            /// The controller of `config`.
            pub fn new(config: &Config) -> Self {
                let start = &start(config);
                match &config.control {
                    ControlConfig::Reno => Controller::Reno(Reno::new(start)),
                    $(ControlConfig::$kind(p) => Controller::$kind(Box::new($kind::new(*p, start))),)+
                    ControlConfig::Outside(outside) => Controller::Outside((outside.starting)(start)),
                }
            }
        }

        $(impl ControllerSpec for $spec {
            fn config(&self) -> Result<ControlConfig, OutOfRange> {
                self.checked().map(|checked| ControlConfig::$kind(checked.into()))
            }
        })+
    };
}

controllers!(choices);

fn start(config: &Config) -> Start {
    Start {
        initial_window: config.initial_window,
        segment: Size(config.segment_bytes.into()),
        whole_segments: config.whole_segments,
        counts_segments: config.counts_segments,
        halves_to_whole: config.quirks.halves_to_whole,
        is_timely: config.recovery == Recovery::Rack,
    }
}

/// Evaluates `$do` for a controller of any type. In `$do`, `$control` is this controller.
macro_rules! each {
    ($controller:expr, $control:ident => $do:expr) => {
        controllers!(arms $controller, $control => $do)
    };
}

macro_rules! arms {
    ([$($(#[$doc:meta])* $module:ident::$kind:ident($($of:ident),+);)+]
        $controller:expr, $control:ident => $do:expr) => {
        match $controller {
            Controller::Reno($control) => $do,
            $(Controller::$kind($control) => $do,)+
            Controller::Outside($control) => $do,
        }
    };
}

/// Calls to controllers other than Reno. They are not inlined into Reno's code.
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

    fn opened(&mut self, rtt: Duration, now: Time) {
        each!(self, control => control.opened(rtt, now))
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

    fn undone(&mut self, window: f64, threshold: f64) {
        each!(self, control => control.undone(window, threshold))
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
