//! The constants of a TCP, and named sets of constants.

use crate::congestion::{Bbr3Parameters, BbrParameters, ControlConfig, CubicParameters};
use fairwire_core::{Duration, Ecn};
use std::sync::Arc;

/// Constants of a sender and its receiver. Similar flows share one `Config`.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Payload of a full segment, bytes.
    pub segment_bytes: u32,
    /// Headers of a data segment, bytes.
    pub header_bytes: u32,
    /// Size of an acknowledgement, and of a SYN, bytes.
    pub ack_bytes: u32,
    /// Receiver window, segments; `None` for no limit.
    pub window: Option<u32>,
    /// Initial congestion window, segments (RFC 3390, RFC 6928).
    pub initial_window: u32,
    /// Is a SYN exchanged before data?
    pub handshake: bool,
    /// Clock granularity of round-trip measurements; zero for exact measurements.
    pub tick: Duration,
    /// Shortest retransmission timeout. With [`floors_variation`](Config::floors_variation), the
    /// minimum of the term added to the round-trip time.
    pub min_rto: Duration,
    /// Does `min_rto` bound the round-trip time's variation, as in Linux, instead of the timeout?
    pub floors_variation: bool,
    /// Longest retransmission timeout.
    pub max_rto: Duration,
    /// Retransmission timeout before the first measurement.
    pub initial_rto: Duration,
    /// Is a new segment sent on each of the first two duplicate ACKs (RFC 3042)?
    pub limited_transmit: bool,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// How the window grows and shrinks.
    pub control: ControlConfig,
    /// The receiver's delay of acknowledgements. With `None`, each segment is acknowledged at once.
    pub delayed_ack: Option<DelayedAck>,
    /// Does Reno's window grow per acknowledged segment (RFC 3465), instead of per acknowledgement?
    pub counts_segments: bool,
    /// Do Reno, CUBIC, DCTCP, BIC, Vegas and Westwood count a reduced window in full segments, as
    /// in Linux? The RFCs count bytes.
    pub whole_segments: bool,
    /// Is a cut of the window spread over a round trip (PRR, RFC 9937), as in Linux? This requires
    /// selective acknowledgements, and never applies to BBR.
    pub spreads_cuts: bool,
    /// After a late paced segment, is the next gap shortened by that segment's delay, but at most
    /// by half, as in Linux?
    pub makes_up_for_late: bool,
    /// The ECN codepoint of data segments.
    pub ecn: EcnMode,
    /// Does every acknowledgement measure the round-trip time, as with timestamps (RFC 7323)?
    /// Otherwise one segment at a time is timed.
    pub exact_rtt: bool,
    /// The window after a pause longer than the retransmission timeout, segments (RFC 5681, section
    /// 4.1); `None` keeps the window.
    pub restart_window: Option<u32>,
    /// The time for which the host processes a segment before sending it.
    pub processing: Processing,
    /// The maximum output that may wait at the host's own link, as transmission time on this link;
    /// `None` for no limit. Two segments may always wait. Linux's TCP small queues
    /// (`tcp_small_queue_check`) allow 1 ms at the pacing rate, which is up to twice the flow's
    /// rate.
    pub host_queue: Option<Duration>,
    /// Peculiarities of simulators.
    pub quirks: Quirks,
}

/// How losses are repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// Fast retransmit, then slow start from the lost segment.
    Tahoe,
    /// Fast recovery until the first acknowledgement of new data (RFC 5681, section 3.2).
    Reno,
    /// Fast recovery until the whole window is acknowledged. One lost segment is repaired per round
    /// trip (RFC 6582).
    #[default]
    NewReno,
    /// Fast recovery with selective acknowledgements (RFC 2018, RFC 6675).
    Sack,
    /// Like SACK, but time decides which segments are lost, and a probe detects losses at the tail
    /// (RACK-TLP, RFC 8985). The receiver reports duplicate arrivals (RFC 2883). A spurious
    /// reduction is undone (RFC 4015, RFC 5682).
    Rack,
}

/// The time for which a sender's host processes the segments that it releases at one instant:
/// uniform from zero to a maximum. No segment overtakes another. Receivers take no time.
///
/// Without processing, a packet released by an acknowledgement reaches a full queue just as a
/// departure frees a slot. Round-trip times modulo a packet's transmission time then decide which
/// flows lose (S. Floyd and V. Jacobson, "On traffic phase effects in packet-switched gateways",
/// 1992).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Processing {
    /// No time.
    #[default]
    None,
    /// The maximum is the time in which the path's slowest link sends two full segments at its
    /// current rate, but at most an eighth of a round trip. Both bounds are ours: with one segment,
    /// shares still depended on round trips.
    Packet,
    /// Up to this.
    UpTo(Duration),
}

