//! The interface between the code that handles frames and the device that carries them.

use crate::clock;
use fairwire_core::{Duration, Time};
use fairwire_wire::Way;
use fairwire_wire::headers::{self, Headers};
use fairwire_wire::join::TcpOffsets;
use fairwire_wire::vnet::VnetHeader;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::os::fd::AsFd;
use std::sync::Arc;

/// A function that receives a frame: its bytes from the link-layer header on ([`LinkKind`]), and
/// its virtio-net header.
pub type Take<'a> = dyn FnMut(&[u8], &VnetHeader) + 'a;

/// One end of a wire.
///
/// A caller that waits also requires [`AsFd`](std::os::fd::AsFd), which a port in memory lacks.
pub trait Port {
    /// Passes arrived frames to `take`, at most one bounded batch, and returns immediately. `take`
    /// copies the frames that it keeps.
    fn receive(&mut self, take: &mut Take<'_>) -> Result<(), PortError>;

    /// Sends a frame that is not a super-packet and has complete checksums. Returns false, and
    /// loses the frame, if the interface is down or full.
    fn transmit(&mut self, frame: &[u8]) -> bool;

    /// Sends at most [`MAX_FRAMES_AT_ONCE`] frames in order, with as few system calls as possible,
    /// and returns the refused frames.
    fn transmit_all(&mut self, frames: &[Outgoing<'_>]) -> Refused {
        let mut refused = Refused::NONE;
        for (place, frame) in frames.iter().enumerate() {
            if !self.transmit(frame.bytes) {
                refused.add(place);
            }
        }
        refused
    }

    /// Sets the departure time of the frames transmitted from now on. A port that delays frames
    /// counts the delay from this time.
    fn leaves_at(&mut self, _time: Time) {}

    /// Sends the delayed frames that are due at `now`.
    fn send_due(&mut self, _now: Time) {}

    /// The time at which the port next sends a frame, if the caller transmits its next frame at
    /// `next`.
    fn due(&self, next: Option<Time>) -> Option<Time> {
        next
    }

    /// The link layer of the port's frames, equal for both ports of a wire.
    fn link_kind(&self) -> LinkKind {
        LinkKind::Ethernet
    }

    /// Returns a handle with which another thread sends through this port. After each opening of
    /// the device, only the first call returns a handle. Always `None` if only the port's thread
    /// may send.
    fn remote(&mut self) -> Option<Arc<dyn Transmit>> {
        None
    }

    /// The number of frames that [`transmit_all`](Port::transmit_all) accepted but the device then
    /// refused, since the last call of this method.
    fn take_late(&mut self) -> Late {
        Late::default()
    }

    /// The index in the ring at which another process can continue with this port's descriptor;
    /// `None` if no process can.
    fn place(&self) -> Option<u32> {
        None
    }

    /// Checks that the port still exists. Called occasionally, and when its descriptor reports an
    /// error.
    fn check(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    /// The fault counters so far.
    fn health(&mut self) -> PortHealth;
}

/// The time that falling asleep and waking up takes.
const MIN_SLEEP: Duration = Duration::from_us(5);

/// Sleeps until a frame arrives at a port, or `time` has passed. Returns at once if `time` is too
/// short to sleep.
///
/// # Errors
/// If the wait fails, or a port no longer exists.
pub fn wait<P: Port + AsFd>(ports: [&mut P; 2], time: Duration) -> Result<(), PortError> {
    if time <= MIN_SLEEP {
        return Ok(());
    }
    let mut waits = ports.each_ref().map(|port| PollFd::new(port, PollFlags::IN));
    let outcome = poll(&mut waits, Some(&clock::timespec(time.ns())));
    let faulty = waits.map(|wait| wait.revents().contains(PollFlags::ERR));
    match outcome {
        Ok(0) => Ok(()),
        Ok(_) => {
            let mut faulty = ports.into_iter().zip(faulty).filter(|(_, is_faulty)| *is_faulty);
            faulty.try_for_each(|(port, _)| port.check())
        }
        // After a signal, the caller checks whether to stop.
        Err(Errno::INTR) => Ok(()),
        Err(error) => {
            let name = "left or right".to_owned();
            Err(PortError::System { operation: "waiting", name, source: error.into() })
        }
    }
}

/// Sleeps for `time` regardless of arrivals. Does not sleep if `time` is too short.
pub fn sleep(time: Duration) {
    if time > MIN_SLEEP {
        std::thread::sleep(std::time::Duration::from_nanos(time.ns()));
    }
}

/// Sends through a port from another thread.
pub trait Transmit: Send + Sync {
    /// As [`Port::transmit_all`].
    fn transmit_all(&self, frames: &[Outgoing<'_>]) -> Refused;
}

/// Frames that a port accepted and lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Late {
    /// Frames that the device refused.
    pub refused: u64,
    /// Frames longer than the device accepts.
    pub too_long: u64,
}

/// If a call of [`Port::receive`] passes on at least this number of frames or super-packets, more
/// may be ready.
pub const TAKEN_AT_ONCE: usize = 32;

/// The maximum number of frames for [`Port::transmit_all`]. [`Refused`] has one bit for each.
pub const MAX_FRAMES_AT_ONCE: usize = 64;

/// A frame to be sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outgoing<'a> {
    /// The bytes, with complete checksums.
    pub bytes: &'a [u8],
    /// The TCP offsets, if the frame was part of a super-packet. Such frames may be joined again if
    /// they leave together.
    pub offsets: Option<TcpOffsets>,
    /// The flow. Frames of one flow leave in order of arrival.
    pub flow: u32,
}

impl<'a> Outgoing<'a> {
    /// A frame without flow or TCP offsets.
    pub fn of(bytes: &'a [u8]) -> Self {
        Outgoing { bytes, ..Outgoing::default() }
    }
}

/// The frames of a batch that were not sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    places: u64,
    too_long: u64,
}

impl Refused {
    /// All were sent.
    pub const NONE: Refused = Refused { places: 0, too_long: 0 };

    /// The first `count` frames of a batch, at most [`MAX_FRAMES_AT_ONCE`].
    pub fn first(count: usize) -> Self {
        let places = if count >= MAX_FRAMES_AT_ONCE { u64::MAX } else { (1 << count) - 1 };
        Refused { places, too_long: 0 }
    }

    /// Adds the frame at index `place` of the batch.
    pub fn add(&mut self, place: usize) {
        self.places |= 1 << place;
    }

    /// Adds the frame at index `place`, which is longer than the interface accepts.
    pub fn add_too_long(&mut self, place: usize) {
        self.add(place);
        self.too_long |= 1 << place;
    }

    /// Adds `part`, the refused frames of a part of the batch that begins at index `from`.
    pub fn add_part(&mut self, part: Refused, from: usize) {
        self.places |= part.places << from;
        self.too_long |= part.too_long << from;
    }

    /// Was the frame at `place` too long for the interface?
    pub fn is_too_long(self, place: usize) -> bool {
        self.too_long >> place & 1 == 1
    }

    /// Was the frame at index `place` of the batch refused?
    pub fn has(self, place: usize) -> bool {
        self.places >> place & 1 == 1
    }

    /// Their number.
    pub fn count(self) -> u32 {
        self.places.count_ones()
    }
}

/// The header with which frames begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkKind {
    /// An Ethernet header.
    #[default]
    Ethernet,
    /// An IP header, as on a TUN device.
    Ip,
    /// An Ethernet header in the gateway's router mode. The outside's address is the destination of
    /// an upload and the source of a download. The address's last 10 bits are the number of bytes
    /// that a tunnel adds.
    Routed,
}

impl LinkKind {
    /// The headers of `frame`.
    #[inline]
    pub fn parse(self, frame: &[u8]) -> Headers {
        match self {
            LinkKind::Ethernet | LinkKind::Routed => headers::parse(frame),
            LinkKind::Ip => headers::parse_ip(frame),
        }
    }

