//! The picture.

use super::view::{Table as Shown, View};
use fairwire_gateway::telemetry::snapshot::{ClassSnapshot, WaySnapshot};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Cell, Paragraph, Row, Sparkline, Table};
use std::collections::{BTreeMap, VecDeque};

const DIM: Style = Style::new().fg(Color::DarkGray);
const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
const BAD: Style = Style::new().fg(Color::Red);
/// Cells of a bar that shows a share of the link.
const BAR: usize = 20;

/// Draws `view`.
pub fn draw(frame: &mut Frame<'_>, view: &View) {
    let pictures = if view.is_still { 0 } else { 4 };
    let [title, ways, pictures, counts, table, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(4),
        Constraint::Length(pictures),
        Constraint::Length(3),
        Constraint::Min(3),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    frame.render_widget(title_line(view), title);
    frame.render_widget(keys_line(view), keys);
    let Some(snapshot) = &view.snapshot else { return };
    let lines: Vec<Line<'_>> =
        snapshot.ways.iter().enumerate().flat_map(|(at, way)| way_lines(way, at == view.way)).collect();
    frame.render_widget(Paragraph::new(lines), ways);
    let Some(way) = view.way() else { return };
    if pictures.height > 0 {
        draw_pictures(frame, view, way, pictures);
    }
    frame.render_widget(Paragraph::new(count_lines(way).to_vec()), counts);
    match view.table {
        Shown::Classes => frame.render_widget(classes(view, way, table), table),
        Shown::Flows => frame.render_widget(flows(view, way, table), table),
    }
}

fn title_line(view: &View) -> Line<'_> {
    let mut spans = vec![Span::styled("fairwire gateway", BOLD)];
    if let Some(snapshot) = &view.snapshot {
        spans.push(Span::raw(format!(" {}  up {}", snapshot.name, uptime(snapshot.uptime_s))));
        if snapshot.reloads > 0 {
            spans.push(Span::raw(format!("  reloads {}", snapshot.reloads)));
        }
        for port in snapshot.ports.iter().filter(|port| !port.is_up) {
            spans.push(Span::styled(format!("  {} is down", port.interface), BAD));
        }
    }
    if view.is_paused {
        spans.push(Span::styled("  paused", BOLD));
    }
    if let Some(trouble) = &view.trouble {
        spans.push(Span::styled(format!("  {trouble}"), BAD));
    }
    Line::from(spans)
}

fn keys_line(view: &View) -> Line<'_> {
    if view.is_still {
        return Line::default();
    }
    let order = view.order.name();
    Line::styled(format!("d download  u upload  c classes  f flows  s order ({order})  p pause  q quit"), DIM)
}

/// Two lines for a way: what passes and what waits, how long and how fairly.
fn way_lines(way: &WaySnapshot, is_chosen: bool) -> [Line<'static>; 2] {
    let name = Span::styled(format!("{:9}", way.way), if is_chosen { BOLD } else { Style::new() });
    if way.discipline.is_empty() {
        let text = format!("not shaped   {}", rate(way.throughput_bps));
        return [Line::from(vec![name, Span::raw(text)]), Line::default()];
    }
    let first = format!(
        "{:<9} {} of {}  {:.1} %  waiting {} ({})",
        way.discipline,
        rate(way.throughput_bps),
        rate(way.rate_bps as f64),
        way.utilization * 100.0,
        way.backlog_packets,
        bytes(way.backlog_bytes),
    );
    let sojourn = &way.sojourn;
    let second = format!(
        "         p50 {} p95 {} p99 {} ms  Jain {:.4}  worst share {:.2} points",
        time(sojourn.p50_s),
        time(sojourn.p95_s),
        time(sojourn.p99_s),
        way.jain,
        way.worst_share_error_points,
    );
    [Line::from(vec![name, Span::raw(first)]), Line::raw(second)]
}

/// What was dropped, marked and lost since the start.
fn count_lines(way: &WaySnapshot) -> [Line<'static>; 3] {
    let totals = &way.totals;
    let line = |what: &str, counts: &BTreeMap<String, u64>| {
        let told: Vec<String> = counts
            .iter()
            .filter(|(_, count)| **count > 0)
            .map(|(cause, count)| format!("{cause} {count}"))
            .collect();
        let told = if told.is_empty() { "none".to_owned() } else { told.join("  ") };
        Line::raw(format!("{what:9}{told}"))
    };
    [line("dropped", &totals.dropped), line("marked", &totals.marked), line("lost", &totals.lost)]
}

fn draw_pictures(frame: &mut Frame<'_>, view: &View, way: &WaySnapshot, area: Rect) {
    let [left, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).spacing(1).areas(area);
    let past = &view.pasts[view.way];
    // A little above the link's rate: what leaves between two snapshots may be a packet more.
    let most = match way.rate_bps {
        0 => past.throughput_bps.iter().max().copied().unwrap_or(0),
        bps => bps + bps / 50,
    };
    draw_picture(frame, left, format!("sent, up to {}", rate(most as f64)), &past.throughput_bps, most);
    let most = past.backlog_packets.iter().max().copied().unwrap_or(0);
    draw_picture(frame, right, format!("waiting, up to {most} packets"), &past.backlog_packets, most);
}