/// When a receiver sends delayed acknowledgements (RFC 5681, section 4.2). Out-of-order segments,
/// and segments that fill a hole or open a connection, are still acknowledged at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedAck {
    /// The number of unacknowledged segments at which the receiver must acknowledge. It is at least
    /// 1; RFC 5681 recommends 2.
    pub segments: u32,
    /// The maximum delay of an acknowledgement after the first unacknowledged segment; RFC 5681
    /// allows 500 ms.
    pub timeout: Duration,
    /// The number of acknowledgements that leave at once at the beginning, at most 255; 0 for none.
    /// The window then grows sooner. The same number leaves at once after a pause longer than a
    /// timeout, and after a repeated segment. Two leave at once after a mark, and after a
    /// retransmission that is not ECN-capable. One leaves at once when the sender reports a
    /// reduction. Linux has 16 ("quick acks"); RFC 5681, section 4.2, allows them.
    pub quick_acks: u32,
}

/// The ECN codepoint of data segments (RFC 3168, RFC 9331). Retransmissions and SYNs are not
/// ECN-capable (RFC 3168, 6.1.1, 6.1.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnMode {
    /// Not ECN-capable.
    #[default]
    Off,
    /// ECT(0).
    Ect0,
    /// ECT(1), which requests low latency and promises a scalable response.
    Ect1,
}

/// Compatibility switches, for comparing results with those of other simulators. If all are off,
/// the RFCs apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quirks {
    /// The maximum number of new segments that a duplicate acknowledgement releases in NewReno's
    /// recovery; 0 for no limit. ns-2: 2.
    pub max_per_duplicate: u32,
    /// The maximum number of segments that an acknowledgement releases; 0 for no limit. ns-2's
    /// `maxburst_`, by default 0.
    pub max_per_ack: u32,
    /// Does SACK count segments in flight by acknowledgements, as ns-2's Sack1 does, instead of by
    /// the scoreboard (RFC 6675)? A timeout then returns to the first unacknowledged segment.
    pub sack_counts_acks: bool,
    /// Is a halved window rounded to an integer, as in ns-2 before 2006 (`precision_reduce_` off)?
    pub halves_to_whole: bool,
    /// Does the window grow even if it did not limit the sender, as in ns-2?
    pub grows_unused: bool,
    /// Are retransmissions ECN-capable too, as in ns-2?
    pub ecn_on_retransmissions: bool,
    /// Is the smoothed round-trip time forgotten after the fourth back-off in a row, as in ns-2?
    /// RFC 6298, section 5, allows it.
    pub forgets_rtt: bool,
    /// Is a round-trip time the number of ticks between sending and acknowledgement, instead of a
    /// time rounded to ticks? Times derived from it are rounded down to ticks at each division. The
    /// ticks have the clock's phase; in ns-2 each flow's phase is random.
    pub counts_ticks: bool,
    /// Does a lost SYN set the threshold too, as in ns-2? By RFC 5681, section 3.1, a lost SYN only
    /// sets the window to one segment.
    pub lost_syn_counts: bool,
}

/// A set of TCP constants, as in the simulators or hosts of a period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// ns-1 in 1998: no SYN, initial window 1, 100 ms tick, shortest timeout 0.2 s, headers of data
    /// not counted; ACKs have 40 bytes.
    Ns1In1998,
    /// ns-2 in 2002: SYN, initial window 2, 10 ms tick, shortest timeout 1 s, limited transmit.
    #[default]
    Ns2In2002,
    /// ns-2 in 2006: as in 2002, with a shortest timeout of 0.2 s.
    Ns2In2006,
    /// A host of today: initial window 10, RACK-TLP, delayed ACKs, exact round-trip times, a
    /// timeout of the round-trip time plus at least 0.2 s, CUBIC, [`Processing::Packet`]. Windows
    /// grow by the segments acknowledged and are cut to integers, as in Linux.
    Modern,
}

