//! A telephone call: one frame of speech per period during talk.

use super::packet::{Emission, gap_problem, packet_problem};
use crate::app::law::{Law, Sampler};
use fairwire_core::{Duration, Rng, Time};

/// One direction of a telephone call.
///
/// The default is G.711 with 20 ms per packet, 64 kbit/s of speech (RFC 3551, section 4.5.14), and
/// the talk spurts of ITU-T P.59. `Source::Datagrams` states the header bytes: 40 for RTP over UDP
/// over IPv4.
#[derive(Clone, Debug, PartialEq)]
pub struct Voip {
    /// Time between packets within a talk spurt; above zero.
    pub frame: Duration,
    /// Bytes of speech per packet.
    pub payload_bytes: u32,
    /// The talk model; `None` for continuous talk, without silence suppression.
    pub talk: Option<Talk>,
}

/// The model of talk spurts and silence.
#[derive(Clone, Debug, PartialEq)]
pub struct Talk {
    /// The length of a talk spurt, seconds. A talk spurt has a packet at its start, and one every
    /// `Voip::frame` until its end.
    pub spurt: Law,
    /// Seconds between talk spurts.
    pub silence: Law,
}

impl Default for Voip {
    fn default() -> Self {
        Voip { frame: Duration::from_ms(20), payload_bytes: 160, talk: Some(Talk::default()) }
    }
}

impl Default for Talk {
    /// Exponential, with the means of ITU-T P.59 (1993).
    fn default() -> Self {
        Talk { spurt: Law::Exponential { mean: 1.004 }, silence: Law::Exponential { mean: 1.587 } }
    }
}

impl Voip {
    pub(super) fn typical_bytes(&self, header_bytes: u32) -> u32 {
        self.payload_bytes.saturating_add(header_bytes)
    }

    pub(super) fn problem(&self, header_bytes: u32) -> Option<String> {
        let laws = self.talk.as_ref().and_then(|talk| talk.spurt.problem().or(talk.silence.problem()));
        let packet = packet_problem(self.typical_bytes(header_bytes), header_bytes);
        gap_problem(self.frame).or(packet).or(laws.map(str::to_owned))
    }
}

#[derive(Debug)]
pub(crate) struct Generator {
    frame: Duration,
    bytes: u32,
    talk: Option<(Sampler, Sampler)>,
    /// The end of the current talk spurt; `None` before the first.
    until: Option<Time>,
}

impl Generator {
    pub(crate) fn new(plan: &Voip, header_bytes: u32) -> Self {
        let bytes = plan.typical_bytes(header_bytes);
        let talk = plan.talk.as_ref().map(|talk| (talk.spurt.sampler(), talk.silence.sampler()));
        Generator { frame: plan.frame, bytes, talk, until: None }
    }

    pub(crate) fn next(&mut self, now: Time, rng: &mut Rng) -> Emission {
        let Some((spurt, silence)) = &self.talk else {
            let at = if self.until.replace(Time::MAX).is_some() { now + self.frame } else { now };
            return Emission::of(self.bytes, at);
        };
        let at = match self.until {
            Some(until) if now + self.frame < until => return Emission::of(self.bytes, now + self.frame),
            Some(until) => until + silence.duration(rng),
            None => now,
        };
        self.until = Some(at + spurt.duration(rng));
        Emission::of(self.bytes, at.max(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::Seed;

    fn next(source: &mut Generator, now: &mut Time, rng: &mut Rng) -> Time {
        let emission = source.next(*now, rng);
        assert_eq!(emission.bytes, 200);
        *now = emission.at;
        emission.at
    }

    #[test]
    fn a_spurt_has_a_packet_at_its_start_and_one_per_period_until_it_ends() {
        let talk = Some(Talk { spurt: Law::Fixed(0.05), silence: Law::Fixed(0.1) });
        let mut source = Generator::new(&Voip { talk, ..Voip::default() }, 40);
        let (mut rng, mut now) = (Seed(1).stream("test"), Time::ZERO);
        let ms: Vec<u64> = (0..7).map(|_| next(&mut source, &mut now, &mut rng).ns() / 1_000_000).collect();
        assert_eq!(ms, [0, 20, 40, 150, 170, 190, 300]);
    }

    #[test]
    fn without_silence_suppression_it_never_stops() {
        let mut source = Generator::new(&Voip { talk: None, ..Voip::default() }, 40);
        let (mut rng, mut now) = (Seed(1).stream("test"), Time::ZERO);
        let ms: Vec<u64> = (0..4).map(|_| next(&mut source, &mut now, &mut rng).ns() / 1_000_000).collect();
        assert_eq!(ms, [0, 20, 40, 60]);
    }

    #[test]
    fn a_call_sends_the_packets_that_its_talk_takes() {
        let mut source = Generator::new(&Voip::default(), 40);
        let (mut rng, mut now) = (Seed(1).stream("test"), Time::ZERO);
        let (mut packets, mut spurts, mut before) = (0_u64, 0_u64, Time::ZERO);
        while now < Time::ZERO + Duration::from_secs(50_000) {
            let at = next(&mut source, &mut now, &mut rng);
            packets += 1;
            spurts += u64::from(packets == 1 || at.since(before) != Duration::from_ms(20));
            before = at;
        }
        let n = spurts as f64;
        // The number of packets in a spurt is geometric, with a deviation just below its mean.
        let expected = 1.0 / (1.0 - (-0.02_f64 / 1.004).exp());
        let per_spurt = packets as f64 / n;
        assert!((per_spurt - expected).abs() < 3.3 * expected / n.sqrt(), "{per_spurt}, not {expected}");
        // A cycle lasts 1.004 + 1.587 s on average.
        let cycle = now.secs() / n;
        let deviation = (1.004_f64.powi(2) + 1.587_f64.powi(2)).sqrt();
        assert!((cycle - 2.591).abs() < 3.3 * deviation / n.sqrt() + 2.591 / n, "{cycle}");
    }
}
