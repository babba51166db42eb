//! A video over TCP, in chunks, at a bitrate chosen by the viewer's buffer.
//!
//! # Source
//! T.-Y. Huang, R. Johari, N. McKeown, M. Trunnell and M. Watson, "A buffer-based approach to rate
//! adaptation: evidence from a large video streaming service", SIGCOMM 2014, section 4: BBA-0
//! (algorithm 1, figure 6). The default bitrates are those of H. Mao, R. Netravali and M. Alizadeh,
//! "Neural adaptive video streaming with Pensieve", SIGCOMM 2017, section 5.1.
//!
//! # Where we differ
//! - A request takes no time. The sender begins a chunk when it knows that the previous chunk has
//!   arrived. A real request would reach the sender then, but the arrival counts half a round trip
//!   too late.
//! - All chunks of a bitrate have equal size. In the paper sizes vary (section 5, BBA-1).
//! - A real service also adapts its start to the rate of the first chunks (BBA-2), and abandons
//!   late chunks. Its viewers seek and leave.

use super::step::{Cause, Demand, Segments, Step};
use fairwire_core::{Duration, Rng, Time};
use fairwire_metrics::{Kind, Lasted};
use std::collections::VecDeque;

/// A viewer of one endless video.
#[derive(Clone, Debug, PartialEq)]
pub struct Streaming {
    /// Playing time of a chunk; above zero.
    pub chunk: Duration,
    /// The available bitrates, bit/s of payload; ascending, and at least one.
    pub rates_bps: Vec<f64>,
    /// Maximum buffered playing time; at least [`needed_to_start`](Self::needed_to_start).
    pub buffer: Duration,
    /// Buffered playing time needed before the video plays, at first and after a stall.
    pub start: Duration,
    /// Buffered playing time up to which the bitrate is the lowest.
    pub reservoir: Duration,
    /// Buffered playing time in addition to `reservoir`, over which the bitrate rises to the
    /// highest. Above zero. Both together fit into the buffer.
    pub cushion: Duration,
}

/// The types of events that a viewer times.
pub const KINDS: &[Kind] = &[Kind::Transfer, Kind::Startup, Kind::Stall, Kind::Play, Kind::Switch];

impl Default for Streaming {
    /// The buffer of Huang and others 2014, section 4: 240 s, with a reservoir of 90 s. From nine
    /// tenths of the buffer on, the bitrate is the highest.
    fn default() -> Self {
        Streaming {
            chunk: Duration::from_secs(4),
            rates_bps: [300e3, 750e3, 1200e3, 1850e3, 2850e3, 4300e3].into(),
            buffer: Duration::from_secs(240),
            start: Duration::from_secs(4),
            reservoir: Duration::from_secs(90),
            cushion: Duration::from_secs(126),
        }
    }
}

impl Streaming {
    pub(super) fn problem(&self) -> Option<String> {
        let Streaming { chunk, rates_bps, buffer, reservoir, cushion, .. } = self;
        let is_rate = |bps: &f64| bps.is_finite() && *bps > 0.0;
        let problem = if chunk.is_zero() {
            "a chunk of a video plays for no time"
        } else if rates_bps.is_empty() {
            "a video has no bitrate"
        } else if !rates_bps.iter().all(is_rate) || !rates_bps.is_sorted_by(|a, b| a < b) {
            "the bitrates of a video are above zero and rise"
        } else if self.needed_to_start() > *buffer {
            "the buffer of a video is shorter than what it needs to start"
        } else if cushion.is_zero() || *reservoir + *cushion > *buffer {
            "a cushion is above zero, and within the buffer of its video together with the reservoir"
        } else {
            return None;
        };
        Some(problem.to_owned())
    }

    /// Buffered playing time when the video first plays: `start` rounded up to full chunks, at
    /// least one.
    pub fn needed_to_start(&self) -> Duration {
        let chunks = self.start.ns().div_ceil(self.chunk.ns().max(1)).max(1);
        Duration::from_ns(self.chunk.ns().saturating_mul(chunks))
    }

    pub(super) fn connections(&self) -> u16 {
        1
    }

    pub(super) fn demand(&self) -> Demand {
        Demand::Requested
    }

