//! A port that creates an interface: a TUN or TAP device (the kernel's
//! `Documentation/networking/tuntap.rst`), with one packet per system call.
//!
//! A TUN device carries bare IP packets. Two form the wire of a routed gateway: the operator routes
//! traffic into one, and the kernel routes it on from the other. A TAP device carries Ethernet
//! frames; the gateway's router mode has two.
//!
//! A device is slower than [a packet socket](super::af_packet), except for TCP, whose super-packets
//! pass unsplit. It needs no second interface and works on an end host.
#![allow(
    unsafe_code,
    reason = "the kernel's structures are read and written; each block says why it is sound"
)]

use crate::gather::{Gathered, Heads};
use crate::interface::{control, request, with_flags, with_mtu};
use crate::link::{about, index_of};
use crate::netlink::Netlink;
use crate::port::{LinkKind, MAX_FRAMES_AT_ONCE, Outgoing, Port, PortError, PortHealth, Refused, Take};
use fairwire_wire::headers::ETHERNET_BYTES;
use fairwire_wire::vnet::{self, VnetHeader};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::ffi::c_ulong;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

/// A TUN or TAP device, removed when this value is dropped or the process ends.
#[derive(Debug)]
pub struct Tun {
    device: File,
    name: String,
    kind: LinkKind,
    index: u32,
    ethernet_address: [u8; 6],
    /// The destination address that received Ethernet frames get.
    readdress: Option<[u8; 6]>,
    /// True if received Ethernet frames get this device's address as their source.
    is_resent: bool,
    /// True if the kernel delivers IP packets to this device without an Ethernet header.
    is_headless: bool,
    is_ipv4: bool,
    packet: Box<[u8]>,
    health: PortHealth,
    is_down: bool,
}

/// The maximum number of frames per `receive`, so the other direction gets a turn.
const MAX_AT_ONCE: usize = crate::port::TAKEN_AT_ONCE;
/// The queue of a TAP device, in packets: 50 ms of full packets at 1 Gbit/s. All arriving packets
/// wait there before the link is shared among them.
const TAP_QUEUE: u32 = 4096;
/// The longest IP packet, an Ethernet header with a VLAN tag, and a virtio-net header.
const PACKET_BYTES: usize = vnet::LEN + 18 + 65_536;

impl Tun {
    /// Creates the TUN device `name` in this network namespace, brings it up, and sets its MTU to
    /// `mtu` bytes.
    pub fn create(name: &str, mtu: u32) -> Result<Self, PortError> {
        Tun::of_kind(LinkKind::Ip, name, mtu)
    }

    /// Creates the TAP device `name`, with an MTU of `mtu` bytes and no address, and brings it up.
    /// The device ignores frames that the kernel originates.
    pub fn create_tap(name: &str, mtu: u32) -> Result<Self, PortError> {
        Tun::of_kind(LinkKind::Ethernet, name, mtu)
    }

