//! Turns counters into slots of a second, ten seconds or a minute.

use fairwire_control::snapshot::{CountsSnapshot, Snapshot, SojournHistogram, TotalsSnapshot};
use std::collections::BTreeMap;

/// The maximum number of classes named in a slot: the classes with the most traffic.
pub const MAX_CLASSES: usize = 32;
pub(super) const STEPS_S: [u64; 3] = [1, 10, 60];
/// The maximum number of classes that an unfinished slot sums up. A second adds at most 32 classes,
/// so a minute adds at most 1920.
const MAX_SUMMED: usize = 2048;
/// The name for the sum of the classes beyond [`MAX_CLASSES`]. No class can have this name.
pub(super) const OTHERS: &str = "";

/// The traffic of one direction during one interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slot {
    /// The slot's length, in seconds.
    pub step_s: u64,
    /// The slot's start, in seconds since 1970.
    pub at_s: u64,
    /// The number of the [`Way`](fairwire_wire::Way).
    pub way: usize,
    /// The rate of the link, bit/s; 0 if not shaped.
    pub rate_bps: u64,
    /// Bytes that arrived.
    pub bytes_in: u64,
    /// Bytes sent on.
    pub bytes_out: u64,
    /// Bytes waiting at the end of the slot.
    pub backlog_bytes: u64,
    /// The median, 95th and 99th percentile of the waits, in seconds.
    pub waits_s: [f64; 3],
    /// The lowest Jain's index during the slot.
    pub jain: f64,
    /// The largest deviation of a class from its fair share, in percentage points.
    pub worst_points: f64,
    /// Drops, marks and losses by fate (`dropped`, `marked` or `lost`) and reason.
    pub causes: BTreeMap<(&'static str, String), u64>,
    /// The traffic of the classes.
    pub classes: Vec<ClassSlot>,
}

/// The traffic of a class in a slot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassSlot {
    /// The class's name; empty for the sum of all others.
    pub class: String,
    /// Bytes offered.
    pub bytes_in: f64,
    /// Bytes that the class got.
    pub bytes_out: f64,
    /// Bytes of the class's fair share.
    pub fair_bytes: f64,
}

/// The state of unfinished slots.
#[derive(Debug, Default)]
pub struct Slots {
    begun: BTreeMap<u64, Begun>,
}

#[derive(Debug)]
struct Begun {
    number: u64,
    counts: CountsSnapshot,
    ways: [Sums; 2],
}

#[derive(Debug)]
struct Sums {
    jain: f64,
    worst_points: f64,
    classes: BTreeMap<String, ClassSlot>,
}

impl Default for Sums {
    fn default() -> Self {
        Sums { jain: 1.0, worst_points: 0.0, classes: BTreeMap::new() }
    }
}

impl Slots {
    /// Takes an observation at `now_s`, in seconds since 1970. The previous observation was
    /// `over_s` seconds earlier. Returns the finished slots.
    pub fn take(
        &mut self,
        now_s: u64,
        over_s: f64,
        snapshot: &Snapshot,
        counts: &CountsSnapshot,
    ) -> Vec<Slot> {
        let mut over = Vec::new();
        for step_s in STEPS_S {
            let number = now_s / step_s;
            let begin = || Begun { number, counts: counts.clone(), ways: Default::default() };
            let begun = self.begun.entry(step_s).or_insert_with(begin);
            begun.add(snapshot, over_s);
            if begun.number != number {
                over.extend((0..2).filter_map(|way| begun.finish(way, step_s, snapshot, counts)));
                *begun = begin();
            }
        }
        over
    }
}

impl Begun {
    fn add(&mut self, snapshot: &Snapshot, over_s: f64) {
        for (sums, way) in self.ways.iter_mut().zip(&snapshot.ways) {
            sums.jain = sums.jain.min(way.jain);
            sums.worst_points = sums.worst_points.max(way.worst_share_error_points);
            // A parent's traffic is the sum of its children's, so parents are skipped.
            let parents: Vec<&str> = way.classes.iter().map(|class| class.parent.as_str()).collect();
            for class in way.classes.iter().filter(|class| class.offered_bps > 0.0) {
                let is_parent = parents.contains(&class.class.as_str());
                let has_room = sums.classes.len() < MAX_SUMMED || sums.classes.contains_key(&class.class);
                if is_parent || !has_room {
                    continue;
                }
                let sum = sums.classes.entry(class.class.clone()).or_default();
                sum.bytes_in += class.offered_bps / 8.0 * over_s;
                sum.bytes_out += class.throughput_bps / 8.0 * over_s;
                sum.fair_bytes += class.fair_bps / 8.0 * over_s;
            }
        }
    }

    fn finish(
        &mut self,
        way: usize,
        step_s: u64,
        snapshot: &Snapshot,
        counts: &CountsSnapshot,
    ) -> Option<Slot> {
        let (now, before) = (counts.ways.get(way)?, self.counts.ways.get(way)?);
        let (is, was) = (&now.totals, &before.totals);
        let sums = std::mem::take(&mut self.ways[way]);
        let mut slot = Slot {
            step_s,
            at_s: self.number * step_s,
            way,
            rate_bps: snapshot.ways.get(way)?.rate_bps,
            bytes_in: is.bytes_in.saturating_sub(was.bytes_in),
            bytes_out: is.bytes_out.saturating_sub(was.bytes_out),
            backlog_bytes: now.backlog_bytes,
            waits_s: quantiles(&now.waits, &before.waits),
            jain: sums.jain,
            worst_points: sums.worst_points,
            causes: causes(is, was),
            classes: Vec::new(),
        };
        slot.classes = busiest(sums.classes, slot.bytes_in, slot.bytes_out);
        Some(slot)
    }
}