    /// Do frames begin with an Ethernet header?
    pub fn has_ethernet(self) -> bool {
        self != LinkKind::Ip
    }

    /// The length of `frame` as an Ethernet frame at the outside interface. `way` is the frame's
    /// direction.
    #[inline]
    pub fn length(self, frame: &[u8], way: Way) -> usize {
        let added = match (self, way) {
            (LinkKind::Ethernet, _) => 0,
            (LinkKind::Ip, _) => headers::ETHERNET_BYTES,
            (LinkKind::Routed, Way::Upload) => tunnel_bytes(frame, 4),
            (LinkKind::Routed, Way::Download) => tunnel_bytes(frame, 10),
        };
        frame.len() + added
    }
}

fn tunnel_bytes(frame: &[u8], at: usize) -> usize {
    frame.get(at..at + 2).map_or(0, |bytes| usize::from(u16::from_be_bytes([bytes[0] & 3, bytes[1]])))
}

/// The faults of a port since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortHealth {
    /// Frames that the kernel dropped because they were not fetched in time.
    pub overflows: u64,
    /// Frames longer than the receive buffer, which were not accepted.
    pub truncated: u64,
    /// The number of times the interface went down.
    pub outages: u64,
}

/// A port that can no longer be used.
#[derive(Debug, thiserror::Error)]
pub enum PortError {
    /// The interface no longer exists.
    #[error("interface {name} is gone")]
    Gone {
        /// Its name.
        name: String,
    },
    /// The system refused an operation.
    #[error("{operation} on interface {name}: {source}")]
    System {
        /// The operation.
        operation: &'static str,
        /// The interface.
        name: String,
        /// The cause.
        source: std::io::Error,
    },
}
