//! Copies of the counters of flows and classes, taken in small pieces, so that the datapath never
//! pauses for long.
//!
//! The rate of a counter is its difference between two copies, divided by the time between the
//! copies of its piece.

use fairwire_core::{Duration, FlowHash, Time};
use fairwire_datapath::account::{Account, Accounts, ClassCounts, FirstPacket, FlowCount};
use fairwire_datapath::trips::{ClassTrips, TripCount};
use std::collections::VecDeque;

/// Accounts copied at one interval. With cold caches, copying both directions and the classes takes
/// at most 118 us of CPU time (`benches/telemetry.rs`; measured with 16 fewer bytes per account).
const FLOWS_AT_ONCE: usize = 512;
/// Classes copied at one interval. A copy of 20 000 classes takes 20 intervals.
const CLASSES_AT_ONCE: usize = 1024;
const SPACING: Duration = Duration::from_ms(500);
/// The number of kept copies. They are 500 ms apart, so they span one second.
const KEPT: usize = 3;

#[derive(Clone, Copy, Debug)]
pub(super) struct FlowSample {
    pub flow: FlowHash,
    pub count: FlowCount,
}

/// The counters of a class. They are few, since there may be a million classes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClassSample {
    bytes_in: u64,
    bytes_out: u64,
    dropped: u64,
    marked: u64,
    pub trips: TripCount,
}

impl ClassSample {
    fn of((count, trips): (&FlowCount, &TripCount)) -> Self {
        let FlowCount { bytes_in, bytes_out, dropped, marked, .. } = *count;
        ClassSample { bytes_in, bytes_out, dropped, marked, trips: *trips }
    }
    pub(super) fn add(&mut self, other: &ClassSample) {
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        self.dropped += other.dropped;
        self.marked += other.marked;
        self.trips.add(&other.trips);
    }

    pub(super) fn count(&self) -> FlowCount {
        let ClassSample { bytes_in, bytes_out, dropped, marked, .. } = *self;
        FlowCount { bytes_in, bytes_out, dropped, marked, ..FlowCount::default() }
    }
}

#[derive(Debug, Default)]
pub(super) struct Sample {
    pub flows: Vec<FlowSample>,
    /// The first packet of each flow, read only in the newest copy.
    pub opened: Vec<FirstPacket>,
    pub classes: Vec<ClassSample>,
    /// The counters of traffic that is not counted individually, and the time of their copy.
    pub others: (Time, FlowCount),
    /// The counters of classes whose numbers were reused.
    pub gone: ClassSample,
    pub flow_times: Vec<Time>,
    pub class_times: Vec<Time>,
}

impl Sample {
    fn new(flows: usize, classes: usize) -> Self {
        Sample {
            flows: Vec::with_capacity(flows),
            opened: Vec::with_capacity(flows),
            classes: Vec::with_capacity(classes),
            others: Default::default(),
            gone: ClassSample::default(),
            flow_times: Vec::with_capacity(flows.div_ceil(FLOWS_AT_ONCE)),
            class_times: Vec::with_capacity(classes.div_ceil(CLASSES_AT_ONCE)),
        }
    }

    fn clear(&mut self) {
        self.flows.clear();
        self.opened.clear();
        self.classes.clear();
        self.flow_times.clear();
        self.class_times.clear();
    }

    pub(super) fn flow_time(&self, place: usize) -> Time {
        self.flow_times[place / FLOWS_AT_ONCE]
    }

    pub(super) fn class_time(&self, place: usize) -> Time {
        self.class_times[place / CLASSES_AT_ONCE]
    }
}

/// Copies the counters of one direction, piece by piece, on the datapath thread.
#[derive(Debug)]
pub(super) struct Sampler {
    sample: Sample,
    begins_at: Time,
    /// The numbers of flows and classes that the current copy will contain; `None` between copies.
    /// A flow that appears during a copy is left for the next copy.
    of: Option<[usize; 2]>,
}

impl Sampler {
    pub(super) fn new(flows: usize, classes: usize, start: Time) -> Self {
        Sampler { sample: Sample::new(flows, classes), begins_at: start, of: None }
    }

    pub(super) fn step(&mut self, now: Time, accounts: &Accounts, classes: &ClassCounts, trips: &ClassTrips) {
        let (all, opened) = accounts.all();
        let sample = &mut self.sample;
        let [flow_count, class_count] = match self.of {
            Some(of) => of,
            None if now < self.begins_at => return,
            None => {
                self.begins_at = now + SPACING;
                sample.others = (now, accounts.never_counted());
                sample.gone = ClassSample::of((classes.gone(), trips.gone()));
                // The copy must not exceed the allocated room.
                let classes = classes.all().len().min(trips.all().len()).min(sample.classes.capacity());
                [all.len().min(sample.flows.capacity()), classes]
            }
        };
        self.of = Some([flow_count, class_count]);
        let (counts, trips) = (classes.all(), trips.all());
        if let Some(piece) = piece(sample.flows.len(), flow_count.min(all.len()), FLOWS_AT_ONCE) {
            let copied = |account: &Account| FlowSample { flow: account.flow, count: account.count };
            sample.flow_times.push(now);
            sample.opened.extend_from_slice(&opened[piece.clone()]);
            sample.flows.extend(all[piece].iter().map(copied));
        }
        if let Some(piece) =
            piece(sample.classes.len(), class_count.min(counts.len()).min(trips.len()), CLASSES_AT_ONCE)
        {
            sample.class_times.push(now);
            sample.classes.extend(counts[piece.clone()].iter().zip(&trips[piece]).map(ClassSample::of));
        }
    }

