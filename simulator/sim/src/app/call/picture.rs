//! The picture at the far end of a call: reassembles frames, and shows them in order.

use fairwire_core::{Duration, Time};
use fairwire_metrics::{Kind, Lasted};
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// The number of the frame, from 0.
    pub frame: u64,
    pub captured: Time,
    /// The number of packets in the frame.
    pub pieces: u32,
    /// Can the frame be decoded without other frames?
    pub is_key: bool,
}

/// W3C: a freeze lasts at least this multiple of the mean gap between frames, and at least 150 ms
/// more than the mean.
const FREEZE_FACTOR: f64 = 3.0;
const FREEZE_MORE_S: f64 = 0.150;
/// A freeze is compared with the mean of this many latest gaps between frames.
const FRAMES: usize = 30;

pub(super) struct Picture {
    deadline: Duration,
    /// Incomplete frames, with the number of packets that have arrived.
    open: BTreeMap<u64, (Piece, u32)>,
    /// The next frame: its number, and its approximate capture time.
    next: u64,
    next_captured: Time,
    frame: Duration,
    /// True after a lost frame, until a key frame is shown.
    is_broken: bool,
    began: Option<Time>,
    shown: Option<Time>,
    gaps_s: VecDeque<f64>,
    lasted: Vec<Lasted>,
}

impl Picture {
    /// `frame` is the time between captures; a frame shown more than `deadline` after its capture
    /// is late.
    pub(super) fn new(frame: Duration, deadline: Duration) -> Self {
        Picture {
            deadline,
            open: BTreeMap::new(),
            next: 0,
            next_captured: Time::ZERO,
            frame,
            is_broken: false,
            began: None,
            shown: None,
            gaps_s: VecDeque::new(),
            lasted: Vec::new(),
        }
    }

    pub(super) fn begin(&mut self, now: Time) {
        if self.began.is_none() {
            (self.began, self.next_captured) = (Some(now), now);
        }
    }

    /// If a key frame is needed, the number of the last frame already shown or lost. Only a later
    /// key frame helps.
    pub(super) fn key_after(&self) -> Option<u64> {
        self.is_broken.then(|| self.next.saturating_sub(1))
    }

    pub(super) fn take(&mut self, piece: Piece, now: Time) {
        self.begin(piece.captured);
        if piece.frame < self.next {
            return; // the frame was given up
        }
        let (_, came) = self.open.entry(piece.frame).or_insert((piece, 0));
        *came += 1;
        if *came < piece.pieces {
            return;
        }
        // The frame is complete, so the missing packets of earlier frames are lost.
        while self.next < piece.frame {
            let captured = self.open.remove(&self.next).map_or(self.next_captured, |(of, _)| of.captured);
            self.lose(captured, now);
            (self.next, self.next_captured) = (self.next + 1, captured + self.frame);
        }
        self.open.remove(&piece.frame);
        (self.next, self.next_captured) = (piece.frame + 1, piece.captured + self.frame);
        if self.is_broken && !piece.is_key {
            return self.lose(piece.captured, now);
        }
        self.is_broken = false;
        self.show(piece.captured, now);
    }

    fn lose(&mut self, captured: Time, now: Time) {
        self.is_broken = true;
        self.lasted.push(Lasted { kind: Kind::LostFrame, since: captured, until: now, bytes: 0 });
    }

    fn show(&mut self, captured: Time, now: Time) {
        let took = now.since(captured);
        self.lasted.push(Lasted { kind: Kind::Frame, since: captured, until: now, bytes: 0 });
        if took > self.deadline {
            self.lasted.push(Lasted { kind: Kind::LateFrame, since: captured, until: now, bytes: 0 });
        }
        if let Some(before) = self.shown {
            self.lasted.extend(self.freeze(before, now));
            self.gaps_s.push_back(now.since(before).secs());
            if self.gaps_s.len() > FRAMES {
                self.gaps_s.pop_front();
            }
        }
        self.shown = Some(now);
    }

