//! What happened to a gateway: a line each in its log, a counter of each kind, and the last of them
//! in the snapshot and in the page's history.

use fairwire_control::snapshot::Change;
use fairwire_linux::clock;
use std::collections::{BTreeMap, VecDeque};

/// The kinds of what happens. This is the one list of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// The gateway began.
    Start,
    /// Another configuration is in place.
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
    /// The process was silent, and its guard bridged the link, unshaped.
    FailedOpen,
    /// The guard is gone.
    GuardGone,
    /// A thread that sends is stuck.
    SenderStuck,
    /// The first packets were lost for a reason that means that something is set up wrong.
    Losses,
    /// A way was full for a minute, and packets were dropped or marked throughout.
    Full,
    /// A way is no longer full.
    NotFull,
    /// A class was at its ceiling for a minute.
    AtCeiling,
    /// A class is no longer at its ceiling.
    BelowCeiling,
    /// Much crosses the interfaces and not the gateway.
    Bypass,
    /// Little does any more.
    NoBypass,
}

impl ChangeKind {
    /// Every kind.
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

/// The last changes, and how many there were.
#[derive(Debug, Default)]
pub(super) struct Changes {
    last: VecDeque<Change>,
    counts: BTreeMap<ChangeKind, u64>,
}

/// Changes that are kept until a reader takes them.
const KEPT: usize = 64;
/// Bytes of one change that are kept.
const MAX_BYTES: usize = 4096;
/// Changes in a snapshot.
const SHOWN: usize = 8;

impl Changes {
    /// `text` happened now.
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

    /// Those after the first `seen`, as far as they are kept, and how many there were.
    pub(super) fn after(&self, seen: u64) -> (Vec<Change>, u64) {
        let count = self.counts.values().sum();
        let new = usize::try_from(u64::saturating_sub(count, seen)).unwrap_or(KEPT).min(self.last.len());
        (self.last.iter().skip(self.last.len() - new).cloned().collect(), count)
    }

    /// The newest, newest first.
    pub(super) fn newest(&self) -> Vec<Change> {
        self.last.iter().rev().take(SHOWN).cloned().collect()
    }

    /// How many there were of each kind since the start.
    pub(super) fn counts(&self) -> BTreeMap<String, u64> {
        let count = |kind: &ChangeKind| self.counts.get(kind).copied().unwrap_or(0);
        ChangeKind::ALL.iter().map(|kind| (kind.name().to_owned(), count(kind))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_listed_under_a_name_of_its_own() {
        let mut changes = Changes::default();
        assert_eq!(changes.counts().len(), ChangeKind::ALL.len());
        ChangeKind::ALL.into_iter().for_each(|kind| changes.add(kind, String::new()));
        assert!(changes.counts().values().all(|count| *count == 1), "{:?}", changes.counts());
    }

    #[test]
    fn a_reader_gets_each_change_once_and_a_long_one_is_cut() {
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
