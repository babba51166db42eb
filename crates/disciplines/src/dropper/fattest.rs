//! Room from the fattest queue, in batches: how FQ-CoDel makes room.
//!
//! When the buffer is full, packets are dropped from the head of the queue that holds the most bytes until half of these are gone,
//! or until so many packets are (RFC 8290, section 4.1). Looking for that queue takes a look at each backlogged queue, so a
//! batch pays for many arrivals at once. Dropping at the head tells the sender soonest.
//!
//! The arrival counts as if it were in its queue already, as in the RFC, where it is. Among equals the queue with the lowest
//! number, or lowest hash, gives way.

use core::cmp::Reverse;
use fairwire_core::{Buffer, Cause, Dropper, FlowHash, FlowKey, Key, Needs, Packet, Time, Verdict, Victim};

/// Makes room by dropping from the head of the fattest queue. See the [module](self).
#[derive(Debug)]
pub struct Fattest {
    batch: u32,
    open: Option<Batch>,
}

/// A batch that is being dropped.
#[derive(Clone, Copy, Debug)]
struct Batch {
    queue: FlowHash,
    /// Packets that may still go.
    packets: u32,
    /// Bytes that should still go.
    bytes: u64,
}

impl Fattest {
    /// Drops at most `batch` packets (at least 1) per batch.
    pub fn new(batch: u32) -> Self {
        Fattest { batch: batch.max(1), open: None }
    }

    /// The fattest queue with `packet` counted in; `None` when that is the arrival alone.
    fn fattest(packet: &Packet, buffer: &Buffer) -> Option<(FlowKey, u64)> {
        let own = buffer.flow(packet);
        let bytes = |flow| {
            let arriving = if own == Some(flow) { u64::from(packet.len) } else { 0 };
            buffer.flow_backlog(flow).bytes + arriving
        };
        let (most, Reverse(_), flow) = buffer
            .flows()
            .map(|flow| (bytes(flow), Reverse(buffer.flow_hash(flow)), flow))
            .max_by_key(|&(bytes, hash, _)| (bytes, hash))?;
        let is_arrival_alone = own.is_none() && u64::from(packet.len) > most;
        (!is_arrival_alone).then_some((flow, most))
    }

    /// The next packet of the batch that is open; closes it when there is none.
    fn next(&mut self, buffer: &Buffer) -> Option<Key> {
        let batch = self.open.as_mut()?;
        let head = buffer.find(batch.queue).map(|flow| buffer.flow_head(flow));
        match head {
            Some(head) if batch.packets > 0 && batch.bytes > 0 => {
                batch.packets -= 1;
                batch.bytes = batch.bytes.saturating_sub(u64::from(buffer.packet(head).len));
                Some(head)
            }
            _ => {
                self.open = None;
                None
            }
        }
    }
}

impl Dropper for Fattest {
    fn needs(&self) -> Needs {
        Needs::FLOWS
    }

    fn victim(&mut self, packet: &Packet, buffer: &Buffer, _: Time) -> Victim {
        if let Some(key) = self.next(buffer) {
            return Victim::Waiting(key);
        }
        let Some((flow, bytes)) = Fattest::fattest(packet, buffer) else { return Victim::Arrival };
        let half = (bytes / 2).max(1);
        self.open = Some(Batch { queue: buffer.flow_hash(flow), packets: self.batch, bytes: half });
        self.next(buffer).map_or(Victim::Arrival, Victim::Waiting)
    }

    fn another(&mut self, _: &Packet, buffer: &Buffer, _: Time) -> Option<(Key, Verdict)> {
        self.next(buffer).map(|key| (key, Verdict::Drop(Cause::PushOut)))
    }
}
