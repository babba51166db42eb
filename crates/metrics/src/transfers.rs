//! The durations of transfers.

use crate::histogram::DelayHistogram;
use crate::record::TransferRecord;
use fairwire_core::Duration;

/// Completion times of one kind of transfer. Mean and maximum are exact, quantiles within 0.4 %.
#[derive(Clone, Debug, Default)]
pub struct TransferMeter {
    times: DelayHistogram,
}

impl TransferMeter {
    /// Records a completed transfer that took this long.
    pub fn completed(&mut self, took: Duration) {
        self.times.record(took);
    }

    /// The record of the transfers of `kind` in `group`; `None` if none was completed.
    pub fn record(&self, group: &str, kind: &str) -> Option<TransferRecord> {
        let count = self.times.count();
        (count > 0).then(|| TransferRecord {
            group: group.to_owned(),
            kind: kind.to_owned(),
            completed: count,
            mean_s: self.times.sojourn().mean_s,
            p50_s: self.times.quantile(0.5).seconds(),
            p95_s: self.times.quantile(0.95).seconds(),
            p99_s: self.times.quantile(0.99).seconds(),
            max_s: self.times.max().seconds(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meter_reports_what_it_recorded() {
        let mut meter = TransferMeter::default();
        assert_eq!(meter.record("web", "page"), None);
        for ms in 1..=100 {
            meter.completed(Duration::from_ms(ms));
        }
        let record = meter.record("web", "page").expect("a hundred were completed");
        assert_eq!((record.group.as_str(), record.kind.as_str(), record.completed), ("web", "page", 100));
        assert!((record.mean_s - 0.0505).abs() < 1e-12 && record.max_s == 0.1);
        for (actual, truth) in [(record.p50_s, 0.050), (record.p95_s, 0.095), (record.p99_s, 0.099)] {
            assert!((actual / truth - 1.0).abs() < 0.004, "{actual}, not {truth}");
        }
    }
}
