//! The packets that pass each queue, computed once, because there may be a hundred thousand paths.

use crate::source::Sends;
use crate::topology::plan::Route;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Passing {
    /// The typical size of a packet on the wire: the mean over flows whose data passes the queue
    /// or, without such flows, over flows whose acknowledgements pass.
    pub(crate) packet_bytes: u32,
    /// The largest packet on the wire, and the index of the group that sends it.
    pub(crate) largest: Option<(u32, usize)>,
}

/// A sum of packet sizes, each counted once per flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sizes {
    flows: u64,
    total: u64,
}

impl Sizes {
    pub(crate) fn add(&mut self, flows: u32, bytes: u32) {
        self.flows += u64::from(flows);
        self.total += u64::from(flows) * u64::from(bytes);
    }

    pub(crate) fn mean(self) -> Option<u32> {
        Some(u32::try_from(self.total.checked_div(self.flows)?).unwrap_or(u32::MAX))
    }
}

pub(crate) fn passing(queues: usize, routes: &[Vec<Route>], sends: &[Sends]) -> Vec<Passing> {
    let (mut data, mut acks) = (vec![Sizes::default(); queues], vec![Sizes::default(); queues]);
    let (mut largest, mut of_all) = (vec![None; queues], Sizes::default());
    let mut see = |queue: usize, bytes: u32, group: usize| {
        if largest[queue].is_none_or(|(known, _)| bytes >= known) {
            largest[queue] = Some((bytes, group));
        }
    };
    for (group, (routes, sends)) in routes.iter().zip(sends).enumerate() {
        for route in routes {
            of_all.add(route.flows, sends.packet_bytes);
            for queue in route.queues() {
                data[queue].add(route.flows, sends.packet_bytes);
                see(queue, sends.packet_bytes, group);
            }
            for queue in route.queues_back() {
                acks[queue].add(route.flows, sends.ack_bytes());
                see(queue, sends.ack_bytes(), group);
            }
        }
    }
    let of_queue = |((data, acks), largest): ((Sizes, Sizes), _)| {
        // The discipline needs a typical size even if no packets pass its queue.
        let typical = data.mean().or(acks.mean()).or(of_all.mean());
        Passing { packet_bytes: typical.unwrap_or(1).max(1), largest }
    };
    data.into_iter().zip(acks).zip(largest).map(of_queue).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_sim::Source;
    use fairwire_tcp::{Config, Profile};

    #[test]
    fn acknowledgements_have_a_size_independent_of_data_headers() {
        let tcp = Config { header_bytes: 0, ack_bytes: 66, ..Config::new(Profile::Ns1In1998, 1000) };
        let sends = Sends { source: Source::Bulk { tcp }, packet_bytes: 1000 };
        assert_eq!(sends.ack_bytes(), 66);
    }
}
