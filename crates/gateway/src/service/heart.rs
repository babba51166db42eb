//! The heartbeat between the gateway and its guard, on the gateway's side.
//!
//! The thread that forwards writes a byte to a pipe every so often. When it finds that it was silent for nearly as long as the watchdog waits, the
//! guard may have bridged, or be about to bridge, the interfaces: then what lies in the ports' queues has been forwarded by the bridge already. So it asks
//! the guard to take the bridge away, and takes in nothing until the guard has answered.

use fairwire_core::{Duration, Time};
use rustix::io::{Errno, read, write};
use std::os::fd::OwnedFd;

/// All is well.
pub(super) const BEAT: u8 = b'.';
/// The gateway was silent, and wants to forward again.
pub(super) const RESUME: u8 = b'r';
/// The gateway ends on purpose.
pub(super) const GOODBYE: u8 = b'q';

/// The heart of a gateway with a guard.
#[derive(Debug)]
pub(super) struct Heart {
    to_guard: OwnedFd,
    from_guard: OwnedFd,
    watchdog: Duration,
    /// When it beat last. The guard counts from there, or later, since it hears later.
    beat: Time,
    is_resuming: bool,
    /// Has the guard gone? Then nobody takes care any more.
    is_alone: bool,
}

impl Heart {
    /// Beats to a guard that waits for `watchdog`, from `now` on. Both pipes must not block.
    pub(super) fn new(to_guard: OwnedFd, from_guard: OwnedFd, watchdog: Duration, now: Time) -> Self {
        Heart { to_guard, from_guard, watchdog, beat: now, is_resuming: false, is_alone: false }
    }

    /// The thread that forwards is alive at `now`. Asked before anything is taken in; may it be?
    pub(super) fn may_forward(&mut self, now: Time) -> bool {
        let silence = now.since(self.beat);
        if self.is_alone {
            return true;
        }
        if silence.ns() >= self.watchdog.ns() / 8 * 7 {
            self.is_resuming = true;
            self.say(RESUME);
        }
        if self.is_resuming {
            self.listen();
        }
        if silence.ns() >= self.watchdog.ns() / 4 {
            self.say(BEAT);
            self.beat = now;
        }
        !self.is_resuming
    }

    /// Has the guard gone?
    pub(super) fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// Tells the guard that the end is meant.
    pub(super) fn say_goodbye(&mut self) {
        self.say(GOODBYE);
    }

    fn say(&mut self, byte: u8) {
        // A pipe that is full has enough beats in it for a guard that is late.
        if let Err(Errno::PIPE) = write(&self.to_guard, &[byte]) {
            (self.is_alone, self.is_resuming) = (true, false);
        }
    }

    fn listen(&mut self) {
        let mut answer = [0; 16];
        match read(&self.from_guard, &mut answer) {
            Ok(0) => (self.is_alone, self.is_resuming) = (true, false),
            Ok(count) => self.is_resuming &= !answer[..count].contains(&RESUME),
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pipe::{PipeFlags, pipe_with};

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    /// A heart, and the guard's ends of its pipes.
    fn heart() -> (Heart, OwnedFd, OwnedFd) {
        let flags = PipeFlags::CLOEXEC | PipeFlags::NONBLOCK;
        let (guard_reads, to_guard) = pipe_with(flags).expect("a pipe");
        let (from_guard, guard_writes) = pipe_with(flags).expect("a pipe");
        (Heart::new(to_guard, from_guard, Duration::from_ms(100), at_ms(0)), guard_reads, guard_writes)
    }

    fn heard(guard: &OwnedFd) -> Vec<u8> {
        let mut bytes = [0; 64];
        read(guard, &mut bytes).map_or(Vec::new(), |count| bytes[..count].to_vec())
    }

    #[test]
    fn it_beats_four_times_in_the_time_that_the_guard_waits() {
        let (mut heart, guard, _keep) = heart();
        for ms in 1..=100 {
            assert!(heart.may_forward(at_ms(ms)));
        }
        assert_eq!(heard(&guard), b"....");
    }

    #[test]
    fn after_a_silence_nothing_is_forwarded_until_the_guard_has_answered() {
        let (mut heart, guard, answers) = heart();
        assert!(heart.may_forward(at_ms(1)));
        heard(&guard);
        assert!(!heart.may_forward(at_ms(101)));
        assert_eq!(heard(&guard), b"r.");
        assert!(!heart.may_forward(at_ms(102)));
        write(&answers, &[RESUME]).expect("there is room");
        assert!(heart.may_forward(at_ms(103)));
    }

    #[test]
    fn a_guard_that_is_gone_is_waited_for_no_more() {
        let (mut heart, guard, answers) = heart();
        drop((guard, answers));
        assert!(heart.may_forward(at_ms(500)));
        assert!(heart.is_alone());
    }
}
