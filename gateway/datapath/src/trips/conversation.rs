//! The state of a conversation, which for QUIC is a [`Spin`].

use super::spin::Spin;
use fairwire_core::{Duration, Time};
use fairwire_wire::headers::TcpFlags;
use fairwire_wire::tcp::Segment;

/// A conversation: one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Conversation {
    /// The hash of the key; 0 if the slot is free.
    pub hash: u64,
    /// Arrival of the latest segment, in ticks.
    pub seen: u32,
    /// Bytes carried since the last reported trip.
    pub carried: u32,
    followed: Followed,
}

const _: () = assert!(size_of::<Conversation>() == 64);

#[derive(Clone, Copy, Debug)]
enum Followed {
    Tcp([Half; 2]),
    Quic(Spin),
}

impl Default for Followed {
    fn default() -> Self {
        Followed::Tcp(Default::default())
    }
}

/// One direction of a TCP conversation. Times are in microseconds, which wrap after 71 minutes.
#[derive(Clone, Copy, Debug, Default)]
struct Half {
    /// The arrival of the timed segment or, once it has left, its departure.
    since: u32,
    came: u32,
    /// The sequence number after the highest byte.
    end: u32,
    /// The newest timestamp.
    stamp: u32,
    /// The timestamp or the acknowledgement that answers the timed segment.
    awaited: u32,
    timing: Timing,
    by: By,
    /// Counts timed segments, so a late departure is not assigned to another segment.
    number: u8,
    known: Known,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
    #[default]
    Nothing,
    End,
    EndAndStamp,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Timing {
    #[default]
    None,
    Waits,
    Left,
}

/// The method of recognizing the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum By {
    #[default]
    Stamp,
    Acknowledgement,
    /// Data echoes the timestamp. The timed segment has no payload: its acknowledgement allowed the
    /// other end to send the data.
    Released,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answered {
    pub trip: Duration,
    /// A lower bound of the trip: from the departure of the timed segment to the arrival of the
    /// segment before the answer.
    pub least: Duration,
    /// Did the timed segment have payload? Without payload, only later data answers it.
    pub had_payload: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    On,
    Timed(u8),
    /// The number of the segment's bytes that were sent before.
    Again(u32),
}

/// The maximum wait in the gateway. After this time, a timed segment counts as dropped, and another
/// may be timed.
const MAX_WAIT_US: u32 = 1_000_000;
/// The longest trip that counts. It is several times longer than any real trip, even over
/// satellites and full buffers.
const MAX_TRIP_US: u32 = 10_000_000;
/// The longest trip that counts for a segment without payload. The trip ends with data that the
/// segment released.
const MAX_RELEASE_US: u32 = 2_000_000;
/// The largest window (RFC 7323, section 2.3). Bytes further back belong to another connection.
const MAX_WINDOW: i32 = 1 << 30;

/// The distance from `b` to `a` in numbers that wrap (RFC 9293, section 3.4).
fn after(a: u32, b: u32) -> i32 {
    a.wrapping_sub(b).cast_signed()
}

fn us(now: Time) -> u32 {
    (now.ns() / 1000) as u32
}

impl Conversation {
    pub(super) fn new(hash: u64) -> Self {
        Conversation { hash, ..Conversation::default() }
    }

    /// Have both ends sent packets? A flood's forged packets get no answer.
    pub(super) fn is_mutual(&self) -> bool {
        match &self.followed {
            Followed::Tcp(halves) => halves.iter().all(|half| half.known >= Known::End),
            Followed::Quic(spin) => spin.is_mutual(),
        }
    }

    fn halves(&mut self) -> &mut [Half; 2] {
        if let Followed::Quic(_) = self.followed {
            self.followed = Followed::default(); // two with one hash
        }
        let Followed::Tcp(halves) = &mut self.followed else { unreachable!("it has just been made so") };
        halves
    }

    pub(super) fn spin(&mut self) -> &mut Spin {
        if let Followed::Tcp(_) = self.followed {
            self.followed = Followed::Quic(Spin::default()); // new, or two with one hash
        }
        let Followed::Quic(spin) = &mut self.followed else { unreachable!("it has just been made so") };
        spin
    }

    /// The trip of direction `way` that ends when `segment` of the other direction arrives at
    /// `now`.
    #[inline]
    pub(super) fn answered(&mut self, way: usize, segment: &Segment, now: Time) -> Option<Answered> {
        let now = us(now);
        let halves = self.halves();
        let before = std::mem::replace(&mut halves[1 - way].came, now);
        halves[way].answered(segment, before, now)
    }

    /// Records `segment`, which uses sequence numbers. `part_bytes` is the payload per segment of a
    /// super-packet; 0 for other frames.
    #[inline]
    pub(super) fn sent(&mut self, way: usize, segment: &Segment, part_bytes: u32, now: Time) -> Sent {
        self.halves()[way].sent(segment, part_bytes, us(now))
    }

    /// Takes `segment`, which uses no sequence numbers. Returns the timing's number if `segment` is
    /// timed.
    #[inline]
    pub(super) fn acknowledges(&mut self, way: usize, segment: &Segment, now: Time) -> Option<u8> {
        self.halves()[way].acknowledges(segment, us(now))
    }

