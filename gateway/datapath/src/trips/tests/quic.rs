//! Connections of another QUIC implementation, quinn-proto, over a path of known delays.

use super::*;
use etherparse::PacketBuilder;
use quinn_proto::rustls::{RootCertStore, pki_types::CertificateDer, pki_types::PrivatePkcs8KeyDer};
use quinn_proto::{ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, Event};
use quinn_proto::{ServerConfig, Side, StreamId, TransportConfig};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::Arc;
use std::time::Instant;

/// The address of both ends, since QUIC needs no second address.
const ADDRESS: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 443));
const CERTIFICATE: &[u8] = include_bytes!("../../../../../examples/link-quinn/cert.der");
const KEY: &[u8] = include_bytes!("../../../../../examples/link-quinn/key.der");
/// The server's receive window, which lets the client send all the time.
const WINDOW_BYTES: u32 = 200_000;

/// A datagram in transit: its arrival and number, whether it has passed the gateway, the sending
/// end, and its bytes.
type UnderWay = (Reverse<(u64, u64)>, bool, usize, Vec<u8>);

/// The client, which always sends, or the server, which reads.
struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
}

impl End {
    fn client(seed: u8, spins: bool, now: Instant) -> End {
        let mut endpoint = Endpoint::new(Arc::default(), None, false, Some([seed; 32]));
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(CERTIFICATE)).expect("a certificate");
        let mut config = ClientConfig::with_root_certificates(roots.into()).expect("one root");
        let mut transport = TransportConfig::default();
        transport.allow_spin(spins);
        config.transport_config(transport.into());
        let connection = endpoint.connect(now, config, ADDRESS, "localhost").expect("a connection");
        End { endpoint, connection: Some(connection) }
    }

    fn server(seed: u8) -> End {
        let key = PrivatePkcs8KeyDer::from(KEY).into();
        let mut config =
            ServerConfig::with_single_cert(vec![CERTIFICATE.into()], key).expect("a key that fits");
        let mut transport = TransportConfig::default();
        transport.receive_window(WINDOW_BYTES.into());
        config.transport_config(transport.into());
        let endpoint = Endpoint::new(Arc::default(), Some(config.into()), false, Some([seed; 32]));
        End { endpoint, connection: None }
    }

    fn takes(&mut self, datagram: &[u8], now: Instant) {
        let mut answer = Vec::new();
        match self.endpoint.handle(now, ADDRESS, None, None, datagram.into(), &mut answer) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.connection = self.endpoint.accept(incoming, now, &mut answer, None).ok();
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                self.connection.as_mut().expect("the endpoint has found it").1.handle_event(event);
            }
            Some(DatagramEvent::Response(_)) | None => {}
        }
    }

    fn sends(&mut self, now: Instant) -> Option<Vec<u8>> {
        let (handle, connection) = self.connection.as_mut()?;
        if connection.poll_timeout().is_some_and(|due| due <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            self.endpoint.handle_event(*handle, event).into_iter().for_each(|it| connection.handle_event(it));
        }
        while let Some(event) = connection.poll() {
            if connection.side().is_client() && matches!(event, Event::Connected) {
                connection.streams().open(Dir::Uni);
            }
        }
        let stream = StreamId::new(Side::Client, Dir::Uni, 0);
        if connection.side().is_client() {
            while connection.send_stream(stream).write(&[0; 1 << 14]).is_ok() {}
        } else if let Ok(mut chunks) = connection.recv_stream(stream).read(true) {
            while let Ok(Some(_)) = chunks.next(usize::MAX) {}
        }
        let mut bytes = Vec::new();
        connection.poll_transmit(now, 1, &mut bytes).map(|_| bytes)
    }
}

/// Runs a connection whose round trips from the gateway to the client and to the server are
/// `away_us`.
fn trips_of(seed: u8, spins: bool, away_us: [u64; 2]) -> Trips {
    #[expect(clippy::disallowed_methods, reason = "what counts is the difference of instants")]
    let zero = Instant::now();
    let mut trips = Trips::new(1);
    let mut ends = [End::client(seed, spins, zero), End::server(seed + 100)];
    let (mut under_way, mut count) = (BinaryHeap::<UnderWay>::new(), 0);
    let mut number = || {
        count += 1;
        count
    };
    for us in (0..3_000_000).step_by(100) {
        let now = zero + std::time::Duration::from_micros(us);
        while under_way.peek().is_some_and(|(Reverse((when, _)), ..)| *when <= us) {
            let (Reverse((when, _)), has_passed, from, datagram) = under_way.pop().expect("it was seen");
            if has_passed {
                ends[1 - from].takes(&datagram, now);
                continue;
            }
            let way = [Upload, Download][from];
            let frame = in_frame(way, &datagram);
            let ticket = trips.of(way).spins(&frame, &parse(&frame), 0, at(when));
            trips.of(way).leaves(ticket, at(when));
            under_way.push((Reverse((when + away_us[1 - from] / 2, number())), true, from, datagram));
        }
        for (from, end) in ends.iter_mut().enumerate() {
            while let Some(datagram) = end.sends(now) {
                under_way.push((Reverse((us + away_us[from] / 2, number())), false, from, datagram));
            }
        }
    }
    trips
}

fn in_frame(way: Way, datagram: &[u8]) -> Vec<u8> {
    let (server, host) = ([198, 51, 100, 1], [10, 0, 0, 7]);
    let (from, to, ports) = match way {
        Way::Download => (server, host, (443, 5000)),
        Way::Upload => (host, server, (5000, 443)),
    };
    let mut frame = Vec::new();
    let builder = PacketBuilder::ethernet2([2; 6], [4; 6]).ipv4(from, to, 64).udp(ports.0, ports.1);
    builder.write(&mut frame, datagram).expect("a vector takes everything");
    frame
}

#[test]
fn spinning_quinn_connections_show_both_parts_of_their_path_and_others_none() {
    let path = [4000, 40_000];
    let counted_of = |seed, spins| {
        let trips = trips_of(seed, spins, path);
        [Download, Upload].map(|way| counted(&trips, way))
    };
    let (mut spinning, mut silent) = (0, 0);
    for seed in 1..=5 {
        let [(inside, inside_us), (outside, outside_us)] = counted_of(seed, true);
        // With probability 1/8, an end does not spin.
        if outside < 20 {
            silent += 1;
            continue;
        }
        spinning += 1;
        let mean = outside_us / outside;
        assert!((40_000..=46_000).contains(&mean), "{outside} trips of {mean} us");
        // The server delays some acknowledgements by up to 25 ms, which lengthens trips.
        let mean = inside_us.checked_div(inside).unwrap_or(4000);
        assert!((4000..=5400).contains(&mean), "{inside} trips of {mean} us");
    }
    assert!(spinning >= 2, "{spinning} spin, {silent} do not");
    for seed in 20..=21 {
        let [(inside, _), (outside, _)] = counted_of(seed, false);
        assert!(inside + outside <= 2, "{inside} and {outside}");
    }
}
