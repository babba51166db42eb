//! Finds a discipline's counterpart in another program, by the type of the discipline's parameters.

use fairwire_core::Limit;
use fairwire_core::units::Amount;
use fairwire_laws::Site;
use fairwire_laws::part::Part;
use fairwire_laws::scheduler::Kind;
use fairwire_laws::scheduler::service::Service;
use fairwire_laws::spec::Quantity;
use std::any::Any;

/// The result of `same` for the parameters of `part`; `None` if their type is not `S`.
pub(crate) fn row<S: 'static, R>(
    part: &dyn Part,
    site: &Site<'_>,
    same: fn(&S, &Site<'_>) -> Option<R>,
) -> Option<R> {
    let part: &dyn Any = part;
    same(part.downcast_ref()?, site)
}

/// A queue's limit; `None` unless packets leave in order of arrival. Other programs' droppers
/// support only this order.
pub(crate) fn first_come(
    buffer: Option<Quantity<Amount>>,
    scheduler: &Option<Service>,
    site: &Site<'_>,
) -> Option<Limit> {
    let is_first_come = scheduler.as_ref().is_none_or(|service| service.name == Kind::Fcfs);
    let amount = buffer.map_or(site.buffer, |own| own.0);
    is_first_come.then(|| amount.limit(site.rate))
}

pub(crate) fn packets(limit: Limit) -> Option<u32> {
    (!limit.is_in_bytes()).then(|| limit.max_packets())
}
