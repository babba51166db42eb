//! The content of a run's sample: a row for each object and measure.

use fairwire_core::{Duration, Probe, Unit};
use fairwire_sim::{FlowView, View};
use schemars::JsonSchema;

/// One number of a sample.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema)]
pub struct SampleRow<'a> {
    /// `link`, `group`, `aggregate`, `flow`, or `connection` of a flow that has several.
    pub kind: &'a str,
    /// The object's name. A flow's name has its group and its number, such as `tcp.3`; a
    /// connection's name appends the connection's number: `web.3.1`.
    pub name: &'a str,
    /// The measure, such as `throughput`. For a gauge: `gauge`, the components that contain the
    /// gauge, and its name, such as `gauge class 7/tokens`.
    pub measure: &'a str,
    /// Its unit.
    pub unit: &'a str,
    /// Its value.
    pub value: f64,
}

/// The subject of a row: its kind and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject<'a> {
    /// As [`SampleRow::kind`].
    pub kind: &'a str,
    /// As [`SampleRow::name`].
    pub name: &'a str,
}

impl<'a> Subject<'a> {
    /// The row of one measure of this subject.
    pub fn row(self, measure: &'a str, unit: &'a str, value: f64) -> SampleRow<'a> {
        SampleRow { kind: self.kind, name: self.name, measure, unit, value }
    }
}

/// Reports the rows of `view`: links with their gauges, groups, aggregates, and, if `has_flows`,
/// each flow. `interval` is the time since the previous view. Omits values that are not numbers.
pub fn rows(view: &View<'_>, interval: Duration, has_flows: bool, report: &mut dyn FnMut(SampleRow<'_>)) {
    let interval_s = interval.secs();
    let mut report = |row: SampleRow<'_>| {
        if row.value.is_finite() {
            report(row);
        }
    };
    links(view, interval, &mut report);
    groups(view, interval_s, &mut report);
    aggregates(view, interval_s, &mut report);
    if has_flows {
        flows(view, interval_s, &mut report);
    }
}

fn links(view: &View<'_>, interval: Duration, report: &mut dyn FnMut(SampleRow<'_>)) {
    let since = view.now().saturating_sub(interval);
    for (at, link) in (0..).zip(view.links()) {
        let of = Subject { kind: "link", name: link.name };
        let mut row = |measure, unit, value| report(of.row(measure, unit, value));
        row("capacity", "bit/s", link.bits(since, view.now()) / interval.secs());
        row("backlog", "packets", f64::from(link.backlog.packets));
        row("backlog", "B", link.backlog.bytes as f64);
        row("drops", "packets", link.dropped as f64);
        row("marks", "packets", link.marked as f64);
        let waited = view.waits().iter().filter(|wait| wait.link == at);
        sojourns(of, waited.map(|wait| wait.wait).collect(), report);
        link.discipline.inspect(&mut Gauges { report, of, parts: Vec::new() });
    }
}

/// Packet events of a flow, a group or an aggregate since the previous sample.
#[derive(Clone, Copy, Default)]
struct Sums {
    delivered_bytes: u64,
    left_bytes: u64,
    dropped: u64,
    marked: u64,
}

impl Sums {
    fn add(&mut self, flow: &FlowView<'_>) {
        self.delivered_bytes += flow.delivered_bytes;
        self.left_bytes += flow.left_bytes;
        self.dropped += flow.dropped;
        self.marked += flow.marked;
    }
}

fn groups(view: &View<'_>, interval_s: f64, report: &mut dyn FnMut(SampleRow<'_>)) {
    let mut groups: Vec<(&str, Sums, Vec<Duration>)> = Vec::new();
    let mut group_of = Vec::new(); // of each flow
    for flow in view.flows() {
        if groups.last().is_none_or(|(name, ..)| *name != flow.group) {
            groups.push((flow.group, Sums::default(), Vec::new())); // the flows of a group are adjacent
        }
        group_of.push(groups.len() - 1);
        if let Some((_, sums, _)) = groups.last_mut() {
            sums.add(&flow);
        }
    }
    for wait in view.waits().iter().filter(|wait| !wait.is_ack) {
        groups[group_of[wait.flow as usize]].2.push(wait.wait);
    }
    for (name, sums, waits) in groups {
        let of = Subject { kind: "group", name };
        counts(of, sums, interval_s, report);
        sojourns(of, waits, report);
    }
}