    #[inline]
    pub(super) fn leaves(&mut self, way: usize, number: u8, now: Time) {
        match &mut self.followed {
            Followed::Tcp(halves) => {
                let half = &mut halves[way];
                if half.timing == Timing::Waits && half.number == number {
                    (half.timing, half.since) = (Timing::Left, us(now));
                }
            }
            Followed::Quic(spin) => spin.leaves(way, number, now),
        }
    }
}

impl Half {
    /// Returns the trip that `segment` ends. The previous segment arrived at `before`.
    fn answered(&mut self, segment: &Segment, before: u32, now: u32) -> Option<Answered> {
        if segment.flags.has(TcpFlags::RST) {
            self.timing = Timing::None;
        }
        if self.timing != Timing::Left {
            return None;
        }
        let acknowledged = segment.acknowledged?;
        let is_answer = match self.by {
            By::Stamp | By::Released => {
                let ahead = after(segment.stamps?.echo, self.awaited);
                if ahead > 0 {
                    self.timing = Timing::None; // its own echo did not arrive, and will not
                }
                ahead == 0
            }
            By::Acknowledgement => after(acknowledged, self.awaited) >= 0,
        };
        if !is_answer {
            return None;
        }
        self.timing = Timing::None;
        let had_payload = self.by != By::Released;
        let [trip, silence] = [self.since, before].map(|since| now.wrapping_sub(since));
        let longest = if had_payload { MAX_TRIP_US } else { MAX_RELEASE_US };
        let [trip_for, least] = [trip, trip.saturating_sub(silence)].map(|us| Duration::from_us(us.into()));
        (trip <= longest).then_some(Answered { trip: trip_for, least, had_payload })
    }

    fn acknowledges(&mut self, segment: &Segment, now: u32) -> Option<u8> {
        let stamp = segment.stamps?.value;
        if !self.has_stamp() || after(stamp, self.stamp) <= 0 || !self.is_free(now) {
            return None;
        }
        self.stamp = stamp;
        Some(self.time(By::Released, stamp, now))
    }

    fn is_free(&self, now: u32) -> bool {
        match self.timing {
            Timing::None => true,
            Timing::Waits => now.wrapping_sub(self.since) > MAX_WAIT_US,
            Timing::Left => now.wrapping_sub(self.since) > MAX_TRIP_US,
        }
    }

    fn time(&mut self, by: By, awaited: u32, now: u32) -> u8 {
        (self.by, self.awaited) = (by, awaited);
        (self.timing, self.since) = (Timing::Waits, now);
        self.number = self.number.wrapping_add(1);
        self.number
    }

    fn sent(&mut self, segment: &Segment, part_bytes: u32, now: u32) -> Sent {
        let span = segment.span();
        let end = segment.sequence.wrapping_add(span);
        let is_syn = segment.flags.has(TcpFlags::SYN);
        let behind = if self.known >= Known::End { after(self.end, segment.sequence) } else { 0 };
        if (is_syn && self.end != end) || !(-MAX_WINDOW..=MAX_WINDOW).contains(&behind) {
            *self = Half { number: self.number, came: self.came, ..Half::default() }; // another connection
            return self.goes_on(segment, end, part_bytes, now);
        }
        let age = segment.stamps.filter(|_| self.has_stamp()).map(|stamps| after(stamps.value, self.stamp));
        match behind {
            ..=0 => self.goes_on(segment, end, part_bytes, now),
            _ if age.is_some_and(|age| age < 0) => Sent::On, // overtaken
            _ => {
                if self.timing == Timing::Waits || self.by == By::Acknowledgement {
                    self.timing = Timing::None;
                }
                self.remember(segment, end);
                Sent::Again(span.min(behind.cast_unsigned()))
            }
        }
    }

    /// Takes `segment`, whose bytes up to `end` are new.
    fn goes_on(&mut self, segment: &Segment, end: u32, part_bytes: u32, now: u32) -> Sent {
        let is_first = |value| !self.has_stamp() || after(value, self.stamp) > 0;
        let is_timeable = segment.stamps.is_none_or(|stamps| is_first(stamps.value));
        // This segment is answered at once, so it replaces a timed segment without payload.
        let is_free = self.by == By::Released || self.is_free(now);
        self.remember(segment, end);
        if !(is_timeable && is_free) {
            return Sent::On;
        }
        // A SYN is timed by its acknowledgement, because the peer may not support timestamps.
        let stamps = segment.stamps.filter(|_| !segment.flags.has(TcpFlags::SYN));
        let first_part = if part_bytes == 0 { segment.span() } else { part_bytes.min(segment.span()) };
        let (by, awaited) = match stamps {
            Some(stamps) => (By::Stamp, stamps.value),
            None => (By::Acknowledgement, segment.sequence.wrapping_add(first_part)),
        };
        Sent::Timed(self.time(by, awaited, now))
    }

    fn remember(&mut self, segment: &Segment, end: u32) {
        if self.known == Known::Nothing || after(end, self.end) > 0 {
            self.end = end;
        }
        self.known = self.known.max(Known::End);
        if let Some(stamps) = segment.stamps
            && (!self.has_stamp() || after(stamps.value, self.stamp) > 0)
        {
            (self.stamp, self.known) = (stamps.value, Known::EndAndStamp);
        }
    }

    fn has_stamp(&self) -> bool {
        self.known == Known::EndAndStamp
    }
}
