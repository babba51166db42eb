//! Constant bit rate, with gaps optionally stretched or shrunk at random (ns-2's `random_`).

use super::packet::Emission;
use crate::line::{Line, Pace};
use fairwire_core::{Duration, Rate, Rng, Time};

#[derive(Debug)]
pub(crate) struct Generator {
    schedule: Line,
    pace: Pace,
    bytes: u32,
    dither: f64,
    has_started: bool,
}

impl Generator {
    /// `dither`, from 0 to 1, is the largest fraction by which a gap is randomly stretched or
    /// shrunk.
    pub(crate) fn new(rate: Rate, bytes: u32, dither: f64) -> Self {
        let (schedule, pace) = (Line::default(), Pace::new(rate, bytes));
        Generator { schedule, pace, bytes, dither, has_started: false }
    }

    /// The next packet. Rounding errors of gaps do not accumulate, so the mean rate without dither
    /// is exact.
    #[inline]
    pub(crate) fn next(&mut self, now: Time, rng: &mut Rng) -> Emission {
        if !std::mem::replace(&mut self.has_started, true) {
            return Emission::of(self.bytes, now);
        }
        let before = self.schedule.free_at();
        let gap = self.schedule.start(self.bytes, before, &self.pace).since(before);
        if self.dither == 0.0 {
            return Emission::of(self.bytes, now + gap);
        }
        let factor = 1.0 + self.dither * (2.0 * rng.uniform() - 1.0);
        Emission::of(self.bytes, now + Duration::from_secs_f64(gap.secs() * factor))
    }
}