    fn of_kind(kind: LinkKind, name: &str, mtu: u32) -> Result<Self, PortError> {
        let fail = |operation| move |source| PortError::System { operation, name: name.to_owned(), source };
        let mut open = OpenOptions::new();
        open.read(true).write(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC);
        let device = open.open("/dev/net/tun").map_err(fail("opening /dev/net/tun"))?;
        let request = request(name).ok_or_else(|| fail("naming")(io::ErrorKind::InvalidInput.into()))?;
        let layer = if kind == LinkKind::Ip { libc::IFF_TUN } else { libc::IFF_TAP };
        // These flags do not allow a second queue, so the name must be free, or belong to a device
        // created for us.
        let flags = (layer | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as i16;
        control(device.as_fd(), libc::TUNSETIFF as c_ulong, &mut with_flags(request, flags))
            .map_err(fail("making a TUN device"))?;
        offload(&device).map_err(fail("enabling super-packets"))?;
        let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None);
        let socket = socket.map_err(|error| fail("opening a socket")(error.into()))?;
        control(socket.as_fd(), libc::SIOCSIFMTU as c_ulong, &mut with_mtu(request, mtu))
            .map_err(fail("setting the MTU"))?;
        let index = index_of(name).map_err(fail("looking for it"))?.unwrap_or_default();
        let mut ethernet_address = [0; 6];
        if kind == LinkKind::Ethernet {
            ethernet_address = about(index).map_err(fail("looking at it"))?.ethernet_address;
            let netlink = Netlink::open().map_err(fail("opening a netlink socket"))?;
            let _ = netlink.silence(index);
            netlink.set_queue(index, TAP_QUEUE).map_err(fail("setting the length of the queue"))?;
        }
        let mut up = with_flags(request, (libc::IFF_UP | libc::IFF_RUNNING) as i16);
        control(socket.as_fd(), libc::SIOCSIFFLAGS as c_ulong, &mut up).map_err(fail("bringing up"))?;
        let packet = vec![0; PACKET_BYTES].into();
        let (name, health) = (name.to_owned(), PortHealth::default());
        let tun = Tun {
            device,
            name,
            kind,
            index,
            ethernet_address,
            readdress: None,
            is_resent: false,
            is_headless: false,
            is_ipv4: false,
            packet,
            health,
            is_down: false,
        };
        Ok(tun)
    }

    /// Gives this TAP device the Ethernet address `address`.
    pub fn addressed(mut self, address: [u8; 6]) -> Result<Self, PortError> {
        let set = Netlink::open().and_then(|netlink| netlink.set_ethernet_address(self.index, address));
        set.map_err(|source| PortError::System {
            operation: "setting the Ethernet address",
            name: self.name.clone(),
            source,
        })?;
        self.ethernet_address = address;
        Ok(self)
    }

    /// Sets `address` as the destination of all frames received from now on.
    pub fn readdress(&mut self, address: [u8; 6]) {
        self.readdress = Some(address);
    }

    /// Sets the device's address as the source of all received frames.
    #[must_use]
    pub fn resent(self) -> Self {
        Tun { is_resent: true, ..self }
    }

    /// If `is_headless`, prepends an Ethernet header to every packet received on this TAP device.
    /// This is for IP packets from interfaces without Ethernet headers.
    #[must_use]
    pub fn headless(self, is_headless: bool) -> Self {
        Tun { is_headless, ..self }
    }

    /// Receives only IPv4 on this TUN device.
    #[must_use]
    pub fn of_ipv4(self) -> Self {
        Tun { is_ipv4: true, ..self }
    }

    /// The number of the interface.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// The Ethernet address of the device; zeros if it has none.
    pub fn ethernet_address(&self) -> [u8; 6] {
        self.ethernet_address
    }

    /// Reads a frame, and returns its length with the virtio-net header.
    fn read(&mut self) -> Result<usize, Errno> {
        if !self.is_headless {
            return rustix::io::read(&self.device, &mut self.packet[..]);
        }
        // The packet is read to its final position, after the headers.
        let count = rustix::io::read(&self.device, &mut self.packet[ETHERNET_BYTES..])?;
        Ok(headed(&mut self.packet[..ETHERNET_BYTES + count]))
    }

    /// Must the frame be ignored? A TAP device ignores frames that the kernel originated, such as
    /// multicast group reports. A TUN device for IPv4 ignores other protocols.
    fn is_foreign(&self) -> bool {
        let frame = &self.packet[vnet::LEN..];
        match self.kind {
            LinkKind::Ethernet | LinkKind::Routed => frame[6..12] == self.ethernet_address,
            LinkKind::Ip => self.is_ipv4 && frame[0] >> 4 != 4,
        }
    }

    /// The device's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn gone(&self) -> PortError {
        PortError::Gone { name: self.name.clone() }
    }
}