    fn is_whole(&self) -> bool {
        self.of.is_some_and(|[flows, classes]| {
            self.sample.flows.len() >= flows && self.sample.classes.len() >= classes
        })
    }

    /// If the copy is complete, moves it to `kept`, reuses the memory of the oldest copy there, and
    /// returns `true`.
    pub(super) fn give(&mut self, kept: &mut RecentCopies) -> bool {
        let is_whole = self.is_whole();
        if is_whole {
            self.sample = kept.push(std::mem::take(&mut self.sample));
            self.sample.clear();
            self.of = None;
        }
        is_whole
    }
}

fn piece(done: usize, all: usize, max: usize) -> Option<std::ops::Range<usize>> {
    (done < all).then(|| done..all.min(done + max))
}

/// The copies of about the last second, newest first.
#[derive(Debug)]
pub(super) struct RecentCopies {
    copies: VecDeque<Sample>,
    spare: Vec<Sample>,
}

impl RecentCopies {
    pub(super) fn new(flows: usize, classes: usize) -> Self {
        let spare = (0..KEPT).map(|_| Sample::new(flows, classes)).collect();
        RecentCopies { copies: VecDeque::with_capacity(KEPT + 1), spare }
    }

    fn push(&mut self, copy: Sample) -> Sample {
        self.copies.push_front(copy);
        match self.spare.pop() {
            Some(spare) => spare,
            None => self.copies.pop_back().unwrap_or_default(),
        }
    }

    pub(super) fn ends(&self) -> Option<(&Sample, &Sample)> {
        (self.copies.len() > 1).then(|| self.copies.front().zip(self.copies.back())).flatten()
    }

    pub(super) fn newest(&self) -> Option<&Sample> {
        self.copies.front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_wire::FlowKey;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    fn opened() -> FirstPacket {
        let key = FlowKey::Other { ethertype: 0, source: [0; 6], destination: [0; 6] };
        FirstPacket { key, class: 0, vlan: 0, dscp: 0, mac: [0; 6] }
    }

    #[test]
    fn a_copy_is_made_in_pieces_and_rates_use_the_times_of_their_pieces() {
        let (flows, classes) = (FLOWS_AT_ONCE + 10, 3 * CLASSES_AT_ONCE);
        let mut accounts = Accounts::new(flows);
        let mut counts = ClassCounts::new(classes);
        let trips = ClassTrips::new(classes);
        let mut sampler = Sampler::new(flows, classes, at(0));
        let mut kept = RecentCopies::new(flows, classes);
        let mut given = Vec::new();
        for ms in (0..2000).step_by(10) {
            for flow in 0..flows as u64 {
                let account = accounts.open(FlowHash(flow), at(ms), opened);
                accounts.entry(account).bytes_out += 10;
            }
            (0..classes as u32).for_each(|class| counts.entry(class).bytes_out += 20);
            sampler.step(at(ms), &accounts, &counts, &trips);
            if sampler.give(&mut kept) {
                given.push(ms);
            }
        }
        // A copy starts every 500 ms and ends two steps of 10 ms later.
        assert_eq!(given, [20, 520, 1020, 1520]);
        let (new, old) = kept.ends().expect("two");
        assert_eq!((new.flows.len(), new.opened.len(), new.classes.len()), (flows, flows, classes));
        for place in [0, FLOWS_AT_ONCE - 1, FLOWS_AT_ONCE, flows - 1] {
            let bytes = new.flows[place].count.since(&old.flows[place].count).bytes_out;
            let time = new.flow_time(place).since(old.flow_time(place));
            assert_eq!((bytes, time), (1000, Duration::from_ms(1000)));
        }
        assert_eq!(new.class_time(classes - 1), at(1520));
        let last = new.classes[classes - 1].count().since(&old.classes[classes - 1].count());
        assert_eq!(last, FlowCount { bytes_out: 2000, ..FlowCount::default() });
    }

    #[test]
    fn an_untaken_copy_waits_and_blocks_the_next() {
        let accounts = Accounts::new(4);
        let counts = ClassCounts::new(1);
        let mut sampler = Sampler::new(4, 1, at(0));
        for ms in (0..5000).step_by(10) {
            sampler.step(at(ms), &accounts, &counts, &ClassTrips::new(1));
        }
        let mut kept = RecentCopies::new(4, 1);
        assert!(sampler.give(&mut kept));
        assert!(!sampler.give(&mut kept));
        assert_eq!(kept.newest().expect("one").class_time(0), at(0));
    }
}
