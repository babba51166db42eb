//! The receiving end: cumulative and selective acknowledgements of full segments, immediate or
//! delayed, with the echo of marks.
//!
//! # Source
//! RFC 5681, section 4.2 (delayed acknowledgements); RFC 2018, section 4 (blocks, the latest
//! first); RFC 2883 (a segment that came twice); RFC 7323, section 4.3 (which segment an
//! acknowledgement echoes); RFC 3168, section 6.1.3 (echo until the sender has answered).
//!
//! # Where we differ
//! Each acknowledgement carries the number of all marks so far. So exact feedback (RFC 8257, RFC
//! 9331) needs no state machine, and a lost acknowledgement loses no information.

use crate::config::{Config, DelayedAck, Recovery};
use crate::segment::{Ack, Block, Sack, Segment};
use fairwire_core::{Duration, Ecn, Time};
use std::collections::VecDeque;

/// A TCP receiver without I/O: the state of one connection's arrivals.
#[derive(Debug)]
pub struct Receiver {
    next: u64,
    due: Time, // when a delayed acknowledgement must leave; MAX for none
    marks: u32,
    most_waiting: u8, // 1 acknowledges each segment
    waiting: u8,
    is_modern: bool, // are some acknowledgements not delayed, or repeats reported? Then see `many`
    is_echoing: bool,
    window: u32,
    reports: Reports,
    kept: Kept,
    few: Few,
    many: Option<Box<Ahead>>, // created when first needed
    delay: Duration,
}

/// Decides which acknowledgements are not delayed, as in Linux (`tcp_input.c` of 6.1, "quick
/// acks"). A limited number of them leave at once at a connection's start, after a pause, and when
/// the sender's window may be small.
#[derive(Clone, Copy, Debug)]
struct Quick {
    left: u8, // acknowledgements still to leave at once
    most: u8,
    opened: Time, // when the SYN came; zero without one
    last: Time,   // when a segment last came
    pause: Duration,
    has_ect: bool, // are segments ECN-capable?
}

/// The number of acknowledgements that leave at once after a mark, or after a retransmission from a
/// sender with ECN.
const AFTER_A_MARK: u8 = 2;
/// The lower bound on 4 RTTVAR in the timeout that a receiver computes from the handshake (RFC
/// 6298). A silence longer than this timeout is a pause.
const MIN_PAUSE: Duration = Duration::from_ms(200);

impl Quick {
    fn new(most: u8) -> Self {
        let [opened, last] = [Time::ZERO; 2];
        Quick { left: most, most, opened, last, pause: Duration::MAX, has_ect: false }
    }

    fn comes(&mut self, segment: Segment, is_again: bool, was_echoing: bool, now: Time) {
        if self.last == Time::ZERO {
            let rtt = now.since(self.opened);
            let timeout = rtt + Duration::from_ns(2 * rtt.ns()).max(MIN_PAUSE);
            self.pause = if self.opened == Time::ZERO { MIN_PAUSE } else { timeout };
        } else if is_again || now.since(self.last) > self.pause {
            self.left = self.most;
        }
        self.last = now;
        let is_first_mark = segment.ecn == Ecn::Ce && !was_echoing;
        let is_uncovered = segment.is_retransmission && segment.ecn == Ecn::NotEct && self.has_ect;
        if is_first_mark || is_uncovered {
            self.left = self.left.max(AFTER_A_MARK);
        }
        if segment.cwr {
            self.left = self.left.max(1);
        }
        self.has_ect |= segment.ecn != Ecn::NotEct;
    }
}

/// The storage of segments beyond the next one expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    Nothing,
    InFew,
    InMany,
}

/// The segments beyond the next one expected, if they are few. They are stored within the receiver,
/// because separate memory would cost two cache lines, one of them only for the pointer.
#[derive(Clone, Copy, Debug)]
struct Few {
    len: u8,
    runs: [Near; MAX_FEW], // as many as `len` says, ascending, with holes between
}

const MAX_FEW: usize = 4;

/// A run of segments, counted from the next segment expected.
#[derive(Clone, Copy, Debug)]
struct Near {
    start: u16,
    end: u16,
}

