//! The parameters that all droppers share.

use crate::error::BadParameter;
use crate::role;
use crate::scheduler::service::{CheckedService, SCHEDULER, Service};
use crate::site::{Room, Site};
use crate::spec::{EcnChoice, Quantity};
use alloc::boxed::Box;
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Dropper};
use fairwire_parameters::parameters;

macro_rules! queueing {
    ($(#[$($about:tt)*])* $name:ident, $default:ident: $(#[$($ecn:tt)*])*) => {
        $(#[$($about)*])*
        #[parameters(gated, group)]
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            /// The size of the buffer.
            #[parameter(is = role::BUFFER, unset = "the site's")]
            pub buffer: Option<Quantity<Amount>>,
            $(#[$($ecn)*])*
            #[parameter(is = role::ECN, default = EcnChoice::$default)]
            pub ecn: Option<EcnChoice>,
            /// The order in which packets leave.
            #[parameter(is = SCHEDULER, unset = "`fcfs`", unit = "scheduler")]
            pub scheduler: Option<Service>,
        }

        impl From<Amount> for $name {
            fn from(buffer: Amount) -> Self {
                $name { buffer: Some(Quantity(buffer)), ..$name::default() }
            }
        }

        impl $name {
            /// Checks the parameters of `discipline` against the site.
            pub fn check(
                &self,
                discipline: &'static str,
                site: &Site<'_>,
            ) -> Result<CheckedQueue, BadParameter> {
                let room = site.room(discipline, self.buffer)?;
                let service = Service::check(&self.scheduler, discipline, site)?;
                Ok(CheckedQueue { room, ecn: self.ecn.unwrap_or(EcnChoice::$default), service })
            }
        }
    };
}

queueing! {
    /// The parameters that every dropper has.
    Queueing, Drop:
    /// Whether an early signal drops or marks ECN-capable packets.
    ///
    /// No effect without early signals.
}

queueing! {
    /// [`Queueing`] for disciplines that mark by default. In Linux, these disciplines can mark,
    /// alone or within a discipline with many queues.
    Marking, Mark:
    /// Whether an early signal drops or marks ECN-capable packets.
    ///
    /// In Linux, `fq_codel` and `cake` mark by default; `codel`, `pie` and `fq_pie` mark only with
    /// the option `ecn`.
}

/// A checked [`Queueing`] or [`Marking`]: the discipline without the dropper.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedQueue {
    /// The size of the buffer.
    pub room: Room,
    /// The response to signals.
    pub ecn: EcnChoice,
    /// The order of service.
    pub service: CheckedService,
}

impl CheckedQueue {
    /// Builds the discipline around `dropper`.
    pub fn serve(&self, dropper: impl Dropper + 'static) -> Box<dyn Discipline> {
        self.service.queue(self.room.limit, self.ecn, dropper)
    }
}
