//! What every dropper has beside its law: a buffer, an order of service, and what becomes of its
//! signals.

use crate::error::BadParameter;
use crate::role;
use crate::scheduler::service::{CheckedService, SCHEDULER, Service};
use crate::site::Site;
use crate::spec::{EcnChoice, Quantity};
use alloc::boxed::Box;
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Dropper, Limit};
use fairwire_parameters::parameters;

/// The parameters that every dropper has.
#[parameters(gated, group)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queueing {
    /// How much may wait.
    #[parameter(is = role::BUFFER, unset = "the site's")]
    pub buffer: Option<Quantity<Amount>>,
    /// Whether an early signal drops or marks ECN-capable packets.
    ///
    /// Without effect where nothing is signalled early.
    #[parameter(is = role::ECN, default = EcnChoice::Drop)]
    pub ecn: Option<EcnChoice>,
    /// Which packet leaves next.
    #[parameter(is = SCHEDULER, unset = "`fcfs`", unit = "scheduler")]
    pub scheduler: Option<Service>,
}

impl From<Amount> for Queueing {
    /// A buffer of that size, and all else as the defaults have it.
    fn from(buffer: Amount) -> Self {
        Queueing { buffer: Some(Quantity(buffer)), ..Queueing::default() }
    }
}

impl Queueing {
    /// The order of service of `discipline`, checked.
    pub fn service(&self, discipline: &'static str, site: &Site<'_>) -> Result<CheckedService, BadParameter> {
        Service::check(&self.scheduler, discipline, site)
    }

    /// `discipline`, with room for `limit` and `dropper` to refuse, mark and make room.
    pub fn serve<D: Dropper + 'static>(
        &self,
        discipline: &'static str,
        limit: Limit,
        dropper: D,
        site: &Site<'_>,
    ) -> Result<Box<dyn Discipline>, BadParameter> {
        Ok(self.service(discipline, site)?.queue(limit, self.ecn.unwrap_or_default(), dropper))
    }
}
