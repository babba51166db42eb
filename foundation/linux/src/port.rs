//! The interface between the code that handles frames and the device that carries them.

use crate::clock;
use fairwire_core::{Duration, Time};
use fairwire_wire::headers::{self, Headers};
use fairwire_wire::join::TcpOffsets;
use fairwire_wire::vnet::VnetHeader;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::os::fd::AsFd;
use std::sync::Arc;

/// Takes one received frame: its bytes from the link's header on ([`LinkKind`]), and its virtio-net
/// header.
pub type Take<'a> = dyn FnMut(&[u8], &VnetHeader) + 'a;

/// One end of a wire.
///
/// Waiting is not part of it, since a port in memory has no file descriptor. A caller that waits
/// requires [`AsFd`](std::os::fd::AsFd) in addition.
pub trait Port {
    /// Passes the frames that have arrived to `take`, at most one bounded batch, and returns at
    /// once. `take` copies the frames that it keeps.
    fn receive(&mut self, take: &mut Take<'_>) -> Result<(), PortError>;

    /// Sends a wire-size frame whose checksums are complete. False when the interface refuses it,
    /// being down or full: the frame is lost, as on a wire that is pulled.
    fn transmit(&mut self, frame: &[u8]) -> bool;

    /// Sends frames in order, with as few system calls as the port can, and returns those that it
    /// refused. At most [`MAX_FRAMES_AT_ONCE`].
    fn transmit_all(&mut self, frames: &[Outgoing<'_>]) -> Refused {
        let mut refused = Refused::NONE;
        for (place, frame) in frames.iter().enumerate() {
            if !self.transmit(frame.bytes) {
                refused.add(place);
            }
        }
        refused
    }

    /// Frames that are transmitted from here on leave at `time`: a port that keeps frames for a while
    /// counts from then.
    fn leaves_at(&mut self, _time: Time) {}

    /// Sends the kept frames that are due at `now`.
    fn send_due(&mut self, _now: Time) {}

    /// When the port has something to send, if the next frame to be transmitted leaves at `next`.
    fn due(&self, next: Option<Time>) -> Option<Time> {
        next
    }

    /// The link layer of its frames; both ports of a wire have the same.
    fn link_kind(&self) -> LinkKind {
        LinkKind::Ethernet
    }

    /// The handle by which another thread sends through this port. Returned once each time the
    /// device is opened; never where only its own thread may send.
    fn remote(&mut self) -> Option<Arc<dyn Transmit>> {
        None
    }

    /// Frames that [`transmit_all`](Port::transmit_all) took, and the device did not: since the
    /// last call.
    fn take_late(&mut self) -> Late {
        Late::default()
    }

    /// The place in the ring at which another process continues with this port's descriptor. `None`
    /// if none can.
    fn place(&self) -> Option<u32> {
        None
    }

    /// Is the port still there? Invoked when its descriptor reports an error, and from time to
    /// time.
    fn check(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    /// The fault counters so far.
    fn health(&mut self) -> PortHealth;
}

/// The time that falling asleep and waking up takes.
const MIN_SLEEP: Duration = Duration::from_us(5);

/// Sleeps until a frame arrives at one of `ports`, or until `time` is over; does not sleep where
/// that would not pay.
///
/// # Errors
/// When the system refuses to wait, or one of the ports is no more.
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
        // A signal is no trouble: the caller looks whether to stop.
        Err(Errno::INTR) => Ok(()),
        Err(error) => {
            let name = "left or right".to_owned();
            Err(PortError::System { operation: "waiting", name, source: error.into() })
        }
    }
}

/// Sleeps for `time`, whatever arrives; does not sleep where that would not pay.
pub fn sleep(time: Duration) {
    if time > MIN_SLEEP {
        std::thread::sleep(std::time::Duration::from_nanos(time.ns()));
    }
}

/// Sends by a port from another thread.
pub trait Transmit: Send + Sync {
    /// As [`Port::transmit_all`].
    fn transmit_all(&self, frames: &[Outgoing<'_>]) -> Refused;
}

/// Frames that a port took and lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Late {
    /// The device refused them.
    pub refused: u64,
    /// They are longer than the device takes.
    pub too_long: u64,
}

/// Frames, or super-packets, that every [`Port`] gives in one call of [`Port::receive`], where as many
/// arrived.
pub const TAKEN_AT_ONCE: usize = 32;

/// Frames that [`Port::transmit_all`] takes at once: the bits of [`Refused`].
pub const MAX_FRAMES_AT_ONCE: usize = 64;

/// A frame to be sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outgoing<'a> {
    /// Its bytes, checksums complete.
    pub bytes: &'a [u8],
    /// Its TCP offsets, if it was part of a super-packet: frames that leave together may be passed
    /// to the kernel as one again.
    pub offsets: Option<TcpOffsets>,
    /// Frames with the same number leave in the order in which they come.
    pub flow: u32,
}

impl<'a> Outgoing<'a> {
    /// A frame of no flow, which was no part of a super-packet.
    pub fn of(bytes: &'a [u8]) -> Self {
        Outgoing { bytes, ..Outgoing::default() }
    }
}

/// Which frames of a batch were not sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    places: u64,
    /// Those of them that are longer than the interface takes.
    too_long: u64,
}

impl Refused {
    /// All were sent.
    pub const NONE: Refused = Refused { places: 0, too_long: 0 };

    /// The first `count` were not, of a batch of at most [`MAX_FRAMES_AT_ONCE`].
    pub fn first(count: usize) -> Self {
        let places = if count >= MAX_FRAMES_AT_ONCE { u64::MAX } else { (1 << count) - 1 };
        Refused { places, too_long: 0 }
    }

    /// Counts the frame at `place` of the batch among them.
    pub fn add(&mut self, place: usize) {
        self.places |= 1 << place;
    }

    /// The same, because it is longer than the interface takes.
    pub fn add_too_long(&mut self, place: usize) {
        self.add(place);
        self.too_long |= 1 << place;
    }

    /// Adds `part`: the frames refused among those from `from` on.
    pub fn add_part(&mut self, part: Refused, from: usize) {
        self.places |= part.places << from;
        self.too_long |= part.too_long << from;
    }

    /// Was the frame at `place` too long for the interface?
    pub fn is_too_long(self, place: usize) -> bool {
        self.too_long >> place & 1 == 1
    }

    /// Is the frame at `place` of the batch among them?
    pub fn has(self, place: usize) -> bool {
        self.places >> place & 1 == 1
    }

    /// How many they are.
    pub fn count(self) -> u32 {
        self.places.count_ones()
    }
}

/// How frames begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkKind {
    /// With an Ethernet header.
    #[default]
    Ethernet,
    /// With the IP header, as on a TUN device.
    Ip,
}

impl LinkKind {
    /// The headers of `frame`.
    #[inline]
    pub fn parse(self, frame: &[u8]) -> Headers {
        match self {
            LinkKind::Ethernet => headers::parse(frame),
            LinkKind::Ip => headers::parse_ip(frame),
        }
    }

    /// Bytes that a frame lacks for an Ethernet frame.
    pub const fn missing_bytes(self) -> usize {
        match self {
            LinkKind::Ethernet => 0,
            LinkKind::Ip => 14,
        }
    }
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
