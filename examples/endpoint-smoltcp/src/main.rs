//! The command `fairwire` with a source `smoltcp`: the TCP of smoltcp.

use fairwire_core::Time;
use fairwire_parameters::parameters;
use fairwire_scenario::source::{self, About, At, NoOffer, Offer, SourceSpec};
use fairwire_sim::endpoint::{Endpoint, Endpoints, Packet};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{ChecksumCapabilities, Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer};
use smoltcp::{time::Instant, wire::HardwareAddress, wire::IpAddress, wire::IpCidr};
use std::{collections::VecDeque, process::ExitCode};

const NAME: &str = "smoltcp";
const ABOUT: About = About::endpoints("A TCP of smoltcp that sends without end.");

#[derive(Default)]
struct Card {
    come: VecDeque<Vec<u8>>,
    leaves: VecDeque<Vec<u8>>,
}

impl Device for Card {
    type RxToken<'a> = Come;
    type TxToken<'a> = Leaves<'a>;
    fn receive(&mut self, _: Instant) -> Option<(Come, Leaves<'_>)> {
        Some((Come(self.come.pop_front()?), Leaves(&mut self.leaves)))
    }
    fn transmit(&mut self, _: Instant) -> Option<Leaves<'_>> {
        Some(Leaves(&mut self.leaves))
    }
    fn capabilities(&self) -> DeviceCapabilities {
        let mut it = DeviceCapabilities::default();
        (it.medium, it.max_transmission_unit) = (Medium::Ip, 1500);
        it.checksum = ChecksumCapabilities::ignored(); // checksums take most of a run; bits are never wrong
        it
    }
}

struct Come(Vec<u8>);
impl RxToken for Come {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

struct Leaves<'a>(&'a mut VecDeque<Vec<u8>>);
impl TxToken for Leaves<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, bytes: usize, write: F) -> R {
        self.0.push_back(vec![0; bytes]);
        write(self.0.back_mut().expect("it was pushed"))
    }
}

/// One end of the connection: the client sends continuously, and the server reads.
struct Host {
    card: Card,
    interface: Interface,
    sockets: SocketSet<'static>,
    tcp: SocketHandle,
    polled: Instant, // smoltcp's clock has microseconds
}

impl Host {
    fn new(number: u8) -> Host {
        let (mut card, mut sockets) = (Card::default(), SocketSet::new(vec![]));
        let mut interface = Interface::new(Config::new(HardwareAddress::Ip), &mut card, Instant::ZERO);
        let address = IpCidr::new(IpAddress::v4(10, 0, 0, number), 24);
        interface.update_ip_addrs(|addresses| addresses.push(address).expect("the first"));
        let buffer = || SocketBuffer::new(vec![0; 48 << 10]); // the windows
        let mut tcp = Socket::new(buffer(), buffer());
        tcp.set_congestion_control(CongestionControl::Cubic);
        let server = (IpAddress::v4(10, 0, 0, 2), 7);
        match number {
            1 => tcp.connect(interface.context(), server, 49152).expect("an address"),
            _ => tcp.listen(server).expect("a port"),
        }
        Host { card, interface, tcp: sockets.add(tcp), sockets, polled: Instant::ZERO }
    }
}

impl Endpoint for Host {
    fn on_packet(&mut self, packet: Packet, _: Time) {
        self.card.come.push_back(packet.payload().expect("all carry their bytes"));
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        if self.card.leaves.is_empty() {
            self.polled = Instant::from_micros((now.ns() / 1000).cast_signed());
            let tcp = self.sockets.get_mut::<Socket>(self.tcp);
            while tcp.can_recv() && tcp.recv(|bytes| (bytes.len(), ())).is_ok() {}
            while tcp.can_send() && tcp.send(|room| (room.len(), ())).is_ok() {}
            self.interface.poll(self.polled, &mut self.card, &mut self.sockets);
        }
        self.card.leaves.pop_front().map(|bytes| Packet::new(bytes.len()).carrying(bytes))
    }

    fn next_timeout(&mut self) -> Option<Time> {
        let due = self.interface.poll_at(self.polled, &self.sockets)?.total_micros();
        Some(Time::from_ns(due.max(self.polled.total_micros() + 1) as u64 * 1000))
    }
}

/// Parameters of `smoltcp`: none.
#[parameters(checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {}

impl SourceSpec for Spec {
    fn offers(&self, _: At<'_>) -> Result<Offer, NoOffer> {
        let both = |_| (Host::new(1), Host::new(2)); // smoltcp always uses the same seed
        Ok(Offer::Endpoints { endpoints: Endpoints::new(NAME, 1500, both), packet_bytes: 1500 })
    }
}

fn main() -> ExitCode {
    source::register::<Spec>(ABOUT).expect("no other has its name");
    fairwire_command::main()
}