impl Port for Tun {
    fn receive(&mut self, take: &mut Take<'_>) -> Result<(), PortError> {
        for _ in 0..MAX_AT_ONCE {
            match self.read() {
                Ok(count) => {
                    self.is_down = false;
                    if count == 0 || self.is_foreign() {
                        continue;
                    }
                    if let Some(address) = self.readdress {
                        self.packet[vnet::LEN..vnet::LEN + 6].copy_from_slice(&address);
                    }
                    if self.is_resent {
                        self.packet[vnet::LEN + 6..vnet::LEN + 12].copy_from_slice(&self.ethernet_address);
                    }
                    if let Some(vnet) = VnetHeader::read(&self.packet[..count]) {
                        take(&self.packet[vnet::LEN..count], &vnet);
                    }
                }
                Err(Errno::AGAIN | Errno::INTR) => break,
                Err(Errno::BADFD | Errno::FAULT) => return Err(self.gone()),
                Err(error) => {
                    let (operation, name) = ("receiving", self.name.clone());
                    return Err(PortError::System { operation, name, source: error.into() });
                }
            }
        }
        Ok(())
    }

    fn transmit(&mut self, frame: &[u8]) -> bool {
        self.transmit_all(&[Outgoing::of(frame)]) == Refused::NONE
    }

