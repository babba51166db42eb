//! What is remembered of a conversation. Of TCP: in each way the highest byte, the newest
//! timestamp, and one segment that is timed. Of QUIC: its [`Spin`].

use super::spin::Spin;
use fairwire_core::{Duration, Time};
use fairwire_wire::headers::TcpFlags;
use fairwire_wire::tcp::Segment;

/// A conversation: a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Conversation {
    /// The hash of its key; 0 where the place is free.
    pub hash: u64,
    /// When a segment came last, in ticks.
    pub seen: u32,
    /// What it carried since a trip of it was heard of, bytes.
    pub carried: u32,
    followed: Followed,
}

const _: () = assert!(size_of::<Conversation>() == 64);

/// What is followed of it.
#[derive(Clone, Copy, Debug)]
enum Followed {
    /// By the number of the way.
    Tcp([Half; 2]),
    Quic(Spin),
}

impl Default for Followed {
    fn default() -> Self {
        Followed::Tcp(Default::default())
    }
}

/// One way of it. Times are in microseconds, which wrap around after more than an hour.
#[derive(Clone, Copy, Debug, Default)]
struct Half {
    /// Since when a segment is timed: it came, or it left.
    since: u32,
    /// When a segment came last.
    came: u32,
    /// The number after the highest byte.
    end: u32,
    /// The newest timestamp.
    stamp: u32,
    /// The timestamp or the acknowledgement that is the answer.
    awaited: u32,
    timing: Timing,
    /// By what its answer is known.
    by: By,
    /// Counts the segments that were timed, so that a late departure is not taken for another's.
    number: u8,
    known: Known,
}

/// What is known of a way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
    #[default]
    Nothing,
    End,
    EndAndStamp,
}

/// The segment that is timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Timing {
    #[default]
    None,
    /// It waits in the gateway, and will be known again so.
    Waits,
    /// It left.
    Left,
}

/// By what the answer is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum By {
    #[default]
    Stamp,
    Acknowledgement,
    /// The stamp of a segment without payload, which what it releases echoes.
    Released,
}

/// A segment was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answered {
    pub trip: Duration,
    /// Until the segment came that the other end sent last before the answer: it had not heard the
    /// segment that is answered. So the path took this at least.
    pub least: Duration,
    /// Had it payload? Others are answered only by what comes next.
    pub had_payload: bool,
}

/// What became of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// It goes on.
    On,
    /// It is timed, under this number.
    Timed(u8),
    /// This number of its bytes was sent before.
    Again(u32),
}

/// A segment that waits for longer was dropped; the next one is timed.
const MAX_WAIT_US: u32 = 1_000_000;
/// An answer that takes longer is none: the longest round trip that there is over satellites and
/// full buffers, several times over.
const MAX_TRIP_US: u32 = 10_000_000;
/// What a segment without payload releases comes sooner than this, or was not released by it.
const MAX_RELEASE_US: u32 = 2_000_000;
/// No window is larger (RFC 7323, section 2.3). What begins further back is of another connection.
const MAX_WINDOW: i32 = 1 << 30;

/// How far `a` is after `b` in numbers that wrap around (RFC 9293, section 3.4).
fn after(a: u32, b: u32) -> i32 {
    a.wrapping_sub(b).cast_signed()
}

fn us(now: Time) -> u32 {
    (now.ns() / 1000) as u32
}

impl Conversation {
    /// One of which nothing is known but the hash of its key.
    pub(super) fn new(hash: u64) -> Self {
        Conversation { hash, ..Conversation::default() }
    }

    /// Was it seen in both ways? What a flood makes up is not answered.
    pub(super) fn is_mutual(&self) -> bool {
        match &self.followed {
            Followed::Tcp(halves) => halves.iter().all(|half| half.known >= Known::End),
            Followed::Quic(spin) => spin.is_mutual(),
        }
    }

    /// One of TCP.
    fn halves(&mut self) -> &mut [Half; 2] {
        if let Followed::Quic(_) = self.followed {
            self.followed = Followed::default(); // two with one hash
        }
        let Followed::Tcp(halves) = &mut self.followed else { unreachable!("it has just been made so") };
        halves
    }

    /// One of QUIC.
    pub(super) fn spin(&mut self) -> &mut Spin {
        if let Followed::Tcp(_) = self.followed {
            self.followed = Followed::Quic(Spin::default()); // it is new, or there are two with one hash
        }
        let Followed::Quic(spin) = &mut self.followed else { unreachable!("it has just been made so") };
        spin
    }

    /// The trip of `way` that `segment` of the other way, which comes at `now`, ends; if it does.
    #[inline]
    pub(super) fn answered(&mut self, way: usize, segment: &Segment, now: Time) -> Option<Answered> {
        let now = us(now);
        let halves = self.halves();
        let before = std::mem::replace(&mut halves[1 - way].came, now);
        halves[way].answered(segment, before, now)
    }

    /// `segment`, which takes numbers, arrives in `way` at `now`. Parts of it have `part_bytes`
    /// each, or it has one.
    #[inline]
    pub(super) fn sent(&mut self, way: usize, segment: &Segment, part_bytes: u32, now: Time) -> Sent {
        self.halves()[way].sent(segment, part_bytes, us(now))
    }

    /// `segment`, which takes no numbers, arrives in `way` at `now`. Returns the number under which
    /// it is timed, if it is.
    #[inline]
    pub(super) fn acknowledges(&mut self, way: usize, segment: &Segment, now: Time) -> Option<u8> {
        self.halves()[way].acknowledges(segment, us(now))
    }

    /// The packet of `way` that is timed under `number` leaves.
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
    /// `before`: when the segment before this one came.
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
                    self.timing = Timing::None; // its own echo did not come, and will not
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

    /// May another segment be timed?
    fn is_free(&self, now: u32) -> bool {
        match self.timing {
            Timing::None => true,
            Timing::Waits => now.wrapping_sub(self.since) > MAX_WAIT_US,
            Timing::Left => now.wrapping_sub(self.since) > MAX_TRIP_US,
        }
    }

    /// A segment is timed from now on. Returns its number.
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

    /// `segment`, which ends at `end`, is new.
    fn goes_on(&mut self, segment: &Segment, end: u32, part_bytes: u32, now: u32) -> Sent {
        let is_first = |value| !self.has_stamp() || after(value, self.stamp) > 0;
        let is_timeable = segment.stamps.is_none_or(|stamps| is_first(stamps.value));
        // What is answered at once goes before what is not.
        let is_free = self.by == By::Released || self.is_free(now);
        self.remember(segment, end);
        if !(is_timeable && is_free) {
            return Sent::On;
        }
        // Whether the other end knows timestamps is not known before its SYN.
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
