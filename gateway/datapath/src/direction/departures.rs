//! Frames that no longer wait in the discipline: one in transmission, and those that wait only for
//! the port.

use fairwire_core::Time;
use std::collections::VecDeque;

/// The frame in transmission, and the frames that are *through*: they wait only for the port,
/// because their last bit is sent or they bypassed the discipline.
pub(super) struct Departures {
    sending: Option<Sending>,
    through: VecDeque<ReadyFrame>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct ReadyFrame {
    /// The frame's slot in the pool.
    pub(super) frame: u32,
    /// Did the frame pass the discipline?
    pub(super) is_shaped: bool,
}

struct Sending {
    frame: u32,
    sent: Time,
}

impl Departures {
    /// `frames` is the pool's capacity.
    pub(super) fn new(frames: usize) -> Self {
        Departures { sending: None, through: VecDeque::with_capacity(frames) }
    }

    /// Starts sending `frame`, whose last bit is sent at `sent`. The previous frame is through.
    pub(super) fn begin(&mut self, frame: u32, sent: Time) {
        self.end_sending();
        self.sending = Some(Sending { frame, sent });
    }

    pub(super) fn pass(&mut self, frame: u32) {
        self.through.push_back(ReadyFrame { frame, is_shaped: false });
    }

    pub(super) fn put(&mut self, ready: ReadyFrame) {
        self.through.push_back(ready);
    }

    pub(super) fn advance(&mut self, now: Time) {
        if self.sending.as_ref().is_some_and(|sending| sending.sent <= now) {
            self.end_sending();
        }
    }

    pub(super) fn end_sending(&mut self) {
        let sent = self.sending.take().map(|sending| ReadyFrame { frame: sending.frame, is_shaped: true });
        self.through.extend(sent);
    }

    pub(super) fn pop(&mut self) -> Option<ReadyFrame> {
        self.through.pop_front()
    }

    /// The time at which the next frame is through; time zero if a frame already is.
    pub(super) fn next_due(&self) -> Option<Time> {
        match self.through.is_empty() {
            true => self.sending.as_ref().map(|sending| sending.sent),
            false => Some(Time::ZERO),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.through.len() + usize::from(self.sending.is_some())
    }

    /// Moves all frames into the empty `roomier`, then swaps `self` and `roomier`. Frame n becomes
    /// `names[n]`.
    pub(super) fn move_into(&mut self, roomier: &mut Departures, names: &[u32]) {
        let name = |frame: u32| names[frame as usize];
        roomier.sending = self.sending.take().map(|it| Sending { frame: name(it.frame), ..it });
        roomier.through.extend(self.through.drain(..).map(|it| ReadyFrame { frame: name(it.frame), ..it }));
        std::mem::swap(self, roomier);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> Time {
        Time::from_ns(ns)
    }

    fn frames(departures: &mut Departures) -> Vec<(u32, bool)> {
        std::iter::from_fn(|| departures.pop()).map(|it| (it.frame, it.is_shaped)).collect()
    }

    #[test]
    fn a_frame_departs_with_its_last_bit_and_unshaped_frames_do_not_wait() {
        let mut departures = Departures::new(4);
        departures.begin(7, at(105));
        departures.advance(at(104));
        assert_eq!((departures.next_due(), frames(&mut departures)), (Some(at(105)), vec![]));
        departures.pass(8);
        assert_eq!(departures.next_due(), Some(Time::ZERO));
        departures.advance(at(105));
        assert_eq!(frames(&mut departures), [(8, false), (7, true)]);
        assert_eq!((departures.next_due(), departures.len()), (None, 0));
    }

    #[test]
    fn packets_started_late_together_depart_one_by_one() {
        let mut departures = Departures::new(4);
        [1, 2, 3].into_iter().for_each(|frame| departures.begin(frame, at(100 * u64::from(frame))));
        departures.advance(at(250));
        assert_eq!(frames(&mut departures), [(1, true), (2, true)]);
    }

    #[test]
    fn moved_departures_keep_their_order_under_new_names() {
        let mut departures = Departures::new(2);
        departures.pass(0);
        departures.begin(1, at(9));
        let mut roomier = Departures::new(8);
        departures.move_into(&mut roomier, &[5, 6]);
        assert_eq!((departures.len(), roomier.len()), (2, 0));
        assert_eq!(frames(&mut departures), [(5, false)]);
        departures.advance(at(9));
        assert_eq!(frames(&mut departures), [(6, true)]);
    }
}