    fn allowed_bps(&self, buffered: Duration) -> f64 {
        let (least, most) = (self.rates_bps[0], self.rates_bps[self.rates_bps.len() - 1]);
        let above = (buffered.secs() - self.reservoir.secs()) / self.cushion.secs();
        least + (most - least) * above.clamp(0.0, 1.0)
    }

    /// The next bitrate level, by algorithm 1 of Huang and others 2014.
    fn next_level(&self, level: usize, buffered: Duration) -> usize {
        let (rates, highest) = (&self.rates_bps, self.rates_bps.len() - 1);
        if buffered <= self.reservoir {
            return 0;
        }
        if buffered >= self.reservoir + self.cushion {
            return highest;
        }
        let allowed = self.allowed_bps(buffered);
        if allowed >= rates[(level + 1).min(highest)] {
            rates.iter().rposition(|bps| *bps < allowed).unwrap_or(0)
        } else if allowed <= rates[level.saturating_sub(1)] {
            rates.iter().position(|bps| *bps > allowed).unwrap_or(highest)
        } else {
            level
        }
    }
}

#[derive(Debug)]
pub(crate) struct Machine {
    plan: Streaming,
    segments: Segments,
    level: usize,
    level_since: Time,
    is_fetching: bool,
    is_open: bool,
    /// Bytes of the buffered chunks, in playing order.
    chunks: VecDeque<u64>,
    playback: Playback,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Playback {
    Idle,
    /// The first chunk was requested at this time.
    Starting(Time),
    /// The first buffered chunk has played since this time.
    Playing(Time),
    Stalled(Time),
}

impl Machine {
    pub(crate) fn waiting(&self) -> u64 {
        0
    }

    pub(crate) fn new(plan: &Streaming, segments: Segments) -> Self {
        Machine {
            plan: plan.clone(),
            segments,
            level: 0,
            level_since: Time::ZERO,
            is_fetching: false,
            is_open: false,
            chunks: VecDeque::new(),
            playback: Playback::Idle,
        }
    }

    pub(crate) fn react(&mut self, cause: Cause, now: Time, _rng: &mut Rng, steps: &mut Vec<Step>) {
        if self.playback == Playback::Idle {
            (self.playback, self.level_since) = (Playback::Starting(now), now);
            return self.request(steps, now);
        }
        self.play(now, steps);
        if let Cause::Finished(_) = cause {
            self.is_fetching = false;
            self.chunks.push_back(self.bytes());
            self.begin_to_play(now, steps);
        }
        if self.is_fetching {
            return;
        }
        let room = self.plan.buffer.ns().saturating_sub(self.buffered(now).ns());
        let missing = self.plan.chunk.ns().saturating_sub(room);
        if missing > 0 {
            return steps.push(Step::WakeAt(now + Duration::from_ns(missing)));
        }
        self.choose(now, steps);
        self.request(steps, now);
    }

    fn bytes(&self) -> u64 {
        (self.plan.rates_bps[self.level] * self.plan.chunk.secs() / 8.0) as u64
    }

    fn buffered(&self, now: Time) -> Duration {
        let there = self.plan.chunk.ns() * self.chunks.len() as u64;
        let played = match self.playback {
            Playback::Playing(since) => now.since(since).ns(),
            _ => 0,
        };
        Duration::from_ns(there.saturating_sub(played))
    }

    fn play(&mut self, now: Time, steps: &mut Vec<Step>) {
        while let Playback::Playing(since) = self.playback {
            let until = since + self.plan.chunk;
            if until > now {
                return;
            }
            let bytes = self.chunks.pop_front().unwrap_or(0);
            steps.push(Step::Lasted(Lasted { kind: Kind::Play, since, until, bytes }));
            self.playback =
                if self.chunks.is_empty() { Playback::Stalled(until) } else { Playback::Playing(until) };
        }
    }

    fn begin_to_play(&mut self, now: Time, steps: &mut Vec<Step>) {
        let (kind, since) = match self.playback {
            Playback::Starting(since) => (Kind::Startup, since),
            Playback::Stalled(since) => (Kind::Stall, since),
            Playback::Idle | Playback::Playing(_) => return,
        };
        let waits_for_more = self.buffered(now) < self.plan.start;
        // If a chunk arrives exactly when the previous chunk ends, the video continues without a
        // stall.
        if waits_for_more && since < now {
            return;
        }
        self.playback = Playback::Playing(now);
        if since < now {
            steps.push(Step::Lasted(Lasted { kind, since, until: now, bytes: 0 }));
        }
    }

