//! Estimates the time, memory and records of runs in advance, so that a wrong unit fills neither
//! disk nor memory.

use crate::load::Scenario;
use crate::passing::Passing;
use crate::reach;
use crate::source::Sends;
use crate::spec::FlowSpec;
use crate::topology::{QueuePlan, Route, Topology, flows};
use fairwire_core::Duration;
use fairwire_sim::Source;
use fairwire_sim::app::{Arrivals, Load, Transfers};
use std::collections::BTreeMap;
use std::fmt;

/// The maximum number of rows of samples in all runs. Each takes some 70 bytes, together 2 GB.
const MAX_ROWS: f64 = 3e7;
/// The maximum number of trace lines in all runs. Each takes some 110 bytes, together 11 GB.
const MAX_EVENTS: f64 = 1e8;
/// The maximum number of events in memory. Each takes about 200 bytes.
const MAX_EVENTS_IN_MEMORY: f64 = 1e7;
/// The maximum number of transfers requested in a run. Each takes some 100 bytes until it is
/// complete.
const MAX_TRANSFERS: f64 = 2e7;
/// The maximum number of recorded transfers in all runs. Each takes some 200 bytes of memory,
/// together 2 GB.
const MAX_RECORDS: f64 = 1e7;
/// The maximum number of TCP timers that expire in a run, if each timer runs for the maximum RTO.
const MAX_TIMEOUTS: f64 = 1e8;
/// Like `MAX_TIMEOUTS`, but for flows with an unbounded queue at their host's own link. It is
/// lower, because each packet in such a queue takes about 100 bytes of memory.
const MAX_UNBOUNDED_TIMEOUTS: f64 = 1e7;
/// The maximum memory of all concurrent runs, bytes, for a machine with 16 GB.
const MAX_MEMORY: f64 = 8e9;
/// The maximum number of runs of a sweep: a day on two cores at 20 ms each.
const MAX_RUNS: f64 = 1e7;
/// The maximum size of a sweep's data on disk, bytes, without compression.
const MAX_DISK: f64 = 2e10;
/// The bytes of a link with a queue, without its buffer. The constants from here to `OF_PACKET`
/// were measured in runs with a million items each.
const OF_LINK: f64 = 2000.0;
const OF_SLOT: f64 = 60.0;
const OF_CONNECTION: f64 = 1000.0;
const OF_PACKET: f64 = 100.0;
/// The bytes of a flow or a link in a run's record. Records are kept until all runs end. Measured
/// like `OF_LINK`.
const OF_RECORD: f64 = 300.0;
/// The rows of a sample: per link with a queue (with some gauges), per group or aggregate, and per
/// flow.
const ROWS: [usize; 3] = [11, 7, 7];
/// The number of trace lines for a packet at each link.
const EVENTS_AT_LINK: f64 = 2.0;
const EVENTS_AT_END: f64 = 1.0;

/// The recordings that runs add to their results.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recorded {
    /// The time between two samples, if any are taken.
    pub every: Option<Duration>,
    /// Do samples include each flow?
    pub has_flows: bool,
    /// Is each packet recorded?
    pub has_packets: bool,
    /// Is each transfer recorded?
    pub has_transfers: bool,
    /// Are packets recorded in memory instead of a file?
    pub is_in_memory: bool,
    /// The number of concurrent runs.
    pub at_once: usize,
}

/// The names that messages use for two settings.
#[derive(Clone, Copy, Debug)]
pub struct Keys<'a> {
    /// The name of the time between samples.
    pub every: &'a str,
    /// The name of the number of concurrent runs.
    pub jobs: &'a str,
}

/// The error if runs would need more than is allowed.
#[derive(Clone, Debug, PartialEq)]
pub struct TooMuch {
    /// The approximate amount, and its cause.
    pub what: String,
    /// The maximum allowed.
    pub most: String,
    /// The remedy.
    pub by: String,
}

impl fmt::Display for TooMuch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; allowed: {}, by {}", self.what, self.most, self.by)
    }
}

/// The approximate maximum memory of a run that records nothing except its result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// The memory during the run, bytes.
    run: f64,
    /// The memory for the run's record, bytes.
    record: f64,
    /// In words, the change that saves most memory during the run.
    by: String,
}

impl Memory {
    /// The memory of one run of `scenario`.
    pub fn of(scenario: &Scenario) -> Memory {
        Estimate::of(scenario).memory()
    }