    fn freeze(&self, since: Time, until: Time) -> Option<Lasted> {
        let count = self.gaps_s.len() as f64;
        let mean_s = if count > 0.0 { self.gaps_s.iter().sum::<f64>() / count } else { self.frame.secs() };
        let is_long = until.since(since).secs() >= (FREEZE_FACTOR * mean_s).max(mean_s + FREEZE_MORE_S);
        is_long.then_some(Lasted { kind: Kind::Freeze, since, until, bytes: 0 })
    }

    pub(super) fn lasted(&self, end: Time) -> Vec<Lasted> {
        let last = self.shown.or(self.began).and_then(|since| self.freeze(since, end));
        self.lasted.iter().copied().chain(last).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    /// The picture after `frames` frames, one every 40 ms. The two packets of a frame arrive 50 and
    /// 60 ms after its capture.
    fn after(frames: u64, keys: &[u64], came: impl Fn(u64, u32) -> bool) -> Picture {
        let mut picture = Picture::new(Duration::from_ms(40), Duration::from_ms(55));
        for frame in 0..frames {
            let is_key = frame == 0 || keys.contains(&frame);
            let captured = at(40 * frame);
            let piece = Piece { frame, captured, pieces: 2, is_key };
            for packet in 0..2 {
                if came(frame, packet) {
                    picture.take(piece, captured + Duration::from_ms(50 + 10 * u64::from(packet)));
                }
            }
        }
        picture
    }

    fn count(picture: &Picture, end: Time, sought: Kind) -> Vec<f64> {
        let lasted = picture.lasted(end).into_iter().filter(|one| one.kind == sought);
        lasted.map(|one| one.until.since(one.since).seconds()).collect()
    }

    #[test]
    fn a_frame_is_shown_with_its_last_packet_and_is_late_after_the_deadline() {
        let picture = after(10, &[], |_, _| true);
        let end = at(430);
        assert_eq!(count(&picture, end, Kind::Frame), [0.060; 10]);
        assert_eq!(count(&picture, end, Kind::LateFrame).len(), 10);
        assert_eq!(count(&picture, end, Kind::LostFrame).len() + count(&picture, end, Kind::Freeze).len(), 0);
        assert_eq!(picture.key_after(), None);
    }

    #[test]
    fn after_a_loss_nothing_is_shown_until_a_key_frame() {
        let picture = after(10, &[8], |frame, packet| (frame, packet) != (2, 0));
        let end = at(430);
        assert_eq!(count(&picture, end, Kind::Frame).len(), 4);
        let lost = count(&picture, end, Kind::LostFrame);
        // The complete frame 3 reveals the loss of frame 2. Frames 3 to 7 count as lost when they
        // are complete.
        assert_eq!(lost, [0.100, 0.060, 0.060, 0.060, 0.060, 0.060]);
        // The 280 ms between frames 1 and 8 exceed both bounds: 40 ms + 150 ms, and 3 × 40 ms.
        assert_eq!(count(&picture, end, Kind::Freeze), [0.280]);
        assert_eq!(after(8, &[], |frame, _| frame != 2).key_after(), Some(7));
    }

    #[test]
    fn an_entirely_lost_key_frame_is_requested_again() {
        // The loss of frame 5 is known once frame 6 arrives.
        let picture = after(7, &[5], |frame, _| frame != 2 && frame != 5);
        assert_eq!(picture.key_after(), Some(6));
        assert_eq!(count(&picture, at(300), Kind::LostFrame).len(), 5);
    }

    #[test]
    fn a_freeze_without_an_end_counts_up_to_the_end() {
        let picture = after(3, &[], |_, _| true);
        assert_eq!(count(&picture, at(1140), Kind::Freeze), [1.0]); // the last frame was shown at 140 ms
        let mut none = Picture::new(Duration::from_ms(40), Duration::from_ms(400));
        none.begin(at(100));
        assert_eq!(count(&none, at(1100), Kind::Freeze), [1.0], "nothing was ever shown");
    }
}
