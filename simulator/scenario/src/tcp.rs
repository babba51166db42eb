//! The constants of a TCP as entered.

use crate::control::ControlSpec;
use fairwire_core::units::Size;
use fairwire_core::{Duration, Ecn};
use fairwire_laws::spec::Quantity;
use fairwire_tcp::{Config, DelayedAck, EcnMode, Processing, Profile, Quirks, Recovery};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// Constants of a TCP. The profile supplies omitted constants.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TcpSpec {
    /// The profile that supplies omitted constants, whatever `control` is. Default: "modern".
    pub profile: Option<ProfileSpec>,
    /// Payload of a full segment. Default: "1448 B"; with a profile of ns-1 or ns-2 "512 B".
    pub segment: Option<Quantity<Size>>,
    /// Headers of a data segment.
    pub header: Option<Quantity<Size>>,
    /// Size of an ACK, and of a SYN. Default: `header` if it is given, else 40 B.
    pub ack: Option<Quantity<Size>>,
    /// Receiver window in segments. Default: no limit.
    pub window: Option<u32>,
    /// Initial congestion window in segments.
    pub initial_window: Option<u32>,
    /// Is a SYN exchanged first?
    pub handshake: Option<bool>,
    /// Clock granularity of round-trip measurements. With "0 s", they are exact.
    pub tick: Option<Quantity<Duration>>,
    /// Shortest retransmission timeout.
    pub min_rto: Option<Quantity<Duration>>,
    /// True if `min_rto` bounds the variation added to the round-trip time, as in Linux. Otherwise
    /// it bounds the timeout. Default: only with "modern".
    pub floors_variation: Option<bool>,
    /// Longest retransmission timeout.
    pub max_rto: Option<Quantity<Duration>>,
    /// Retransmission timeout before the first measurement.
    pub initial_rto: Option<Quantity<Duration>>,
    /// Is a new segment sent on each of the first two duplicate ACKs (RFC 3042)? Must not be off
    /// with recovery = "rack".
    pub limited_transmit: Option<bool>,
    /// How losses are repaired.
    pub recovery: Option<RecoverySpec>,
    /// The congestion controller: a name, or a table with the controller's name and its parameters.
    #[serde(default)]
    #[schemars(schema_with = "crate::control::control_schema")]
    pub control: Option<ControlSpec>,
    /// When acknowledgements wait.
    pub delayed_ack: Option<DelayedAckSpec>,
    /// True if Reno's window grows with segments acknowledged instead of ACKs (RFC 3465). Default:
    /// only with "modern".
    pub counts_segments: Option<bool>,
    /// True if Reno, CUBIC and DCTCP count a reduced window in full segments, as in Linux. Default:
    /// only with "modern".
    pub whole_segments: Option<bool>,
    /// Is a cut of the window spread over a round trip (PRR, RFC 9937), as in Linux? Only with
    /// recovery = "sack" or "rack", and not in `bbr` and `bbr3`. Default: only with "modern".
    pub spreads_cuts: Option<bool>,
    /// True if the gap after a late paced segment is shortened by the segment's lateness, but at
    /// most by half, as in Linux. Default: false.
    pub makes_up_for_late: Option<bool>,
    /// The ECN codepoint of data segments. Default: the profile's, but "ect0" for `dctcp` and
    /// "ect1" for `prague`.
    pub ecn: Option<EcnSpec>,
    /// Does every ACK measure the round-trip time, as with timestamps (RFC 7323)? Must be on with
    /// recovery = "rack".
    pub exact_rtt: Option<bool>,
    /// The window after a pause longer than the retransmission timeout, in segments; 0 for
    /// unchanged.
    pub restart_window: Option<u32>,
    /// The maximum time for which the host processes segments released at one instant. The time is
    /// uniform from zero to this maximum, and segments stay in order. "packet" is the time for two
    /// segments at the slowest link, at most an eighth of a round trip. Default: "packet" with
    /// "modern", otherwise "0 s".
    pub processing: Option<ProcessingSpec>,
    /// The maximum output of a flow that may wait at its host's access link, as a time at that
    /// link's rate. Two segments may always wait. Further output waits at the sender, whose window
    /// does not grow meanwhile. Source: Linux's TCP small queues, which allow 1 ms at a pacing rate
    /// of up to twice the flow's rate. Default: "2 ms" with "modern", otherwise no bound.
    pub host_queue: Option<Quantity<Duration>>,
    /// Peculiarities of simulators.
    pub quirks: Option<QuirksSpec>,
}

