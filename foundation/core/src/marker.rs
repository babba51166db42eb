//! Markers: colour packets at the edge of a DiffServ domain.

use crate::packet::Packet;
use crate::probe::Probe;
use crate::time::Time;
use core::any::Any;

/// Gives each packet a colour (its drop precedence) by comparing its aggregate with a profile.
/// Drops nothing.
///
/// Like a discipline it reads no clock and allocates nothing after construction; `now` never
/// decreases.
pub trait Marker: Any + Send {
    /// Invoked for each packet that passes at `now`: sets its [`Packet::color`].
    fn color(&mut self, packet: &mut Packet, now: Time);

    /// Invoked when the edge at which the aggregate leaves requests another rate. Most profiles are
    /// contracts and ignore it.
    fn on_request(&mut self, _request: RateRequest, _now: Time) {}

    /// Invoked if the far edge sends its request in occasional reports, rather than in each packet.
    /// Until `until`, the report counts as one `request` in each interval of the marker. Later
    /// intervals move the target back to the contract, by one request's step each, until another
    /// report comes. Most profiles are contracts and ignore reports.
    fn on_report(&mut self, _request: RateRequest, _until: Time, _now: Time) {}

    /// The rate up to which packets are green at `now`, in bit/s; `None` if requests cannot change
    /// it.
    fn target_bps(&self, _now: Time) -> Option<f64> {
        None
    }

    /// Does the marker have the parameters of `other`? If so, the marker and its state are kept
    /// when a new configuration would replace it by `other`. The default is false.
    fn is_like(&self, _other: &dyn Marker) -> bool {
        false
    }

    /// Invoked when a dashboard or trace reads gauges.
    fn inspect(&self, _probe: &mut dyn Probe) {}
}

/// A request for another target rate, from the edge at which an aggregate leaves a domain to the
/// edge at which it enters. It travels in two bits of a packet, or in a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RateRequest {
    /// No change of the target rate.
    #[default]
    Keep,
    /// A higher target rate.
    Increase,
    /// A lower target rate.
    Decrease,
}
