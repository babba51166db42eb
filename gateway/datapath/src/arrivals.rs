//! Records the arrivals at a discipline, to replay them through another.
//!
//! The forwarding thread never waits: while another thread takes a batch, new arrivals stay in
//! private memory. If this memory or the batch is full, arrivals count as missed.

use fairwire_core::{Duration, Ecn, FlowHash, Time};
use std::sync::{Arc, Mutex};

/// One packet that was offered to a discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its time.
    pub at: Time,
    /// The unit for fairness, such as a host.
    pub flow: FlowHash,
    /// The conversation within the flow, or the flow if conversations are not distinguished. The
    /// upper half of the hash is the host's number ([`FlowHash::of_host`]).
    pub conversation: FlowHash,
    /// Its class.
    pub class: u32,
    /// Bytes on the link.
    pub len: u32,
    /// Its ECN codepoint.
    pub ecn: Ecn,
    /// Its differentiated-services codepoint.
    pub dscp: u8,
}

const _: () = assert!(size_of::<Arrival>() == 40);

const AT_ONCE: usize = 256;
/// The time after which a batch of fewer than `AT_ONCE` arrivals is handed over.
const PATIENCE: Duration = Duration::from_ms(50);
/// The maximum number of waiting arrivals: 100 ms of a link at 300 000 packets a second.
const WAITING: usize = 1 << 15;

/// Arrivals that were handed over but not yet taken.
#[derive(Debug)]
pub struct ArrivalBatch {
    arrivals: Vec<Arrival>,
    missed: u64,
}

/// The buffer that the forwarding thread fills and another thread empties.
pub type SharedArrivals = Arc<Mutex<ArrivalBatch>>;

impl ArrivalBatch {
    /// An empty batch, with its memory allocated.
    pub fn shared() -> SharedArrivals {
        Arc::new(Mutex::new(ArrivalBatch { arrivals: Vec::with_capacity(WAITING), missed: 0 }))
    }

    /// Clears `empty` and swaps it with the arrivals. Returns the number of arrivals missed since
    /// the last call.
    pub fn take(&mut self, empty: &mut Vec<Arrival>) -> u64 {
        empty.clear();
        empty.reserve(WAITING);
        std::mem::swap(&mut self.arrivals, empty);
        std::mem::take(&mut self.missed)
    }
}

/// The writer of arrivals, on the forwarding thread.
#[derive(Debug)]
pub struct ArrivalLog {
    own: Vec<Arrival>,
    shared: Option<SharedArrivals>,
    missed: u64,
}

impl ArrivalLog {
    /// A log that keeps nothing.
    pub const fn off() -> Self {
        ArrivalLog { own: Vec::new(), shared: None, missed: 0 }
    }

    pub(crate) fn into_batch(shared: SharedArrivals) -> Self {
        ArrivalLog { own: Vec::with_capacity(AT_ONCE), shared: Some(shared), missed: 0 }
    }

    /// Records an arrival.
    #[inline]
    pub fn record(&mut self, arrival: impl FnOnce() -> Arrival) {
        if self.shared.is_some() {
            self.keep(arrival());
        }
    }

    fn keep(&mut self, arrival: Arrival) {
        if self.own.len() < AT_ONCE {
            self.own.push(arrival);
        } else {
            self.missed += 1;
        }
        let is_due = self.own.first().is_some_and(|first| arrival.at.since(first.at) > PATIENCE);
        if self.own.len() == AT_ONCE || is_due {
            self.hand_over();
        }
    }

    #[cold]
    fn hand_over(&mut self) {
        let Some(shared) = &self.shared else { return };
        let Ok(mut batch) = shared.try_lock() else { return };
        let room = batch.arrivals.capacity() - batch.arrivals.len();
        let some = room.min(self.own.len());
        batch.arrivals.extend_from_slice(&self.own[..some]);
        batch.missed += (self.own.len() - some) as u64 + std::mem::take(&mut self.missed);
        self.own.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(us: u64) -> Arrival {
        Arrival {
            at: Time::ZERO + Duration::from_us(us),
            flow: FlowHash(1),
            conversation: FlowHash(2),
            class: 3,
            len: 1500,
            ecn: Ecn::NotEct,
            dscp: 0,
        }
    }

    fn taken(shared: &SharedArrivals) -> (Vec<Arrival>, u64) {
        let mut arrivals = Vec::new();
        let missed = shared.lock().expect("no thread panicked").take(&mut arrivals);
        (arrivals, missed)
    }

    #[test]
    fn a_batch_is_handed_over_when_full_or_50_ms_old() {
        let shared = ArrivalBatch::shared();
        let mut log = ArrivalLog::into_batch(shared.clone());
        (0..300).for_each(|n| log.record(|| arrival(n)));
        assert_eq!(taken(&shared), ((0..256).map(arrival).collect(), 0));
        log.record(|| arrival(60_000));
        let rest: Vec<Arrival> = (256..300).chain([60_000]).map(arrival).collect();
        assert_eq!(taken(&shared), (rest, 0));
    }

    #[test]
    fn arrivals_without_room_are_counted_and_the_writer_never_waits() {
        let shared = ArrivalBatch::shared();
        let mut log = ArrivalLog::into_batch(shared.clone());
        let taking = shared.lock().expect("no thread panicked");
        (0..1000).for_each(|n| log.record(|| arrival(n)));
        drop(taking);
        log.record(|| arrival(1000));
        let (arrivals, missed) = taken(&shared);
        assert_eq!((arrivals.len(), missed), (256, 1001 - 256));
        (0..100_000).for_each(|n| log.record(|| arrival(n)));
        let (arrivals, missed) = taken(&shared);
        assert_eq!(arrivals.len(), WAITING);
        assert!(missed > 60_000, "{missed}");
    }
}