/// A set of TCP constants as in the simulators of an era, or in hosts of today.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum ProfileSpec {
    /// ns-1 in 1998: no SYN, 100 ms tick, shortest timeout 0.2 s, headers not counted.
    #[serde(rename = "ns1-1998")]
    Ns1In1998,
    /// ns-2 in 2002: shortest timeout 1 s.
    #[serde(rename = "ns2-2002")]
    Ns2In2002,
    /// ns-2 in 2006: shortest timeout 0.2 s.
    #[serde(rename = "ns2-2006")]
    Ns2In2006,
    /// A host of today: CUBIC, RACK-TLP, initial window 10, delayed ACKs, processing takes time.
    #[default]
    #[serde(rename = "modern")]
    Modern,
    /// The same as "modern".
    #[serde(rename = "linux")]
    Linux,
}

/// How losses are repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RecoverySpec {
    /// Fast retransmit, then slow start from the lost segment.
    Tahoe,
    /// Fast recovery until the first ACK of new data (RFC 5681).
    Reno,
    /// Fast recovery until the entire window is acknowledged (RFC 6582).
    NewReno,
    /// Fast recovery with selective acknowledgements (RFC 2018, RFC 6675).
    Sack,
    /// Fast recovery with selective acknowledgements and loss detection by time, with tail probes
    /// and undo (RFC 8985, RFC 5682, RFC 4015).
    Rack,
}

/// The maximum time for which a host processes segments that it sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(untagged)]
pub enum ProcessingSpec {
    /// A word.
    Word(ProcessingWord),
    /// A time.
    Time(Quantity<Duration>),
}

/// The longest processing time, as a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub enum ProcessingWord {
    /// The time in which the slowest link sends two segments.
    Packet,
}

/// The delay of acknowledgements (RFC 5681, section 4.2).
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelayedAckSpec {
    /// The maximum number of segments per ACK; with 1, each segment is acknowledged at once.
    /// Default: 2.
    pub segments: Option<u32>,
    /// The maximum delay of an ACK after the first segment. Default: "40 ms".
    pub timeout: Option<Quantity<Duration>>,
    /// The number of ACKs sent without delay at the beginning, and again after a pause or a
    /// repeated segment. At most 255; Linux has 16. Default: 0.
    pub quick_acks: Option<u32>,
}

/// The ECN codepoint of data segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EcnSpec {
    /// Not ECN-capable.
    Off,
    /// ECT(0) (RFC 3168).
    Ect0,
    /// ECT(1) (RFC 9331).
    Ect1,
}

/// Peculiarities of simulators. The profile supplies omitted values.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuirksSpec {
    /// The maximum number of new segments for a duplicate ACK in NewReno's recovery; 0 for no
    /// limit.
    pub max_per_duplicate: Option<u32>,
    /// The maximum number of new segments for one ACK; 0 for no limit.
    pub max_per_ack: Option<u32>,
    /// Does SACK count the segments in flight by ACKs, as ns-2's Sack1 does?
    pub sack_counts_acks: Option<bool>,
    /// Is a halved window rounded to an integer?
    pub halves_to_whole: Option<bool>,
    /// Does the window grow even if it did not limit the sender?
    pub grows_unused: Option<bool>,
    /// Are retransmissions ECN-capable too?
    pub ecn_on_retransmissions: Option<bool>,
    /// Is the smoothed round-trip time forgotten after the fourth back-off in a row?
    pub forgets_rtt: Option<bool>,
    /// Are the smoothed round-trip time, its variation and the timeout rounded down to ticks?
    pub counts_ticks: Option<bool>,
    /// Does a lost SYN reduce the slow-start threshold, as any timeout does?
    pub lost_syn_counts: Option<bool>,
}

