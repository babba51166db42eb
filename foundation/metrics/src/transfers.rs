//! The durations and the slowdowns of transfers, overall and by size.

use crate::histogram::DelayHistogram;
use crate::kind::Kind;
use crate::record::{SizeRecord, Slowdown, Times, TransferRecord};
use fairwire_core::{Duration, Time};

/// The size classes, each with its largest payload in bytes; the last is unbounded.
const SIZES: [(&str, u64); 4] =
    [("to_10kB", 10_000), ("to_100kB", 100_000), ("to_1MB", 1_000_000), ("over_1MB", u64::MAX)];

fn sizes() -> impl Iterator<Item = &'static str> {
    SIZES.iter().map(|(name, _)| *name)
}

/// A slowdown of 1 is recorded as a million nanoseconds.
const MILLIONTHS: f64 = 1e6;

/// A completed transfer or page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completed {
    /// Its duration.
    pub took: Duration,
    /// The payload, bytes; `None` if unknown.
    pub bytes: Option<u64>,
    /// The minimum duration in isolation, if known.
    pub alone: Option<Duration>,
}

/// An event with a duration, such as a stall of a video.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lasted {
    /// The kind of event.
    pub kind: Kind,
    /// When it began.
    pub since: Time,
    /// When it ended.
    pub until: Time,
    /// The payload, bytes, spread evenly over the duration; 0 if none.
    pub bytes: u64,
}

/// Completion times of one kind of transfer. Mean and maximum are exact, quantiles within 0.4 %.
#[derive(Clone, Debug, Default)]
pub struct TransferMeter {
    all: Counted,
    by_size: [Option<Box<Counted>>; SIZES.len()],
    /// The sum of the events' durations within the measured time, seconds.
    within_s: f64,
    within_bytes: f64,
}

#[derive(Clone, Debug, Default)]
struct Counted {
    times: DelayHistogram,
    /// In millionths.
    slowdowns: DelayHistogram,
}

impl Counted {
    fn count(&mut self, Completed { took, alone, .. }: Completed) {
        self.times.record(took);
        if let Some(alone) = alone.filter(|alone| *alone > Duration::ZERO) {
            let millionths = took.ns() as f64 / alone.ns() as f64 * MILLIONTHS;
            self.slowdowns.record(Duration::from_ns(millionths.round() as u64));
        }
    }

    fn times(&self) -> Times {
        let at = |quantile: f64| self.times.quantile(quantile).seconds();
        Times {
            mean_s: self.times.sojourn().mean_s,
            p50_s: at(0.5),
            p90_s: Some(at(0.9)),
            p95_s: at(0.95),
            p99_s: at(0.99),
            p99_9_s: Some(at(0.999)),
            max_s: self.times.max().seconds(),
        }
    }

    fn slowdown(&self) -> Option<Slowdown> {
        let part = |millionths: Duration| millionths.ns() as f64 / MILLIONTHS;
        let at = |quantile: f64| part(self.slowdowns.quantile(quantile));
        (self.slowdowns.count() > 0).then(|| Slowdown {
            mean: part(self.slowdowns.mean()),
            p50: at(0.5),
            p90: at(0.9),
            p95: at(0.95),
            p99: at(0.99),
            p99_9: at(0.999),
            max: part(self.slowdowns.max()),
        })
    }
}

impl TransferMeter {
    /// Records a completed transfer.
    pub fn completed(&mut self, completed: Completed) {
        self.all.count(completed);
        if let Some(bytes) = completed.bytes {
            let class = SIZES.iter().position(|(_, most)| bytes <= *most).unwrap_or(SIZES.len() - 1);
            self.by_size[class].get_or_insert_default().count(completed);
        }
    }

    /// Records a timed event that ended in the measured time. `from` is the start of the measured
    /// time.
    pub fn lasted(&mut self, Lasted { since, until, bytes, .. }: Lasted, from: Time) {
        let took = until.since(since);
        self.all.count(Completed { took, bytes: None, alone: None });
        let within = until.since(since.max(from).min(until));
        self.within_s += within.secs();
        if !took.is_zero() {
            self.within_bytes += bytes as f64 * (within.secs() / took.secs());
        }
    }

