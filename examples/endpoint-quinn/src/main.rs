//! The command `fairwire` with a source `quic`: the QUIC implementation quinn-proto.

use fairwire_core::{Ecn, Time};
use fairwire_parameters::parameters;
use fairwire_scenario::source::{self, About, At, NoOffer, Offer, SourceSpec};
use fairwire_sim::endpoint::{Endpoint, Endpoints, Packet, Start};
use quinn_proto::DatagramEvent::{ConnectionEvent, NewConnection};
use quinn_proto::rustls::{RootCertStore, pki_types::CertificateDer, pki_types::PrivatePkcs8KeyDer};
use quinn_proto::{ClientConfig, Connection, ConnectionHandle, Dir, EcnCodepoint, Endpoint as Quinn, Event};
use quinn_proto::{ServerConfig, Side, StreamId, TransportConfig, congestion::BbrConfig};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::{process::ExitCode, sync::Arc, time::Duration, time::Instant};

const NAME: &str = "quic";
const ABOUT: About = About::endpoints("A QUIC connection of quinn-proto that sends without end.");
const HEADERS: usize = 28; // IPv4 and UDP
const PACKET: u32 = 1480; // 1452, the result of quinn's path MTU discovery, and headers
const ADDRESS: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 4433)); // of both ends
const CERTIFICATE: &[u8] = include_bytes!("../../link-quinn/cert.der"); // for `localhost`, signed by its own key
const KEY: &[u8] = include_bytes!("../../link-quinn/key.der");

/// One end of a connection: the client sends continuously, and the server reads.
struct Quic {
    zero: Instant,
    endpoint: Quinn,
    connection: Option<(ConnectionHandle, Connection)>,
}

impl Quic {
    fn client(seed: [u8; 32], zero: Instant, bbr: bool) -> Self {
        let mut endpoint = Quinn::new(Arc::default(), None, false, Some(seed));
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(CERTIFICATE)).expect("a certificate");
        let mut config = ClientConfig::with_root_certificates(roots.into()).expect("one root");
        let mut transport = TransportConfig::default();
        if bbr {
            transport.congestion_controller_factory(Arc::new(BbrConfig::default())); // the default is CUBIC
        }
        config.transport_config(transport.into());
        let connection = endpoint.connect(zero, config, ADDRESS, "localhost").expect("a connection");
        Quic { zero, endpoint, connection: Some(connection) }
    }

    fn server(seed: [u8; 32], zero: Instant) -> Self {
        let key = PrivatePkcs8KeyDer::from(KEY).into();
        let config = ServerConfig::with_single_cert(vec![CERTIFICATE.into()], key).expect("a key that fits");
        let endpoint = Quinn::new(Arc::default(), Some(config.into()), false, Some(seed));
        Quic { zero, endpoint, connection: None }
    }
}

impl Endpoint for Quic {
    fn on_packet(&mut self, packet: Packet, now: Time) {
        let now = self.zero + Duration::from_nanos(now.ns());
        let ecn = EcnCodepoint::from_bits(packet.ecn as u8);
        let (bytes, mut out) = (packet.payload::<Vec<u8>>().expect("all carry their bytes"), Vec::new());
        match self.endpoint.handle(now, ADDRESS, None, ecn, bytes[..].into(), &mut out) {
            Some(NewConnection(it)) => self.connection = self.endpoint.accept(it, now, &mut out, None).ok(),
            Some(ConnectionEvent(_, event)) => self.connection.as_mut().expect("found").1.handle_event(event),
            _ => {}
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let now = self.zero + Duration::from_nanos(now.ns());
        let (handle, connection) = self.connection.as_mut()?;
        connection.handle_timeout(now);
        while let Some(event) = connection.poll_endpoint_events() {
            self.endpoint.handle_event(*handle, event).into_iter().for_each(|it| connection.handle_event(it));
        }
        while let Some(event) = connection.poll() {
            if connection.side().is_client() && matches!(event, Event::Connected) {
                connection.streams().open(Dir::Uni);
            }
        }
        let stream = StreamId::new(Side::Client, Dir::Uni, 0); // the first and only stream
        if connection.side().is_client() {
            while connection.send_stream(stream).write(&[0; 1 << 16]).is_ok() {}
        } else if let Ok(mut chunks) = connection.recv_stream(stream).read(true) {
            while let Ok(Some(_)) = chunks.next(usize::MAX) {}
        }
        let mut bytes = Vec::new();
        let transmit = connection.poll_transmit(now, 1, &mut bytes)?;
        let ecn = transmit.ecn.map_or(Ecn::NotEct, |ecn| Ecn::from_bits(ecn as u8));
        Some(Packet::new(transmit.size + HEADERS).with_ecn(ecn).carrying(bytes))
    }

    fn next_timeout(&mut self) -> Option<Time> {
        let due = self.connection.as_mut()?.1.poll_timeout()?;
        Some(Time::from_ns(due.duration_since(self.zero).as_nanos() as u64))
    }
}

/// Parameters of `quic`.
#[parameters(checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// Whether the client's congestion controller is BBR rather than CUBIC.
    #[parameter(default = false)]
    pub bbr: Option<bool>,
}

impl SourceSpec for Spec {
    fn offers(&self, _: At<'_>) -> Result<Offer, NoOffer> {
        let Checked { bbr } = self.checked()?;
        let both = move |mut start: Start| {
            #[expect(clippy::disallowed_methods, reason = "what counts is the difference of instants")]
            let zero = Instant::now();
            let mut seed = || std::array::from_fn(|_| start.rng.next_u64() as u8);
            (Quic::client(seed(), zero, bbr), Quic::server(seed(), zero))
        };
        Ok(Offer::Endpoints { endpoints: Endpoints::new(NAME, PACKET, both), packet_bytes: PACKET })
    }
}

fn main() -> ExitCode {
    source::register::<Spec>(ABOUT).expect("no other has its name");
    fairwire_command::main()
}
