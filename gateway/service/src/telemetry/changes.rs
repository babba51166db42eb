//! Events of a gateway. Each has a line in the log and a counter of its type.

use fairwire_control::snapshot::Change;
use fairwire_linux::clock;
use std::collections::{BTreeMap, VecDeque};

/// The types of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// The gateway started.
    Start,
    /// Another configuration applies.
    Reload,
    /// A reload was refused.
    ReloadRefused,
    /// A weight was set.
    Weight,
    /// A rate was set.
    Rate,
    /// An interface stopped carrying frames.
    InterfaceDown,
    /// An interface carries frames again.
    InterfaceUp,
    /// The process was silent, so its guard bridged the link without shaping.
    FailedOpen,
    /// The guard is gone.
    GuardGone,
    /// A sender thread is stuck.
    SenderStuck,
    /// Packets were lost for a reason that indicates a wrong setup. Reported once per reason.
    Losses,
    /// A direction was full for a minute, with drops or marks throughout.
    Full,
    /// A direction is no longer full.
    NotFull,
    /// A class was at its ceiling for a minute.
    AtCeiling,
    /// A class is no longer at its ceiling.
    BelowCeiling,
    /// Much traffic crosses the interfaces and bypasses the gateway.
    Bypass,
    /// Little traffic bypasses the gateway any more.
    NoBypass,
}

impl ChangeKind {
    /// Every type.
    pub const ALL: [ChangeKind; 17] = [
        ChangeKind::Start,
        ChangeKind::Reload,
        ChangeKind::ReloadRefused,
        ChangeKind::Weight,
        ChangeKind::Rate,
        ChangeKind::InterfaceDown,
        ChangeKind::InterfaceUp,
        ChangeKind::FailedOpen,
        ChangeKind::GuardGone,
        ChangeKind::SenderStuck,
        ChangeKind::Losses,
        ChangeKind::Full,
        ChangeKind::NotFull,
        ChangeKind::AtCeiling,
        ChangeKind::BelowCeiling,
        ChangeKind::Bypass,
        ChangeKind::NoBypass,
    ];

    /// The name in results, in metrics and in the history.
    pub const fn name(self) -> &'static str {
        match self {
            ChangeKind::Start => "start",
            ChangeKind::Reload => "reload",
            ChangeKind::ReloadRefused => "reload-refused",
            ChangeKind::Weight => "weight",
            ChangeKind::Rate => "rate",
            ChangeKind::InterfaceDown => "interface-down",
            ChangeKind::InterfaceUp => "interface-up",
            ChangeKind::FailedOpen => "failed-open",
            ChangeKind::GuardGone => "guard-gone",
            ChangeKind::SenderStuck => "sender-stuck",
            ChangeKind::Losses => "losses",
            ChangeKind::Full => "full",
            ChangeKind::NotFull => "not-full",
            ChangeKind::AtCeiling => "at-ceiling",
            ChangeKind::BelowCeiling => "below-ceiling",
            ChangeKind::Bypass => "bypass",
            ChangeKind::NoBypass => "no-bypass",
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Changes {
    last: VecDeque<Change>,
    counts: BTreeMap<ChangeKind, u64>,
}

const KEPT: usize = 64;
const MAX_BYTES: usize = 4096;
const SHOWN: usize = 8;

impl Changes {
    pub(super) fn add(&mut self, kind: ChangeKind, mut text: String) {
        if text.len() > MAX_BYTES {
            text.truncate(text.floor_char_boundary(MAX_BYTES));
            text.push('…');
        }
        if self.last.len() == KEPT {
            self.last.pop_front();
        }
        let at_s = clock::calendar().ns() / 1_000_000_000;
        self.last.push_back(Change { at_s, kind: kind.name().to_owned(), text });
        *self.counts.entry(kind).or_default() += 1;
    }

    /// The changes after number `seen` that are still kept, and the number of all changes.
    pub(super) fn after(&self, seen: u64) -> (Vec<Change>, u64) {
        let count = self.counts.values().sum();
        let new = usize::try_from(u64::saturating_sub(count, seen)).unwrap_or(KEPT).min(self.last.len());
        (self.last.iter().skip(self.last.len() - new).cloned().collect(), count)
    }

    pub(super) fn newest(&self) -> Vec<Change> {
        self.last.iter().rev().take(SHOWN).cloned().collect()
    }

    pub(super) fn counts(&self) -> BTreeMap<String, u64> {
        let count = |kind: &ChangeKind| self.counts.get(kind).copied().unwrap_or(0);
        ChangeKind::ALL.iter().map(|kind| (kind.name().to_owned(), count(kind))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_change_has_its_own_name() {
        let mut changes = Changes::default();
        assert_eq!(changes.counts().len(), ChangeKind::ALL.len());
        ChangeKind::ALL.into_iter().for_each(|kind| changes.add(kind, String::new()));
        assert!(changes.counts().values().all(|count| *count == 1), "{:?}", changes.counts());
    }

    #[test]
    fn a_reader_gets_each_change_once_and_long_ones_are_cut() {
        let mut changes = Changes::default();
        changes.add(ChangeKind::Start, "one".into());
        changes.add(ChangeKind::InterfaceDown, "é".repeat(4000));
        let (first, seen) = changes.after(0);
        assert_eq!((first.len(), seen), (2, 2));
        assert!(first[1].text.len() < MAX_BYTES + 8 && first[1].text.ends_with('…'));
        assert_eq!(changes.after(seen), (vec![], 2));
        (0..100).for_each(|number| changes.add(ChangeKind::Weight, number.to_string()));
        let (late, seen) = changes.after(seen);
        assert_eq!((late.len(), seen), (KEPT, 102));
        assert_eq!(changes.newest()[0].text, "99");
        assert_eq!(changes.counts()["weight"], 100);
    }
}