    /// The record of the group's events of this `kind`. The members of `group` were measured for
    /// `whole_s` seconds in total. Without events, all times are 0.
    pub fn lasting(&self, group: &str, kind: Kind, whole_s: f64) -> TransferRecord {
        let part = |of: f64, all: f64| (all > 0.0).then(|| of / all);
        TransferRecord {
            group: group.to_owned(),
            kind: kind.name().to_owned(),
            completed: self.all.times.count(),
            times: self.all.times(),
            slowdown: None,
            part: part(self.within_s, whole_s).filter(|_| kind.is_state()),
            bps: part(self.within_bytes * 8.0, self.within_s).filter(|bps| *bps > 0.0),
            sizes: Vec::new(),
        }
    }

    /// The record of the transfers of `kind` in `group`; `None` if none was completed.
    pub fn record(&self, group: &str, kind: Kind) -> Option<TransferRecord> {
        let of_size = |(name, counted): (&str, &Option<Box<Counted>>)| {
            let counted = counted.as_ref()?;
            let (completed, times, slowdown) = (counted.times.count(), counted.times(), counted.slowdown());
            Some(SizeRecord { size: name.to_owned(), completed, times, slowdown })
        };
        let completed = self.all.times.count();
        (completed > 0).then(|| TransferRecord {
            group: group.to_owned(),
            kind: kind.name().to_owned(),
            completed,
            times: self.all.times(),
            slowdown: self.all.slowdown(),
            part: None,
            bps: None,
            sizes: sizes().zip(&self.by_size).filter_map(of_size).collect(),
        })
    }
}

/// A statistic of transfers. In a measure's name, the statistic is between kind and group:
/// `transfer_p95_s.web`.
#[derive(Clone, Copy, Debug)]
pub struct Statistic {
    /// Its name.
    pub name: &'static str,
    /// Is the statistic in every summary? Other statistics appear if a scenario or a sweep names
    /// them.
    pub is_plain: bool,
    of: Of,
}

#[derive(Clone, Copy, Debug)]
enum Of {
    Times(fn(&Times, Option<&Slowdown>) -> Option<f64>),
    /// A statistic that only states have, without size classes.
    State(fn(&TransferRecord) -> Option<f64>),
}

impl Statistic {
    /// Every one.
    pub const ALL: [Statistic; 16] = [
        Self::plain("mean_s", |times, _| Some(times.mean_s)),
        Self::plain("p50_s", |times, _| Some(times.p50_s)),
        Self::plain("p95_s", |times, _| Some(times.p95_s)),
        Self::plain("p99_s", |times, _| Some(times.p99_s)),
        Self::named("p90_s", |times, _| times.p90_s),
        Self::named("p99_9_s", |times, _| times.p99_9_s),
        Self::named("max_s", |times, _| Some(times.max_s)),
        Self::named("slowdown_mean", |_, slowdown| Some(slowdown?.mean)),
        Self::named("slowdown_p50", |_, slowdown| Some(slowdown?.p50)),
        Self::named("slowdown_p90", |_, slowdown| Some(slowdown?.p90)),
        Self::named("slowdown_p95", |_, slowdown| Some(slowdown?.p95)),
        Self::named("slowdown_p99", |_, slowdown| Some(slowdown?.p99)),
        Self::named("slowdown_p99_9", |_, slowdown| Some(slowdown?.p99_9)),
        Self::named("slowdown_max", |_, slowdown| Some(slowdown?.max)),
        Self::state("part", |record| record.part),
        Self::state("bps", |record| record.bps),
    ];

    const fn plain(name: &'static str, of: fn(&Times, Option<&Slowdown>) -> Option<f64>) -> Self {
        Statistic { name, is_plain: true, of: Of::Times(of) }
    }

    const fn state(name: &'static str, of: fn(&TransferRecord) -> Option<f64>) -> Self {
        Statistic { name, is_plain: true, of: Of::State(of) }
    }

    const fn named(name: &'static str, of: fn(&Times, Option<&Slowdown>) -> Option<f64>) -> Self {
        Statistic { name, is_plain: false, of: Of::Times(of) }
    }

    /// Does a record of this kind have this statistic? Only states have `part` and `bps`.
    pub fn is_of(&self, kind: Kind) -> bool {
        matches!(self.of, Of::Times(_)) || kind.is_state()
    }

    /// The value over all transfers of `record`.
    pub fn of(&self, record: &TransferRecord) -> Option<f64> {
        match self.of {
            Of::Times(of) if record.completed > 0 => of(&record.times, record.slowdown.as_ref()),
            Of::Times(_) => None,
            Of::State(of) => of(record),
        }
    }