impl TcpSpec {
    /// The profile as entered, or else "modern".
    pub fn effective_profile(&self) -> ProfileSpec {
        self.profile.unwrap_or_default()
    }

    /// The name of the ECN codepoint: the given one, else the controller's, else the profile's.
    pub fn effective_ecn(&self) -> &'static str {
        match self.config().ecn {
            EcnMode::Off => "off",
            EcnMode::Ect0 => "ect0",
            EcnMode::Ect1 => "ect1",
        }
    }

    /// The constants as entered, or else the profile's. A size too large for its field is clamped.
    /// An invalid controller is replaced by the profile's. The scenario's check refuses both.
    pub fn config(&self) -> Config {
        let bytes = |size: Option<Quantity<Size>>, default| {
            size.map_or(default, |size| u32::try_from(size.0.0).unwrap_or(u32::MAX))
        };
        let time = |given: Option<Quantity<Duration>>, default| given.map_or(default, |time| time.0);
        let profile = self.effective_profile();
        let base = Config::new(profile.profile(), bytes(self.segment, profile.usual_segment()));
        let control = self.control.as_ref().and_then(|control| control.config().ok());
        let control = control.unwrap_or(base.control.clone());
        Config {
            header_bytes: bytes(self.header, base.header_bytes),
            ack_bytes: bytes(self.ack.or(self.header), base.ack_bytes),
            window: self.window.or(base.window),
            initial_window: self.initial_window.unwrap_or(base.initial_window),
            handshake: self.handshake.unwrap_or(base.handshake),
            tick: time(self.tick, base.tick),
            min_rto: time(self.min_rto, base.min_rto),
            floors_variation: self.floors_variation.unwrap_or(base.floors_variation),
            max_rto: time(self.max_rto, base.max_rto),
            initial_rto: time(self.initial_rto, base.initial_rto),
            limited_transmit: self.limited_transmit.unwrap_or(base.limited_transmit),
            recovery: self.recovery.map_or(base.recovery, RecoverySpec::recovery),
            delayed_ack: self.delayed_ack.map_or(base.delayed_ack, DelayedAckSpec::delayed_ack),
            counts_segments: self.counts_segments.unwrap_or(base.counts_segments),
            whole_segments: self.whole_segments.unwrap_or(base.whole_segments),
            spreads_cuts: self.spreads_cuts.unwrap_or(base.spreads_cuts),
            makes_up_for_late: self.makes_up_for_late.unwrap_or(base.makes_up_for_late),
            ecn: self.ecn.map_or_else(|| self.usual_ecn(base.ecn), EcnSpec::mode),
            exact_rtt: self.exact_rtt.unwrap_or(base.exact_rtt),
            restart_window: match self.restart_window {
                None => base.restart_window,
                Some(0) => None,
                Some(segments) => Some(segments),
            },
            processing: self.processing.map_or(base.processing, ProcessingSpec::processing),
            host_queue: self.host_queue.map(|most| most.0).or(base.host_queue),
            quirks: self.quirks.unwrap_or_default().over(base.quirks),
            control,
            ..base
        }
    }

    fn usual_ecn(&self, base: EcnMode) -> EcnMode {
        match self.control.as_ref().map(|control| control.about().ecn) {
            Some(Ecn::Ect0) => EcnMode::Ect0,
            Some(Ecn::Ect1) => EcnMode::Ect1,
            _ => base,
        }
    }
}

