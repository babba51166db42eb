//! Sources of datagrams: they send by their own law, whatever becomes of their packets.

pub(crate) mod cbr;
pub(crate) mod on_off;
pub(crate) mod poisson;
pub(crate) mod replay;
pub(crate) mod video;
pub(crate) mod voip;

use fairwire_core::{Duration, Rng, Time};

/// The largest packet: what IP can carry (RFC 791, RFC 8200).
const LARGEST_BYTES: u64 = 65_535;

/// A packet to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Emission {
    /// When; never before the call that told of it.
    pub(crate) at: Time,
    /// Bytes on the wire.
    pub(crate) bytes: u32,
    /// Which of the source's conversations it belongs to, counted from 0.
    pub(crate) conversation: u16,
}

impl Emission {
    fn of(bytes: u32, at: Time) -> Self {
        Emission { at, bytes, conversation: 0 }
    }
}

/// A source of datagrams other than constant bit rate.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// Bursts with pauses between.
    OnOff(on_off::OnOff),
    /// Packets at random times.
    Poisson(poisson::Poisson),
    /// A telephone call.
    Voip(voip::Voip),
    /// Frames of moving pictures.
    Video(video::Video),
    /// Packets as they were captured.
    Replay(replay::Replay),
}

impl Traffic {
    /// What is wrong with it where each packet has `header_bytes` of headers, if anything. [`run`](crate::run) refuses it then.
    pub fn problem(&self, header_bytes: u32) -> Option<String> {
        match self {
            Traffic::OnOff(plan) => plan.problem(header_bytes),
            Traffic::Poisson(plan) => plan.problem(header_bytes),
            Traffic::Voip(plan) => plan.problem(header_bytes),
            Traffic::Video(plan) => plan.problem(header_bytes),
            Traffic::Replay(plan) => plan.problem(header_bytes),
        }
    }

    /// What a record calls it.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Traffic::OnOff(_) => "on/off",
            Traffic::Poisson(_) => "poisson",
            Traffic::Voip(_) => "voip",
            Traffic::Video(_) => "video",
            Traffic::Replay(_) => "replay",
        }
    }
}

/// A source at work.
#[derive(Debug)]
pub(crate) enum Generator {
    Cbr(cbr::Generator),
    OnOff(on_off::Generator),
    Poisson(poisson::Generator),
    Voip(voip::Generator),
    Video(video::Generator),
    Replay(replay::Generator),
}

impl Generator {
    /// # Panics
    /// When `traffic` has a [`problem`](Traffic::problem).
    pub(crate) fn new(traffic: &Traffic, header_bytes: u32) -> Self {
        if let Some(problem) = traffic.problem(header_bytes) {
            panic!("{problem}");
        }
        match traffic {
            Traffic::OnOff(plan) => Generator::OnOff(on_off::Generator::new(plan)),
            Traffic::Poisson(plan) => Generator::Poisson(poisson::Generator::new(plan, header_bytes)),
            Traffic::Voip(plan) => Generator::Voip(voip::Generator::new(plan, header_bytes)),
            Traffic::Video(plan) => Generator::Video(video::Generator::new(plan, header_bytes)),
            Traffic::Replay(plan) => Generator::Replay(replay::Generator::new(plan)),
        }
    }

    /// The next packet, told at `now`, which is when the source starts or when it sent the previous one; none when it is through.
    #[inline]
    pub(crate) fn next(&mut self, now: Time, rng: &mut Rng) -> Option<Emission> {
        match self {
            Generator::Cbr(source) => Some(source.next(now, rng)),
            other => other.next_of_others(now, rng),
        }
    }

    #[inline(never)] // lest the most frequent source wait for what it returns through memory
    fn next_of_others(&mut self, now: Time, rng: &mut Rng) -> Option<Emission> {
        match self {
            Generator::Cbr(source) => Some(source.next(now, rng)),
            Generator::OnOff(source) => Some(source.next(now, rng)),
            Generator::Poisson(source) => Some(source.next(now, rng)),
            Generator::Voip(source) => Some(source.next(now, rng)),
            Generator::Video(source) => Some(source.next(now, rng)),
            Generator::Replay(source) => source.next(now),
        }
    }
}

/// The packet that most of the source's are, bytes on the wire: for what computes ahead.
pub(crate) fn typical_bytes(traffic: &Traffic, header_bytes: u32) -> u32 {
    match traffic {
        Traffic::OnOff(plan) => plan.packet_bytes,
        Traffic::Poisson(plan) => match plan.size {
            super::Law::Fixed(bytes) => whole_bytes(bytes, header_bytes),
            _ => 0,
        },
        Traffic::Voip(plan) => plan.packet_bytes(header_bytes),
        Traffic::Video(plan) => plan.packet_bytes,
        Traffic::Replay(_) => 0,
    }
}

/// `bytes` as a packet: whole, with room for its headers, and no larger than IP allows.
fn whole_bytes(bytes: f64, header_bytes: u32) -> u32 {
    ((bytes + 0.5) as u64).clamp(u64::from(header_bytes).max(1), LARGEST_BYTES) as u32
}

/// What is wrong with packets of `bytes`, `header_bytes` of them headers.
fn packet_problem(bytes: u32, header_bytes: u32) -> Option<String> {
    if bytes == 0 || u64::from(bytes) > LARGEST_BYTES {
        return Some(format!("a packet of {bytes} bytes is none that IP could carry: 1 to {LARGEST_BYTES}"));
    }
    (header_bytes > bytes).then(|| format!("{header_bytes} of {bytes} bytes cannot be headers"))
}

/// What is wrong with `gap`: without it a source would send for ever at one instant.
pub(crate) fn gap_problem(gap: Duration) -> Option<String> {
    gap.is_zero().then(|| "a time between packets or connections must be above zero".to_owned())
}