    /// The value over the transfers of one size class.
    pub fn of_size(&self, record: &SizeRecord) -> Option<f64> {
        match self.of {
            Of::Times(of) => of(&record.times, record.slowdown.as_ref()),
            Of::State(_) => None,
        }
    }
}

/// The parsed name of a measure of timed events: a count (`transfers.web`), or a statistic of all
/// sizes (`page_p95_s.web`) or one size class (`transfer_p95_s.web.to_10kB`).
#[derive(Clone, Copy, Debug)]
pub struct OfTransfers<'a> {
    /// The timed event.
    pub kind: Kind,
    /// The statistic; `None` for the number completed.
    pub statistic: Option<Statistic>,
    /// The group.
    pub group: &'a str,
    /// The size class; `None` for all.
    pub size: Option<&'a str>,
}

impl<'a> OfTransfers<'a> {
    /// Parses `name`; `None` if it names another measure.
    pub fn parse(name: &'a str) -> Option<Self> {
        let (what, of) = name.split_once('.')?;
        let of_size = of.rsplit_once('.').filter(|(_, size)| sizes().any(|known| known == *size));
        let (group, size) = of_size.map_or((of, None), |(group, size)| (group, Some(size)));
        let number = Kind::ALL.iter().find(|kind| what == kind.plural());
        let (kind, statistic) = match number {
            Some(kind) => (*kind, None),
            None => {
                let kind = *Kind::ALL.iter().find(|kind| what.starts_with(kind.name()))?;
                let name = what.strip_prefix(kind.name())?.strip_prefix('_')?;
                let is_it = |statistic: &&Statistic| statistic.name == name && statistic.is_of(kind);
                (kind, Some(*Statistic::ALL.iter().find(is_it)?))
            }
        };
        Some(OfTransfers { kind, statistic, group, size })
    }

    /// True if every summary with such events has the measure.
    pub fn is_plain(&self) -> bool {
        self.size.is_none() && self.statistic.is_none_or(|statistic| statistic.is_plain)
    }

    /// Its value.
    pub fn value(&self, records: &[TransferRecord]) -> Option<f64> {
        let record = self.kind.record_of(self.group, records)?;
        let Some(size) = self.size else {
            return self.statistic.map_or(Some(record.completed as f64), |statistic| statistic.of(record));
        };
        let record = record.sizes.iter().find(|record| record.size == size)?;
        self.statistic.map_or(Some(record.completed as f64), |statistic| statistic.of_size(record))
    }

