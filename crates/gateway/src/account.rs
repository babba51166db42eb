//! What each flow got: a bounded table of counts.

use fairwire_core::{FlowHash, FlowTable};

/// The counts of one flow, or of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowCount {
    /// Packets that came for it.
    pub packets_in: u64,
    /// Their bytes, as counted on the shaped link.
    pub bytes_in: u64,
    /// Packets dropped, by the discipline or for want of a buffer.
    pub dropped: u64,
    /// Packets marked.
    pub marked: u64,
    /// Packets sent on.
    pub packets_out: u64,
    /// Bytes sent on, as counted on the shaped link.
    pub bytes_out: u64,
}

/// The counts of at most so many flows; those that come later are counted together.
#[derive(Debug)]
pub struct Accounts {
    by_flow: FlowTable<FlowCount>,
    others: FlowCount,
}

/// The account of all flows that found the table full; that of the flow at place n is n + 1.
const OTHERS: u32 = 0;

impl Accounts {
    /// Empty accounts for `flows` flows.
    pub fn new(flows: usize) -> Self {
        Accounts { by_flow: FlowTable::new(flows), others: FlowCount::default() }
    }

    /// The number of `flow`'s account, opened when it is new.
    pub fn open(&mut self, flow: FlowHash) -> u32 {
        match self.by_flow.find(flow) {
            Some(place) => place as u32 + 1,
            None if self.by_flow.is_full() => OTHERS,
            None => self.by_flow.insert(flow, FlowCount::default()) as u32 + 1,
        }
    }

    /// The counts of account `account`, to be added to.
    pub fn entry(&mut self, account: u32) -> &mut FlowCount {
        match account {
            OTHERS => &mut self.others,
            _ => self.by_flow.value_mut(account as usize - 1),
        }
    }

    /// What `flow` got; zeros when it has no account of its own.
    pub fn of(&self, flow: FlowHash) -> FlowCount {
        self.by_flow.find(flow).map(|place| *self.by_flow.value(place)).unwrap_or_default()
    }

    /// What the flows without an account of their own got together.
    pub fn others(&self) -> FlowCount {
        self.others
    }

    /// Sets all counts to zero and keeps the accounts.
    pub fn clear(&mut self) {
        self.others = FlowCount::default();
        (0..self.by_flow.len()).for_each(|place| *self.by_flow.value_mut(place) = FlowCount::default());
    }
}

/// The counts of all classes, by number.
#[derive(Debug)]
pub struct ClassCounts(Box<[FlowCount]>);

impl ClassCounts {
    /// Zeros for `classes` classes, at least one.
    pub fn new(classes: usize) -> Self {
        ClassCounts(vec![FlowCount::default(); classes.max(1)].into())
    }

    /// The counts of `class`, to be added to; a number that there is not counts as the first.
    pub fn entry(&mut self, class: u32) -> &mut FlowCount {
        let place = if (class as usize) < self.0.len() { class as usize } else { 0 };
        &mut self.0[place]
    }

    /// All of them.
    pub fn all(&self) -> &[FlowCount] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_beyond_the_bound_are_counted_together() {
        let mut accounts = Accounts::new(2);
        for flow in [1, 2, 3, 4, 1] {
            let account = accounts.open(FlowHash(flow));
            accounts.entry(account).packets_in += 1;
        }
        assert_eq!(accounts.of(FlowHash(1)).packets_in, 2);
        assert_eq!(accounts.of(FlowHash(2)).packets_in, 1);
        assert_eq!(accounts.of(FlowHash(3)), FlowCount::default());
        assert_eq!(accounts.others().packets_in, 2);
    }
}