/// State that is created when needed. `runs` are the segments beyond the next one expected, if
/// [`Few`] cannot hold them or if blocks are reported.
#[derive(Debug, Default)]
struct Ahead {
    runs: VecDeque<Run>, // ascending, with holes between
    recent: Recent,
    duplicate: Option<u64>, // the current segment, if it came twice
    echo: bool,
    quick: Option<Quick>,
}

/// The content of acknowledgements, in addition to the next segment expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reports {
    Nothing,
    Blocks,
    /// Blocks, duplicate arrivals, and the epoch of the echoed segment.
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    start: u64,
    end: u64,
}

impl Run {
    fn holds(&self, seq: u64) -> bool {
        (self.start..self.end).contains(&seq)
    }
}

/// One segment from each of the runs with the latest arrivals. The run with the latest arrival
/// comes first; 0 means no run.
type Recent = [u64; Sack::MOST];

impl Receiver {
    /// A receiver without arrivals.
    pub fn new(config: &Config) -> Self {
        let at_once = DelayedAck { segments: 1, timeout: Duration::ZERO, quick_acks: 0 };
        let delayed = config.delayed_ack.unwrap_or(at_once);
        let byte = |count: u32| u8::try_from(count).unwrap_or(u8::MAX);
        let quick = (delayed.quick_acks > 0).then(|| Quick::new(byte(delayed.quick_acks)));
        Receiver {
            most_waiting: byte(delayed.segments.max(1)),
            is_modern: quick.is_some() || config.recovery == Recovery::Rack,
            many: quick.map(|quick| Box::new(Ahead { quick: Some(quick), ..Ahead::default() })),
            window: config.window.unwrap_or(u32::MAX),
            reports: match config.recovery {
                Recovery::Tahoe | Recovery::Reno | Recovery::NewReno => Reports::Nothing,
                Recovery::Sack => Reports::Blocks,
                Recovery::Rack => Reports::All,
            },
            delay: delayed.timeout,
            ..Receiver::of_nothing()
        }
    }

    /// A receiver to which no segment will come.
    pub const fn of_nothing() -> Self {
        Receiver {
            next: 0,
            due: Time::MAX,
            marks: 0,
            most_waiting: 1,
            waiting: 0,
            is_modern: false,
            is_echoing: false,
            window: 0,
            reports: Reports::Nothing,
            kept: Kept::Nothing,
            few: Few::NONE,
            many: None,
            delay: Duration::ZERO,
        }
    }

    /// Handles a segment that arrived. Returns the acknowledgement if it must leave at once.
    pub fn on_segment(&mut self, segment: Segment, now: Time) -> Option<Ack> {
        self.take_in(segment, now).map(|ack| Ack { sack: self.blocks(), ..ack })
    }

    /// Handles a segment as [`on_segment`](Receiver::on_segment) does, but returns no
    /// [`blocks`](Receiver::blocks): reading them costs a cache miss even if there are none.
    #[inline(always)] // copying one returned through memory would stall
    pub fn take_in(&mut self, segment: Segment, now: Time) -> Option<Ack> {
        if segment.is_syn {
            let ack = Ack { is_for_syn: true, echo: segment.epoch, ..self.ack() };
            if let Some(quick) = self.quick() {
                (quick.opened, quick.left) = (now, quick.most);
            }
            return Some(ack);
        }
        if self.is_modern {
            self.note_modern(segment, now);
        }
        self.note_marks(segment);
        let was_in_order = self.kept == Kept::Nothing && segment.seq == self.next;
        self.take(segment.seq);
        if was_in_order && self.may_wait(now) {
            return None;
        }
        Some(self.ack())
    }

    /// When [`on_timeout`](Receiver::on_timeout) is due.
    pub fn deadline(&self) -> Option<Time> {
        (self.due != Time::MAX).then_some(self.due)
    }

    /// The delayed acknowledgement, if it is due by `now`.
    pub fn on_timeout(&mut self, now: Time) -> Option<Ack> {
        (self.due <= now).then(|| Ack { sack: self.blocks(), ..self.ack() })
    }

    /// Would an acknowledgement sent now have blocks?
    #[inline(always)]
    pub fn has_blocks(&self) -> bool {
        self.reports != Reports::Nothing && (self.kept != Kept::Nothing || self.duplicate().is_some())
    }

