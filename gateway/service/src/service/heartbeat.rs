//! Sends the gateway's heartbeat to the guard, in bytes through a pipe.
//!
//! After a silence of nearly the watchdog's time, the guard may have bridged the interfaces. The
//! bridge has then already forwarded the frames that wait in the ports. So the gateway requests the
//! removal of the bridge, and takes in nothing before the guard answers.

use fairwire_core::{Duration, Time};
use rustix::io::{Errno, read, write};
use std::os::fd::OwnedFd;

pub(super) const BEAT: u8 = b'.';
/// The gateway was silent and is ready to forward again.
pub(super) const RESUME: u8 = b'r';
/// The guard had bridged the interfaces, and has removed the bridge.
pub(super) const OPENED: u8 = b'o';
/// The gateway ends on purpose.
pub(super) const END: u8 = b'q';

#[derive(Debug)]
pub(super) struct Heartbeat {
    to_guard: OwnedFd,
    from_guard: OwnedFd,
    watchdog: Duration,
    /// The time of the last beat. The guard's watchdog starts later, when the guard receives the
    /// beat.
    beat: Time,
    is_resuming: bool,
    /// True if the guard is gone, so that no heartbeat is needed.
    is_alone: bool,
    /// The number of times that the guard bridged the interfaces.
    openings: u64,
}

impl Heartbeat {
    /// A heartbeat through these pipes, which must be non-blocking.
    pub(super) fn new(to_guard: OwnedFd, from_guard: OwnedFd, watchdog: Duration, now: Time) -> Self {
        Heartbeat {
            to_guard,
            from_guard,
            watchdog,
            beat: now,
            is_resuming: false,
            is_alone: false,
            openings: 0,
        }
    }

    /// Sends a beat if one is due. Returns false while the guard's answer is awaited, so that no
    /// frame is taken in.
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

    pub(super) fn is_alone(&self) -> bool {
        self.is_alone
    }

    pub(super) fn openings(&self) -> u64 {
        self.openings
    }

    pub(super) fn beat(&self) -> Time {
        self.beat
    }

    pub(super) fn announce_end(&mut self) {
        self.say(END);
    }

    fn say(&mut self, byte: u8) {
        // A full pipe is no fault: it holds enough beats for a slow guard.
        if let Err(Errno::PIPE) = write(&self.to_guard, &[byte]) {
            (self.is_alone, self.is_resuming) = (true, false);
        }
    }

    fn listen(&mut self) {
        let mut answer = [0; 16];
        match read(&self.from_guard, &mut answer) {
            Ok(0) => (self.is_alone, self.is_resuming) = (true, false),
            Ok(count) => {
                let answers = &answer[..count];
                let openings = answers.iter().filter(|byte| **byte == OPENED).count();
                self.openings += openings as u64;
                self.is_resuming &= openings == 0 && !answers.contains(&RESUME);
            }
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

    fn heartbeat() -> (Heartbeat, OwnedFd, OwnedFd) {
        let flags = PipeFlags::CLOEXEC | PipeFlags::NONBLOCK;
        let (guard_reads, to_guard) = pipe_with(flags).expect("a pipe");
        let (from_guard, guard_writes) = pipe_with(flags).expect("a pipe");
        (Heartbeat::new(to_guard, from_guard, Duration::from_ms(100), at_ms(0)), guard_reads, guard_writes)
    }

    fn heard(guard: &OwnedFd) -> Vec<u8> {
        let mut bytes = [0; 64];
        read(guard, &mut bytes).map_or(Vec::new(), |count| bytes[..count].to_vec())
    }

    #[test]
    fn it_beats_four_times_per_timeout_of_the_guard() {
        let (mut heartbeat, guard, _keep) = heartbeat();
        for ms in 1..=100 {
            assert!(heartbeat.may_forward(at_ms(ms)));
        }
        assert_eq!(heard(&guard), b"....");
    }

    #[test]
    fn after_a_silence_nothing_is_forwarded_until_the_guard_has_answered() {
        let (mut heartbeat, guard, answers) = heartbeat();
        assert!(heartbeat.may_forward(at_ms(1)));
        heard(&guard);
        assert!(!heartbeat.may_forward(at_ms(101)));
        assert_eq!(heard(&guard), b"r.");
        assert!(!heartbeat.may_forward(at_ms(102)));
        write(&answers, &[RESUME]).expect("there is room");
        assert!(heartbeat.may_forward(at_ms(103)));
        assert_eq!(heartbeat.openings(), 0);
    }

    #[test]
    fn it_counts_how_often_the_guard_bridged() {
        let (mut heartbeat, _guard, answers) = heartbeat();
        assert!(!heartbeat.may_forward(at_ms(101)));
        write(&answers, &[OPENED]).expect("there is room");
        assert!(heartbeat.may_forward(at_ms(103)));
        assert_eq!(heartbeat.openings(), 1);
    }

    #[test]
    fn the_gateway_forwards_without_a_lost_guard() {
        let (mut heartbeat, guard, answers) = heartbeat();
        drop((guard, answers));
        assert!(heartbeat.may_forward(at_ms(500)));
        assert!(heartbeat.is_alone());
    }
}
