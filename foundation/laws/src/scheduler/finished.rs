//! Idle flows whose tags are still ahead of virtual time.
//!
//! A returning flow gets the tag max(F, v): F is the finish tag of its last packet, and v is
//! virtual time. Without F, a flow that never has two packets waiting would always be served as
//! new.

use super::heap::Heap;
use super::tag::Tag;
use fairwire_core::{FlowHash, FlowTable};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Account {
    /// The tag at which the flow's next packet may start.
    pub tag: Tag,
    /// The flow's weight, in the units of the caller.
    pub weight: u64,
}

/// The minimum room for flows: even a short queue may serve many flows in turn.
const MIN_CAPACITY: usize = 1024;

const SWEPT: usize = 2;

/// A bounded memory of flows and their tags. If full, it forgets the flow with the least tag, since
/// that flow loses least.
///
/// A flow is remembered if the index of its table entry is in the heap.
/// [`forget_all`](Self::forget_all) empties only the heap, in O(1). Whenever a flow is remembered,
/// [two](SWEPT) entries of forgotten flows are removed, so they never fill the table.
#[derive(Debug)]
pub(super) struct Finished {
    table: FlowTable<Account>,
    by_tag: Heap,
    /// Only the first `unswept` entries of `table` may belong to forgotten flows.
    unswept: usize,
}

impl Finished {
    pub(super) fn beside(packets: usize) -> Self {
        Finished::new(packets.max(MIN_CAPACITY))
    }

    fn new(capacity: usize) -> Self {
        Finished { table: FlowTable::new(capacity), by_tag: Heap::new(capacity), unswept: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.by_tag.len()
    }

    #[inline]
    pub(super) fn least(&self) -> Option<Tag> {
        self.by_tag.least().map(|(tag, _)| tag)
    }

    /// Remembers `flow`, which must not be remembered yet. Returns the account of a flow forgotten
    /// to make room.
    #[inline]
    pub(super) fn remember(&mut self, flow: FlowHash, account: Account) -> Option<Account> {
        self.sweep();
        let forgotten = if self.table.is_full() { self.pop() } else { None };
        let place = self.table.insert(flow, account);
        self.by_tag.insert(place, account.tag);
        forgotten
    }

    #[inline]
    pub(super) fn recall(&mut self, flow: FlowHash) -> Option<Account> {
        let place = self.table.find(flow)?;
        let is_remembered = self.by_tag.contains(place);
        let account = self.take(place);
        is_remembered.then_some(account)
    }

    /// Forgets all flows, in O(1).
    pub(super) fn forget_all(&mut self) {
        self.by_tag.clear();
        self.unswept = self.table.len();
    }

    #[inline]
    fn sweep(&mut self) {
        for _ in 0..SWEPT.min(self.unswept) {
            self.unswept -= 1;
            if !self.by_tag.contains(self.unswept) {
                self.take(self.unswept);
            }
        }
    }

    #[inline]
    pub(super) fn expired(&mut self, now: Tag) -> Option<Account> {
        if self.least()? <= now { self.pop() } else { None }
    }

    fn pop(&mut self) -> Option<Account> {
        let (_, place) = self.by_tag.least()?;
        Some(self.take(place))
    }

    fn take(&mut self, place: usize) -> Account {
        if self.by_tag.contains(place) {
            self.by_tag.remove(place);
        }
        let account = self.table.remove(place);
        let last = self.table.len();
        if place < last && self.by_tag.contains(last) {
            self.by_tag.rename(last, place); // the table moved its last entry here
        }
        self.unswept = self.unswept.min(last);
        account
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::Seed;

    #[test]
    fn it_agrees_with_a_plain_list_over_random_operations() {
        let mut rng = Seed(6).stream("finished");
        let mut finished = Finished::new(8);
        let mut model: Vec<(Tag, u64)> = Vec::new(); // tag, flow; tags differ
        for step in 0..20_000u64 {
            let flow = u64::from(rng.below(12));
            let tag = Tag::from(step + u64::from(rng.below(100)) * 100_000);
            let at = model.iter().position(|entry| entry.1 == flow);
            match (at, rng.below(4)) {
                (None, _) => {
                    let full = model.len() == 8;
                    let least = model.iter().copied().min().filter(|_| full);
                    let account = Account { tag, weight: flow };
                    assert!(finished.recall(flow.into()).is_none(), "what was forgotten stays so");
                    let forgotten = finished.remember(flow.into(), account);
                    assert_eq!(forgotten.map(|account| (account.tag, account.weight)), least);
                    model.retain(|&entry| Some(entry) != least);
                    model.push((tag, flow));
                }
                _ if rng.below(40) == 0 => {
                    finished.forget_all();
                    model.clear();
                }
                (Some(at), 0) => {
                    assert_eq!(finished.recall(flow.into()).map(|account| account.tag), Some(model[at].0));
                    model.swap_remove(at);
                }
                _ => {
                    let least = model.iter().copied().min().filter(|entry| entry.0 <= tag);
                    assert_eq!(finished.expired(tag).map(|account| (account.tag, account.weight)), least);
                    model.retain(|&entry| Some(entry) != least);
                }
            }
            assert_eq!((finished.len(), finished.least()), (model.len(), model.iter().min().map(|m| m.0)));
        }
    }

    #[test]
    fn each_remembered_flow_sweeps_two_forgotten_places() {
        let account = |tag| Account { tag, weight: 1 };
        let mut finished = Finished::new(8);
        for flow in 0..8 {
            finished.remember(flow.into(), account(1));
        }
        finished.forget_all();
        assert_eq!((finished.len(), finished.table.len()), (0, 8), "nothing is swept yet");
        for flow in 8..16 {
            assert_eq!(
                finished.remember(flow.into(), account(2)),
                None,
                "the forgotten take no room from flow {flow}"
            );
            let remembered = flow as usize - 7;
            assert_eq!(finished.len(), remembered);
            assert_eq!(finished.table.len(), remembered + 8usize.saturating_sub(2 * remembered));
        }
        assert_eq!(finished.remember(16.into(), account(3)), Some(account(2)), "now it is full");
    }
}
