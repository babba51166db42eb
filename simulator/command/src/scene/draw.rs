//! The picture of a scene.

use super::{Past, Scene};
use fairwire_experiment::view::{FlowView, LinkView};
use fairwire_terminal::screen::{BAD, BAR, BOLD, DIM, bar, bytes, past, rate, short, time};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table, Wrap};

/// The minimum width for links next to each other. In a narrower terminal, as many links as fit are
/// stacked.
const SIDE_BY_SIDE: u16 = 100;
const HEAD_LINES: u16 = 3;
const PICTURE_LINES: u16 = 4;
const MAX_TROUBLE_LINES: usize = 5;
const MIN_LINES: u16 = HEAD_LINES + 2;

pub(crate) fn draw(frame: &mut Frame<'_>, scene: &Scene) {
    let said = scene.trouble.as_deref().unwrap_or_default();
    let lines = said.chars().count().div_ceil(usize::from(frame.area().width.max(1)));
    // Words are not broken, so text of more than one line may need one more line.
    let lines = (lines + usize::from(lines > 1)).min(MAX_TROUBLE_LINES) as u16;
    let [title, links, trouble, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(lines),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    frame.render_widget(Line::styled(scene.title.as_str(), BOLD), title);
    frame.render_widget(Paragraph::new(said).style(BAD).wrap(Wrap { trim: true }), trouble);
    frame.render_widget(Line::styled(scene.keys.as_str(), DIM), keys);
    for (area, (view, past)) in areas(links, scene).into_iter().zip(scene.view.links.iter().zip(&scene.pasts))
    {
        draw_link(frame, view, past, area);
    }
}

fn areas(area: Rect, scene: &Scene) -> Vec<Rect> {
    let count = scene.view.links.len().max(1);
    if area.width >= SIDE_BY_SIDE {
        return Layout::horizontal(vec![Constraint::Fill(1); count]).spacing(2).split(area).to_vec();
    }
    let fit = usize::from(area.height / MIN_LINES).clamp(1, count);
    Layout::vertical(vec![Constraint::Fill(1); fit]).spacing(u16::from(fit > 1)).split(area).to_vec()
}

fn draw_link(frame: &mut Frame<'_>, view: &LinkView, past: &Past, area: Rect) {
    let room = area.height.saturating_sub(HEAD_LINES);
    // The table's head and up to five flows have priority over the pictures.
    let wanted = view.flows.len().min(usize::from(u16::MAX)) as u16 + 1;
    let rows = [2 * PICTURE_LINES, PICTURE_LINES, 0].into_iter();
    let pictures = rows.into_iter().find(|lines| room >= lines + wanted.min(6)).unwrap_or(0);
    let [head, above, flows] =
        Layout::vertical([Constraint::Length(HEAD_LINES), Constraint::Length(pictures), Constraint::Fill(1)])
            .areas(area);
    frame.render_widget(Paragraph::new(head_lines(view).to_vec()), head);
    draw_pictures(frame, view, past, above);
    frame.render_widget(table(view, flows), flows);
}

fn head_lines(view: &LinkView) -> [Line<'static>; 3] {
    let of = if view.rate_bps > 0.0 { format!(" of {}", rate(view.rate_bps)) } else { String::new() };
    let waits = format!(
        "waiting {} ({}), p50 {} ms, p99 {} ms",
        view.backlog_packets,
        bytes(view.backlog_bytes),
        time(view.wait_p50_s),
        time(view.wait_p99_s)
    );
    let mut counts = format!("dropped {}", view.dropped);
    counts += &view.marked.map_or_else(String::new, |marked| format!(", marked {marked}"));
    if view.lost > 0 {
        counts += &format!(", lost {}", view.lost);
    }
    [
        Line::from(vec![
            Span::styled(view.name.clone(), BOLD),
            Span::raw(format!("  {}{of}", rate(view.sent_bps))),
        ]),
        Line::raw(waits),
        Line::raw(counts),
    ]
}

fn draw_pictures(frame: &mut Frame<'_>, view: &LinkView, of: &Past, area: Rect) {
    if area.height == 0 {
        return;
    }
    let rows = usize::from(area.height / PICTURE_LINES);
    let rows = Layout::vertical(vec![Constraint::Fill(1); rows]).split(area);
    let most = |values: &std::collections::VecDeque<u64>| values.iter().max().copied().unwrap_or(0);
    let top = most(&of.sent_bps).max(view.rate_bps as u64);
    let [packets, wait, lost] = [most(&of.backlog_packets), most(&of.wait_us), most(&of.lost)];
    let all = [
        (format!("waiting, up to {packets} packets"), &of.backlog_packets, packets),
        (format!("p99 wait, up to {} ms", time(wait as f64 / 1e6)), &of.wait_us, wait),
        (format!("sent, up to {}", rate(top as f64)), &of.sent_bps, top),
        (format!("dropped and marked, up to {lost}"), &of.lost, lost),
    ];
    for (row, pair) in rows.iter().zip(all.chunks(2)) {
        let halves = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).spacing(1).split(*row);
        for (place, (title, values, top)) in halves.iter().zip(pair) {
            past(frame, *place, title.clone(), values, *top);
        }
    }
}

fn table(view: &LinkView, area: Rect) -> Table<'static> {
    let has_windows = view.flows.iter().any(|flow| flow.window.is_some());
    let whole = if view.rate_bps > 0.0 { view.rate_bps } else { view.sent_bps.max(1.0) };
    // If all bars are short, they are scaled so that the longest fills its cells.
    let largest =
        view.flows.iter().map(|flow| flow.bps.max(flow.fair_bps.unwrap_or(0.0))).fold(0.0, f64::max);
    let scale = if largest > 0.0 { largest.min(whole) } else { whole };
    let has_bar = usize::from(area.width) >= BAR + 36;
    let row = |flow: &FlowView| {
        let mut cells = vec![Cell::from(flow.name.clone())];
        if has_bar {
            cells.push(Cell::from(bar(flow.bps / scale, flow.fair_bps.unwrap_or(0.0) / scale)));
        }
        cells.push(right(short(flow.bps)));
        if has_windows {
            cells.push(right(flow.window.map_or_else(String::new, |window| format!("{window:.0}"))));
        }
        cells.push(right(flow.dropped.to_string()));
        Row::new(cells)
    };
    let has_fair = view.flows.iter().any(|flow| flow.fair_bps.is_some());
    let mut columns = vec![("flow", Constraint::Fill(1))];
    if has_bar {
        let title = if has_fair { "share (| fair)" } else { "share" };
        columns.push((title, Constraint::Length(BAR as u16)));
    }
    columns.push(("bit/s", Constraint::Length(7)));
    if has_windows {
        columns.push(("window", Constraint::Length(6)));
    }
    columns.push(("drops", Constraint::Length(7)));
    let head = Row::new(columns.iter().map(|(title, _)| match *title {
        title @ ("bit/s" | "window" | "drops") => right(title.to_owned()),
        title => Cell::from(title),
    }));
    let rows = view.flows.iter().take(usize::from(area.height.saturating_sub(1))).map(row);
    Table::new(rows, columns.iter().map(|(_, width)| *width)).column_spacing(1).header(head.style(BOLD))
}

fn right(text: String) -> Cell<'static> {
    Cell::from(Line::from(text).right_aligned())
}
