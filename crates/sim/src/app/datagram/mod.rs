//! Sources of datagrams: they send by their own law, whatever becomes of their packets.

pub(crate) mod cbr;
pub(crate) mod on_off;
mod packet;
pub(crate) mod poisson;
pub(crate) mod replay;
pub(crate) mod video;
pub(crate) mod voip;

pub(crate) use packet::{Emission, gap_problem};

use super::law::Law;
use fairwire_core::{Rng, Time};
use packet::whole_bytes;

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
            Law::Fixed(bytes) => whole_bytes(bytes, header_bytes),
            _ => 0,
        },
        Traffic::Voip(plan) => plan.packet_bytes(header_bytes),
        Traffic::Video(plan) => plan.packet_bytes,
        Traffic::Replay(_) => 0,
    }
}
