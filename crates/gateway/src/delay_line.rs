//! Constant delay: what goes in comes out later, in the same order. The round-trip time of a lab without netem.

use fairwire_core::{Duration, Time};
use std::collections::VecDeque;

/// A first-in, first-out line whose frames may leave a fixed time after they were sent.
#[derive(Debug)]
pub struct DelayLine {
    delay: Duration,
    frames: VecDeque<Travelling>,
    capacity: usize,
}

#[derive(Debug)]
struct Travelling {
    frame: u32,
    due: Time,
}

impl DelayLine {
    /// An empty line of `delay` with room for `capacity` frames, taken now.
    pub fn new(delay: Duration, capacity: usize) -> Self {
        DelayLine { delay, frames: VecDeque::with_capacity(capacity), capacity }
    }

    /// Puts in a frame whose last bit was sent at `sent`, which never decreases from call to call.
    ///
    /// # Panics
    /// When the line is full: its owner gives it room for every frame that there is.
    pub fn push(&mut self, frame: u32, sent: Time) {
        assert!(self.frames.len() < self.capacity, "a delay line over its bound of {} frames", self.capacity);
        self.frames.push_back(Travelling { frame, due: sent + self.delay });
    }

    /// The next frame that is due at `now`.
    pub fn pop(&mut self, now: Time) -> Option<u32> {
        self.next_due().filter(|due| *due <= now)?;
        self.frames.pop_front().map(|travelling| travelling.frame)
    }

    /// When the next frame is due.
    pub fn next_due(&self) -> Option<Time> {
        self.frames.front().map(|travelling| travelling.due)
    }

    /// From now on the delay is `delay`, and there is room for at least `capacity` frames. What is on its way stays due when it was, and
    /// nothing overtakes it.
    pub fn retime(&mut self, delay: Duration, capacity: usize) {
        self.delay = delay;
        self.capacity = capacity.max(self.frames.len());
        self.frames.reserve(self.capacity.saturating_sub(self.frames.len()));
    }

    /// What is on its way goes on in `roomier`, an empty line, as it was; its place and its memory are changed with this one's.
    pub fn move_into(&mut self, roomier: &mut DelayLine) {
        roomier.frames.append(&mut self.frames);
        std::mem::swap(self, roomier);
    }

    /// Gives each frame the name that `names` has in the place of its old one.
    pub fn rename(&mut self, names: &[u32]) {
        for travelling in &mut self.frames {
            travelling.frame = names[travelling.frame as usize];
        }
    }

    /// Moves all frames of `other` behind those of this line.
    pub fn append(&mut self, other: &mut DelayLine) {
        self.frames.append(&mut other.frames);
    }

    /// Frames on their way.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Is nothing on its way?
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_comes_out_exactly_when_it_is_due_and_in_order() {
        let mut line = DelayLine::new(Duration::from_ns(100), 2);
        line.push(7, Time::from_ns(5));
        line.push(8, Time::from_ns(5));
        assert_eq!(line.next_due(), Some(Time::from_ns(105)));
        assert_eq!(line.pop(Time::from_ns(104)), None);
        assert_eq!(line.pop(Time::from_ns(105)), Some(7));
        assert_eq!(line.pop(Time::from_ns(105)), Some(8));
        assert_eq!(line.pop(Time::MAX), None);
    }

    #[test]
    #[should_panic(expected = "over its bound of 1 frames")]
    fn it_never_grows_past_its_bound() {
        let mut line = DelayLine::new(Duration::ZERO, 1);
        line.push(0, Time::ZERO);
        line.push(1, Time::ZERO);
    }
}