fn draw_picture(frame: &mut Frame<'_>, area: Rect, title: String, values: &VecDeque<u64>, most: u64) {
    let lately = values.len().saturating_sub(usize::from(area.width));
    let picture = Sparkline::default()
        .block(Block::new().borders(Borders::TOP).title(title).style(DIM))
        .style(Style::new().fg(Color::Cyan))
        .max(most.max(1))
        .data(values.range(lately..).copied().collect::<Vec<u64>>());
    frame.render_widget(picture, area);
}

fn classes<'a>(view: &View, way: &WaySnapshot, area: Rect) -> Table<'a> {
    let all = way.throughput_bps.max(1.0);
    let row = |class: &&ClassSnapshot| {
        let name = match class.parent.as_str() {
            "" => class.class.clone(),
            parent => format!("{parent}/{}", class.class),
        };
        Row::new([
            Cell::from(name),
            right(format!("{}", class.weight)),
            right(short(class.offered_bps)),
            right(short(class.throughput_bps)),
            right(short(class.fair_bps)),
            Cell::from(bar(class.throughput_bps / all, class.fair_bps / all)),
            right(format!("{:.0}", class.drops_per_s)),
        ])
    };
    let rows = view.classes();
    let rows = rows.iter().skip(first(view, rows.len(), area)).map(row);
    let widths = [
        Constraint::Fill(1),
        Constraint::Length(6),
        Constraint::Length(8),
        Constraint::Length(8),
        Constraint::Length(8),
        Constraint::Length(BAR as u16),
        Constraint::Length(6),
    ];
    let head = ["class (bit/s)", "weight", "offered", "got", "fair", "share (| fair)", "drop/s"];
    Table::new(rows.collect::<Vec<_>>(), widths).column_spacing(1).header(header(head, 5))
}

fn flows<'a>(view: &View, way: &WaySnapshot, area: Rect) -> Table<'a> {
    let rows = view.flows();
    let shown = rows.iter().skip(first(view, rows.len(), area)).map(|flow| {
        Row::new([
            Cell::from(flow.flow.clone()),
            right(short(flow.offered_bps)),
            right(short(flow.throughput_bps)),
            right(format!("{:.0}", flow.drops_per_s)),
            right(format!("{:.0}", flow.marks_per_s)),
        ])
    });
    let widths = [
        Constraint::Fill(1),
        Constraint::Length(8),
        Constraint::Length(8),
        Constraint::Length(6),
        Constraint::Length(6),
    ];
    let title = format!("flow ({} of {} that send; bit/s)", rows.len(), way.active_flows);
    let head = [title.as_str(), "offered", "got", "drop/s", "mark/s"];
    Table::new(shown.collect::<Vec<_>>(), widths).column_spacing(1).header(header(head, 0))
}

/// Names of columns: numbers stand to the right, as what is below them; the one at `left` does not.
fn header<'a, const N: usize>(names: [&str; N], left: usize) -> Row<'a> {
    let cell = |(at, name): (usize, &str)| match at {
        0 => Cell::from(name.to_owned()),
        _ if at == left => Cell::from(name.to_owned()),
        _ => right(name.to_owned()),
    };
    Row::new(names.into_iter().enumerate().map(cell).collect::<Vec<_>>()).style(BOLD)
}

/// The first row, so that the last ones fill the table.
fn first(view: &View, rows: usize, area: Rect) -> usize {
    view.first.min(rows.saturating_sub(usize::from(area.height.saturating_sub(1))))
}

fn right<'a>(text: String) -> Cell<'a> {
    Cell::from(Line::from(text).right_aligned())
}

/// A share of the link as a bar, and the fair share as a stroke in it.
fn bar(share: f64, fair: f64) -> String {
    let cells = |part: f64| (part.clamp(0.0, 1.0) * BAR as f64).round() as usize;
    let (share, fair) = (cells(share), cells(fair));
    let cell = |at: usize| match at {
        _ if at + 1 == fair.max(1) && fair > 0 => '|',
        _ if at < share => '#',
        _ => ' ',
    };
    (0..BAR).map(cell).collect()
}

/// Three digits and the unit.
fn rate(bps: f64) -> String {
    let (value, unit) = scaled(bps, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s"]);
    format!("{value} {unit}")
}

/// The same without the unit.
fn short(bps: f64) -> String {
    let (value, prefix) = scaled(bps, ["", " k", " M", " G"]);
    format!("{value}{prefix}")
}

fn bytes(bytes: u64) -> String {
    let (value, unit) = scaled(bytes as f64, ["B", "kB", "MB", "GB"]);
    format!("{value} {unit}")
}

fn scaled(value: f64, units: [&'static str; 4]) -> (String, &'static str) {
    let mut scaled = value;
    let mut at = 0;
    while scaled >= 999.5 && at < 3 {
        scaled /= 1000.0;
        at += 1;
    }
    let text = match scaled {
        _ if at == 0 => format!("{scaled:.0}"),
        ..9.995 => format!("{scaled:.2}"),
        ..99.95 => format!("{scaled:.1}"),
        _ => format!("{scaled:.0}"),
    };
    (text, units[at])
}

/// Milliseconds, three digits.
fn time(seconds: f64) -> String {
    match seconds * 1e3 {
        ms @ ..9.995 => format!("{ms:.2}"),
        ms @ ..99.95 => format!("{ms:.1}"),
        ms => format!("{ms:.0}"),
    }
}

fn uptime(seconds: f64) -> String {
    let seconds = seconds.max(0.0) as u64;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match days {
        0 => format!("{hours}:{minutes:02}:{:02}", seconds % 60),
        _ => format!("{days} d {hours}:{minutes:02}"),
    }
}