    /// The larger of two estimates.
    #[must_use]
    pub fn max(self, other: Memory) -> Memory {
        if other.run > self.run { other } else { self }
    }

    /// Checks the memory of `at_once` concurrent runs of this size, with the records of `kept`
    /// runs. `jobs` is the name of the setting of `at_once`.
    ///
    /// # Errors
    /// If the runs need too much memory.
    pub fn check(&self, at_once: usize, kept: usize, jobs: &str) -> Result<(), TooMuch> {
        let (at_once, kept) = (at_once.max(1) as f64, self.record * kept as f64);
        let all = self.run * at_once + kept;
        if all <= MAX_MEMORY {
            return Ok(());
        }
        let fit = ((MAX_MEMORY - kept) / self.run).floor();
        let by = match (kept > self.run * at_once, fit >= 1.0) {
            (true, _) => "fewer `seeds`".into(),
            (false, true) => format!("`{jobs}` of at most {fit}"),
            (false, false) => self.by.clone(),
        };
        let whose = match (kept > self.run * at_once, at_once > 1.0) {
            (true, _) => "the records of all runs".into(),
            (false, true) => format!("{at_once} runs at once"),
            (false, false) => "a run".to_owned(),
        };
        let what = format!("{whose} would take about {} of memory", about_bytes(all));
        Err(TooMuch { what, most: about_bytes(MAX_MEMORY), by })
    }
}

/// Refuses runs of `scenario` that would need too much even without any recording.
///
/// # Errors
/// The first amount that is too large.
pub fn check_one(scenario: &Scenario) -> Result<(), TooMuch> {
    Estimate::of(scenario).flows(false)
}

/// Refuses a sweep with too many runs, or too many bytes on disk.
///
/// # Errors
/// The first amount that is too large.
pub fn check_sweep(runs: usize, bytes: f64, has_flows: bool) -> Result<(), TooMuch> {
    let what = format!("the plan has {} runs", about(runs as f64));
    within(runs as f64, MAX_RUNS, what, "runs", "fewer `seeds`, or fewer values in `vary`")?;
    if bytes <= MAX_DISK {
        return Ok(());
    }
    let less = if has_flows { "`flows = false`" } else { "fewer `measures`" };
    Err(TooMuch {
        what: format!("its {} runs would take about {} on disk", about(runs as f64), about_bytes(bytes)),
        most: about_bytes(MAX_DISK),
        by: format!("{less}, fewer `seeds`, or fewer values in `vary`"),
    })
}

/// Refuses runs of `scenario` that would record or keep too much. Estimates assume a busy network,
/// and are accurate to a factor of two or three.
///
/// # Errors
/// The first amount that is too large.
pub fn check(scenario: &Scenario, recorded: Recorded, keys: Keys<'_>) -> Result<(), TooMuch> {
    let estimate = Estimate::of(scenario);
    if let Some(interval) = recorded.every {
        estimate.rows(interval, recorded.has_flows, keys.every)?;
    }
    if recorded.has_packets {
        estimate.events(if recorded.is_in_memory { MAX_EVENTS_IN_MEMORY } else { MAX_EVENTS })?;
    }
    estimate.flows(recorded.has_transfers)?;
    estimate.memory().check(recorded.at_once, estimate.runs as usize, keys.jobs)
}

/// The loads of all queues, and the additional delays of their wires. `loads` has the offered and
/// the carried load, bit/s. `longer_by` has [`QueuePlan::longer_by`], s.
struct Wires {
    loads: Vec<[f64; 2]>,
    longer_by: Vec<f64>,
}

struct Estimate<'a> {
    scenario: &'a Scenario,
    runs: f64,
    seconds: f64,
}

impl<'a> Estimate<'a> {
    fn of(scenario: &'a Scenario) -> Self {
        let spec = scenario.spec();
        let runs = (spec.disciplines.len() * spec.seeds.as_slice().len()) as f64;
        Estimate { scenario, runs, seconds: spec.duration.0.secs() }
    }

    fn topology(&self) -> &Topology {
        self.scenario.topology()
    }

    fn groups(&self) -> impl Iterator<Item = (&FlowSpec, &Sends, &Vec<Route>)> {
        let Topology { sends, routes, .. } = self.topology();
        let groups = self.scenario.spec().flow.iter().zip(sends).zip(routes);
        groups.map(|((flow, sends), routes)| (flow, sends, routes))
    }

