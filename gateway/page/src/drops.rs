//! The latest drops with their reasons, and the last minute's counts by class and cause.

use fairwire_core::Duration;
use fairwire_linux::clock;
use fairwire_service::telemetry::{Board, NamedEvent};
use fairwire_wire::Way;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};

/// The most drops, marks and losses kept.
pub const KEPT: usize = 500;
/// The maximum number of events of a direction read at once. If more occurred, the newest are
/// weighted to represent all.
const NAMED: usize = 256;
const MINUTE: usize = 60;
/// The maximum number of separate counts per second. Further events are counted under the name
/// `others`.
const MAX_ROWS: usize = 256;

/// The latest drops, and counts of the last minute.
#[derive(Debug, Default)]
pub struct Drops {
    seen: [u64; 2],
    last: VecDeque<Drop>,
    seconds: VecDeque<Second>,
}

/// One packet that was dropped, marked or lost.
#[derive(Clone, Debug, Serialize)]
pub struct Drop {
    /// The time of the event, in seconds since 1970.
    at_s: f64,
    way: &'static str,
    /// `dropped`, `marked` or `lost`.
    fate: &'static str,
    reason: &'static str,
    class: String,
    flow: String,
    packet: String,
    waited_s: f64,
    /// The share of the link that the packet's flow or class got in the preceding second.
    share: Option<f64>,
    fair: Option<f64>,
}

/// Identifies a count: the direction, the class or flow, the fate and the reason.
type Cell = (&'static str, String, &'static str, &'static str);

#[derive(Debug)]
struct Second {
    number: u64,
    counts: BTreeMap<Cell, f64>,
}

/// The page's view of drops.
#[derive(Debug, Serialize)]
pub struct DropsAnswer {
    last: Vec<Drop>,
    /// Events of the last minute per class, or per flow if there are no classes.
    minute: Vec<Count>,
    named: usize,
}

#[derive(Debug, Serialize)]
struct Count {
    way: &'static str,
    name: String,
    fate: &'static str,
    reason: &'static str,
    count: f64,
}

impl Drops {
    pub(super) fn look(&mut self, board: &Board) {
        let (now, calendar) = (clock::now(), clock::calendar());
        let has_classes = board.about().book.len() > 1;
        for way in Way::ALL {
            let seen = &mut self.seen[way as usize];
            let (events, count) = board.events_after(way, *seen, NAMED);
            let new = count.saturating_sub(*seen);
            *seen = count;
            let weight = new as f64 / events.len().max(1) as f64;
            for event in events {
                self.add(way, event, weight, has_classes, calendar.since(now));
            }
        }
        let second = now.ns() / 1_000_000_000;
        self.seconds.retain(|kept| kept.number + MINUTE as u64 > second);
    }

    fn add(&mut self, way: Way, event: NamedEvent, weight: f64, has_classes: bool, epoch: Duration) {
        let (fate, reason) = event.fate.words();
        let number = event.at.ns() / 1_000_000_000;
        let row =
            if has_classes && !event.class.is_empty() { event.class.clone() } else { event.flow.clone() };
        if self.seconds.back().is_none_or(|second| second.number < number) {
            self.seconds.push_back(Second { number, counts: BTreeMap::new() });
        }
        if let Some(second) = self.seconds.back_mut() {
            let cell = (way.name(), row, fate, reason);
            let has_room = second.counts.len() < MAX_ROWS || second.counts.contains_key(&cell);
            let cell = if has_room { cell } else { (way.name(), "others".to_owned(), fate, reason) };
            *second.counts.entry(cell).or_default() += weight;
        }
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        self.last.push_back(Drop {
            at_s: (event.at + epoch).secs(),
            way: way.name(),
            fate,
            reason,
            class: event.class,
            flow: event.flow,
            packet: event.packet,
            waited_s: event.waited.secs(),
            share: event.share,
            fair: event.fair,
        });
    }

    pub(super) fn last(&self, limit: usize) -> DropsAnswer {
        let mut minute: BTreeMap<&Cell, f64> = BTreeMap::new();
        for (cell, count) in self.seconds.iter().flat_map(|second| &second.counts) {
            *minute.entry(cell).or_default() += count;
        }
        let counted = |(cell, count): (&Cell, f64)| {
            let (way, name, fate, reason) = cell.clone();
            Count { way, name, fate, reason, count: count.round() }
        };
        DropsAnswer {
            last: self.last.iter().rev().take(limit).cloned().collect(),
            minute: minute.into_iter().map(counted).collect(),
            named: NAMED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::{Cause, Time};
    use fairwire_datapath::capture::Incident;

    fn event(ms: u64, class: &str, flow: &str) -> NamedEvent {
        NamedEvent {
            at: Time::ZERO + Duration::from_ms(ms),
            fate: Incident::Dropped(Cause::Early),
            class: class.into(),
            flow: flow.into(),
            packet: String::new(),
            waited: Duration::ZERO,
            share: None,
            fair: None,
        }
    }

    #[test]
    fn counts_are_by_class_or_without_classes_by_flow() {
        let mut drops = Drops::default();
        drops.add(Way::Download, event(10, "gold/alice", "10.0.0.1"), 2.5, true, Duration::ZERO);
        drops.add(Way::Download, event(1500, "gold/alice", "10.0.0.2"), 2.5, true, Duration::ZERO);
        drops.add(Way::Upload, event(1600, "unclaimed", "10.0.0.2"), 1.0, false, Duration::ZERO);
        let answer = drops.last(2);
        let counts: Vec<(&str, f64)> =
            answer.minute.iter().map(|count| (count.name.as_str(), count.count)).collect();
        assert_eq!(counts, [("gold/alice", 5.0), ("10.0.0.2", 1.0)]);
        assert_eq!(answer.last.iter().map(|drop| drop.at_s).collect::<Vec<_>>(), [1.6, 1.5]);
    }

    #[test]
    fn a_flood_of_names_stays_within_the_stated_memory() {
        let mut drops = Drops::default();
        for n in 0..10_000 {
            drops.add(Way::Download, event(5, "", &n.to_string()), 1.0, false, Duration::ZERO);
        }
        let answer = drops.last(usize::MAX);
        assert_eq!((answer.last.len(), answer.minute.len()), (KEPT, MAX_ROWS + 1));
        assert_eq!(answer.minute.iter().map(|count| count.count).sum::<f64>(), 10_000.0);
    }
}
