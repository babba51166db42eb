//! Observes time series and single packets of a run, in addition to the run's record.

use crate::expression::Over;
use crate::facts::is_flow;
use crate::packets::Packets;
use crate::text::{hint, listed};
use fairwire_core::{Duration, Time};
use fairwire_scenario::{Observer, PacketEvent, SampleRow, Scenario, View, rows};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Series of a group, `throughput_bps.tcp`, or of a flow, `throughput_bps.tcp.1`.
const OF_GROUPS: [&str; 3] = ["throughput_bps", "drops", "marks"];
const OF_FLOWS: [&str; 3] = ["cwnd", "ssthresh", "srtt_s"];
const OF_AGGREGATES: [&str; 5] =
    ["aggregate_bps", "aggregate_drops", "aggregate_marks", "target_bps", "mark_estimate"];
const OF_LINKS: [&str; 4] = ["backlog", "backlog_bytes", "link_drops", "link_marks"];

/// The sampled series, and their interval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sampling {
    every_ns: u64,
    /// The series.
    names: BTreeSet<String>,
    has_flows: bool,
    has_packets: bool,
}

impl Sampling {
    /// Samples the series `names` at the interval `every`. With `has_packets`, also observes each
    /// packet.
    pub fn new(every: Duration, names: BTreeSet<String>, has_packets: bool) -> Self {
        let is_of_a_flow = |name: &String| {
            let is_gauge = name.starts_with("gauge.");
            !is_gauge && name.rsplit_once('.').is_some_and(|(_, last)| last.parse::<u32>().is_ok())
        };
        let has_flows = names.iter().any(is_of_a_flow);
        Sampling { every_ns: every.ns(), names, has_flows, has_packets }
    }

    /// Starts to sample a run.
    pub fn watcher(&self, warm_up: Duration) -> Watcher<'_> {
        let packets = self.has_packets.then(|| Packets::new(Time::ZERO + warm_up));
        Watcher {
            sampling: self,
            samples: Samples { every_s: self.every().secs(), ..Samples::default() },
            packets,
        }
    }

    fn every(&self) -> Duration {
        Duration::from_ns(self.every_ns)
    }
}

/// The samples of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    every_s: f64,
    number: usize,
    /// The values of each series, one for each sample up to the series' last value. `None` at
    /// samples without a value.
    series: BTreeMap<String, Vec<Option<f64>>>,
    #[serde(default)]
    packets: BTreeMap<String, f64>,
}

impl Samples {
    /// The per-packet measure `name`.
    pub fn packets(&self, name: &str) -> Option<f64> {
        self.packets.get(name).copied()
    }

    /// The times of the samples, in seconds.
    pub fn times(&self) -> impl Iterator<Item = f64> + '_ {
        (1..=self.number).map(|number| number as f64 * self.every_s)
    }

    /// The series `name` at sample number `at`.
    pub fn at(&self, name: &str, at: usize) -> Option<f64> {
        *self.series.get(name)?.get(at)?
    }

    /// The result of a function of a series. It covers the function's window or, without one, the
    /// time from `warm_up_s` on.
    pub fn over(&self, over: &Over, warm_up_s: f64) -> Option<f64> {
        let series = self.series.get(&over.series)?;
        let (from, to) = over.window.unwrap_or((warm_up_s, f64::INFINITY));
        // A rate is the mean over the interval that ends with its sample. The sample at `from`
        // covers the time before `from`, so it is excluded.
        let is_in = |time: f64| time > from + 1e-9 && time <= to + 1e-9;
        let values: Vec<f64> = self
            .times()
            .zip(series)
            .filter(|(time, _)| is_in(*time))
            .filter_map(|(_, value)| *value)
            .collect();
        over.fold.of(&values)
    }
}

/// Samples a run.
pub struct Watcher<'a> {
    sampling: &'a Sampling,
    samples: Samples,
    packets: Option<Packets>,
}

impl Watcher<'_> {
    /// The samples.
    pub fn into_samples(mut self) -> Samples {
        self.samples.packets = self.packets.map(Packets::into_measures).unwrap_or_default();
        self.samples
    }
}

