//! Captured packets as offered load.

use super::packet::Emission;
use fairwire_core::{Duration, Ecn, Rng, Time};
use std::sync::Arc;

/// Libpcap's maximum size of a packet, bytes.
const MAX_BYTES: u32 = 262_144;

/// A captured packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered {
    /// The packet's capture time, counted from the first packet of the capture.
    pub at: Duration,
    /// Bytes on the wire, from 1 to libpcap's bound of 262 144; captures may hold super-packets.
    pub bytes: u32,
    /// The flow of the capture, counted from 0. Each flow has a separate flow hash.
    pub flow: u16,
    /// Its ECN codepoint.
    pub ecn: Ecn,
}

/// A replayed capture.
///
/// The load is open-loop: packets are sent at their captured times, even those of a TCP that would
/// have slowed down. A repetition begins one mean gap of the capture after the last packet, and its
/// flows keep their hashes.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// The packets, in order of time. If the list is empty, nothing is sent.
    pub packets: Arc<[Offered]>,
    /// The speed relative to the capture; above 0.
    pub speed: f64,
    /// True if the capture restarts at its end.
    pub repeats: bool,
}

impl Replay {
    pub(super) fn typical_bytes(&self, _header_bytes: u32) -> u32 {
        0
    }

    pub(super) fn problem(&self, header_bytes: u32) -> Option<String> {
        if !(self.speed > 0.0 && self.speed.is_finite()) {
            return Some(format!("a speed of {} is not above 0", self.speed));
        }
        let sizes = header_bytes.max(1)..=MAX_BYTES;
        if let Some(odd) = self.packets.iter().find(|packet| !sizes.contains(&packet.bytes)) {
            let Offered { bytes, at, .. } = odd;
            return Some(format!("the captured packet at {at} has {bytes} bytes, not {sizes:?}"));
        }
        if !self.packets.is_sorted_by_key(|packet| packet.at) {
            return Some("captured packets are out of order".to_owned());
        }
        let is_instant = self.packets.last().is_none_or(|last| last.at.is_zero());
        (self.repeats && is_instant).then(|| "a capture without length cannot repeat".to_owned())
    }
}

#[derive(Debug)]
pub(crate) struct Generator {
    packets: Arc<[Offered]>,
    speed: f64,
    repeats: bool,
    began: Option<Time>,
    next: usize,
}

impl Generator {
    pub(crate) fn new(plan: &Replay, _header_bytes: u32) -> Self {
        Generator {
            packets: Arc::clone(&plan.packets),
            speed: plan.speed,
            repeats: plan.repeats,
            began: None,
            next: 0,
        }
    }

    pub(crate) fn next(&mut self, now: Time, _rng: &mut Rng) -> Option<Emission> {
        let mut began = *self.began.get_or_insert(now);
        if self.next == self.packets.len() && self.repeats {
            began += self.scaled(self.period());
            self.began = Some(began);
            self.next = 0;
        }
        let packet = *self.packets.get(self.next)?;
        self.next += 1;
        let at = (began + self.scaled(packet.at)).max(now);
        Some(Emission { at, bytes: packet.bytes, conversation: packet.flow, ecn: packet.ecn })
    }

    fn period(&self) -> Duration {
        let last = self.packets.last().map_or(Duration::ZERO, |last| last.at);
        let gaps = (self.packets.len() as u64).saturating_sub(1).max(1);
        last + Duration::from_ns(last.ns() / gaps)
    }

    fn scaled(&self, time: Duration) -> Duration {
        if self.speed == 1.0 { time } else { Duration::from_secs_f64(time.secs() / self.speed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::Seed;

    fn packets() -> Arc<[Offered]> {
        let of = |ms, bytes, flow| Offered { at: Duration::from_ms(ms), bytes, flow, ecn: Ecn::NotEct };
        [of(0, 100, 0), of(5, 1500, 1), of(5, 60, 0), of(30, 200, 2)].into()
    }

    fn emitted(speed: f64, repeats: bool, count: usize) -> Vec<(u64, u32, u16)> {
        let mut source = Generator::new(&Replay { packets: packets(), speed, repeats }, 0);
        let mut rng = Seed(1).stream("replay");
        let mut now = Time::ZERO + Duration::from_ms(1000);
        let mut emitted = Vec::new();
        while emitted.len() < count {
            let Some(Emission { at, bytes, conversation, .. }) = source.next(now, &mut rng) else { break };
            now = at;
            emitted.push((at.ns() / 1_000_000, bytes, conversation));
        }
        emitted
    }

    #[test]
    fn packets_follow_the_capture_from_the_start_of_the_source() {
        assert_eq!(emitted(1.0, false, 9), [(1000, 100, 0), (1005, 1500, 1), (1005, 60, 0), (1030, 200, 2)]);
    }

    #[test]
    fn twice_the_speed_halves_the_times() {
        assert_eq!(emitted(2.0, false, 9).last(), Some(&(1015, 200, 2)));
    }

    #[test]
    fn a_repeated_capture_continues_after_its_mean_gap() {
        // The capture lasts 30 ms, and its mean gap is 10 ms.
        assert_eq!(
            emitted(1.0, true, 9)[4..],
            [(1040, 100, 0), (1045, 1500, 1), (1045, 60, 0), (1070, 200, 2), (1080, 100, 0)]
        );
    }

    #[test]
    fn unplayable_captures_are_refused() {
        let replay = |packets: &[Offered], speed, repeats| Replay { packets: packets.into(), speed, repeats };
        let (good, mut swapped) = (packets(), packets().to_vec());
        swapped.swap(0, 3);
        assert_eq!(replay(&good, 1.0, true).problem(28), None);
        assert_eq!(replay(&[], 1.0, false).problem(28), None);
        for bad in [
            replay(&swapped, 1.0, false),
            replay(&good, 0.0, false),
            replay(&good, f64::NAN, false),
            replay(&good[..1], 1.0, true),
            replay(&[], 1.0, true),
        ] {
            assert!(bad.problem(28).is_some(), "{bad:?}");
        }
        let problem = replay(&good, 1.0, false).problem(61).expect("60 bytes have no room");
        assert_eq!(problem, "the captured packet at 5 ms has 60 bytes, not 61..=262144");
    }
}
