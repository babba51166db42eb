//! `fairwire-gateway status`.

use super::client::{answer, since_1970};
use crate::args::{StatusFormat, WhomArgs};
use comfy_table::{CellAlignment, Table, presets};
use fairwire_control::protocol::{Answer, Request};
use fairwire_control::snapshot::{
    ClassSnapshot, CountsSnapshot, EdgeSnapshot, FlowCounts, Snapshot, SojournSnapshot, WaySnapshot,
};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::print;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

pub(crate) fn status(whom: &WhomArgs, format: StatusFormat, classes: bool) -> Result<Ending, Failure> {
    let Answer::Snapshot(snapshot) = answer(whom, &Request::Status { classes })? else {
        return Err(Failure::Ours("the gateway answered something else than its status".into()));
    };
    print(&*snapshot, format, text)
}

pub(crate) fn counts(whom: &WhomArgs, format: StatusFormat, flows: u32) -> Result<Ending, Failure> {
    let Answer::Counts(counts) = answer(whom, &Request::Counts { flows })? else {
        return Err(Failure::Ours("the gateway answered something else than its counts".into()));
    };
    print(&*counts, format, counted)
}

fn print<T: Serialize>(
    shown: &T,
    format: StatusFormat,
    text: impl FnOnce(&T) -> String,
) -> Result<Ending, Failure> {
    let text = match format {
        StatusFormat::Table => text(shown),
        StatusFormat::Json => {
            serde_json::to_string_pretty(shown).map_err(|error| Failure::Ours(error.to_string()))? + "\n"
        }
    };
    print::print(text.as_bytes())?;
    Ok(Ending::Done)
}

/// Counts, for people.
fn counted(counts: &CountsSnapshot) -> String {
    let mut text = format!("{}: up {}\n\n", counts.name, seconds(counts.uptime_s));
    for way in &counts.ways {
        let _ = writeln!(
            text,
            "{}: {} packets out, {} B; the {} flows that got most, of {}",
            way.way,
            way.totals.packets_out,
            way.totals.bytes_out,
            way.flows.len(),
            way.flow_count
        );
        let _ = writeln!(text, "{}\n", flows(&way.flows));
    }
    text
}

