//! The picture.

use super::view::{Table as Shown, View, full_name};
use fairwire_control::snapshot::{ClassSnapshot, WaySnapshot};
use fairwire_terminal::screen::{self, BAD, BAR, BOLD, DIM, bar, bytes, rate, short, time};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table};
use std::collections::BTreeMap;

/// Lines of the head: the title, and two for each direction.
pub(super) const HEAD_LINES: u16 = 5;
/// Lines for drops, marks and losses.
pub(super) const COUNT_LINES: u16 = 3;
/// A table's lines in addition to its rows.
pub(super) const TABLE_LINES: u16 = 2;

pub(super) fn draw(frame: &mut Frame<'_>, view: &View) {
    let [top, pictures, below, rows, keys] = Layout::vertical([
        Constraint::Length(HEAD_LINES),
        Constraint::Length(4),
        Constraint::Length(COUNT_LINES),
        Constraint::Min(TABLE_LINES + 2),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    head(frame, view, top);
    frame.render_widget(keys_line(view), keys);
    let Some(way) = view.way() else { return };
    draw_pictures(frame, view, way, pictures);
    counts(frame, view, below);
    table(frame, view, rows);
    if view.is_stale() {
        let [_, old] = Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(frame.area());
        frame.buffer_mut().set_style(old, DIM);
    }
}

pub(super) fn head(frame: &mut Frame<'_>, view: &View, area: Rect) {
    let [title, ways] = Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(area);
    frame.render_widget(title_line(view), title);
    let Some(snapshot) = &view.snapshot else { return };
    let lines: Vec<Line<'_>> =
        snapshot.ways.iter().enumerate().flat_map(|(at, way)| way_lines(way, at == view.way)).collect();
    frame.render_widget(Paragraph::new(lines), ways);
}

pub(super) fn counts(frame: &mut Frame<'_>, view: &View, area: Rect) {
    let lines = view.way().map(|way| count_lines(way).to_vec()).unwrap_or_default();
    frame.render_widget(Paragraph::new(lines), area);
}

pub(super) fn table(frame: &mut Frame<'_>, view: &View, area: Rect) {
    let [title, rows] = Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(area);
    let Some(way) = view.way() else { return };
    view.page.set(usize::from(rows.height.saturating_sub(1)));
    frame.render_widget(table_line(view, way), title);
    match view.table {
        Shown::Classes => frame.render_widget(classes(view, way, rows), rows),
        Shown::Flows => frame.render_widget(flows(view, rows), rows),
    }
}

fn table_line<'a>(view: &View, way: &WaySnapshot) -> Line<'a> {
    let rows = view.rows();
    let first = first(view, rows);
    let what = match view.table {
        Shown::Classes => "classes",
        Shown::Flows => "flows",
    };
    let last = rows.min(first + view.page.get());
    let mut spans = vec![Span::styled(format!("{} {what}", way.way), BOLD)];
    let order = view.order.name();
    spans.push(Span::raw(format!(
        "  {} to {last} of {}  by {order}",
        first + usize::from(rows > 0),
        view.all_rows()
    )));
    if view.is_typing || !view.search.is_empty() {
        let cursor = if view.is_typing { "_" } else { "" };
        spans.push(Span::styled(format!("  {rows} with \"{}{cursor}\"", view.search), BOLD));
    }
    Line::from(spans)
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
        let old = if view.is_stale() { "OLD NUMBERS: " } else { "" };
        spans.push(Span::styled(format!("  {old}{trouble}"), BAD));
    }
    Line::from(spans)
}

fn keys_line(view: &View) -> Line<'_> {
    let keys = if view.is_typing {
        "type a part of a name  Enter keep it  Esc all rows"
    } else {
        "q quit  d/u way  c/f classes, flows  s order  / search  arrows, PgUp, PgDn scroll  p pause"
    };
    Line::styled(keys, DIM)
}

fn way_lines(way: &WaySnapshot, is_chosen: bool) -> [Line<'static>; 2] {
    // Marks the shown direction even without colours.
    let mark = if is_chosen { '>' } else { ' ' };
    let name = Span::styled(format!("{mark}{:9}", way.way), if is_chosen { BOLD } else { Style::new() });
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
        "          p50 {} p95 {} p99 {} ms  Jain {:.4}  worst share {:.2} points",
        time(sojourn.p50_s),
        time(sojourn.p95_s),
        time(sojourn.p99_s),
        way.jain,
        way.worst_share_error_points,
    );
    [Line::from(vec![name, Span::raw(first)]), Line::raw(second)]
}

fn count_lines(way: &WaySnapshot) -> [Line<'static>; 3] {
    let totals = &way.totals;
    let line = |what: &str, counts: &BTreeMap<String, u64>| {
        let shown: Vec<String> = counts
            .iter()
            .filter(|(_, count)| **count > 0)
            .map(|(cause, count)| format!("{cause} {count}"))
            .collect();
        let shown = if shown.is_empty() { "none".to_owned() } else { shown.join("  ") };
        Line::raw(format!("{} {what:8}{shown}", way.way))
    };
    [line("dropped", &totals.dropped), line("marked", &totals.marked), line("lost", &totals.lost)]
}

