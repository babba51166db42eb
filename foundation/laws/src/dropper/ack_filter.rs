//! CAKE's filter of acknowledgements, in addition to another dropper.
//!
//! An arriving acknowledgement makes a queued acknowledgement of its flow needless if the queued
//! one acknowledges less. As in CAKE, the first needless packet is dropped if there is a second.
//! The aggressive filter also drops a single needless packet that the new packet follows
//! immediately. At most one packet is dropped per arrival. A packet is never dropped
//! - if it has SACK blocks, echoes a mark or a retransmission, or reports a different count of
//!   marks from the new packet;
//! - if another queued packet has the same acknowledgement number: one of the two is a duplicate;
//! - in front of a packet that echoes a mark.
//!
//! Each arrival inspects every packet of the queue.

use fairwire_core::{
    Buffer, Dropper, FlowKey, Key, Left, Needs, Packet, Probe, SetWeightError, Signals, Time, Verdict,
    Victim, Weight,
};

/// The dropper `D` with the filter. See the [module](self).
#[derive(Debug)]
pub struct AckFilter<D> {
    inner: D,
    is_aggressive: bool,
}

impl<D> AckFilter<D> {
    /// The filter in addition to `inner`.
    pub fn new(inner: D, is_aggressive: bool) -> Self {
        AckFilter { inner, is_aggressive }
    }
}

impl<D: Dropper> Dropper for AckFilter<D> {
    fn reads_acknowledgements(&self) -> bool {
        true
    }

    fn made_needless(&mut self, key: Key, buffer: &Buffer, signals: &dyn Signals) -> Option<Key> {
        let new = signals.acknowledges(buffer.packet(key).frame)?;
        let flow = buffer.packet(key).flow;
        let mut next = Some(buffer.flow_head(buffer.flow_of(key)));
        let (mut found, mut before, mut last): (Option<(Key, u32)>, _, _) = (None, None, None);
        while let Some(at) = next.filter(|at| *at != key) {
            next = buffer.flow_newer(at);
            last = Some(at);
            if buffer.packet(at).flow != flow {
                continue;
            }
            let Some(old) = signals.acknowledges(buffer.packet(at).frame) else { continue };
            if old.echoes_mark {
                found = None; // it would hide which packets the mark belongs to
            }
            let is_duplicate = before.replace(old.number) == Some(old.number);
            found = found.filter(|(_, number)| *number != old.number);
            let is_older = new.number.wrapping_sub(old.number).cast_signed() > 0;
            if !old.is_plain || is_duplicate || !is_older || old.marks != new.marks {
                continue;
            }
            if let Some((first, _)) = found.replace((at, old.number)) {
                return Some(first);
            }
        }
        let found = found.map(|(first, _)| first);
        found.filter(|_| self.is_aggressive && found == last && !new.echoes_mark)
    }

    fn needs(&self) -> Needs {
        self.inner.needs() | Needs::QUEUES
    }
    fn on_arrival(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Verdict {
        self.inner.on_arrival(packet, buffer, now)
    }
    fn on_departure(&mut self, packet: &Packet, left: Left, buffer: &Buffer, now: Time) -> Verdict {
        self.inner.on_departure(packet, left, buffer, now)
    }
    fn victim(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Victim {
        self.inner.victim(packet, buffer, now)
    }
    fn another(&mut self, packet: &Packet, buffer: &Buffer, now: Time) -> Option<(Key, Verdict)> {
        self.inner.another(packet, buffer, now)
    }
    fn tracked(&mut self, packet: &Packet, flow: FlowKey, inside: bool, buffer: &Buffer) {
        self.inner.tracked(packet, flow, inside, buffer);
    }
    fn idle(&mut self, now: Time) {
        self.inner.idle(now);
    }
    fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        self.inner.set_weight(class, weight)
    }
    fn retune(&mut self, fresh: &Self, now: Time) -> bool {
        self.is_aggressive = fresh.is_aggressive;
        self.inner.retune(&fresh.inner, now)
    }
    fn inspect(&self, probe: &mut dyn Probe) {
        self.inner.inspect(probe);
    }
}
