//! The seam between the datapath and what carries frames.

pub mod af_packet;
pub mod memory;

use fairwire_wire::vnet::VnetHeader;

/// Takes one received frame: its bytes from the Ethernet header on, and what the virtio-net header says of it.
pub type Take<'a> = dyn FnMut(&[u8], &VnetHeader) + 'a;

/// One end of a wire.
///
/// What is to be waited for, a file descriptor, is no part of it: memory has none. The [driver](crate::driver) asks for
/// [`AsFd`](std::os::fd::AsFd) beside it.
pub trait Port {
    /// Gives `take` what has arrived, a bounded batch at most, and returns at once. Frames are copied by whoever takes them.
    fn receive(&mut self, take: &mut Take<'_>) -> Result<(), PortError>;

    /// Sends a wire-size frame whose checksums are complete. False when the interface refuses it, being down or full: the
    /// frame is lost, as on a wire that is pulled.
    fn transmit(&mut self, frame: &[u8]) -> bool;

    /// Troubles so far.
    fn health(&mut self) -> PortHealth;
}

/// Troubles of a port since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortHealth {
    /// Frames that the kernel dropped because we did not fetch them in time.
    pub overflows: u64,
    /// Frames longer than the receive buffer, which were not taken in.
    pub truncated: u64,
    /// How often the interface went down.
    pub outages: u64,
}

/// A port that cannot be used any more.
#[derive(Debug, thiserror::Error)]
pub enum PortError {
    /// The interface is no more.
    #[error("interface {name} is gone")]
    Gone {
        /// Its name.
        name: String,
    },
    /// The system refused an operation.
    #[error("{operation} on interface {name}: {source}")]
    System {
        /// Which.
        operation: &'static str,
        /// The interface.
        name: String,
        /// Why.
        source: std::io::Error,
    },
}
