//! A wire with faults behind a queued link, and counts of the faults.

use fairwire_core::{Duration, Fate, Time, Wire};
use fairwire_metrics::record::WireRecord;

#[derive(Debug)]
pub(crate) struct Faulty {
    wire: Wire,
    counts: WireRecord,
}

impl Faulty {
    pub(crate) fn new(wire: Wire) -> Self {
        Faulty { wire, counts: WireRecord::default() }
    }

    pub(crate) fn has_delays(&self) -> bool {
        self.wire.has_delays()
    }

    pub(crate) fn carry(&mut self, sent: Time, delay: Duration) -> Fate {
        let fate = self.wire.carry(sent, delay);
        match fate {
            Fate::Lost => self.counts.lost += 1,
            Fate::Arrives { is_late, twice, .. } => {
                self.counts.held_back += u64::from(is_late);
                self.counts.duplicated += u64::from(twice);
            }
        }
        fate
    }

    pub(crate) fn start_measuring(&mut self) {
        self.counts = WireRecord::default();
    }

    pub(crate) fn record(&self) -> WireRecord {
        self.counts
    }
}
