//! `fairwire gateway top`.

mod draw;
mod feed;
mod view;

use super::ask::silent;
use crate::args::TopArgs;
use crate::failure::{Ending, Failure};
use crate::{interrupt, report};
use fairwire_gateway::service::socket_of;
use fairwire_gateway::telemetry::snapshot::Snapshot;
use feed::News;
use ratatui::DefaultTerminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::{Frame, Terminal};
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::time::Duration;
use view::{Order, Table, View};

/// The screen is drawn so often at most; snapshots in between are in the small pictures.
const FRAME: Duration = Duration::from_millis(33);

/// Shows a running gateway.
pub fn top(args: &TopArgs) -> Result<Ending, Failure> {
    let socket = match (&args.socket, &args.config) {
        (Some(socket), _) => socket.clone(),
        (None, Some(config)) => socket_of(config)?,
        (None, None) => {
            return Err(Failure::user("no gateway is named", "allowed: a configuration, or --socket"));
        }
    };
    if args.once || !io::stdout().is_terminal() {
        return once(&socket);
    }
    let news = feed::follow(socket.clone(), args.every);
    let view = View::new(&socket);
    let unusable = |error: io::Error| Failure::Ours(format!("the terminal cannot be used: {error}"));
    let mut terminal = ratatui::try_init().map_err(unusable)?;
    let outcome = watch(&mut terminal, view, &news);
    ratatui::restore();
    outcome.map_err(unusable)?;
    Ok(Ending::Done)
}

fn watch(terminal: &mut DefaultTerminal, mut view: View, news: &Receiver<News>) -> io::Result<()> {
    while !interrupt::is_asked() {
        news.try_iter().for_each(|news| view.take(news));
        terminal.draw(|frame| draw::draw(frame, &view))?;
        // All keys that came, and no longer than a frame.
        let mut wait = FRAME;
        while event::poll(wait)? {
            wait = Duration::ZERO;
            if let Event::Key(key) = event::read()?
                && is_last(&mut view, key)
            {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Does what a key says. True for the one that ends it.
fn is_last(view: &mut View, key: KeyEvent) -> bool {
    if key.kind != KeyEventKind::Press {
        return false;
    }
    match key.code {
        KeyCode::Char('q') | KeyCode::Esc => return true,
        // The terminal gives keys, not signals.
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return true,
        KeyCode::Char('d') => view.way = 0,
        KeyCode::Char('u') => view.way = 1,
        KeyCode::Char('c') => view.table = Table::Classes,
        KeyCode::Char('f') => view.table = Table::Flows,
        KeyCode::Char('s') => view.order = view.order.next(),
        KeyCode::Char('p') => view.is_paused = !view.is_paused,
        KeyCode::Down => view.first = view.first.saturating_add(1),
        KeyCode::Up => view.first = view.first.saturating_sub(1),
        _ => {}
    }
    false
}

fn once(socket: &Path) -> Result<Ending, Failure> {
    let snapshot = feed::ask(socket).map_err(silent)?;
    report::print(as_text(snapshot, socket).as_bytes())?;
    Ok(Ending::Done)
}

/// Columns of the picture that is printed.
const COLUMNS: u16 = 100;
/// Lines of it beside the rows of tables.
const LINES: u16 = 12;

/// Both ways and both tables, one picture after the other.
fn as_text(snapshot: Snapshot, socket: &Path) -> String {
    let mut view = View::new(socket);
    view.is_still = true;
    let ways = snapshot.ways.len();
    view.take(News::Snapshot(Box::new(snapshot)));
    let mut text = String::new();
    for way in 0..ways {
        for table in [Table::Classes, Table::Flows] {
            (view.way, view.table, view.order) = (way, table, Order::Got);
            let rows = view.rows().min(200) as u16;
            if rows == 0 {
                continue;
            }
            text += &picture(COLUMNS, LINES + rows, &|frame| draw::draw(frame, &view));
            text += "\n";
        }
    }
    text
}

/// What is drawn, as lines without colours.
fn picture(width: u16, height: u16, draw: &dyn Fn(&mut Frame<'_>)) -> String {
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

#[cfg(test)]
mod tests;