impl Config {
    /// The usual name of this TCP: the name of its controller or, under Reno, of its loss recovery.
    pub fn name(&self) -> &'static str {
        match (&self.control, self.recovery) {
            (ControlConfig::Reno, Recovery::Tahoe) => "tahoe",
            (ControlConfig::Reno, Recovery::Reno) => "reno",
            (ControlConfig::Reno, Recovery::NewReno) => "newreno",
            (ControlConfig::Reno, Recovery::Sack) => "sack",
            (ControlConfig::Reno, Recovery::Rack) => "rack",
            (other, _) => other.name(),
        }
    }

    /// The configuration for one of the flows that share `self`. `seed` seeds a controller that
    /// draws at random.
    pub fn of_flow(self: &Arc<Self>, seed: impl FnOnce() -> u64) -> Arc<Self> {
        let control = match &self.control {
            ControlConfig::Bbr(bbr) if bbr.given.draws_phase => {
                ControlConfig::Bbr(BbrParameters { seed: bbr.seed ^ seed(), ..*bbr })
            }
            ControlConfig::Bbr3(bbr) => {
                ControlConfig::Bbr3(Bbr3Parameters { seed: bbr.seed ^ seed(), ..*bbr })
            }
            _ => return Arc::clone(self),
        };
        Arc::new(Config { control, ..Config::clone(self) })
    }

    /// The constants of `profile` for segments of `segment_bytes` of payload.
    pub fn new(profile: Profile, segment_bytes: u32) -> Self {
        let ns2 = Config::of_ns2(segment_bytes);
        match profile {
            Profile::Ns1In1998 => Config {
                header_bytes: 0,
                initial_window: 1,
                handshake: false,
                tick: Duration::from_ms(100),
                min_rto: Duration::from_ms(200), // two ticks
                initial_rto: Duration::from_secs(6),
                limited_transmit: false,
                quirks: Quirks { halves_to_whole: true, ..ns2.quirks },
                ..ns2
            },
            Profile::Ns2In2002 => ns2,
            Profile::Ns2In2006 => Config { min_rto: Duration::from_ms(200), ..ns2 },
            Profile::Modern => Config::of_today(segment_bytes),
        }
    }

    fn of_ns2(segment_bytes: u32) -> Self {
        Config {
            segment_bytes,
            header_bytes: 40,
            ack_bytes: 40,
            window: None,
            initial_window: 2,
            handshake: true,
            tick: Duration::from_ms(10),
            min_rto: Duration::from_secs(1),
            floors_variation: false,
            max_rto: Duration::from_secs(60),
            initial_rto: Duration::from_secs(3),
            limited_transmit: true,
            recovery: Recovery::NewReno,
            control: ControlConfig::Reno,
            delayed_ack: None,
            counts_segments: false,
            whole_segments: false,
            spreads_cuts: false,
            makes_up_for_late: false,
            ecn: EcnMode::Off,
            exact_rtt: false,
            restart_window: Some(1),
            processing: Processing::None,
            host_queue: None,
            quirks: Quirks {
                max_per_duplicate: 2,
                max_per_ack: 0,
                sack_counts_acks: true,
                halves_to_whole: false,
                grows_unused: true,
                ecn_on_retransmissions: true,
                forgets_rtt: true,
                counts_ticks: true,
                lost_syn_counts: true,
            },
        }
    }

    fn of_today(segment_bytes: u32) -> Self {
        Config {
            initial_window: 10, // RFC 6928
            tick: Duration::ZERO,
            min_rto: Duration::from_ms(200), // Linux; RFC 6298 recommends 1 s
            floors_variation: true,          // Linux
            max_rto: Duration::from_secs(120),
            initial_rto: Duration::from_secs(1), // RFC 6298, 2.1
            recovery: Recovery::Rack,
            control: ControlConfig::Cubic(CubicParameters::default()),
            delayed_ack: Some(DelayedAck { segments: 2, timeout: Duration::from_ms(40), quick_acks: 0 }),
            counts_segments: true, // Linux
            whole_segments: true,  // Linux
            spreads_cuts: true,    // Linux
            exact_rtt: true,
            restart_window: Some(10),
            processing: Processing::Packet,
            host_queue: Some(Duration::from_ms(2)),
            quirks: Quirks::default(),
            ..Config::of_ns2(segment_bytes)
        }
    }
}

impl EcnMode {
    /// The codepoint of a data segment.
    #[inline]
    pub fn codepoint(self) -> Ecn {
        match self {
            EcnMode::Off => Ecn::NotEct,
            EcnMode::Ect0 => Ecn::Ect0,
            EcnMode::Ect1 => Ecn::Ect1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(profile: Profile) -> (u32, bool, u64, u64, u64) {
        let config = Config::new(profile, 512);
        let ms = |duration: Duration| duration.ns() / 1_000_000;
        (config.initial_window, config.handshake, ms(config.tick), ms(config.min_rto), ms(config.initial_rto))
    }

    #[test]
    fn profiles_have_the_constants_of_their_year() {
        assert_eq!(timing(Profile::Ns1In1998), (1, false, 100, 200, 6000));
        assert_eq!(timing(Profile::Ns2In2002), (2, true, 10, 1000, 3000));
        assert_eq!(timing(Profile::Ns2In2006), (2, true, 10, 200, 3000));
        assert_eq!(timing(Profile::Modern), (10, true, 0, 200, 1000));
    }

    #[test]
    fn the_modern_profile_has_no_quirks_and_ns2_profiles_differ_in_timeout_only() {
        assert_eq!(Config::new(Profile::Modern, 512).quirks, Quirks::default());
        let (earlier, later) = (Config::new(Profile::Ns2In2002, 512), Config::new(Profile::Ns2In2006, 512));
        assert_eq!(Config { min_rto: later.min_rto, ..earlier }, later);
    }
}