impl Observer for Watcher<'_> {
    fn interval(&self) -> Option<Duration> {
        (!self.sampling.names.is_empty()).then(|| self.sampling.every())
    }

    fn wants_packets(&self) -> bool {
        self.packets.is_some()
    }

    fn started(&mut self, view: &View<'_>) {
        self.packets.iter_mut().for_each(|packets| packets.start(view));
    }

    fn packet(&mut self, event: &PacketEvent) {
        self.packets.iter_mut().for_each(|packets| packets.packet(event));
    }

    fn sample(&mut self, view: &View<'_>) {
        let Watcher { sampling, samples, .. } = self;
        samples.number += 1;
        let number = samples.number;
        rows(view, sampling.every(), sampling.has_flows, &mut |row| {
            let name = name(&row);
            if sampling.names.contains(&name) {
                let values = samples.series.entry(name).or_default();
                values.resize(number, None);
                values[number - 1] = Some(row.value);
            }
        });
    }
}

fn name(row: &SampleRow<'_>) -> String {
    let SampleRow { kind, name, measure, unit, .. } = *row;
    match (kind, measure, unit) {
        ("link", "backlog", "B") => format!("backlog_bytes.{name}"),
        ("link", "drops" | "marks", _) => format!("link_{measure}.{name}"),
        ("link", _, _) => match measure.strip_prefix("gauge ") {
            Some(gauge) => format!("gauge.{name}.{}", gauge.replace(' ', "_")),
            None => format!("{measure}.{name}"),
        },
        // An aggregate and a group may have the same name, so the names of their series differ.
        ("aggregate", "throughput", _) => format!("aggregate_bps.{name}"),
        ("aggregate", "drops" | "marks", _) => format!("aggregate_{measure}.{name}"),
        ("aggregate", "target", _) => format!("target_bps.{name}"),
        ("aggregate", _, _) => match measure.strip_prefix("gauge ") {
            Some(gauge) => format!("marker.{name}.{}", gauge.replace(' ', "_")),
            None => format!("{}.{name}", measure.replace(' ', "_")),
        },
        (_, "throughput", _) => format!("throughput_bps.{name}"),
        (_, "srtt", _) => format!("srtt_s.{name}"),
        _ => format!("{measure}.{name}"),
    }
}

/// Refuses a series that `scenario` lacks. All gauges of links and aggregates are accepted, because
/// available gauges depend on the discipline.
pub(crate) fn check(name: &str, scenario: &Scenario) -> Result<(), String> {
    let groups: Vec<&str> = scenario.spec().flow.iter().map(|flow| flow.group.as_str()).collect();
    let links: Vec<&str> = scenario.links().collect();
    let aggregates: Vec<&str> =
        scenario.spec().aggregate.iter().map(|aggregate| aggregate.name.as_str()).collect();
    let is_part = |of: &str, whole: &&str| of.strip_prefix(whole).is_some_and(|rest| rest.starts_with('.'));
    let is_known = name.split_once('.').is_some_and(|(what, of)| match what {
        "marker" => aggregates.iter().any(|aggregate| is_part(of, aggregate)),
        "gauge" => links.iter().any(|link| is_part(of, link)),
        _ => {
            OF_GROUPS.contains(&what) && (groups.contains(&of) || is_flow(of, scenario))
                || OF_FLOWS.contains(&what) && is_flow(of, scenario)
                || OF_LINKS.contains(&what) && links.contains(&of)
                || OF_AGGREGATES.contains(&what) && aggregates.contains(&of)
        }
    });
    if is_known {
        return Ok(());
    }
    let of =
        |heads: &[&str], tail: &str| heads.iter().map(|head| format!("{head}.{tail}")).collect::<Vec<_>>();
    let mut known: Vec<String> = groups.iter().flat_map(|group| of(&OF_GROUPS, group)).collect();
    known.extend(groups.iter().flat_map(|group| of(&OF_FLOWS, &format!("{group}.1"))));
    known.extend(links.iter().flat_map(|link| of(&OF_LINKS, link)));
    known.extend(aggregates.iter().flat_map(|aggregate| of(&OF_AGGREGATES, aggregate)));
    known.extend(links.iter().map(|link| format!("gauge.{link}.NAME")));
    let near = hint(name, &known);
    Err(format!("there is no series `{name}` here; allowed: {}{near}", listed(&known)))
}