    /// The blocks of an acknowledgement sent now.
    #[inline(never)]
    pub fn blocks(&self) -> Sack {
        if self.has_blocks() { self.sack() } else { Sack::NONE }
    }

    /// Segments that have arrived in order, each counted once.
    pub fn delivered(&self) -> u64 {
        self.next
    }

    #[inline(never)] // unused by profiles of older TCPs
    fn note_modern(&mut self, segment: Segment, now: Time) {
        let (next, was_echoing) = (self.next, self.is_echoing);
        if let Some(quick) = self.quick() {
            quick.comes(segment, segment.seq < next, was_echoing, now);
        }
        if self.reports == Reports::All {
            self.note_repeat(segment);
        }
    }

    fn note_marks(&mut self, segment: Segment) {
        if segment.cwr {
            self.is_echoing = false;
        }
        if segment.ecn == Ecn::Ce {
            self.is_echoing = true;
            self.marks = self.marks.wrapping_add(1);
        }
    }

    #[inline(always)]
    fn quick(&mut self) -> Option<&mut Quick> {
        if self.is_modern { self.many.as_deref_mut()?.quick.as_mut() } else { None }
    }

    #[inline(always)]
    fn may_wait(&mut self, now: Time) -> bool {
        self.waiting += 1;
        if self.waiting >= self.most_waiting {
            return false;
        }
        if self.quick().is_some_and(|quick| quick.left > 0) {
            return false;
        }
        if self.due == Time::MAX {
            self.due = now + self.delay;
        }
        true
    }

    #[inline(always)]
    fn ack(&mut self) -> Ack {
        self.waiting = 0;
        self.due = Time::MAX;
        Ack {
            next: self.next,
            is_for_syn: false,
            ece: self.is_echoing,
            marks: self.marks,
            echo: self.is_modern && self.echo(),
            sack: Sack::NONE,
        }
    }

    #[inline(always)]
    fn take(&mut self, seq: u64) {
        if seq == self.next {
            self.next += 1;
            if self.kept != Kept::Nothing {
                self.close_hole();
            }
        } else if seq > self.next && seq - self.next < u64::from(self.window) {
            self.keep(seq);
        } // else it came before, or was never allowed
    }

    #[inline]
    fn note_repeat(&mut self, segment: Segment) {
        let Segment { seq, is_retransmission, epoch, .. } = segment;
        let is_below = seq < self.next;
        if self.many.is_none() && !epoch && !is_below {
            return; // as most segments are
        }
        let is_duplicate = is_below || (self.kept == Kept::InMany && self.is_ahead(seq));
        let is_echoed = if is_below { is_retransmission } else { seq == self.next && self.waiting == 0 };
        let ahead = self.many.get_or_insert_default();
        ahead.duplicate = is_duplicate.then_some(seq);
        if is_echoed {
            ahead.echo = epoch;
        }
    }

    #[inline]
    fn echo(&mut self) -> bool {
        let Some(ahead) = self.many.as_deref_mut() else { return false };
        if let Some(quick) = &mut ahead.quick {
            quick.left = quick.left.saturating_sub(1);
        }
        ahead.echo
    }

    #[inline]
    fn duplicate(&self) -> Option<u64> {
        self.many.as_deref()?.duplicate
    }

    #[inline(never)]
    fn is_ahead(&self, seq: u64) -> bool {
        self.many.as_deref().is_some_and(|ahead| ahead.run_of(seq).is_some())
    }

    #[inline(never)]
    fn keep(&mut self, seq: u64) {
        if self.kept != Kept::InMany {
            if self.reports == Reports::Nothing && self.few.keep(seq - self.next) {
                self.kept = Kept::InFew;
                return;
            }
            self.kept = Kept::InMany;
            let few = std::mem::replace(&mut self.few, Few::NONE);
            let runs = few.runs().iter().map(|run| run.from(self.next));
            self.many.get_or_insert_default().runs.extend(runs);
        }
        let Some(ahead) = self.many.as_deref_mut() else { return };
        ahead.keep(seq);
        if self.reports != Reports::Nothing {
            ahead.touch(seq, self.next);
        }
    }

