//! What each flow got: a bounded table of counts.

use fairwire_core::{FlowHash, FlowMap};

/// The counts of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowCount {
    /// Packets that came for it.
    pub packets_in: u64,
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
    by_flow: FlowMap<u32>,
    counts: Vec<FlowCount>,
}

/// The account of all flows that found the table full.
const OTHERS: u32 = 0;

impl Accounts {
    /// Empty accounts for `flows` flows.
    pub fn new(flows: usize) -> Self {
        let mut counts = Vec::with_capacity(flows + 1);
        counts.push(FlowCount::default());
        Accounts { by_flow: FlowMap::new(flows), counts }
    }

    /// The number of `flow`'s account, opened when it is new.
    pub fn open(&mut self, flow: FlowHash) -> u32 {
        if let Some(account) = self.by_flow.find(flow) {
            return account;
        }
        if self.by_flow.is_full() {
            return OTHERS;
        }
        let account = self.counts.len() as u32;
        self.counts.push(FlowCount::default());
        self.by_flow.insert(flow, account);
        account
    }

    /// The counts of account `account`, to be added to.
    pub fn entry(&mut self, account: u32) -> &mut FlowCount {
        &mut self.counts[account as usize]
    }

    /// What `flow` got; zeros when it has no account of its own.
    pub fn of(&self, flow: FlowHash) -> FlowCount {
        self.by_flow.find(flow).map(|account| self.counts[account as usize]).unwrap_or_default()
    }

    /// What the flows without an account of their own got together.
    pub fn others(&self) -> FlowCount {
        self.counts[OTHERS as usize]
    }

    /// Sets all counts to zero and keeps the accounts.
    pub fn clear(&mut self) {
        self.counts.fill(FlowCount::default());
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