    fn choose(&mut self, now: Time, steps: &mut Vec<Step>) {
        let next = self.plan.next_level(self.level, self.buffered(now));
        if next != self.level {
            let since = self.level_since;
            steps.push(Step::Lasted(Lasted { kind: Kind::Switch, since, until: now, bytes: 0 }));
            (self.level, self.level_since) = (next, now);
        }
    }

    fn request(&mut self, steps: &mut Vec<Step>, now: Time) {
        let (place, segments, timed_from) = (0, self.segments.of(self.bytes() as f64), Some(now));
        self.is_fetching = true;
        steps.push(if std::mem::replace(&mut self.is_open, true) {
            Step::Write { place, segments, timed_from }
        } else {
            Step::Open { place, segments, timed_from }
        });
    }

    /// The unreported events up to `end`: the chunks played, and the start, the stall or the
    /// partial chunk in progress.
    pub(crate) fn under_way(&self, end: Time) -> Vec<Lasted> {
        let mut machine = Machine { plan: self.plan.clone(), chunks: self.chunks.clone(), ..*self };
        let mut steps = Vec::new();
        machine.play(end, &mut steps);
        let (kind, since) = match machine.playback {
            Playback::Idle => return Vec::new(),
            Playback::Starting(since) => (Kind::Startup, since),
            Playback::Playing(since) => (Kind::Play, since),
            Playback::Stalled(since) => (Kind::Stall, since),
        };
        let chunk = machine.chunks.front().copied().unwrap_or(0) as f64;
        let bytes = match kind {
            Kind::Play => chunk * (end.since(since).secs() / machine.plan.chunk.secs()),
            _ => 0.0,
        };
        let last = Lasted { kind, since, until: end, bytes: bytes as u64 };
        let played = steps.into_iter().filter_map(|step| match step {
            Step::Lasted(lasted) => Some(lasted),
            _ => None,
        });
        played.chain((since < end).then_some(last)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Load;
    use super::super::tests::Ideal;
    use super::*;

    /// The steps of `plan` in `s` seconds, over an ideal connection of 8 Mbit/s: one segment of
    /// 1000 bytes per millisecond.
    fn steps(plan: Streaming, s: u64) -> Vec<(Time, Step)> {
        Ideal::run(&Load::Streaming(Box::new(plan)), Time::ZERO + Duration::from_secs(s))
    }

    fn lasted(steps: &[(Time, Step)], sought: Kind) -> Vec<f64> {
        let of = |(_, step): &(Time, Step)| match step {
            Step::Lasted(Lasted { kind, since, until, .. }) if *kind == sought => {
                Some(until.since(*since).seconds())
            }
            _ => None,
        };
        steps.iter().filter_map(of).collect()
    }

    fn requested(steps: &[(Time, Step)]) -> Vec<(f64, u64)> {
        let of = |(at, step): &(Time, Step)| match step {
            Step::Open { segments, .. } | Step::Write { segments, .. } => Some((at.secs(), *segments)),
            _ => None,
        };
        steps.iter().filter_map(of).collect()
    }

    #[test]
    fn the_map_and_its_steps_match_the_paper() {
        let video = Streaming { rates_bps: vec![1e6, 2e6, 3e6], ..Streaming::default() };
        let s = Duration::from_secs;
        assert_eq!([0, 90, 153, 216, 240].map(|at| video.allowed_bps(s(at))), [1e6, 1e6, 2e6, 3e6, 3e6]);
        // Level 0 is kept until the map allows 2 Mbit/s. The next level has the highest bitrate
        // below the allowed bitrate.
        assert_eq!([90, 152, 154, 215, 216].map(|at| video.next_level(0, s(at))), [0, 0, 1, 2 - 1, 2]);
        // Level 1 falls only where the map allows just 1 Mbit/s, and rises only where it allows
        // 3 Mbit/s.
        assert_eq!([90, 91, 152, 215, 216].map(|at| video.next_level(1, s(at))), [0, 1, 1, 1, 2]);
        // Level 2 is kept until the map allows less than 2 Mbit/s. The next level has the lowest
        // bitrate above the allowed bitrate.
        assert_eq!([216, 215, 154, 152, 91].map(|at| video.next_level(2, s(at))), [2, 2, 2, 1, 1]);
    }

    #[test]
    fn it_climbs_while_the_buffer_fills_and_then_keeps_it_full() {
        let steps = steps(Streaming::default(), 600);
        let requested = requested(&steps);
        assert_eq!(requested[0], (0.0, 150)); // 4 s of 300 kbit/s
        assert_eq!(requested.last().expect("some").1, 2150); // 4 s of 4.3 Mbit/s, of 8 available
        assert_eq!(lasted(&steps, Kind::Startup), [0.15]);
        assert!(lasted(&steps, Kind::Stall).is_empty());
        // The buffer only grows, so each of the five switches to a higher bitrate occurs once.
        assert_eq!(lasted(&steps, Kind::Switch).len(), 5);
        let late: Vec<f64> = requested.iter().map(|(at, _)| *at).filter(|at| *at > 500.0).collect();
        assert!(late.windows(2).all(|pair| (pair[1] - pair[0] - 4.0).abs() < 1e-6), "{late:?}");
        assert_eq!(lasted(&steps, Kind::Play).len(), 149); // from 0.15 s on
    }

    #[test]
    fn between_two_bitrates_it_plays_both_with_the_mean_of_the_link() {
        // The mean bitrate is the link's 8 Mbit/s if a third of the chunks has 12 Mbit/s.
        let video = Streaming { rates_bps: vec![6e6, 12e6], ..Streaming::default() };
        let requested = requested(&steps(video, 4000));
        let late: Vec<u64> = requested.iter().filter(|(at, _)| *at > 2000.0).map(|(_, of)| *of).collect();
        let high = late.iter().filter(|of| **of == 6000).count() as f64 / late.len() as f64;
        assert!((high - 1.0 / 3.0).abs() < 0.05, "{high}"); // a cycle has some tens of 500 chunks
        assert!(lasted(&steps_of(&[6e6, 12e6]), Kind::Stall).is_empty());
    }

    fn steps_of(rates_bps: &[f64]) -> Vec<(Time, Step)> {
        steps(Streaming { rates_bps: rates_bps.to_vec(), ..Streaming::default() }, 1000)
    }

    #[test]
    fn a_bitrate_above_the_rate_stalls_after_each_chunk() {
        // A chunk of 4 s at 12 Mbit/s takes 6 s over 8 Mbit/s.
        let steps = steps_of(&[12e6]);
        assert_eq!(lasted(&steps, Kind::Startup), [6.0]);
        let stalls = lasted(&steps, Kind::Stall);
        assert_eq!(stalls.len(), 165); // 1000 s have 166 chunks, and one before each stall
        assert!(stalls.iter().all(|s| (s - 2.0).abs() < 1e-9), "{stalls:?}");
    }

    #[test]
    fn unfinished_events_count_up_to_the_end() {
        let video = Streaming { rates_bps: vec![12e6], ..Streaming::default() };
        let at = |s| Time::ZERO + Duration::from_secs(s);
        let mut ideal = Ideal::new(&Load::Streaming(Box::new(video)));
        ideal.run_to(at(13)); // chunks at 6 s and 12 s
        let of = |end: u64| {
            let under_way = ideal.machine.under_way(at(end)).into_iter();
            under_way.map(|one| (one.kind, one.since, one.bytes)).collect::<Vec<_>>()
        };
        assert_eq!(of(13), [(Kind::Play, at(12), 1_500_000)]);
        assert_eq!(of(17), [(Kind::Play, at(12), 6_000_000), (Kind::Stall, at(16), 0)]);
    }

    #[test]
    fn an_impossible_video_is_refused_with_the_reason() {
        let video = Streaming::default();
        assert_eq!(video.problem(), None);
        for bad in [
            Streaming { chunk: Duration::ZERO, ..video.clone() },
            Streaming { rates_bps: vec![], ..video.clone() },
            Streaming { rates_bps: vec![2e6, 1e6], ..video.clone() },
            Streaming { start: Duration::from_secs(241), ..video.clone() },
            Streaming { cushion: Duration::ZERO, ..video.clone() },
            Streaming { reservoir: Duration::from_secs(115), ..video },
        ] {
            assert!(bad.problem().is_some(), "{bad:?}");
        }
    }
}