    /// All names for `kind` in `group`; those with sizes last.
    pub fn names(kind: Kind, group: &str) -> Vec<String> {
        let of = |of: &str| {
            let statistics = Statistic::ALL.iter().filter(|statistic| statistic.is_of(kind));
            let names = statistics.map(|statistic| format!("{}_{}.{of}", kind.name(), statistic.name));
            [format!("{}.{of}", kind.plural())].into_iter().chain(names).collect::<Vec<_>>()
        };
        let by_size = sizes().filter(|_| !kind.is_lasting());
        let by_size = by_size.flat_map(|size| of(&format!("{group}.{size}")));
        of(group).into_iter().chain(by_size).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(took: Duration, bytes: u64, alone: Duration) -> Completed {
        Completed { took, bytes: Some(bytes), alone: Some(alone) }
    }

    /// Checks `actual` to within half a histogram bin (1/256).
    fn near(actual: f64, truth: f64) {
        assert!((actual / truth - 1.0).abs() < 0.004, "{actual}, not {truth}");
    }

    #[test]
    fn a_meter_reports_its_records() {
        let mut meter = TransferMeter::default();
        assert_eq!(meter.record("web", Kind::Page), None);
        for ms in 1..=1000 {
            meter.completed(Completed { took: Duration::from_ms(ms), bytes: None, alone: None });
        }
        let record = meter.record("web", Kind::Page).expect("a thousand were completed");
        assert_eq!((record.group.as_str(), record.kind.as_str(), record.completed), ("web", "page", 1000));
        assert_eq!((record.slowdown, record.sizes.len()), (None, 0));
        let times = record.times;
        assert!((times.mean_s - 0.5005).abs() < 1e-12 && times.max_s == 1.0);
        // Quantile q of the values 1 to n is the ceiling of q n (`inverted_cdf` in numpy).
        let percentiles = [
            (times.p50_s, 0.5),
            (times.p90_s.unwrap(), 0.9),
            (times.p95_s, 0.95),
            (times.p99_s, 0.99),
            (times.p99_9_s.unwrap(), 0.999),
        ];
        percentiles.into_iter().for_each(|(actual, truth)| near(actual, truth));
    }

    #[test]
    fn a_percentile_of_few_transfers_is_one_of_them() {
        let mut meter = TransferMeter::default();
        [10, 20, 30].into_iter().for_each(|ms| {
            meter.completed(completed(Duration::from_ms(ms), 1, Duration::from_ms(10)));
        });
        let record = meter.record("web", Kind::Transfer).unwrap();
        near(record.times.p50_s, 0.020);
        near(record.times.p90_s.unwrap(), 0.030);
        let slowdown = record.slowdown.unwrap();
        near(slowdown.p50, 2.0);
        near(slowdown.p99_9, 3.0);
        assert_eq!((slowdown.mean, slowdown.max), (2.0, 3.0));
    }

    #[test]
    fn each_size_class_has_its_own_record_and_includes_its_upper_end() {
        let mut meter = TransferMeter::default();
        for bytes in [1, 10_000, 10_001, 1_000_001] {
            meter.completed(completed(Duration::from_ms(bytes), bytes, Duration::from_ms(1)));
        }
        let record = meter.record("web", Kind::Transfer).unwrap();
        let classes: Vec<(&str, u64)> =
            record.sizes.iter().map(|one| (one.size.as_str(), one.completed)).collect();
        assert_eq!(classes, [("to_10kB", 2), ("to_100kB", 1), ("over_1MB", 1)]);
        near(record.sizes[1].times.p50_s, 10.001);
    }

    #[test]
    fn only_names_of_measures_are_parsed() {
        let of = |name| {
            let OfTransfers { kind, statistic, group, size } = OfTransfers::parse(name)?;
            Some((kind.name(), statistic.map(|statistic| statistic.name), group, size))
        };
        assert_eq!(of("transfers.web"), Some(("transfer", None, "web", None)));
        assert_eq!(of("page_p99_9_s.web"), Some(("page", Some("p99_9_s"), "web", None)));
        let by_size = "transfer_slowdown_p50.a.b.to_1MB";
        assert_eq!(of(by_size), Some(("transfer", Some("slowdown_p50"), "a.b", Some("to_1MB"))));
        for other in ["transfer", "transferring.web", "transfer_p98_s.web", "share.web", "pages_p50_s.web"] {
            assert_eq!(of(other), None, "{other}");
        }
        assert_eq!(of("switches.video"), Some(("switch", None, "video", None)));
        assert_eq!(of("stall_part.video"), Some(("stall", Some("part"), "video", None)));
        assert_eq!(of("frame_part.call"), None, "frames overlap");
        for (kind, name) in Kind::ALL
            .iter()
            .flat_map(|kind| OfTransfers::names(*kind, "web").into_iter().map(move |name| (kind, name)))
        {
            let parsed = OfTransfers::parse(&name).unwrap_or_else(|| panic!("{name}"));
            assert!(parsed.kind == *kind && parsed.group == "web", "{name}");
        }
    }

    #[test]
    fn lasting_events_count_within_the_measured_time_and_may_be_zero() {
        let at = |s| Time::ZERO + Duration::from_secs(s);
        let mut meter = TransferMeter::default();
        let none = meter.lasting("video", Kind::Stall, 20.0);
        assert_eq!((none.completed, none.part, none.bps), (0, Some(0.0), None));
        let mean = Statistic::ALL.iter().find(|statistic| statistic.name == "mean_s").unwrap();
        assert_eq!(mean.of(&none), None, "there is no time of none");
        // Measuring begins at 10 s, halfway through the first stall, so only 2 s and 500 B of it
        // count.
        meter.lasted(Lasted { kind: Kind::Stall, since: at(8), until: at(12), bytes: 1000 }, at(10));
        meter.lasted(Lasted { kind: Kind::Stall, since: at(20), until: at(23), bytes: 750 }, at(10));
        let record = meter.lasting("video", Kind::Stall, 20.0);
        assert_eq!((record.completed, record.times.mean_s), (2, 3.5));
        assert_eq!((record.part, record.bps), (Some(0.25), Some(1250.0 * 8.0 / 5.0)));
    }
}