    fn transmit_all(&mut self, frames: &[Outgoing<'_>]) -> Refused {
        let mut heads = Heads::new();
        let gathered = Gathered::new(&frames[..frames.len().min(MAX_FRAMES_AT_ONCE)], &mut heads);
        let mut refused = Refused::NONE;
        for (message, pieces) in gathered.messages() {
            match rustix::io::writev(&self.device, pieces) {
                Ok(_) => self.is_down = false,
                Err(error) => {
                    let is_down = error == Errno::IO;
                    self.health.outages += u64::from(is_down && !self.is_down);
                    self.is_down |= is_down;
                    message.refuse(error, &mut refused);
                }
            }
        }
        refused
    }

    fn link_kind(&self) -> LinkKind {
        self.kind
    }

    fn check(&mut self) -> Result<(), PortError> {
        let result = request(&self.name)
            .map(|mut request| control(self.device.as_fd(), libc::TUNGETIFF as c_ulong, &mut request));
        match result {
            Some(Err(_)) => Err(self.gone()), // it answers while the descriptor has a device
            _ => Ok(()),
        }
    }

    fn health(&mut self) -> PortHealth {
        self.health.overflows = dropped_by_the_kernel(&self.name).unwrap_or(self.health.overflows);
        self.health
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

/// Inserts an Ethernet header between the virtio-net header at [`ETHERNET_BYTES`] and the IP packet
/// after it. A message with an Ethernet header is only moved. The result begins at 0. Returns its
/// length, or 0 for any other message, which the caller ignores.
fn headed(bytes: &mut [u8]) -> usize {
    let message = &bytes[ETHERNET_BYTES..];
    let packet = message.get(vnet::LEN..).unwrap_or_default();
    if let Some((vnet, ether_type)) = VnetHeader::read(message).zip(ether_type(packet)) {
        bytes[vnet::LEN..vnet::LEN + 12].fill(0);
        bytes[vnet::LEN + 12..vnet::LEN + ETHERNET_BYTES].copy_from_slice(&ether_type);
        vnet.after(ETHERNET_BYTES as u16).write(bytes);
        return bytes.len();
    }
    // For some tunnels (VTI, XFRM) the kernel keeps an Ethernet header before the packet.
    let inner = packet.get(ETHERNET_BYTES..).and_then(ether_type);
    if inner.is_none_or(|inner| inner != packet[ETHERNET_BYTES - 2..ETHERNET_BYTES]) {
        return 0;
    }
    bytes.copy_within(ETHERNET_BYTES.., 0);
    bytes.len() - ETHERNET_BYTES
}

/// The EtherType of `packet`; `None` if it is not an IP packet, or shorter than its header claims.
fn ether_type(packet: &[u8]) -> Option<[u8; 2]> {
    let number = |at: usize| Some(usize::from(u16::from_be_bytes(*packet.get(at..)?.first_chunk()?)));
    let (len, ether_type) = match packet.first()? >> 4 {
        4 => (number(2)?, [0x08, 0x00]),
        6 => (number(4)? + 40, [0x86, 0xdd]),
        _ => return None,
    };
    (20..=packet.len()).contains(&len).then_some(ether_type)
}

/// The number of packets that found the device's queue full: the twelfth number in the device's
/// line. `None` if the device is in another namespace.
fn dropped_by_the_kernel(name: &str) -> Option<u64> {
    let table = std::fs::read_to_string("/proc/thread-self/net/dev").ok()?;
    let line = table.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().nth(11)?.parse().ok()
}

/// Enables offloads: checksums, super-packets of TCP and, on newer kernels only, of UDP.
fn offload(device: &File) -> io::Result<()> {
    const TUN_F_USO4: u32 = 0x20;
    const TUN_F_USO6: u32 = 0x40;
    let tcp = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
    let set = |offloads: u32| {
        // SAFETY: the request takes a number instead of a pointer.
        let outcome =
            unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETOFFLOAD as _, c_ulong::from(offloads)) };
        if outcome < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    };
    set(tcp | TUN_F_USO4 | TUN_F_USO6).or_else(|_| set(tcp))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ip_packet_is_recognized_by_its_version_and_length() {
        let mut packet = [0; 60];
        assert_eq!(ether_type(&packet), None);
        (packet[0], packet[3]) = (0x45, 60);
        assert_eq!(ether_type(&packet), Some([0x08, 0x00]));
        assert_eq!(
            (ether_type(&packet[..59]), ether_type(&packet[..1]), ether_type(&[])),
            (None, None, None)
        );
        (packet[0], packet[5]) = (0x60, 20);
        assert_eq!(ether_type(&packet), Some([0x86, 0xdd]));
    }

    #[test]
    fn a_header_is_prepended_to_ip_packets_that_have_none() {
        let mut ip = [7; 20];
        (ip[0], ip[2], ip[3]) = (0x45, 0, 20);
        let ethernet = [&[1; 12][..], &[0x08, 0x00]].concat();
        let vnet = VnetHeader { csum_start: 20, hdr_len: 28, ..VnetHeader::PLAIN };
        let given = |frame: &[u8]| {
            let mut bytes = vec![0; ETHERNET_BYTES + vnet::LEN];
            vnet.write(&mut bytes[ETHERNET_BYTES..]).expect("it fits");
            bytes.extend(frame);
            let len = headed(&mut bytes);
            bytes.truncate(len);
            (VnetHeader::read(&bytes), bytes.get(vnet::LEN..).unwrap_or_default().to_vec())
        };
        let prepended = [&[0; 12][..], &[0x08, 0x00], &ip].concat();
        assert_eq!(given(&ip), (Some(vnet.after(14)), prepended));
        assert_eq!((vnet.after(14).csum_start, vnet.after(14).hdr_len), (34, 42));
        let kept = [&ethernet[..], &ip].concat();
        assert_eq!(given(&kept), (Some(vnet), kept));
        for other in [&[][..], &ip[..19], &ethernet, &[1; 60]] {
            assert_eq!(given(other), (None, Vec::new()));
        }
    }

    #[test]
    fn an_impossible_interface_name_is_refused_before_a_system_call() {
        for name in ["", "a-name-of-sixteen", "a/b", "a\0b"] {
            let error = Tun::create(name, 1500).map(|_| ()).expect_err(name);
            assert!(matches!(error, PortError::System { .. }), "{error}");
            assert!(request(name).is_none());
        }
        assert!(request("fifteen-letters").is_some());
    }
}