impl ProfileSpec {
    /// The profile's name in a scenario.
    pub fn word(self) -> &'static str {
        match self {
            ProfileSpec::Ns1In1998 => "ns1-1998",
            ProfileSpec::Ns2In2002 => "ns2-2002",
            ProfileSpec::Ns2In2006 => "ns2-2006",
            ProfileSpec::Modern => "modern",
            ProfileSpec::Linux => "linux",
        }
    }

    pub(crate) fn family(self) -> &'static str {
        if self == ProfileSpec::Linux { ProfileSpec::Modern.word() } else { self.word() }
    }

    /// The default payload of a full segment, bytes: as in ns-2, or as in Linux with timestamps on
    /// Ethernet.
    fn usual_segment(self) -> u32 {
        match self {
            ProfileSpec::Modern | ProfileSpec::Linux => 1448,
            _ => 512,
        }
    }

    fn profile(self) -> Profile {
        match self {
            ProfileSpec::Ns1In1998 => Profile::Ns1In1998,
            ProfileSpec::Ns2In2002 => Profile::Ns2In2002,
            ProfileSpec::Ns2In2006 => Profile::Ns2In2006,
            ProfileSpec::Modern | ProfileSpec::Linux => Profile::Modern,
        }
    }
}

impl RecoverySpec {
    fn recovery(self) -> Recovery {
        match self {
            RecoverySpec::Tahoe => Recovery::Tahoe,
            RecoverySpec::Reno => Recovery::Reno,
            RecoverySpec::NewReno => Recovery::NewReno,
            RecoverySpec::Sack => Recovery::Sack,
            RecoverySpec::Rack => Recovery::Rack,
        }
    }
}

impl<'de> Deserialize<'de> for ProcessingSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "packet" {
            return Ok(ProcessingSpec::Word(ProcessingWord::Packet));
        }
        let time: Duration =
            text.parse().map_err(|error| D::Error::custom(format!("{error}; or \"packet\"")))?;
        let number = text.split(char::is_alphabetic).next().unwrap_or_default();
        if time.is_zero() && number.contains(|digit| ('1'..='9').contains(&digit)) {
            let allowed = "allowed: \"0 s\", \"1 ns\" to \"1 s\", or \"packet\"";
            return Err(D::Error::custom(format!("\"{text}\" is less than a nanosecond; {allowed}")));
        }
        Ok(ProcessingSpec::Time(Quantity(time)))
    }
}

impl ProcessingSpec {
    fn processing(self) -> Processing {
        match self {
            ProcessingSpec::Word(ProcessingWord::Packet) => Processing::Packet,
            ProcessingSpec::Time(Quantity(Duration::ZERO)) => Processing::None,
            ProcessingSpec::Time(Quantity(most)) => Processing::UpTo(most),
        }
    }
}

impl DelayedAckSpec {
    fn delayed_ack(self) -> Option<DelayedAck> {
        let segments = self.segments.unwrap_or(2); // RFC 5681, section 4.2
        let timeout = self.timeout.map_or(Duration::from_ms(40), |timeout| timeout.0); // Linux's minimum
        let quick_acks = self.quick_acks.unwrap_or(0);
        (segments > 1).then_some(DelayedAck { segments, timeout, quick_acks })
    }
}

impl EcnSpec {
    fn mode(self) -> EcnMode {
        match self {
            EcnSpec::Off => EcnMode::Off,
            EcnSpec::Ect0 => EcnMode::Ect0,
            EcnSpec::Ect1 => EcnMode::Ect1,
        }
    }
}

impl QuirksSpec {
    fn over(self, base: Quirks) -> Quirks {
        Quirks {
            max_per_duplicate: self.max_per_duplicate.unwrap_or(base.max_per_duplicate),
            max_per_ack: self.max_per_ack.unwrap_or(base.max_per_ack),
            sack_counts_acks: self.sack_counts_acks.unwrap_or(base.sack_counts_acks),
            halves_to_whole: self.halves_to_whole.unwrap_or(base.halves_to_whole),
            grows_unused: self.grows_unused.unwrap_or(base.grows_unused),
            ecn_on_retransmissions: self.ecn_on_retransmissions.unwrap_or(base.ecn_on_retransmissions),
            forgets_rtt: self.forgets_rtt.unwrap_or(base.forgets_rtt),
            counts_ticks: self.counts_ticks.unwrap_or(base.counts_ticks),
            lost_syn_counts: self.lost_syn_counts.unwrap_or(base.lost_syn_counts),
        }
    }
}
