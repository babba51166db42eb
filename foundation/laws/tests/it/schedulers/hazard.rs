//! Push-out from the front works if packets get their tags at the head of the queue, not at
//! arrival.

use super::link::{ENTRIES, LongestFront, entry, share_of_the_deaf_flow, site};
use fairwire_core::{Buffer, Chosen, FlowKey, Key, Packet, Queue, Scheduler};
use std::collections::BTreeMap;

/// SCFQ as printed, with tags given at arrival.
struct ArrivalTags {
    tags: Vec<u64>,           // by packet
    last: BTreeMap<u64, u64>, // by flow
    virtual_time: u64,
}

impl Scheduler for ArrivalTags {
    fn inserted(&mut self, key: Key, _: FlowKey, buffer: &Buffer) {
        let Packet { flow, len, .. } = buffer.packet(key);
        let last = self.last.entry(flow.0).or_default();
        *last = self.virtual_time.max(*last) + u64::from(*len);
        self.tags[key.index()] = *last;
    }
    fn choose(&mut self, buffer: &Buffer) -> Option<Chosen> {
        let heads = buffer.flows().map(|flow| buffer.flow_head(flow));
        let key = heads.min_by_key(|key| self.tags[key.index()])?;
        self.virtual_time = self.tags[key.index()];
        Some(key.into())
    }
}

const LOADS: [f64; 5] = [0.2, 0.5, 1.0, 1.5, 2.0];

#[test]
fn a_flow_that_never_reacts_gets_its_fair_share_under_every_scheduler() {
    for name in ENTRIES {
        for load in LOADS {
            let share = share_of_the_deaf_flow(entry(name, 125, ""), load, 20);
            // Over 20 s, start-up and one packet per round change the share by up to 0.003.
            assert!((share - 1.0 / 11.0).abs() < 0.003, "{name} at {load}: {share}");
        }
    }
}

#[test]
fn push_out_starves_it_under_arrival_tags() {
    for load in LOADS {
        let scheduler = ArrivalTags { tags: vec![0; 125], last: BTreeMap::new(), virtual_time: 0 };
        let limit = site(125).buffer.limit(site(125).rate);
        let queue = Queue::new(limit, scheduler, LongestFront);
        let share = share_of_the_deaf_flow(Box::new(queue), load, 20);
        assert!(share < 0.02, "at {load}: {share}");
    }
}
