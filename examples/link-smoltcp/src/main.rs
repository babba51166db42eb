//! The TCP of smoltcp shares a link with a flood of datagrams: `cargo run -p link-smoltcp`.

use fairwire_link::{BadLink, Duplex, Ecn, Link, LinkReport};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer};
use smoltcp::{time::Instant, wire::HardwareAddress, wire::IpAddress, wire::IpCidr};
use std::{collections::VecDeque, time::Duration};

const TCP: u64 = 0;
const FLOOD: u64 = 1;

#[derive(Default)]
struct Card {
    come: VecDeque<Vec<u8>>,
    leaves: Vec<Vec<u8>>,
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
        it
    }
}

struct Come(Vec<u8>);
impl RxToken for Come {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

struct Leaves<'a>(&'a mut Vec<Vec<u8>>);
impl TxToken for Leaves<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, bytes: usize, write: F) -> R {
        self.0.push(vec![0; bytes]);
        write(self.0.last_mut().expect("it was pushed"))
    }
}

/// One end of the connection: the client sends continuously, and the server reads.
struct Host {
    card: Card,
    interface: Interface,
    sockets: SocketSet<'static>,
    tcp: SocketHandle,
}

impl Host {
    fn new(number: u8) -> Host {
        let (mut card, mut sockets) = (Card::default(), SocketSet::new(vec![]));
        let mut interface = Interface::new(Config::new(HardwareAddress::Ip), &mut card, Instant::ZERO);
        let address = IpCidr::new(IpAddress::v4(10, 0, 0, number), 24);
        interface.update_ip_addrs(|addresses| addresses.push(address).expect("the first"));
        let buffer = || SocketBuffer::new(vec![0; 256 << 10]);
        let mut tcp = Socket::new(buffer(), buffer());
        tcp.set_congestion_control(CongestionControl::Cubic);
        let server = (IpAddress::v4(10, 0, 0, 2), 7);
        match number {
            1 => tcp.connect(interface.context(), server, 49152).expect("an address"),
            _ => tcp.listen(server).expect("a port"),
        }
        Host { card, interface, tcp: sockets.add(tcp), sockets }
    }

    /// Runs the stack at `now`, sends its packets, and returns the time of the next call.
    fn drive(&mut self, now: Duration, way: &mut Link<Vec<u8>>) -> Option<Duration> {
        let tcp = self.sockets.get_mut::<Socket>(self.tcp);
        while tcp.can_recv() && tcp.recv(|bytes| (bytes.len(), ())).is_ok() {}
        while tcp.can_send() && tcp.send(|room| (room.len(), ())).is_ok() {}
        let micros = Instant::from_micros(now.as_micros() as i64);
        self.interface.poll(micros, &mut self.card, &mut self.sockets);
        for packet in self.card.leaves.drain(..) {
            let bytes = packet.len();
            way.send(packet, bytes, TCP, Ecn::NotEct, now).expect("at most 1500 bytes");
        }
        let due = self.interface.poll_at(micros, &self.sockets)?;
        Some(Duration::from_micros(due.total_micros() as u64).max(now + Duration::from_micros(1)))
    }
}

/// The shares of both flows on a link of 10 Mbit/s over 30 s; the flood sends 15 Mbit/s.
fn share(queue: &str) -> Result<LinkReport, BadLink> {
    let mut path = Duplex::alike(|| Link::new("10 Mbit/s", "10 ms").queue(queue).buffer("100 packets"))?;
    let (mut client, mut server) = (Host::new(1), Host::new(2));
    let (mut now, mut flood_at, end) = (Duration::ZERO, Duration::ZERO, Duration::from_secs(30));
    while now < end {
        if flood_at <= now {
            path.forward.send(vec![], 1500, FLOOD, Ecn::NotEct, now).expect("1500 bytes");
            flood_at = now + Duration::from_micros(800);
        }
        let come = std::iter::from_fn(|| path.forward.receive(now)).filter(|packet| packet.flow == TCP);
        server.card.come.extend(come.map(|packet| packet.payload));
        client.card.come.extend(std::iter::from_fn(|| path.back.receive(now)).map(|packet| packet.payload));
        let timers = [client.drive(now, &mut path.forward), server.drive(now, &mut path.back)];
        now = timers.into_iter().flatten().chain(path.next_timeout()).fold(flood_at, Duration::min);
    }
    Ok(path.forward.report())
}

fn main() -> Result<(), BadLink> {
    for queue in ["tail-drop", "drr+lqd"] {
        println!("{queue}: flow 0 is the TCP, flow 1 the flood\n{}\n", share(queue)?);
    }
    Ok(())
}
