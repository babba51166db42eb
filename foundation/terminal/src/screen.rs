//! The common parts of programs that fill a terminal.

use crate::failure::{Ending, Failure};
use crate::lost_terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::widgets::{Block, Borders, Sparkline};
use ratatui::{DefaultTerminal, Frame, Terminal};
use std::collections::VecDeque;
use std::io;

/// Less important text.
pub const DIM: Style = Style::new().fg(Color::DarkGray);
/// A heading.
pub const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
/// An error.
pub const BAD: Style = Style::new().fg(Color::Red);
/// The width, in cells, of a bar that shows a share of the link.
pub const BAR: usize = 20;

/// Lets `work` draw on the entire terminal, and restores the terminal afterwards. If the terminal
/// cannot be used, the error suggests `otherwise`, an alternative without a terminal.
pub fn on_terminal(
    otherwise: &str,
    work: impl FnOnce(&mut DefaultTerminal) -> io::Result<()>,
) -> Result<Ending, Failure> {
    lost_terminal::end_with_terminal();
    let unusable = |error: io::Error| {
        Failure::user(
            format!("the terminal cannot be used: {error}"),
            format!("allowed: a terminal, of which keys are read; {otherwise}"),
        )
    };
    let mut terminal = ratatui::try_init().map_err(unusable)?;
    let outcome = work(&mut terminal);
    // Dropping `terminal` would print an error to the closed terminal, and panic.
    if ratatui::try_restore().is_err() {
        std::mem::forget(terminal);
    }
    match outcome {
        // The terminal closed during drawing, before the watching thread noticed.
        Err(_) if lost_terminal::has_ended() => Ok(Ending::Interrupted),
        outcome => outcome.map_err(unusable).map(|()| Ending::Done),
    }
}

/// The output of `draw`, without colours.
pub fn picture(width: u16, height: u16, draw: &dyn Fn(&mut Frame<'_>)) -> String {
    let mut terminal = match Terminal::new(TestBackend::new(width, height)) {
        Ok(terminal) => terminal,
        Err(never) => match never {},
    };
    match terminal.draw(|frame| draw(frame)) {
        Ok(_) => {}
        Err(never) => match never {},
    }
    let buffer = terminal.backend().buffer();
    let line = |y| {
        let cells: String = (0..width).map(|x| buffer[(x, y)].symbol()).collect();
        format!("{}\n", cells.trim_end())
    };
    let text: String = (0..height).map(line).collect();
    format!("{}\n", text.trim_end())
}

/// Draws the recent values, under a title.
pub fn past(frame: &mut Frame<'_>, area: Rect, title: String, values: &VecDeque<u64>, most: u64) {
    let lately = values.len().saturating_sub(usize::from(area.width));
    let picture = Sparkline::default()
        .block(Block::new().borders(Borders::TOP).title(title).style(DIM))
        .style(Style::new().fg(Color::Cyan))
        .max(most.max(1))
        .data(values.range(lately..).copied().collect::<Vec<u64>>());
    frame.render_widget(picture, area);
}

/// A share of the link as a bar, with the fair share as a stroke.
pub fn bar(share: f64, fair: f64) -> String {
    let cells = |part: f64| (part.clamp(0.0, 1.0) * BAR as f64).round() as usize;
    let (share, fair) = (cells(share), cells(fair));
    let cell = |at: usize| match at {
        _ if at + 1 == fair.max(1) && fair > 0 => '|',
        _ if at < share => '#',
        _ => ' ',
    };
    (0..BAR).map(cell).collect()
}

/// A rate as three digits with a unit.
pub fn rate(bps: f64) -> String {
    let (value, unit) = scaled(bps, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s"]);
    format!("{value} {unit}")
}

/// A rate as three digits with a prefix.
pub fn short(bps: f64) -> String {
    let (value, prefix) = scaled(bps, ["", " k", " M", " G"]);
    format!("{value}{prefix}")
}

/// An amount as three digits with a unit.
pub fn bytes(bytes: u64) -> String {
    let (value, unit) = scaled(bytes as f64, ["B", "kB", "MB", "GB"]);
    format!("{value} {unit}")
}

fn scaled(value: f64, units: [&'static str; 4]) -> (String, &'static str) {
    let mut scaled = value + 0.0; // an empty sum is -0
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
pub fn time(seconds: f64) -> String {
    match seconds * 1e3 {
        ms @ ..9.995 => format!("{ms:.2}"),
        ms @ ..99.95 => format!("{ms:.1}"),
        ms => format!("{ms:.0}"),
    }
}
