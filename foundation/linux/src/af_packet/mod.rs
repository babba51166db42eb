//! A port on a network interface: an `AF_PACKET` socket with a virtio-net header before each frame
//! (packet(7)).
//!
//! Frames arrive through a mapped ring, without a system call for each. Frames too long for a slot
//! of the ring, such as super-packets, arrive through the socket's queue. If the kernel refuses a
//! ring, all frames arrive through the queue. An interface may go down and come back, or change its
//! MTU.
//!
//! The ring is of version 2. Version 3 hands over a block with few frames only after a millisecond
//! or more. An idle gateway should add less than 100 us.
//!
//! Frames are not sent from a ring (`PACKET_TX_RING`). The kernel frees a slot when the receiving
//! socket accepts the packet, but virtual interfaces read the slot after that.
#![allow(
    unsafe_code,
    reason = "the kernel's structures are read and written; each block says why it is sound"
)]

mod queue;
mod ring;
mod send;
mod socket;

use crate::port::{Outgoing, Port, PortError, PortHealth, Refused, Take, Transmit};
use queue::{BATCH, Queue, unpack};
use ring::{Ring, Slot};
use rustix::io::Errno;
use rustix::net::sockopt;
use send::send_all;
use socket::{is_bound, system, take_overflows};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

pub use socket::open_socket;

/// A port on a network interface.
#[derive(Debug)]
pub struct AfPacket {
    socket: OwnedFd,
    name: String,
    ring: Option<Ring>,
    queue: Queue,
    health: PortHealth,
    /// True after the interface went down. [`Port::check`] then makes a system call to check
    /// whether the interface still exists. Without a ring, the next frame clears the flag; with a
    /// ring, the flag stays set.
    is_down: bool,
    is_gone: bool,
    has_remote: bool,
}

/// The size of the send buffer, which all threads with one socket share. A frame occupies the
/// buffer until it has left, or until the other end of a virtual wire has accepted it. The kernel's
/// default holds a hundred frames.
const SEND_BUFFER_BYTES: usize = 4 << 20;

/// Enlarges the send buffer up to `net.core.wmem_max`, or beyond with `CAP_NET_ADMIN`. Ignores
/// errors: refused frames are counted.
fn share_send_buffer(socket: &OwnedFd) {
    if sockopt::set_socket_send_buffer_size_force(socket, SEND_BUFFER_BYTES).is_err() {
        let _ = sockopt::set_socket_send_buffer_size(socket, SEND_BUFFER_BYTES);
    }
}

struct Remote(OwnedFd);

impl Transmit for Remote {
    fn transmit_all(&self, frames: &[Outgoing<'_>]) -> Refused {
        // The port notices a removed interface, so errors are ignored.
        send_all(self.0.as_fd(), frames, &mut |_| ())
    }
}

const MAX_AT_ONCE: usize = 64;

impl AfPacket {
    /// Opens a port on the interface `name` of this network namespace.
    pub fn open(name: &str) -> Result<Self, PortError> {
        Ok(Self::from_socket(open_socket(name)?, name))
    }

    /// Opens a port like [`open`](Self::open), without a ring.
    pub fn open_without_ring(name: &str) -> Result<Self, PortError> {
        Ok(Self::new(open_socket(name)?, None, name))
    }

    /// A port on a socket from [`open_socket`], possibly opened by another process in another
    /// network namespace.
    pub fn from_socket(socket: OwnedFd, name: &str) -> Self {
        let ring = Ring::new(socket.as_fd()).ok();
        Self::new(socket, ring, name)
    }

    /// Takes over another process's socket, and continues at [`place`](Port::place) of its ring.
    /// That process must no longer receive from the socket.
    ///
    /// # Errors
    /// The ring has no such place, or cannot be mapped.
    pub fn taken_over(socket: OwnedFd, place: u32, name: &str) -> Result<Self, PortError> {
        let ring = Ring::map(socket.as_fd(), place);
        let ring = ring.map_err(|error| system("mapping the ring of another process", name, error))?;
        Ok(Self::new(socket, Some(ring), name))
    }

