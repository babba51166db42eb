//! Flows that have nothing waiting but whose tags still lie ahead of virtual time.
//!
//! The papers give a flow that returns the tag max(F, v), with F the finish tag of its last packet. Without F, a flow that
//! never has more than one packet waiting would be served as if each packet were its first.

use super::heap::Heap;
use super::tag::Tag;
use fairwire_core::{FlowHash, FlowTable};

/// What is remembered of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// The tag at which its next packet may start.
    pub tag: Tag,
    /// Its weight, as whoever keeps it counts weights.
    pub weight: u64,
}

/// Flows remembered at least, however few packets the buffer holds: a short queue may serve many flows in turn.
const LEAST_CAPACITY: usize = 1024;

/// A bounded memory of flows by tag. When it is full, the flow with the least tag, which has least to lose, is forgotten.
#[derive(Debug)]
pub struct Finished {
    table: FlowTable<Account>,
    by_tag: Heap,
}

impl Finished {
    /// A memory for schedulers of a buffer of so many packets: at most as many flows, or 1024 if that is more.
    pub fn beside(packets: usize) -> Self {
        Finished::new(packets.max(LEAST_CAPACITY))
    }

    /// A memory of at most `capacity` flows.
    fn new(capacity: usize) -> Self {
        Finished { table: FlowTable::new(capacity), by_tag: Heap::new(capacity) }
    }

    /// How many flows are remembered.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// The least tag.
    #[inline]
    pub fn least(&self) -> Option<Tag> {
        self.by_tag.least().map(|(tag, _)| tag)
    }

    /// Takes in `flow`, which must not be remembered. Returns the account of a flow that was forgotten for it.
    #[inline]
    pub fn remember(&mut self, flow: FlowHash, account: Account) -> Option<Account> {
        let forgotten = if self.table.is_full() { self.pop() } else { None };
        let place = self.table.insert(flow, account);
        self.by_tag.insert(place, account.tag);
        forgotten
    }

    /// Takes out `flow`, if it is remembered.
    #[inline]
    pub fn recall(&mut self, flow: FlowHash) -> Option<Account> {
        self.table.find(flow).map(|place| self.take(place))
    }

    /// Takes out the flow with the least tag, if that is not after `now`.
    #[inline]
    pub fn expired(&mut self, now: Tag) -> Option<Account> {
        if self.least()? <= now { self.pop() } else { None }
    }

    fn pop(&mut self) -> Option<Account> {
        let (_, place) = self.by_tag.least()?;
        Some(self.take(place))
    }

    fn take(&mut self, place: usize) -> Account {
        self.by_tag.remove(place);
        let account = self.table.remove(place);
        if place < self.table.len() {
            self.by_tag.rename(self.table.len(), place); // the table moved its last entry here
        }
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
                    let forgotten = finished.remember(flow.into(), account);
                    assert_eq!(forgotten.map(|account| (account.tag, account.weight)), least);
                    model.retain(|&entry| Some(entry) != least);
                    model.push((tag, flow));
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
}
