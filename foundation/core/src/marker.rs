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

    /// Invoked when the edge where the aggregate leaves requests another rate. Most profiles are
    /// contracts and ignore it.
    fn on_request(&mut self, _request: RateRequest, _now: Time) {}

    /// Invoked where the far edge reports now and then what it requests, rather than in each
    /// packet: `request` is made again in each interval up to `until`. After that the target goes
    /// back to the contract, as fast as requests move it, until there is another report. Most
    /// profiles are contracts and ignore it.
    fn on_report(&mut self, _request: RateRequest, _until: Time, _now: Time) {}

    /// The rate up to which packets are green at `now`, in bit/s; `None` where requests cannot
    /// change it.
    fn target_bps(&self, _now: Time) -> Option<f64> {
        None
    }

    /// Has it the parameters of `other`? Then it stays where a configuration is read again with
    /// `other` in it. The default does not know.
    fn is_like(&self, _other: &dyn Marker) -> bool {
        false
    }

    /// Invoked when a dashboard or trace reads gauges.
    fn inspect(&self, _probe: &mut dyn Probe) {}
}

/// A request for another target rate, from the edge where an aggregate leaves a domain to the edge
/// where it enters. It travels in two bits of a packet, or in a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RateRequest {
    /// The target rate stays as it is.
    #[default]
    Keep,
    /// A higher target rate.
    Increase,
    /// A lower target rate.
    Decrease,
}