    fn new(socket: OwnedFd, ring: Option<Ring>, name: &str) -> Self {
        AfPacket {
            socket,
            name: name.to_owned(),
            ring,
            queue: Queue::new(),
            health: PortHealth::default(),
            is_down: false,
            is_gone: false,
            has_remote: false,
        }
    }

    fn gone(&self) -> PortError {
        PortError::Gone { name: self.name.clone() }
    }

    fn receive_from_queue(&mut self, max: usize, take: &mut Take<'_>) -> Result<usize, PortError> {
        match self.queue.take(self.socket.as_fd(), max, &mut self.health, take) {
            Ok(count) => Ok(count),
            Err(error) => self.handle_error(error).map(|()| 0),
        }
    }

    fn receive_from_ring(&mut self, ring: &mut Ring, take: &mut Take<'_>) -> Result<(), PortError> {
        let mut queued = 0;
        for _ in 0..MAX_AT_ONCE {
            let is_queued = ring.take_next(|slot| match slot {
                Slot::Whole { bytes, vlan } => {
                    if let Some((frame, vnet)) = unpack(bytes, vlan) {
                        take(frame, &vnet);
                    }
                    false
                }
                Slot::Queued => true,
                Slot::Lost => {
                    self.health.truncated += 1;
                    false
                }
            });
            match is_queued {
                None => return Ok(()),
                Some(false) => {}
                Some(true) => {
                    self.receive_from_queue(1, take)?;
                    queued += 1;
                    if queued == BATCH {
                        break; // each may be a super-packet of forty packets
                    }
                }
            }
        }
        Ok(())
    }
}

impl Port for AfPacket {
    fn receive(&mut self, take: &mut Take<'_>) -> Result<(), PortError> {
        if self.is_gone {
            return Err(self.gone());
        }
        let Some(mut ring) = self.ring.take() else {
            let count = self.receive_from_queue(BATCH, take)?;
            self.is_down &= count == 0;
            return Ok(());
        };
        let outcome = self.receive_from_ring(&mut ring, take);
        self.ring = Some(ring);
        outcome
    }

    fn transmit(&mut self, frame: &[u8]) -> bool {
        self.transmit_all(&[Outgoing::of(frame)]) == Refused::NONE
    }

    fn transmit_all(&mut self, frames: &[Outgoing<'_>]) -> Refused {
        send_all(self.socket.as_fd(), frames, &mut |error| {
            self.is_gone |= matches!(error, Errno::NXIO | Errno::NODEV);
        })
    }

    fn remote(&mut self) -> Option<Arc<dyn Transmit>> {
        if self.has_remote {
            return None;
        }
        let socket = self.socket.try_clone().ok()?;
        self.has_remote = true;
        share_send_buffer(&socket);
        Some(Arc::new(Remote(socket)))
    }

    fn place(&self) -> Option<u32> {
        self.ring.as_ref().map(Ring::place)
    }

    fn check(&mut self) -> Result<(), PortError> {
        match sockopt::socket_error(&self.socket) {
            Ok(Err(error)) => self.handle_error(error),
            // Without an error, `handle_error` acts as for an empty queue: it checks whether an
            // interface that went down still exists.
            Ok(Ok(())) => self.handle_error(Errno::AGAIN),
            Err(error) => Err(system("reading the socket's error", &self.name, error.into())),
        }
    }

    fn health(&mut self) -> PortHealth {
        self.health.overflows += u64::from(take_overflows(self.socket.as_fd()));
        self.health
    }
}

impl AfPacket {
    fn handle_error(&mut self, error: Errno) -> Result<(), PortError> {
        match error {
            Errno::NETDOWN => {
                self.health.outages += 1;
                self.is_down = true;
                Ok(())
            }
            // An interface that goes down may come back. Only the index to which the socket is
            // bound shows whether the interface was removed.
            Errno::AGAIN if self.is_down && !is_bound(self.socket.as_fd()) => Err(self.gone()),
            Errno::AGAIN | Errno::INTR => Ok(()),
            Errno::NXIO | Errno::NODEV => Err(self.gone()),
            other => Err(system("receiving", &self.name, other.into())),
        }
    }
}

impl AsFd for AfPacket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
