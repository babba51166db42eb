//! The constants of a TCP, and named profiles that bundle them.

use fairwire_core::Duration;

/// Constants of a sender and its receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Payload of a full segment, bytes.
    pub segment_bytes: u32,
    /// Headers of a data segment and size of an ACK, bytes.
    pub header_bytes: u32,
    /// Receiver window, segments; `None` for no limit.
    pub window: Option<u32>,
    /// Initial congestion window, segments (RFC 3390, RFC 6928).
    pub initial_window: u32,
    /// Is a SYN exchanged first?
    pub handshake: bool,
    /// Clock granularity of round-trip measurements; zero for exact ones.
    pub tick: Duration,
    /// Shortest retransmission timeout.
    pub min_rto: Duration,
    /// Longest retransmission timeout.
    pub max_rto: Duration,
    /// Retransmission timeout before the first measurement.
    pub initial_rto: Duration,
    /// Is a new segment sent on each of the first two duplicate ACKs (RFC 3042)?
    pub limited_transmit: bool,
}

/// A bundle of constants as simulators of an era had them (research dossier, section 7.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// ns-2 as of 2002: SYN, initial window 2, 10 ms tick, shortest timeout 1 s, limited transmit.
    #[default]
    Ns2In2002,
    /// ns-2 as of 2006: the same, with a shortest timeout of 0.2 s.
    Ns2In2006,
}

impl Config {
    /// The constants of `profile` for segments of `segment_bytes` of payload.
    pub fn new(profile: Profile, segment_bytes: u32) -> Self {
        let min_rto = match profile {
            Profile::Ns2In2002 => Duration::from_secs(1),
            Profile::Ns2In2006 => Duration::from_ms(200),
        };
        Config {
            segment_bytes,
            header_bytes: 40,
            window: None,
            initial_window: 2,
            handshake: true,
            tick: Duration::from_ms(10),
            min_rto,
            max_rto: Duration::from_secs(60),
            initial_rto: Duration::from_secs(3),
            limited_transmit: true,
        }
    }
}