fn flows(flows: &[FlowCounts]) -> Table {
    let mut table = plain();
    table.set_header(["flow", "packets in", "packets out", "bytes out", "dropped", "marked"]);
    for flow in flows {
        let numbers = [flow.packets_in, flow.packets_out, flow.bytes_out, flow.dropped, flow.marked];
        table.add_row(std::iter::once(flow.flow.clone()).chain(numbers.map(|number| number.to_string())));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// For people.
fn text(snapshot: &Snapshot) -> String {
    let mut text = format!(
        "{}: up {}, {} reloads, {} packets in the capture ring\n{}\n\n",
        snapshot.name,
        seconds(snapshot.uptime_s),
        snapshot.reloads,
        snapshot.captured,
        snapshot.fairness
    );
    let _ = writeln!(text, "{}\n", ways(&snapshot.ways));
    for way in snapshot.ways.iter().filter(|way| !way.classes.is_empty()) {
        let _ = writeln!(
            text,
            "{}: classes, worst share error {:.2} points",
            way.way, way.worst_share_error_points
        );
        let _ = writeln!(text, "{}\n", classes(&way.classes));
    }
    if let Some(its) = &snapshot.edge {
        text.push_str(&edge(its));
    }
    for (port, end) in snapshot.ports.iter().zip(["inside", "outside"]) {
        let state = if port.is_up { "up" } else { "DOWN" };
        let _ = writeln!(
            text,
            "{end} {}: {state}, {} outages, {} frames not fetched in time, {} too long",
            port.interface, port.outages, port.overflows, port.truncated
        );
    }
    if !snapshot.left_out.is_empty() {
        let _ = writeln!(text, "\nLeft out of the subscribers:\n{}", snapshot.left_out.join("\n"));
    }
    let _ = writeln!(text, "\nWhat happened last:");
    let now_s = since_1970().as_secs();
    for change in &snapshot.last_changes {
        let ago = seconds(now_s.saturating_sub(change.at_s) as f64);
        let line = change.text.lines().next().unwrap_or_default();
        let _ = writeln!(text, "{ago} ago: {}: {line}", change.kind);
    }
    text
}

fn edge(edge: &EdgeSnapshot) -> String {
    let mut table = plain();
    table.set_header(["class", "target", "marked in profile", "requested"]);
    for class in &edge.classes {
        let marked = class.estimate.map(|estimate| format!("{:.2} %", estimate * 100.0));
        let shown = [class.target_bps.map(bits), marked, class.request.clone()];
        let shown = shown.map(|cell| cell.unwrap_or_else(|| "-".into()));
        table.add_row(std::iter::once(class.class.clone()).chain(shown));
    }
    let heard =
        edge.heard_s_ago.map_or("none heard yet".to_owned(), |s| format!("the last {} ago", seconds(s)));
    format!(
        "edge: reports: {} sent, {} unsent; {} received, {heard}; refused: {}\n{table}\n\n",
        edge.reports_sent,
        edge.reports_unsent,
        edge.reports_received,
        causes(&edge.reports_refused)
    )
}

fn ways(ways: &[WaySnapshot]) -> Table {
    type Row = (&'static str, fn(&WaySnapshot) -> String);
    const ROWS: [Row; 18] = [
        ("discipline", |way| if way.discipline.is_empty() { "none".into() } else { way.discipline.clone() }),
        ("rate", |way| if way.rate_bps == 0 { "-".into() } else { bits(way.rate_bps as f64) }),
        ("throughput", |way| bits(way.throughput_bps)),
        ("utilization", |way| format!("{:.1} %", way.utilization * 100.0)),
        ("backlog", |way| format!("{} packets, {} B", way.backlog_packets, way.backlog_bytes)),
        ("sojourn p50", |way| seconds(way.sojourn.p50_s)),
        ("sojourn p95", |way| seconds(way.sojourn.p95_s)),
        ("sojourn p99", |way| seconds(way.sojourn.p99_s)),
        ("round trip p50", |way| trip(&way.round_trip, way.round_trip.p50_s)),
        ("round trip p95", |way| trip(&way.round_trip, way.round_trip.p95_s)),
        ("TCP sent again", |way| format!("{} of {} segments", way.retransmitted, way.tcp_segments)),
        ("active flows", |way| way.active_flows.to_string()),
        ("Jain's index", |way| format!("{:.3}", way.jain)),
        ("packets in", |way| way.totals.packets_in.to_string()),
        ("packets out", |way| format!("{} ({} unshaped)", way.totals.packets_out, way.totals.unshaped)),
        ("DSCP cleared", |way| way.totals.washed.to_string()),
        ("dropped", |way| causes(&way.totals.dropped)),
        ("lost", |way| causes(&way.totals.lost)),
    ];
    let mut table = plain();
    let names = ways.iter().map(|way| way.way.clone());
    table.set_header(std::iter::once(String::new()).chain(names));
    for (name, of) in ROWS {
        table.add_row(std::iter::once(name.to_owned()).chain(ways.iter().map(of)));
    }
    table.add_row(
        std::iter::once("marked".to_owned()).chain(ways.iter().map(|way| causes(&way.totals.marked))),
    );
    table
}

fn classes(classes: &[ClassSnapshot]) -> Table {
    let mut table = plain();
    table.set_header([
        "class",
        "under",
        "weight",
        "offered",
        "share",
        "fair share",
        "drops/s",
        "marks/s",
        "round trip",
        "again/s",
    ]);
    for class in classes {
        table.add_row([
            class.class.clone(),
            class.parent.clone(),
            class.weight.to_string(),
            bits(class.offered_bps),
            bits(class.throughput_bps),
            bits(class.fair_bps),
            format!("{:.0}", class.drops_per_s),
            format!("{:.0}", class.marks_per_s),
            if class.round_trips > 0 { seconds(class.round_trip_s) } else { "-".into() },
            format!("{:.0}", class.retransmits_per_s),
        ]);
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn trip(trips: &SojournSnapshot, value_s: f64) -> String {
    if trips.max_s > 0.0 { seconds(value_s) } else { "-".into() }
}

fn plain() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
}

fn causes(counts: &BTreeMap<String, u64>) -> String {
    let shown: Vec<String> = counts
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(cause, count)| format!("{count} {cause}"))
        .collect();
    if shown.is_empty() { "0".into() } else { shown.join(", ") }
}

fn bits(bps: f64) -> String {
    let (value, unit) = match bps {
        bps if bps >= 1e9 => (bps / 1e9, "Gbit/s"),
        bps if bps >= 1e6 => (bps / 1e6, "Mbit/s"),
        bps if bps >= 1e3 => (bps / 1e3, "kbit/s"),
        bps => (bps, "bit/s"),
    };
    format!("{value:.2} {unit}")
}

fn seconds(s: f64) -> String {
    match s {
        s if s >= 3600.0 => format!("{:.1} h", s / 3600.0),
        s if s >= 1.0 => format!("{s:.1} s"),
        s => format!("{:.2} ms", s * 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_control::snapshot::WayCounts;

    #[test]
    fn each_flow_has_a_line_of_counts() {
        let flow =
            FlowCounts { flow: "tcp a -> b".into(), bytes_out: 4321, dropped: 17, ..Default::default() };
        let way = WayCounts { way: "upload".into(), flow_count: 9, flows: vec![flow], ..Default::default() };
        let text = counted(&CountsSnapshot { name: "home".into(), ways: vec![way], ..Default::default() });
        let line = text.lines().find(|line| line.contains("tcp a -> b")).expect("a line");
        assert!(line.contains("4321") && line.contains("17"), "{text}");
        assert!(text.contains("the 1 flows that got most, of 9"), "{text}");
    }

    #[test]
    fn a_status_shows_the_discipline_drop_causes_and_class_shares() {
        let class = ClassSnapshot {
            class: "children".into(),
            throughput_bps: 1.5e6,
            fair_bps: 2e6,
            weight: 0.5,
            ..ClassSnapshot::default()
        };
        let mut download = WaySnapshot {
            way: "download".into(),
            discipline: "hfaba".into(),
            rate_bps: 20_000_000,
            classes: vec![class],
            ..WaySnapshot::default()
        };
        download.totals.dropped.insert("overflow".into(), 12);
        let snapshot = Snapshot { name: "home".into(), ways: vec![download], ..Snapshot::default() };
        let text = text(&snapshot);
        for part in ["hfaba", "20.00 Mbit/s", "12 overflow", "children", "1.50 Mbit/s", "2.00 Mbit/s"] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }
}