    fn rows(&self, every: Duration, has_flows: bool, key: &str) -> Result<(), TooMuch> {
        let spec = self.scenario.spec();
        let [of_link, of_group, of_flow] = ROWS;
        let flows: u64 =
            self.groups().map(|(flow, sends, routes)| flows(flow, routes) * sends.connections()).sum();
        let of_flows = if has_flows { flows as usize * of_flow } else { 0 };
        let groups = spec.flow.len() + spec.aggregate.len();
        let in_sample = (self.topology().queues.len() * of_link + groups * of_group + of_flows) as f64;
        let rows = in_sample * self.runs * (self.seconds / every.secs().max(1e-9));
        let least = Duration::from_secs_f64(every.secs() * rows / MAX_ROWS);
        let mut by = format!("`{key}` of at least {}", rounded_up(least));
        if least > spec.duration.0 {
            by = "fewer runs, or samples without flows".into();
        }
        let what = format!("`{key}` is {every}, which makes {} rows of samples", about(rows));
        within(rows, MAX_ROWS, what, "rows", &by)
    }

    /// The maximum load offered to each queue, and the load that the queue carries, bit/s.
    fn loads(&self) -> Vec<[f64; 2]> {
        let topology = self.topology();
        let mut offered = vec![0.0; topology.queues.len()];
        for (flow, sends, routes) in self.groups() {
            for route in routes {
                route
                    .queues()
                    .for_each(|queue| offered[queue] += most_bps(flow, sends) * f64::from(route.flows));
            }
        }
        let duration = self.scenario.spec().duration.0;
        let passing = |(queue, offered): (&QueuePlan, f64)| {
            [offered, queue.mean_bps(Duration::ZERO, duration).min(offered)]
        };
        topology.queues.iter().zip(offered).map(passing).collect()
    }

    fn events(&self, most: f64) -> Result<(), TooMuch> {
        let packets = |(passing, [_, bps]): (&Passing, [f64; 2])| {
            bps * self.seconds / (8.0 * f64::from(passing.packet_bytes))
        };
        let at_links: f64 = self.topology().passing.iter().zip(self.loads()).map(packets).sum();
        let events = at_links * self.runs * (EVENTS_AT_LINK + EVENTS_AT_END);
        let what = format!("the traces would have {} lines", about(events));
        within(events, most, what, "lines", "a shorter `duration`, fewer runs or a slower link")
    }

    fn memory(&self) -> Memory {
        let mut parts: Vec<(f64, String)> = Vec::new();
        for queue in &self.topology().queues {
            let slots = f64::from(queue.buffer.limit(queue.rate).max_packets());
            parts.push((OF_LINK + OF_SLOT * slots, format!("a smaller `{}.buffer`", queue.path)));
        }
        let loads = self.loads();
        let longer_by = self.topology().queues.iter().map(|queue| queue.longer_by().secs());
        let wires = Wires { loads, longer_by: longer_by.collect() };
        for (flow, sends, routes) in self.groups() {
            let connections = (flows(flow, routes) * sends.connections()) as f64;
            parts.push((OF_CONNECTION * connections, format!("a smaller `flow.{}.count`", flow.group)));
            let under_way: f64 = routes.iter().map(|route| self.under_way(flow, sends, route, &wires)).sum();
            let less = format!("less of `flow.{}` under way: shorter delays, or slower links", flow.group);
            parts.push((OF_PACKET * under_way, less));
        }
        // All links of a generated network have the same key in the file, so their bytes are added
        // up.
        let mut all = 0.0;
        let mut of: BTreeMap<String, f64> = BTreeMap::new();
        for (bytes, by) in parts {
            all += bytes;
            *of.entry(by).or_default() += bytes;
        }
        let most = of.into_iter().max_by(|one, other| one.1.total_cmp(&other.1));
        let record = OF_RECORD * (self.scenario.flow_count() as f64 + self.topology().queues.len() as f64);
        Memory { run: all, record, by: most.map_or(String::new(), |(by, _)| by) }
    }

