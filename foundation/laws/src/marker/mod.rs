//! Markers: colour packets at the edge of a DiffServ domain.
//!
//! A marker neither drops nor holds packets; [`conditioner`](crate::compose::conditioner) puts a
//! marker in front of a discipline.

pub mod adaptive_token_bucket;
pub mod sr_tcm;
pub mod token_bucket;
pub mod tokens;
pub mod tr_tcm;
pub mod tsw;
pub mod tsw2cm;
pub mod tsw3cm;

/// [`Packet::color`](fairwire_core::Packet::color) of traffic within its profile: "in".
pub const GREEN: u8 = 0;
/// The colour of traffic out of its profile; with a three-colour marker, of traffic between the two
/// limits.
pub const YELLOW: u8 = 1;
/// The colour of traffic above the highest limit of a three-colour marker.
pub const RED: u8 = 2;

/// A marker's catalogue entry.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The marker's function, in one line.
    pub summary: &'static str,
    /// The paper or RFC, with its section.
    pub source: &'static str,
}
