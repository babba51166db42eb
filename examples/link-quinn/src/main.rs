//! Two QUIC connections of quinn-proto share a link, the first with CUBIC, the second with BBR or
//! CUBIC: `cargo run -p link-quinn`.

use fairwire_link::{Arrival, BadLink, Duplex, Ecn, Link, LinkReport};
use quinn_proto::congestion::BbrConfig;
use quinn_proto::rustls::{RootCertStore, pki_types::CertificateDer, pki_types::PrivatePkcs8KeyDer};
use quinn_proto::{ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint};
use quinn_proto::{Event, ServerConfig, Side, StreamId, TransportConfig};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::{sync::Arc, time::Duration, time::Instant};

const HEADERS: usize = 28; // IPv4 and UDP
const ADDRESS: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 4433)); // of both ends
const CERTIFICATE: &[u8] = include_bytes!("../cert.der"); // for `localhost`, signed by its own key
const KEY: &[u8] = include_bytes!("../key.der");

/// One end of a connection: the client sends continuously, and the server reads.
struct Host {
    flow: u64,
    is_client: bool,
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
}

impl Host {
    fn client(flow: u64, controller: &str, start: Instant) -> Host {
        let mut endpoint = Endpoint::new(Arc::default(), None, false, Some([flow as u8; 32]));
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(CERTIFICATE)).expect("a certificate");
        let mut config = ClientConfig::with_root_certificates(roots.into()).expect("one root");
        let mut transport = TransportConfig::default();
        if controller == "BBR" {
            transport.congestion_controller_factory(Arc::new(BbrConfig::default())); // the default is CUBIC
        }
        config.transport_config(transport.into());
        let connection = endpoint.connect(start, config, ADDRESS, "localhost").expect("a connection");
        Host { flow, is_client: true, endpoint, connection: Some(connection) }
    }

    fn server(flow: u64) -> Host {
        let key = PrivatePkcs8KeyDer::from(KEY).into();
        let config = ServerConfig::with_single_cert(vec![CERTIFICATE.into()], key).expect("a key that fits");
        let endpoint = Endpoint::new(Arc::default(), Some(config.into()), false, Some([flow as u8 + 9; 32]));
        Host { flow, is_client: false, endpoint, connection: None }
    }

    fn take(&mut self, packet: Arrival<Vec<u8>, Instant>, now: Instant) {
        let (ecn, mut answer) = (EcnCodepoint::from_bits(packet.ecn as u8), Vec::new());
        match self.endpoint.handle(now, ADDRESS, None, ecn, packet.payload[..].into(), &mut answer) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.connection = self.endpoint.accept(incoming, now, &mut answer, None).ok();
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                self.connection.as_mut().expect("the endpoint has found it").1.handle_event(event);
            }
            Some(DatagramEvent::Response(_)) | None => {}
        }
    }

    /// Handles due timers, sends all permitted packets, and returns the time of the next call.
    fn drive(&mut self, now: Instant, way: &mut Link<Vec<u8>, Instant>) -> Option<Instant> {
        let (handle, connection) = self.connection.as_mut()?;
        if connection.poll_timeout().is_some_and(|due| due <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            let answer = self.endpoint.handle_event(*handle, event);
            answer.into_iter().for_each(|answer| connection.handle_event(answer));
        }
        while let Some(event) = connection.poll() {
            if self.is_client && matches!(event, Event::Connected) {
                connection.streams().open(Dir::Uni);
            }
        }
        let stream = StreamId::new(Side::Client, Dir::Uni, 0); // the first and only stream
        if self.is_client {
            while connection.send_stream(stream).write(&[0; 1 << 16]).is_ok() {}
        } else if let Ok(mut chunks) = connection.recv_stream(stream).read(true) {
            while let Ok(Some(_)) = chunks.next(usize::MAX) {}
        }
        let mut packet = Vec::new();
        while let Some(transmit) = connection.poll_transmit(now, 1, &mut packet) {
            let ecn = transmit.ecn.map_or(Ecn::NotEct, |ecn| Ecn::from_bits(ecn as u8));
            let bytes = transmit.size + HEADERS;
            way.send(std::mem::take(&mut packet), bytes, self.flow, ecn, now).expect("at most 1500 bytes");
        }
        connection.poll_timeout()
    }
}

/// The shares of two flows with these controllers on a link of 20 Mbit/s, with a round-trip time of
/// 40 ms. They are measured for 15 s, after a warm-up of 5 s.
fn share(queue: &str, [zero, one]: [&str; 2]) -> Result<LinkReport, BadLink> {
    let link = || Link::new("20 Mbit/s", "20 ms").queue(queue).buffer("1 bdp");
    #[expect(clippy::disallowed_methods, reason = "quinn takes instants; what counts is their differences")]
    let (start, mut path) = (Instant::now(), Duplex::alike(link)?);
    let mut clients = [Host::client(0, zero, start), Host::client(1, one, start)];
    let mut servers = [Host::server(0), Host::server(1)];
    let (mut now, mut restart) = (start, Some(start + Duration::from_secs(5)));
    while now < start + Duration::from_secs(20) {
        restart.take_if(|at| *at <= now).into_iter().for_each(|at| path.forward.restart_report(at));
        while let Some(packet) = path.forward.receive(now) {
            servers[packet.flow as usize].take(packet, now);
        }
        while let Some(packet) = path.back.receive(now) {
            clients[packet.flow as usize].take(packet, now);
        }
        let timers = clients.iter_mut().map(|host| host.drive(now, &mut path.forward));
        let timers = timers.chain(servers.iter_mut().map(|it| it.drive(now, &mut path.back)));
        let next = timers.flatten().min();
        now = path.next_timeout().into_iter().chain(next).min().expect("a timer is always set");
    }
    Ok(path.forward.report())
}

fn main() -> Result<(), BadLink> {
    for (queue, other) in [("tail-drop", "BBR"), ("faba", "BBR"), ("faba", "CUBIC")] {
        println!("{queue}, CUBIC and {other}\n{}\n", share(queue, ["CUBIC", other])?);
    }
    Ok(())
}