    /// The approximate number of packets in flight, outside of queues, of all flows on a route.
    ///
    /// For datagrams, it is the source's output on the trip to the first queue, plus the links'
    /// throughput in the rest of a round trip.
    fn under_way(&self, flow: &FlowSpec, sends: &Sends, route: &Route, wires: &Wires) -> f64 {
        let topology = self.topology();
        let [own, way] = reach::mean_trip(flow, route, &topology.queues).map(|time| time.secs());
        let longer = |queues: &mut dyn Iterator<Item = usize>| -> f64 {
            queues.map(|queue| wires.longer_by[queue]).sum()
        };
        let way = way + longer(&mut route.queues()) + longer(&mut route.queues_back());
        let sent = most_bps(flow, sends);
        let passes = |queue: usize| {
            let [offered, passes] = wires.loads[queue];
            if offered > 0.0 { passes / offered } else { 1.0 }
        };
        let passed = sent * route.queues().map(passes).fold(1.0, f64::min);
        let bits = 8.0 * f64::from(sends.packet_bytes.max(1));
        let packets = |bps: f64, seconds: f64| bps * seconds.min(self.seconds) / bits;
        let of_flow = match &sends.source {
            Source::Bulk { tcp } | Source::Tcp { tcp, .. } => {
                // Without losses and without `host_queue`, the queue at the host's own link grows
                // until the run ends.
                let is_bounded = tcp.host_queue.is_some() || passed < sent;
                let seconds = if is_bounded { own + way } else { self.seconds };
                let under_way = packets(passed, seconds).max(f64::from(tcp.initial_window));
                under_way.min(tcp.window.map_or(f64::MAX, f64::from))
            }
            _ => packets(sent, own / 4.0) + packets(passed, way),
        };
        of_flow * f64::from(route.flows)
    }

    fn flows(&self, has_transfers: bool) -> Result<(), TooMuch> {
        let mut all = 0.0;
        for (flow, sends, routes) in self.groups() {
            let path = format!("flow.{}", flow.group);
            let users = flows(flow, routes) as f64;
            let (Source::Bulk { tcp } | Source::Tcp { tcp, .. }) = &sends.source else { continue };
            let timeouts = users * sends.connections() as f64 * self.seconds / tcp.max_rto.secs().max(1e-9);
            let what = format!(
                "`{path}.tcp.max_rto` is {}, so up to {} timers may expire",
                tcp.max_rto,
                about(timeouts)
            );
            let most = tcp.host_queue.map_or(MAX_UNBOUNDED_TIMEOUTS, |_| MAX_TIMEOUTS);
            within(timeouts, most, what, "timers", &format!("a longer `{path}.tcp.max_rto`"))?;
            let Source::Tcp { load: Load::Transfers(Transfers { arrivals, .. }), .. } = &sends.source else {
                continue;
            };
            let Arrivals::Poisson { mean_gap, .. } = arrivals else { continue };
            let transfers = users * self.seconds / mean_gap.secs().max(1e-9);
            let key = format!("{path}.source.transfers.mean_gap");
            let what = format!("`{key}` is {mean_gap}, which requests {} transfers", about(transfers));
            within(transfers, MAX_TRANSFERS, what, "transfers", &format!("a longer `{key}`"))?;
            all += transfers * self.runs;
        }
        let what = format!("{} transfers would be recorded", about(all));
        let most = if has_transfers { MAX_RECORDS } else { f64::MAX };
        within(all, most, what, "records", "a shorter `duration`, or fewer runs")
    }
}

fn most_bps(flow: &FlowSpec, sends: &Sends) -> f64 {
    let access = flow.access.rate.0;
    match &sends.source {
        Source::Cbr { rate, .. } => (*rate).min(access).bps() as f64,
        _ => access.bps() as f64,
    }
}

fn within(number: f64, most: f64, what: String, of: &str, by: &str) -> Result<(), TooMuch> {
    if number <= most {
        return Ok(());
    }
    Err(TooMuch { what, most: format!("{} {of}", about(most)), by: by.to_owned() })
}

/// `number` in words, with two digits.
fn about(number: f64) -> String {
    let (scale, word) = match number {
        ..1e6 => (1.0, ""),
        ..1e9 => (1e6, " million"),
        ..1e12 => (1e9, " billion"),
        _ => (1e12, " trillion"),
    };
    let shown = number / scale;
    let digits = 10f64.powi(1 - shown.max(1.0).log10().floor() as i32);
    format!("{}{word}", (shown * digits).round() / digits)
}

fn about_bytes(number: f64) -> String {
    match number {
        ..1e9 => format!("{} MB", about((number / 1e6).max(1.0))),
        _ => format!("{} GB", about(number / 1e9)),
    }
}

fn rounded_up(least: Duration) -> Duration {
    let steps = (0..).map(|power| 10u64.pow(power)).flat_map(|ten| [ten, 2 * ten, 5 * ten]);
    let ns = steps.take(54).find(|ns| *ns >= least.ns());
    ns.map_or(least, Duration::from_ns)
}