    #[inline(never)]
    fn close_hole(&mut self) {
        let is_closed = if self.kept == Kept::InFew {
            self.next += u64::from(self.few.close(1));
            self.few.runs().is_empty()
        } else {
            let Some(Ahead { runs, .. }) = self.many.as_deref_mut() else { return };
            if let Some(first) = runs.front()
                && first.start == self.next
            {
                self.next = first.end;
                runs.pop_front();
            }
            runs.is_empty()
        };
        if is_closed {
            self.kept = Kept::Nothing;
        }
    }

    fn sack(&self) -> Sack {
        let mut sack = Sack::NONE;
        // Blocks are reported, so all segments beyond the next one expected are in `many`.
        let Some(ahead) = self.many.as_deref() else { return sack };
        let runs = ahead.recent.iter().take_while(|&&seq| seq != 0).filter_map(|&seq| ahead.run_of(seq));
        for (block, run) in sack.blocks.iter_mut().zip(runs) {
            *block = Block { offset: (run.start - self.next) as u32, len: (run.end - run.start) as u32 };
        }
        ahead.duplicate.map_or(sack, |seq| sack.after_duplicate(seq, self.next))
    }
}

impl Few {
    const NONE: Few = Few { len: 0, runs: [Near { start: 0, end: 0 }; MAX_FEW] };

    #[inline]
    fn runs(&self) -> &[Near] {
        &self.runs[..usize::from(self.len)]
    }

    fn keep(&mut self, beyond: u64) -> bool {
        let Some(at) = u16::try_from(beyond).ok().filter(|at| *at < u16::MAX) else { return false };
        let after = self.runs().iter().take_while(|run| run.start <= at).count();
        let joins_before = after > 0 && self.runs[after - 1].end >= at;
        let joins_after = self.runs().get(after).is_some_and(|run| run.start == at + 1);
        match (joins_before, joins_after) {
            (true, true) => {
                self.runs[after - 1].end = self.runs[after].end;
                self.remove(after);
            }
            (true, false) => {
                let end = &mut self.runs[after - 1].end;
                *end = (*end).max(at + 1);
            }
            (false, true) => self.runs[after].start = at,
            (false, false) if self.runs().len() == MAX_FEW => return false,
            (false, false) => {
                self.runs[after..].rotate_right(1);
                self.runs[after] = Near { start: at, end: at + 1 };
                self.len += 1;
            }
        }
        true
    }

    /// Handles the arrival of the next `filled` segments expected. If a run begins directly after
    /// them, this run is now in order and is removed. Returns its length, or 0 without such a run.
    fn close(&mut self, filled: u16) -> u16 {
        let more = match self.runs().first() {
            Some(first) if first.start == filled => first.end - filled,
            _ => 0,
        };
        if more > 0 {
            self.remove(0);
        }
        for Near { start, end } in &mut self.runs[..usize::from(self.len)] {
            (*start, *end) = (*start - filled - more, *end - filled - more);
        }
        more
    }

    fn remove(&mut self, at: usize) {
        self.runs[at..].rotate_left(1);
        self.len -= 1;
    }
}

impl Near {
    fn from(self, next: u64) -> Run {
        Run { start: next + u64::from(self.start), end: next + u64::from(self.end) }
    }
}

impl Ahead {
    fn keep(&mut self, seq: u64) {
        let runs = &mut self.runs;
        if let Some(last) = runs.back_mut().filter(|last| last.end == seq) {
            last.end += 1;
            return;
        }
        let after = runs.partition_point(|run| run.start <= seq); // runs before this one start at `seq` or below
        let joins_before = after > 0 && runs[after - 1].end >= seq;
        let joins_after = after < runs.len() && runs[after].start == seq + 1;
        match (joins_before, joins_after) {
            (true, true) => {
                runs[after - 1].end = runs[after].end;
                runs.remove(after);
            }
            (true, false) => {
                let end = &mut runs[after - 1].end;
                *end = (*end).max(seq + 1);
            }
            (false, true) => runs[after].start = seq,
            (false, false) => runs.insert(after, Run { start: seq, end: seq + 1 }),
        }
    }

    fn touch(&mut self, seq: u64, next: u64) {
        let Some(run) = self.run_of(seq) else { return };
        let others = self.recent.iter().copied().filter(|&seq| seq > next && !run.holds(seq));
        let mut kept = [seq, 0, 0];
        kept[1..].iter_mut().zip(others).for_each(|(slot, seq)| *slot = seq);
        self.recent = kept;
    }