fn busiest(classes: BTreeMap<String, ClassSlot>, bytes_in: u64, bytes_out: u64) -> Vec<ClassSlot> {
    let mut named: Vec<ClassSlot> =
        classes.into_iter().map(|(class, slot)| ClassSlot { class, ..slot }).collect();
    named.sort_by(|a, b| b.bytes_out.total_cmp(&a.bytes_out));
    named.truncate(MAX_CLASSES);
    let sum = |of: fn(&ClassSlot) -> f64| named.iter().map(of).sum::<f64>();
    let rest = ClassSlot {
        class: OTHERS.to_owned(),
        bytes_in: (bytes_in as f64 - sum(|class| class.bytes_in)).max(0.0),
        bytes_out: (bytes_out as f64 - sum(|class| class.bytes_out)).max(0.0),
        fair_bytes: 0.0,
    };
    named.push(rest);
    named
}

fn causes(is: &TotalsSnapshot, was: &TotalsSnapshot) -> BTreeMap<(&'static str, String), u64> {
    let kinds = [
        ("dropped", &is.dropped, &was.dropped),
        ("marked", &is.marked, &was.marked),
        ("lost", &is.lost, &was.lost),
    ];
    let of = |(fate, is, was): (&'static str, &BTreeMap<String, u64>, &BTreeMap<String, u64>)| {
        let new = |(reason, count): (&String, &u64)| {
            let count = count.saturating_sub(was.get(reason).copied().unwrap_or(0));
            (count > 0).then(|| ((fate, reason.clone()), count))
        };
        is.iter().filter_map(new).collect::<Vec<_>>()
    };
    kinds.into_iter().flat_map(of).collect()
}

/// The median, 95th and 99th percentile of the waits counted since the histogram `was`. Each value
/// is the upper end of its bucket.
fn quantiles(is: &SojournHistogram, was: &SojournHistogram) -> [f64; 3] {
    let new: Vec<u64> = (is.counts.iter().enumerate())
        .map(|(at, count)| count.saturating_sub(was.counts.get(at).copied().unwrap_or(0)))
        .collect();
    let all: u64 = new.iter().sum();
    let mut found = [0.0; 3];
    if all == 0 {
        return found;
    }
    for (place, part) in found.iter_mut().zip([0.5, 0.95, 0.99]) {
        let wanted = ((part * all as f64).ceil() as u64).max(1);
        let mut sum = 0;
        let bucket = new.iter().position(|count| {
            sum += count;
            sum >= wanted
        });
        let bucket = bucket.unwrap_or(is.bounds_s.len());
        *place = is.bounds_s.get(bucket).or(is.bounds_s.last()).copied().unwrap_or_default();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_control::snapshot::{ClassSnapshot, WayCounts, WaySnapshot};

    fn at(second: u64) -> (Snapshot, CountsSnapshot) {
        let class = |name: &str, parent: &str, bps: f64| ClassSnapshot {
            class: name.into(),
            parent: parent.into(),
            offered_bps: 2.0 * bps,
            throughput_bps: bps,
            fair_bps: bps,
            ..ClassSnapshot::default()
        };
        let classes = vec![class("gold", "", 12e3), class("alice", "gold", 8e3), class("bob", "gold", 4e3)];
        let way =
            || WaySnapshot { classes: classes.clone(), jain: 0.9, rate_bps: 16_000, ..Default::default() };
        let totals = TotalsSnapshot {
            bytes_in: 3000 * second,
            bytes_out: 2000 * second,
            dropped: [("early".to_owned(), 7 * second)].into(),
            ..TotalsSnapshot::default()
        };
        let waits = SojournHistogram {
            bounds_s: vec![0.01, 0.02],
            counts: vec![90 * second, 9 * second, second],
            sum_s: 0.0,
        };
        let counts = || WayCounts { totals: totals.clone(), waits: waits.clone(), ..WayCounts::default() };
        let snapshot = Snapshot { ways: vec![way(), way()], ..Snapshot::default() };
        (snapshot, CountsSnapshot { ways: vec![counts(), counts()], ..CountsSnapshot::default() })
    }

    #[test]
    fn a_minute_is_the_sum_of_its_seconds() {
        let mut slots = Slots::default();
        let all: Vec<Slot> = (0..=120)
            .flat_map(|second| {
                let (snapshot, counts) = at(second);
                slots.take(second, 1.0, &snapshot, &counts)
            })
            .collect();
        let of = |step_s| all.iter().filter(move |slot| slot.way == 0 && slot.step_s == step_s);
        assert_eq!((of(1).count(), of(10).count(), of(60).count()), (120, 12, 2));
        for slot in of(60) {
            assert_eq!((slot.bytes_out, slot.causes[&("dropped", "early".to_owned())]), (120_000, 420));
            assert_eq!(slot.waits_s, [0.01, 0.02, 0.02]);
            assert_eq!(slot.jain, 0.9);
        }
        let sum: u64 = of(1).take(60).map(|slot| slot.bytes_in).sum();
        assert_eq!(sum, of(60).next().expect("one").bytes_in);
    }

    #[test]
    fn parent_classes_are_not_counted_twice_and_the_remainder_is_others() {
        let mut slots = Slots::default();
        let (first, second) = (at(0), at(1));
        slots.take(0, 1.0, &first.0, &first.1);
        let over = slots.take(1, 1.0, &second.0, &second.1);
        let shown: Vec<(&str, f64)> =
            over[0].classes.iter().map(|class| (class.class.as_str(), class.bytes_out)).collect();
        // The first slot adds the readings at 0 s and 1 s, so each sum is doubled.
        assert_eq!(shown, [("alice", 2000.0), ("bob", 1000.0), (OTHERS, 0.0)]);
    }
}
