//! Markers colour packets at the edge of a DiffServ domain.

use crate::packet::Packet;
use crate::probe::Probe;
use crate::time::Time;
use core::any::Any;

/// Gives each packet a colour (its drop precedence) by comparing its aggregate with a profile.
/// Drops nothing.
///
/// Like a discipline, a marker reads no clock and allocates nothing after construction. `now` never
/// decreases.
pub trait Marker: Any + Send {
    /// Sets the [`color`](Packet::color) of a packet that passes at `now`.
    fn color(&mut self, packet: &mut Packet, now: Time);

    /// Receives a request for another rate from the aggregate's egress edge. Most profiles ignore
    /// requests.
    fn on_request(&mut self, _request: RateRequest, _now: Time) {}

    /// Receives a request from an edge that sends occasional reports.
    ///
    /// Until `until`, the report counts as one `request` in each interval of the marker. Afterwards
    /// the target moves back to the contract, by one request's step in each interval.
    fn on_report(&mut self, _request: RateRequest, _until: Time, _now: Time) {}

    /// The rate up to which packets are green at `now`, in bit/s; `None` if requests cannot change
    /// it.
    fn target_bps(&self, _now: Time) -> Option<f64> {
        None
    }

    /// True if the marker has the parameters of `other`. A new configuration with `other` then
    /// keeps this marker and its state.
    fn is_like(&self, _other: &dyn Marker) -> bool {
        false
    }

    /// Invoked when a dashboard or trace reads gauges.
    fn inspect(&self, _probe: &mut dyn Probe) {}
}

/// A request for another target rate, from an aggregate's egress edge to its ingress edge, in two
/// bits of a packet or in a report.
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