    fn run_of(&self, seq: u64) -> Option<Run> {
        let last = *self.runs.back()?;
        if last.start <= seq {
            return last.holds(seq).then_some(last); // as most segments after a hole are
        }
        let after = self.runs.partition_point(|run| run.start <= seq);
        let run = *self.runs.get(after.checked_sub(1)?)?;
        run.holds(seq).then_some(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Profile;
    use fairwire_core::Seed;

    const NOW: Time = Time::ZERO;

    fn config(profile: Profile) -> Config {
        Config::new(profile, 512)
    }

    fn receiver() -> Receiver {
        Receiver::new(&config(Profile::Ns2In2002))
    }

    fn selective() -> Receiver {
        Receiver::new(&Config { recovery: Recovery::Sack, ..config(Profile::Ns2In2002) })
    }

    fn at_once(receiver: &mut Receiver, seq: u64) -> Ack {
        receiver.on_segment(Segment::data(seq), NOW).expect("each segment is acknowledged")
    }

    fn acks(receiver: &mut Receiver, segments: &[u64]) -> Vec<u64> {
        segments.iter().map(|&seq| at_once(receiver, seq).next).collect()
    }

    /// Returns the first and last segment number of each block.
    fn blocks(receiver: &mut Receiver, seq: u64) -> Vec<(u64, u64)> {
        let ack = at_once(receiver, seq);
        let first = |block: Block| ack.next + u64::from(block.offset);
        ack.sack.iter().map(|b| (first(b), first(b) + u64::from(b.len) - 1)).collect()
    }

    #[test]
    fn a_hole_holds_the_acknowledgement_until_it_is_filled() {
        assert_eq!(acks(&mut receiver(), &[0, 2, 3, 5, 1, 4]), [1, 1, 1, 1, 4, 6]);
    }

    #[test]
    fn a_duplicate_changes_nothing() {
        assert_eq!(acks(&mut receiver(), &[0, 0, 2, 2, 1, 1, 2]), [1, 1, 1, 1, 3, 3, 3]);
    }

    #[test]
    fn any_order_delivers_everything_once_and_blocks_report_arrivals() {
        let mut rng = Seed(1).stream("receiver");
        for _ in 0..200 {
            let mut order: Vec<u64> = (0..20).collect();
            for i in (1..order.len()).rev() {
                order.swap(i, rng.below(i as u32 + 1) as usize);
            }
            let mut receiver = selective();
            for (arrived, &seq) in order.iter().enumerate() {
                let here = &order[..=arrived];
                let reported = blocks(&mut receiver, seq);
                let expected = (0..20).find(|seq| !here.contains(seq)).unwrap_or(20);
                assert_eq!(receiver.delivered(), expected);
                for &(first, last) in &reported {
                    assert!((first..=last).all(|seq| here.contains(&seq)), "{reported:?} of {here:?}");
                    assert!(first > expected && !here.contains(&(first - 1)) && !here.contains(&(last + 1)));
                }
                if seq > expected {
                    assert!((reported[0].0..=reported[0].1).contains(&seq), "the latest comes first");
                }
                let mut distinct = reported.clone();
                distinct.dedup();
                assert_eq!(distinct, reported);
            }
        }
    }

    #[test]
    fn few_and_many_runs_agree_with_the_model() {
        let mut rng = Seed(2).stream("receiver");
        let (mut went_over, mut stayed) = (0, 0);
        for trial in 0..400u64 {
            // Some trials need more than four runs, or have segments beyond the reach of `Few`.
            let step = if trial % 4 == 0 { 9_000 } else { 1 };
            let reach = 2 + rng.below(14);
            let (mut ours, mut model) = (receiver(), std::collections::BTreeSet::new());
            let (mut next, mut was_many) = (0, false);
            for _ in 0..200 {
                let seq = next + u64::from(rng.below(reach)) * if rng.chance(0.3) { step } else { 1 };
                let took = at_once(&mut ours, seq).next;
                model.insert(seq);
                while model.remove(&next) {
                    next += 1;
                }
                model = model.split_off(&next);
                assert_eq!((took, ours.kept == Kept::Nothing), (next, model.is_empty()));
                was_many |= ours.kept == Kept::InMany;
            }
            went_over += u32::from(was_many);
            stayed += u32::from(!was_many);
        }
        assert!(went_over > 100 && stayed > 40, "{went_over} and {stayed}");
    }

    #[test]
    fn the_latest_three_blocks_are_reported_the_latest_first() {
        let mut receiver = selective();
        assert_eq!(blocks(&mut receiver, 1), [(1, 1)]);
        assert_eq!(blocks(&mut receiver, 3), [(3, 3), (1, 1)]);
        assert_eq!(blocks(&mut receiver, 5), [(5, 5), (3, 3), (1, 1)]);
        assert_eq!(blocks(&mut receiver, 7), [(7, 7), (5, 5), (3, 3)]);
        assert_eq!(blocks(&mut receiver, 6), [(5, 7), (3, 3)]);
        assert_eq!(blocks(&mut receiver, 2), [(1, 3), (5, 7)]);
        assert_eq!(blocks(&mut receiver, 0), [(5, 7)]);
        assert_eq!(blocks(&mut receiver, 4), []);
    }

    #[test]
    fn a_duplicate_is_reported_once_before_the_blocks() {
        let mut receiver = Receiver::new(&Config { recovery: Recovery::Rack, ..config(Profile::Ns2In2002) });
        let mut ranges = |seq| {
            let ack = at_once(&mut receiver, seq);
            ack.sack.ranges(ack.next).collect::<Vec<_>>()
        };
        assert_eq!([0, 1].map(&mut ranges), [[], []] as [[[u64; 2]; 0]; 2]);
        assert_eq!(ranges(0), [[0, 1]], "below what is acknowledged (RFC 2883, section 4.1.1)");
        assert_eq!(ranges(4), [[4, 5]]);
        assert_eq!(ranges(4), [[4, 5], [4, 5]], "within a block (section 4.1.2)");
        assert_eq!((ranges(6), ranges(8)), (vec![[6, 7], [4, 5]], vec![[8, 9], [6, 7], [4, 5]]));
        assert_eq!(ranges(1), [[1, 2], [8, 9], [6, 7]], "three in all");
        assert_eq!(ranges(2), [[8, 9], [6, 7], [4, 5]]);
    }

    #[test]
    fn an_acknowledgement_echoes_the_segment_that_advanced_it() {
        let delayed_ack = Some(DelayedAck { segments: 2, timeout: Duration::from_ms(40), quick_acks: 0 });
        let config = Config { recovery: Recovery::Rack, delayed_ack, ..config(Profile::Ns2In2002) };
        let mut receiver = Receiver::new(&config);
        let mut echo = |seq, epoch| {
            let segment = Segment { is_retransmission: epoch, epoch, ..Segment::data(seq) };
            receiver.on_segment(segment, NOW).map(|ack| ack.echo)
        };
        assert_eq!([0, 1].map(|seq| echo(seq, false)), [None, Some(false)]);
        assert_eq!(echo(3, false), Some(false), "nothing moved");
        assert_eq!(echo(2, true), Some(true), "a retransmission filled the hole");
        assert_eq!([4, 5].map(|seq| echo(seq, false)), [None, Some(false)]);
        assert_eq!(
            [(6, true), (7, false)].map(|(seq, again)| echo(seq, again)),
            [None, Some(true)],
            "the first"
        );
        assert_eq!(echo(6, false), Some(true), "an original that comes late is not echoed");
    }

    #[test]
    fn segments_beyond_the_window_are_discarded() {
        let mut receiver = Receiver::new(&Config { window: Some(4), ..config(Profile::Ns2In2002) });
        assert_eq!(acks(&mut receiver, &[3, 4, 0, 1, 2]), [0, 0, 1, 2, 4]);
    }

    #[test]
    fn a_delayed_acknowledgement_leaves_with_the_second_segment_or_at_its_deadline() {
        let mut receiver = Receiver::new(&config(Profile::Modern));
        let at = |ms| NOW + Duration::from_ms(ms);
        assert_eq!(receiver.on_segment(Segment::data(0), at(5)), None);
        assert_eq!(receiver.deadline(), Some(at(45)));
        assert_eq!(receiver.on_segment(Segment::data(1), at(6)), Some(Ack::of(2)));
        assert_eq!(receiver.deadline(), None);
        assert_eq!(receiver.on_segment(Segment::data(2), at(10)), None);
        assert_eq!(receiver.on_timeout(at(49)), None);
        assert_eq!(receiver.on_timeout(at(50)), Some(Ack::of(3)));
        assert_eq!((receiver.deadline(), receiver.on_timeout(at(90))), (None, None));
    }

    #[test]
    fn quick_acknowledgements_leave_at_once_while_the_window_may_be_small() {
        let mut config = config(Profile::Modern);
        config.delayed_ack = config.delayed_ack.map(|delayed| DelayedAck { quick_acks: 3, ..delayed });
        let mut receiver = Receiver::new(&config);
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        let mut comes = |segment, ms| receiver.on_segment(segment, at(ms)).map(|ack| ack.next);
        comes(Segment::SYN, 100);
        let ect = |seq| Segment { ecn: Ecn::Ect0, ..Segment::data(seq) };
        // The handshake took 40 ms, so a pause is longer than 40 + 200 ms.
        let acks = [0, 2, 1, 3, 4, 5, 6].map(|seq| comes(ect(seq), 140 + seq));
        assert_eq!(acks, [Some(1), Some(1), Some(3), None, Some(5), None, Some(7)]);
        let after_pause = [7, 8, 9, 10, 11].map(|seq| comes(ect(seq), 387 + seq));
        assert_eq!(after_pause, [Some(8), Some(9), Some(10), None, Some(12)]);
        assert_eq!(comes(ect(3), 400), Some(12), "one that came before");
        assert_eq!([12, 13, 14, 15].map(|seq| comes(ect(seq), 401)), [Some(13), Some(14), None, Some(16)]);
        let marked = |seq| Segment { ecn: Ecn::Ce, ..ect(seq) };
        let after_mark = [marked(16), marked(17), marked(18), ect(19)].map(|segment| comes(segment, 402));
        assert_eq!(after_mark, [Some(17), Some(18), None, Some(20)], "two, after the first mark");
        let answered = Segment { cwr: true, ..ect(20) };
        assert_eq!([answered, ect(21)].map(|segment| comes(segment, 403)), [Some(21), None]);
        let again = Segment { is_retransmission: true, ..Segment::data(22) };
        assert_eq!([again, ect(23), ect(24)].map(|segment| comes(segment, 404)), [Some(23), Some(24), None]);
    }

    #[test]
    fn out_of_order_and_hole_filling_segments_are_acknowledged_at_once() {
        let mut receiver = Receiver::new(&config(Profile::Modern));
        let next =
            |receiver: &mut Receiver, seq| receiver.on_segment(Segment::data(seq), NOW).map(|ack| ack.next);
        assert_eq!(next(&mut receiver, 0), None);
        assert_eq!(next(&mut receiver, 2), Some(1));
        assert_eq!(receiver.deadline(), None); // it covers the delayed one too
        assert_eq!(next(&mut receiver, 4), Some(1));
        assert_eq!(next(&mut receiver, 1), Some(3)); // one hole filled, one left
        assert_eq!(next(&mut receiver, 3), Some(5));
        assert_eq!(next(&mut receiver, 4), Some(5)); // a duplicate
        assert_eq!(next(&mut receiver, 5), None);
    }

    #[test]
    fn a_mark_is_echoed_until_the_sender_reports_a_reduction() {
        let mut receiver = receiver();
        let mut echo = |seq, ecn, cwr| {
            let ack = receiver.on_segment(Segment { ecn, cwr, ..Segment::data(seq) }, NOW);
            ack.map(|ack| (ack.ece, ack.marks)).expect("at once")
        };
        assert_eq!(echo(0, Ecn::Ect0, false), (false, 0));
        assert_eq!(echo(1, Ecn::Ce, false), (true, 1));
        assert_eq!(echo(2, Ecn::Ect0, false), (true, 1));
        assert_eq!(echo(3, Ecn::Ect0, true), (false, 1));
        assert_eq!(echo(4, Ecn::Ce, true), (true, 2)); // reduced, and marked anew
    }
}
