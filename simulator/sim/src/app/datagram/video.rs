//! Video: frames at a constant rate, of random sizes, cut into packets.

use super::packet::{Emission, gap_problem, packet_problem};
use crate::app::law::{Law, Moments, Sampler};
use fairwire_core::{Duration, Rng, Time};

/// A stream of video frames.
///
/// Every `group`-th frame, including the first, is an I-frame. By default, sizes are lognormal, as
/// M. Krunz and H. Hughes found ("A traffic model for MPEG-coded VBR streams", SIGMETRICS 1995).
/// The parameters are ours: 3 Mbit/s at 30 frames/s, deviations of 30 % of the mean, and I-frames
/// four times as large as P-frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Video {
    /// Time between frames; above zero.
    pub frame: Duration,
    /// Frames from one I-frame to the next, at least 1.
    pub group: u32,
    /// Bytes of an I-frame, without packet headers.
    pub i_bytes: Law,
    /// Bytes of a frame that is not an I-frame, without packet headers.
    pub p_bytes: Law,
    /// Bytes on the wire of a full packet; more than its headers.
    pub packet_bytes: u32,
    /// Are the packets of a frame spread evenly over the frame time, instead of sent back to back?
    pub is_paced: bool,
}

impl Default for Video {
    fn default() -> Self {
        // A group has 30 frames of 12 500 bytes on average. Its one I-frame is as large as four
        // P-frames.
        let p_mean = 12_500.0 * 30.0 / 33.0;
        let law = |mean: f64| Law::log_normal(Moments { mean, deviation: 0.3 * mean });
        Video {
            frame: Duration::from_ns(33_333_333),
            group: 30,
            i_bytes: law(4.0 * p_mean),
            p_bytes: law(p_mean),
            packet_bytes: 1200,
            is_paced: false,
        }
    }
}

impl Video {
    pub(super) fn typical_bytes(&self, _header_bytes: u32) -> u32 {
        self.packet_bytes
    }

    pub(super) fn problem(&self, header_bytes: u32) -> Option<String> {
        let laws = self.i_bytes.problem().or(self.p_bytes.problem());
        let group = (self.group == 0).then(|| "a group has no frames; it needs one at least".to_owned());
        let all_headers = (header_bytes == self.packet_bytes)
            .then(|| format!("packets of {header_bytes} bytes have room for headers alone, not for video"));
        let packet = packet_problem(self.packet_bytes, header_bytes).or(all_headers);
        gap_problem(self.frame).or(packet).or(group).or(laws.map(str::to_owned))
    }
}

#[derive(Debug)]
pub(crate) struct Generator {
    frame: Duration,
    group: u32,
    i_bytes: Sampler,
    p_bytes: Sampler,
    payload: u64,
    header_bytes: u32,
    is_paced: bool,
    /// The start of the frame being sent; `None` before the first frame.
    at: Option<Time>,
    packets: u64,
    sent: u64,
    left: u64,
    to_next_i: u32,
}

impl Generator {
    pub(crate) fn new(plan: &Video, header_bytes: u32) -> Self {
        Generator {
            frame: plan.frame,
            group: plan.group,
            i_bytes: plan.i_bytes.sampler(),
            p_bytes: plan.p_bytes.sampler(),
            payload: u64::from(plan.packet_bytes - header_bytes),
            header_bytes,
            is_paced: plan.is_paced,
            at: None,
            packets: 0,
            sent: 0,
            left: 0,
            to_next_i: 0,
        }
    }

    pub(crate) fn next(&mut self, now: Time, rng: &mut Rng) -> Emission {
        let mut start = self.at.unwrap_or(now);
        if self.sent == self.packets {
            start = self.at.map_or(now, |at| at + self.frame);
            self.begin(start, rng);
        }
        let bytes = self.left.min(self.payload);
        let offset = if self.is_paced { self.frame.ns() / self.packets * self.sent } else { 0 };
        self.left -= bytes;
        self.sent += 1;
        Emission::of(bytes as u32 + self.header_bytes, (start + Duration::from_ns(offset)).max(now))
    }

    fn begin(&mut self, start: Time, rng: &mut Rng) {
        let is_i = self.to_next_i == 0;
        self.to_next_i = if is_i { self.group - 1 } else { self.to_next_i - 1 };
        self.left = if is_i { &self.i_bytes } else { &self.p_bytes }.count(rng).max(1);
        self.packets = self.left.div_ceil(self.payload);
        self.sent = 0;
        self.at = Some(start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::Seed;

    fn emissions(plan: &Video, count: usize) -> Vec<Emission> {
        let (mut source, mut rng) = (Generator::new(plan, 40), Seed(1).stream("test"));
        let mut now = Time::ZERO;
        let mut next = || {
            let emission = source.next(now, &mut rng);
            now = emission.at;
            emission
        };
        (0..count).map(|_| next()).collect()
    }

    fn small() -> Video {
        Video {
            frame: Duration::from_ms(40),
            group: 3,
            i_bytes: Law::Fixed(2500.0),
            p_bytes: Law::Fixed(1000.0),
            packet_bytes: 1040,
            is_paced: false,
        }
    }

    fn sent(emissions: &[Emission]) -> Vec<(u64, u32)> {
        emissions.iter().map(|e| (e.at.ns() / 1_000_000, e.bytes)).collect()
    }

    #[test]
    fn a_frame_is_cut_into_full_packets_and_a_rest() {
        let expected = [(0, 1040), (0, 1040), (0, 540), (40, 1040), (80, 1040), (120, 1040)];
        assert_eq!(sent(&emissions(&small(), 6)), expected);
    }

    #[test]
    fn paced_packets_are_spread_over_the_frame() {
        let expected = [(0, 1040), (13, 1040), (26, 540), (40, 1040), (80, 1040), (120, 1040), (133, 1040)];
        assert_eq!(sent(&emissions(&Video { is_paced: true, ..small() }, 7)), expected);
    }

    #[test]
    fn the_default_stream_has_three_megabits_per_second_of_pictures() {
        let emissions = emissions(&Video::default(), 400_000);
        let last = emissions[emissions.len() - 1].at;
        let bytes: u64 = emissions.iter().filter(|e| e.at < last).map(|e| u64::from(e.bytes) - 40).sum();
        let frames = last.secs() * 30.0;
        // A group of 30 frames has the bytes of 33 P-frames on average. The deviation of a group is
        // 0.3 x sqrt(4^2 + 29) = 2.01 P-frames, or 6.1 %.
        let bound = 3.3 * 12_500.0 * 0.061 / (frames / 30.0).sqrt() + 12_500.0 * 30.0 / frames; // plus a group cut short
        assert!((bytes as f64 / frames - 12_500.0).abs() < bound, "{}", bytes as f64 / frames);
    }
}