fn draw_pictures(frame: &mut Frame<'_>, view: &View, way: &WaySnapshot, area: Rect) {
    let [left, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).spacing(1).areas(area);
    let past = &view.pasts[view.way];
    // The limit is 2 % above the link's rate, because an extra packet may leave between two
    // snapshots.
    let most = match way.rate_bps {
        0 => past.throughput_bps.iter().max().copied().unwrap_or(0),
        bps => bps + bps / 50,
    };
    screen::past(
        frame,
        left,
        format!("{} sent, up to {}", way.way, rate(most as f64)),
        &past.throughput_bps,
        most,
    );
    let most = past.backlog_packets.iter().max().copied().unwrap_or(0);
    screen::past(
        frame,
        right,
        format!("{} waiting, up to {most} packets", way.way),
        &past.backlog_packets,
        most,
    );
}

/// A column other than the name: title, width and priority. If names need room, the column with the
/// lowest priority is dropped first.
type Column = (&'static str, u16, usize);

const CLASS_COLUMNS: [Column; 7] = [
    ("weight", 6, 2),
    ("offered", 8, 3),
    ("got", 8, usize::MAX),
    ("fair", 8, 5),
    ("share (| fair)", BAR as u16, 1),
    ("drop/s", 6, 4),
    ("trip ms", 7, 0),
];
const FLOW_COLUMNS: [Column; 4] =
    [("offered", 8, 2), ("got", 8, usize::MAX), ("drop/s", 6, 1), ("mark/s", 6, 0)];

/// The minimum and the maximum width reserved for names. A longer name is cut. A shorter name is
/// cut only if no column can be dropped.
const NAME_WIDTHS: (usize, usize) = (16, 34);

fn columns(all: &[Column], letters: usize, width: u16) -> Vec<usize> {
    let wanted = letters.clamp(NAME_WIDTHS.0, NAME_WIDTHS.1);
    let mut kept: Vec<usize> = (0..all.len()).collect();
    let room = |kept: &[usize]| {
        let taken: u16 = kept.iter().map(|at| all[*at].1 + 1).sum();
        usize::from(width.saturating_sub(taken))
    };
    while room(&kept) < wanted {
        match kept.iter().copied().filter(|at| all[*at].2 < usize::MAX).min_by_key(|at| all[*at].2) {
            Some(least) => kept.retain(|at| *at != least),
            None => break,
        }
    }
    kept
}

fn rows_of<'a>(
    title: &str,
    all: &[Column],
    rows: Vec<(String, Vec<Cell<'a>>)>,
    left: usize,
    width: u16,
) -> Table<'a> {
    let longest = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let kept = columns(all, longest, width);
    let widths = kept.iter().map(|at| Constraint::Length(all[*at].1));
    let widths: Vec<Constraint> = std::iter::once(Constraint::Fill(1)).chain(widths).collect();
    let title = Cell::from(title.to_owned());
    let heads = kept.iter().map(|at| match *at {
        at if at == left => Cell::from(all[at].0),
        at => right(all[at].0.to_owned()),
    });
    let head = Row::new(std::iter::once(title).chain(heads)).style(BOLD);
    let rows = rows.into_iter().map(|(name, cells)| {
        let cells = cells.into_iter().enumerate().filter(|(at, _)| kept.contains(at)).map(|(_, cell)| cell);
        Row::new(std::iter::once(Cell::from(name)).chain(cells))
    });
    Table::new(rows, widths).column_spacing(1).header(head)
}

fn classes<'a>(view: &View, way: &WaySnapshot, area: Rect) -> Table<'a> {
    let all = way.throughput_bps.max(1.0);
    let row = |class: &ClassSnapshot| {
        let cells = vec![
            right(format!("{}", class.weight)),
            right(short(class.offered_bps)),
            right(short(class.throughput_bps)),
            right(short(class.fair_bps)),
            Cell::from(bar(class.throughput_bps / all, class.fair_bps / all)),
            right(format!("{:.0}", class.drops_per_s)),
            right(if class.round_trips > 0 { time(class.round_trip_s) } else { "-".into() }),
        ];
        (full_name(class), cells)
    };
    let rows = view.classes();
    let shown =
        rows.iter().skip(first(view, rows.len())).take(usize::from(area.height)).map(|class| row(class));
    let bar = CLASS_COLUMNS.iter().position(|(_, width, _)| *width == BAR as u16).unwrap_or(0);
    rows_of("class (bit/s)", &CLASS_COLUMNS, shown.collect(), bar, area.width)
}

fn flows<'a>(view: &View, area: Rect) -> Table<'a> {
    let rows = view.flows();
    let shown = rows.iter().skip(first(view, rows.len())).take(usize::from(area.height)).map(|flow| {
        let cells = vec![
            right(short(flow.offered_bps)),
            right(short(flow.throughput_bps)),
            right(format!("{:.0}", flow.drops_per_s)),
            right(format!("{:.0}", flow.marks_per_s)),
        ];
        (flow.flow.clone(), cells)
    });
    rows_of("flow (bit/s)", &FLOW_COLUMNS, shown.collect(), usize::MAX, area.width)
}

/// The index of the first row shown, limited so that the last rows fill the table.
fn first(view: &View, rows: usize) -> usize {
    view.first.min(rows.saturating_sub(view.page.get()))
}

fn right<'a>(text: String) -> Cell<'a> {
    Cell::from(Line::from(text).right_aligned())
}

fn uptime(seconds: f64) -> String {
    let seconds = seconds.max(0.0) as u64;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match days {
        0 => format!("{hours}:{minutes:02}:{:02}", seconds % 60),
        _ => format!("{days} d {hours}:{minutes:02}"),
    }
}