fn sojourns(of: Subject<'_>, mut waits: Vec<Duration>, report: &mut dyn FnMut(SampleRow<'_>)) {
    waits.sort_unstable();
    let Some(longest) = waits.last() else { return };
    let mean_s = waits.iter().map(|wait| wait.secs()).sum::<f64>() / waits.len() as f64;
    let p95 = waits[(waits.len() * 95).div_ceil(100) - 1]; // the smallest that 95 % do not exceed
    let mut row = |measure, value| report(of.row(measure, "s", value));
    row("sojourn mean", mean_s);
    row("sojourn p95", p95.secs());
    row("sojourn max", longest.secs());
}

fn aggregates(view: &View<'_>, interval_s: f64, report: &mut dyn FnMut(SampleRow<'_>)) {
    for aggregate in view.aggregates() {
        let of = Subject { kind: "aggregate", name: aggregate.name };
        let mut sums = Sums::default();
        view.flows().filter(|flow| aggregate.groups.contains(&flow.group)).for_each(|flow| sums.add(&flow));
        counts(of, sums, interval_s, report);
        let mut row = |measure, unit, value| report(of.row(measure, unit, value));
        if let Some(target_bps) = aggregate.target_bps {
            row("target", "bit/s", target_bps);
        }
        if let Some(estimate) = aggregate.mark_estimate {
            row("mark estimate", "1", estimate);
        }
        aggregate.marker.inspect(&mut Gauges { report, of, parts: Vec::new() });
    }
}

/// Reports rows for each flow, summed over its connections. A flow with several connections also
/// has rows for each connection.
fn flows(view: &View<'_>, interval_s: f64, report: &mut dyn FnMut(SampleRow<'_>)) {
    let mut flows = view.flows().peekable();
    let mut sums = Sums::default();
    while let Some(flow) = flows.next() {
        sums.add(&flow);
        let name = flow.name();
        if let Some(connection) = flow.connection {
            let mut own = Sums::default();
            own.add(&flow);
            let name = format!("{name}.{connection}");
            let of = Subject { kind: "connection", name: &name };
            counts(of, own, interval_s, report);
            window(of, &flow, report);
        }
        if flows.peek().is_some_and(|next| (next.group, next.number) == (flow.group, flow.number)) {
            continue;
        }
        let of = Subject { kind: "flow", name: &name };
        counts(of, std::mem::take(&mut sums), interval_s, report);
        if flow.connection.is_none() {
            window(of, &flow, report);
        }
    }
}

fn window(of: Subject<'_>, flow: &FlowView<'_>, report: &mut dyn FnMut(SampleRow<'_>)) {
    let Some(window) = flow.window else { return };
    let mut row = |measure, unit, value| report(of.row(measure, unit, value));
    row("cwnd", "segments", window.cwnd);
    row("ssthresh", "segments", window.ssthresh);
    if let Some(srtt) = window.srtt {
        row("srtt", "s", srtt.seconds());
    }
}

fn counts(of: Subject<'_>, sums: Sums, interval_s: f64, report: &mut dyn FnMut(SampleRow<'_>)) {
    let mut row = |measure, unit, value| report(of.row(measure, unit, value));
    row("throughput", "bit/s", sums.delivered_bytes as f64 * 8.0 / interval_s);
    row("egress", "bit/s", sums.left_bytes as f64 * 8.0 / interval_s);
    row("drops", "packets", sums.dropped as f64);
    row("marks", "packets", sums.marked as f64);
}

struct Gauges<'a> {
    report: &'a mut dyn FnMut(SampleRow<'_>),
    of: Subject<'a>,
    parts: Vec<String>,
}

impl Probe for Gauges<'_> {
    fn gauge(&mut self, name: &'static str, unit: Unit, value: f64) {
        let mut measure = String::from("gauge ");
        self.parts
            .iter()
            .for_each(|part| measure += &format!("{}/", part.replace([',', '"', '\n', '\r'], " ")));
        measure += name;
        (self.report)(self.of.row(&measure, unit.symbol(), value));
    }
    fn enter(&mut self, part: &str) {
        self.parts.push(part.into());
    }
    fn leave(&mut self) {
        self.parts.pop();
    }
}
