//! How much runs would record, estimated before them: a slip of a unit fills no disk and no memory.

use crate::load::Scenario;
use crate::source::Sends;
use crate::spec::FlowSpec;
use crate::topology::Topology;
use fairwire_core::Duration;
use fairwire_sim::Source;
use fairwire_sim::app::{Arrivals, Load, Transfers};
use std::fmt;

/// Rows of samples of all runs: each takes some 70 bytes, so these are 2 GB.
const MAX_ROWS: f64 = 3e7;
/// Lines of traces of all runs: each takes some 110 bytes, so these are 11 GB.
const MAX_EVENTS: f64 = 1e8;
/// Of those in memory each takes some 200 bytes.
const MAX_EVENTS_IN_MEMORY: f64 = 1e7;
/// Transfers that are requested in a run: each takes some 100 bytes until it is complete.
const MAX_TRANSFERS: f64 = 2e7;
/// Records of transfers of all runs: each takes some 200 bytes of memory, so these are 2 GB.
const MAX_RECORDS: f64 = 1e7;
/// Timers of TCP that are due in a run, where each is at its longest.
const MAX_TIMEOUTS: f64 = 1e8;
/// Rows of a sample for each queued link, with some gauges; for each group, aggregate and flow.
const ROWS: [usize; 3] = [11, 7, 7];
/// What a trace has of a packet at a link, and at its receiver.
const EVENTS_AT_LINK: f64 = 2.0;
const EVENTS_AT_END: f64 = 1.0;

/// What is recorded of runs beside their results.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recorded {
    /// The time between two samples, where there are any.
    pub every: Option<Duration>,
    /// Do samples have each flow?
    pub has_flows: bool,
    /// Is each packet recorded?
    pub has_packets: bool,
    /// Is each transfer?
    pub has_transfers: bool,
    /// Are packets recorded in memory, and not in a file?
    pub is_in_memory: bool,
}

/// More than a run may record by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct TooMuch {
    /// About how many of what, and why.
    pub what: String,
    /// How many may be.
    pub most: String,
    /// What lowers it.
    pub by: String,
}

impl fmt::Display for TooMuch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; allowed: {}, by {}", self.what, self.most, self.by)
    }
}

/// Refuses runs of `scenario` that would record or keep more than is sensible. Estimates are of a
/// busy network, and right to a factor of two or three; `every` is what calls the time between two
/// samples.
///
/// # Errors
/// When something is too much: the first thing that is.
pub fn check(scenario: &Scenario, recorded: Recorded, every: &str) -> Result<(), TooMuch> {
    let spec = scenario.spec();
    let runs = (spec.disciplines.len() * spec.seeds.as_slice().len()) as f64;
    let estimate = Estimate { scenario, runs, seconds: spec.duration.0.secs() };
    if let Some(interval) = recorded.every {
        estimate.rows(interval, recorded.has_flows, every)?;
    }
    if recorded.has_packets {
        estimate.events(if recorded.is_in_memory { MAX_EVENTS_IN_MEMORY } else { MAX_EVENTS })?;
    }
    estimate.flows(recorded.has_transfers)
}

struct Estimate<'a> {
    scenario: &'a Scenario,
    runs: f64,
    seconds: f64,
}

impl Estimate<'_> {
    fn topology(&self) -> &Topology {
        self.scenario.topology()
    }

    fn groups(&self) -> impl Iterator<Item = (&FlowSpec, &Sends)> {
        self.scenario.spec().flow.iter().zip(&self.topology().sends)
    }

    fn rows(&self, every: Duration, has_flows: bool, key: &str) -> Result<(), TooMuch> {
        let spec = self.scenario.spec();
        let [of_link, of_group, of_flow] = ROWS;
        let flows: u64 = self.groups().map(|(flow, sends)| flow.each() * sends.connections()).sum();
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

    fn events(&self, most: f64) -> Result<(), TooMuch> {
        let topology = self.topology();
        let mut offered = vec![0.0; topology.queues.len()];
        for ((flow, sends), routes) in self.groups().zip(&topology.routes) {
            let most_bps = match &sends.source {
                Source::Cbr { rate, .. } => rate.bps().min(flow.access.rate.0.bps()),
                _ => flow.access.rate.0.bps(),
            };
            for route in routes {
                route.queues().for_each(|queue| offered[queue] += most_bps as f64 * f64::from(route.flows));
            }
        }
        let duration = self.scenario.spec().duration.0;
        let of_queue = |(at, offered): (usize, &f64)| {
            let bps = topology.queues[at].mean_bps(Duration::ZERO, duration).min(*offered);
            bps * self.seconds / (8.0 * f64::from(topology.passing[at].packet_bytes))
        };
        let at_links: f64 = offered.iter().enumerate().map(of_queue).sum();
        let events = at_links * self.runs * (EVENTS_AT_LINK + EVENTS_AT_END);
        let what = format!("the traces would have {} lines", about(events));
        within(events, most, what, "lines", "a shorter `duration`, fewer runs or a slower link")
    }

    fn flows(&self, has_transfers: bool) -> Result<(), TooMuch> {
        let mut all = 0.0;
        for (flow, sends) in self.groups() {
            let path = format!("flow.{}", flow.group);
            let users = flow.each() as f64;
            let (Source::Bulk { tcp } | Source::Tcp { tcp, .. }) = &sends.source else { continue };
            let timeouts = users * sends.connections() as f64 * self.seconds / tcp.max_rto.secs().max(1e-9);
            let what = format!(
                "`{path}.tcp.max_rto` is {}, by which up to {} timers may end",
                tcp.max_rto,
                about(timeouts)
            );
            within(timeouts, MAX_TIMEOUTS, what, "timers", &format!("a longer `{path}.tcp.max_rto`"))?;
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

fn within(number: f64, most: f64, what: String, of: &str, by: &str) -> Result<(), TooMuch> {
    if number <= most {
        return Ok(());
    }
    Err(TooMuch { what, most: format!("{} {of}", about(most)), by: by.to_owned() })
}

/// `number` in words: two digits are enough of an estimate.
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

/// The next of 1, 2 and 5 times a power of ten.
fn rounded_up(least: Duration) -> Duration {
    let steps = (0..).map(|power| 10u64.pow(power)).flat_map(|ten| [ten, 2 * ten, 5 * ten]);
    let ns = steps.take(54).find(|ns| *ns >= least.ns());
    ns.map_or(least, Duration::from_ns)
}
