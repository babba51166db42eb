//! TEMPORARY: the longest queue by linear scan, until the `lqd` of `dropper/` is here to take its place.

use fairwire_core::{Buffer, Dropper, Needs, Packet, Time, Victim};

/// Pushes out the front of the longest queue, counted in bytes where bytes bound the buffer; of several, the arrival's.
#[derive(Clone, Copy, Debug, Default)]
pub struct Longest;

impl Dropper for Longest {
    fn needs(&self) -> Needs {
        Needs::FLOWS
    }

    fn victim(&mut self, packet: &Packet, buffer: &Buffer, _: Time) -> Victim {
        let arrival = buffer.flow(packet);
        let length = |flow| {
            let backlog = buffer.flow_backlog(flow);
            let (packets, bytes) = (u64::from(backlog.packets), backlog.bytes);
            // The arrival counts: its flow is about to hold it.
            let own = u64::from(Some(flow) == arrival);
            if buffer.limit().is_in_bytes() { bytes + own * u64::from(packet.len) } else { packets + own }
        };
        let longest = buffer.flows().max_by_key(|&flow| (length(flow), Some(flow) == arrival));
        longest.map_or(Victim::Arrival, |flow| Victim::Waiting(buffer.flow_head(flow)))
    }
}
